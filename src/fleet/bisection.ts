// Which website kills its process? Whoever was being read when a process died is read again with at most half as many at a time. The one that
// kills is alone after a few deaths; the others are cleared by their results. Kills from outside halve the number, and set nobody aside
// unless they meet the same website again and again.

/** What the deaths of processes have left on a website. */
export interface Suspicion {
  /** At most so many websites are read at a time in its process, itself included. */
  readonly group: number;
  /** How often the process died while it was read alone for that reason. */
  readonly alone: number;
}

/** After the death of a process in which so many websites were being read. */
export function afterDeath(before: Suspicion | undefined, inFlight: number): Suspicion {
  const most = Math.min(inFlight, before?.group ?? inFlight);
  return { group: Math.ceil(most / 2), alone: before?.group === 1 ? before.alone + 1 : 0 };
}

export function isDeadly({ alone }: Suspicion): boolean {
  return alone >= mostAlone;
}

/** How many may be read at a time in a process that reads these. */
export function mostBeside(reading: Iterable<Suspicion | undefined>): number {
  let most = Number.POSITIVE_INFINITY;
  for (const suspicion of reading) most = Math.min(most, suspicion?.group ?? most);
  return most;
}

/** How often a process may die while one website is read alone. */
export const mostAlone = 2;
