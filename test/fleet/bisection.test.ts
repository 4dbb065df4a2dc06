// Who is quarantined, and after how many deaths: a fleet in one process, whose websites kill it or do not.
import { expect, test } from "vitest";
import { afterDeath, hasRoom, isDeadly, type Suspicion } from "../../src/fleet/bisection.ts";

interface Site {
  readonly kills: boolean;
  readonly isSilent: boolean;
  suspicion: Suspicion | undefined;
}

/** Reads as many at a time as may be, until all are read or set aside. Returns how often the process died. */
function readAll(sites: readonly Site[], concurrency: number, killsFromOutside: number) {
  let waiting = [...sites];
  const quarantined: Site[] = [];
  let deaths = 0;
  for (let kills = killsFromOutside; waiting.length > 0; ) {
    waiting.sort((one, other) => (other.suspicion?.group ?? 1e9) - (one.suspicion?.group ?? 1e9));
    const reading: Site[] = [];
    for (const site of waiting) {
      if (reading.length < concurrency && hasRoom(reading, site.suspicion)) reading.push(site);
    }
    waiting = waiting.filter((site) => !reading.includes(site));
    if (kills === 0 && !reading.some(({ kills: isKiller }) => isKiller)) continue;
    if (kills > 0) kills -= 1;
    deaths += 1;
    for (const site of reading) {
      site.suspicion = afterDeath(site.suspicion, reading.length);
      (isDeadly(site.suspicion) ? quarantined : waiting).push(site);
    }
  }
  return { deaths, quarantined };
}

test.each([
  // Websites, those that kill, at a time, kills from outside; deaths.
  [200, 0, 64, 0, 0],
  [200, 0, 64, 20, 20],
  [64, 0, 64, 4, 4],
  [8, 0, 8, 4, 4],
  [200, 1, 64, 0, 9],
  [200, 3, 64, 0, 27],
  [1, 1, 64, 0, 3],
  [200, 1, 64, 10, 19],
])("%i websites, %i that kill, %i at a time, %i other kills", (count, killers, concurrency, kills, most) => {
  const sites: Site[] = Array.from({ length: count }, (_, at) => ({
    kills: at < killers,
    isSilent: false,
    suspicion: undefined,
  }));
  const { deaths, quarantined } = readAll(sites, concurrency, kills);
  expect(quarantined).toEqual(sites.filter((site) => site.kills));
  expect(deaths).toBeGreaterThanOrEqual(kills);
  expect(deaths).toBeLessThanOrEqual(most);
});
