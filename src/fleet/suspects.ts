// Finds the website that crashes its process. All websites that were in flight when a process died are suspects. A process crawls sixteen of
// them at a time, after a second death four at a time, and then one by one. With more at a time, finding the website would take
// more deaths; with fewer, a fleet that was killed only once would wait long, because many suspects do not respond. After five deaths, a
// website is quarantined, so an operator may kill the process a few times.

/** A website that a process crawls, or is about to. */
export interface InFlightSite {
  /** How often a process died while crawling it. */
  readonly deaths: number;
}

/** Whether to set a website aside instead of crawling it again. */
export function isQuarantined({ deaths }: InFlightSite): boolean {
  return deaths >= deathsBeforeQuarantine;
}

/** Whether a process that crawls these websites may also crawl the next one. */
export function hasRoom(inFlight: Iterable<InFlightSite>, next: InFlightSite): boolean {
  if (next.deaths === 0) return true;
  const suspects = [next, ...inFlight].filter(({ deaths }) => deaths > 0);
  return suspects.every(({ deaths }) => suspects.length <= (laneSizes[deaths - 1] ?? 1));
}

// How many suspects a process crawls at a time, by their deaths.
const laneSizes = [16, 4];
export const deathsBeforeQuarantine = 5;
