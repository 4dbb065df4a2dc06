// Finds the website that crashes its process. Websites in progress when a process died are crawled again with at most half as many in
// parallel. After a few deaths the culprit is alone; the others are cleared by their results. Kills from outside halve the number, and
// quarantine no website unless they hit the same one again and again. A website that has not responded yet does not count.

/** What the deaths of processes have left on a website. */
export interface Suspicion {
  /** The maximum number of websites crawled in parallel in its process, including itself. */
  readonly group: number;
  /** How often the process died while it was the only one that was read. */
  readonly alone: number;
}

/** A website that a process reads. */
export interface Reading {
  readonly suspicion: Suspicion | undefined;
  /** It only waits for its first response. */
  readonly isSilent: boolean;
}

/** After the death of a process with this many websites in progress. */
export function afterDeath(before: Suspicion | undefined, inFlight: number): Suspicion {
  const most = Math.min(inFlight, before?.group ?? inFlight);
  const wasAlone = before?.group === 1 && inFlight === 1;
  return { group: Math.ceil(most / 2), alone: (before?.alone ?? 0) + (wasAlone ? 1 : 0) };
}

/** A website that is silent at every death of its process is suspected all the same, some day. */
export function isForgiven({ isSilent, starts }: { readonly isSilent: boolean; readonly starts: number }): boolean {
  return isSilent && starts <= mostForgiven;
}

export function isDeadly({ alone }: Suspicion): boolean {
  return alone >= mostAlone;
}

/** Whether another website may be read in a process that reads these. */
export function hasRoom(reading: Iterable<Reading>, next?: Suspicion): boolean {
  let busy = 0;
  let most = next?.group ?? Number.POSITIVE_INFINITY;
  for (const { suspicion, isSilent } of reading) {
    if (isSilent) continue;
    busy += 1;
    most = Math.min(most, suspicion?.group ?? most);
  }
  return busy < most;
}

/** How often a process may die while crawling a single website. */
export const mostAlone = 2;
const mostForgiven = 30;
