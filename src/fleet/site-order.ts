// The order in which the waiting sites of a journal are read. Not that of the list, because neighbors in a list often share a
// server. Sites during which the process died twice are suspects: they come last, and each is read alone.
import type { JournalSite } from "./journal-sites.ts";
import { keyHash, mostDeaths } from "./site-job.ts";

export class SiteOrder {
  // The next one is the last.
  #waiting: JournalSite[] = [];
  #suspects: JournalSite[] = [];
  #isSorted = true;
  #isAlone = false;

  get hasSuspects(): boolean {
    return this.#suspects.length > 0;
  }

  /** A site that is new. */
  add(site: JournalSite): void {
    this.#waiting.push(site);
    this.#isSorted = false;
  }

  /** A site that was started before: it comes after the others. */
  addAgain(site: JournalSite): void {
    if (isSuspect(site)) this.#suspects.push(site);
    else this.#waiting.unshift(site);
  }

  /** From now on, these sites wait. */
  reset(waiting: readonly JournalSite[]): void {
    this.#waiting = waiting.filter((site) => !isSuspect(site));
    this.#suspects = waiting.filter(isSuspect);
    this.#isSorted = false;
  }

  /** The next site. `isIdle`: no site is being read or will be added. `isAdding`: sites are still being added. */
  next({ isIdle, isAdding }: { readonly isIdle: boolean; readonly isAdding: boolean }): JournalSite | undefined {
    // While sites are being added, any order will do.
    if (!this.#isSorted && !isAdding) this.#sort();
    if (this.#isAlone) return undefined;
    const next = this.#waiting.pop();
    if (next !== undefined || !isIdle) return next;
    const suspect = this.#suspects.pop();
    this.#isAlone = suspect !== undefined;
    return suspect;
  }

  /** A site has ended. Returns whether it was read alone. */
  endAlone(): boolean {
    const wasAlone = this.#isAlone;
    this.#isAlone = false;
    return wasAlone;
  }

  // Sites that were started before come first.
  #sort(): void {
    const ranked = this.#waiting.map((site) => ({ site, rank: (site.starts > 0 ? "" : "~") + keyHash(site.job.key) }));
    ranked.sort((one, other) => (one.rank < other.rank ? 1 : -1));
    this.#waiting = ranked.map(({ site }) => site);
    this.#isSorted = true;
  }
}

function isSuspect({ deaths }: JournalSite): boolean {
  return deaths >= mostDeaths - 1;
}
