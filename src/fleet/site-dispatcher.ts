// Hands out the sites of a server within this process, and sends their results. All callers share one loop, and results are sent together: the
// number of commands does not grow with the number of sites in progress.
import type { RunLease } from "./bull-leases.ts";
import { queueClosed, storageError, told } from "./queue-server.ts";
import type { SiteSummary } from "./site-job.ts";
import type { Lease } from "./site-queue.ts";

/** Where sites come from. */
export interface SiteSource {
  /** Called before sites are requested. */
  prepare(): Promise<void>;
  /** At most `count` sites; none if none is waiting. */
  next(count: number): Promise<readonly RunLease[]>;
  /** The run, if all sites come from one at present. */
  onlyRun(): string | undefined;
  /** How many leases are held. */
  held(): number;
  isFinished(): Promise<boolean>;
  onGiven(lease: RunLease): void;
}

interface Settling {
  readonly lease: RunLease;
  readonly summary: SiteSummary;
  resolve(result: "accepted" | "superseded"): void;
  reject(error: unknown): void;
}

interface Taker {
  readonly signal: AbortSignal;
  resolve(lease: Lease | undefined): void;
  reject(error: unknown): void;
}

export class SiteDispatcher {
  readonly #source: SiteSource;
  #takers: Taker[] = [];
  readonly #settling: Settling[] = [];
  #isFlushing = false;
  // How many sites are asked for at a time: more each time, until there are fewer.
  #appetite = 1;
  #isGiving = false;
  #isAlone = false;
  #isClosed = false;
  readonly #sleepers = new Set<() => void>();

  constructor(source: SiteSource) {
    this.#source = source;
  }

  take(signal: AbortSignal): Promise<Lease | undefined> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.#isClosed) return reject(queueClosed());
      const leave = () => {
        this.#takers = this.#takers.filter((other) => other !== taker);
        reject(signal.reason);
      };
      const taker: Taker = {
        signal,
        resolve: (lease) => {
          signal.removeEventListener("abort", leave);
          resolve(lease);
        },
        reject: (error) => {
          signal.removeEventListener("abort", leave);
          reject(error);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#takers.push(taker);
      // A result that is about to be sent brings the next site back.
      if (!this.#isFlushing) this.#serve();
    });
  }

  /** Sends the remaining results, and hands out nothing more: waiting callers are rejected. */
  close(): void {
    this.#isClosed = true;
    this.#flush();
    this.wake();
    for (const { reject } of this.#takers.splice(0)) reject(queueClosed());
  }

  /** A lease has ended. No reason to request more: that makes no new site available. */
  settled(): void {
    if (this.#isAlone || this.#source.held() === 0) this.wake();
  }

  /** There may be new sites. */
  wake(): void {
    for (const wake of [...this.#sleepers]) wake();
  }

  #serve(): void {
    if (!this.#isGiving && this.#takers.length > 0) void this.#give();
  }

  async #give(): Promise<void> {
    this.#isGiving = true;
    while (this.#takers.length > 0 && !this.#isClosed) {
      try {
        await this.#source.prepare();
        // Nobody else gives them a site meanwhile.
        const takers = this.#isAlone ? [] : this.#takers.splice(0, this.#appetite);
        const leases = await this.#source.next(takers.length).finally(() => this.#lineUp(takers));
        this.#appetite = leases.length < this.#appetite ? 1 : Math.min(leases.length * 2, mostAtOnce);
        // At once: a site that is to be read alone waits for the others.
        await Promise.all(leases.map((lease) => this.#hand(lease, this.#takers.shift())));
        if (leases.length > 0) continue;
        if (!this.#isAlone && (await this.#source.isFinished()))
          for (const { resolve } of this.#takers.splice(0)) resolve(undefined);
        else await this.#sleep();
      } catch (error) {
        const failure = storageError(error);
        for (const { reject } of this.#takers.splice(0)) reject(failure);
      }
    }
    this.#isGiving = false;
  }

  /** Callers that were aborted meanwhile are skipped. */
  #lineUp(takers: readonly Taker[]): void {
    if (this.#isClosed) for (const { reject } of takers) reject(queueClosed());
    else this.#takers.unshift(...takers.filter(({ signal }) => !signal.aborted));
  }

  // Results are sent together, after a short wait if many sites are in progress: a round trip costs more than its content.
  #settle(lease: RunLease, summary: SiteSummary): Promise<"accepted" | "superseded"> {
    return new Promise((resolve, reject) => {
      this.#settling.push({ lease, summary, resolve, reject });
      if (this.#isFlushing) return;
      this.#isFlushing = true;
      const held = this.#source.held();
      if (held < manyHeld) setImmediate(() => this.#flush());
      else setTimeout(() => this.#flush(), Math.min(held / 3, longestFlush));
    });
  }

  #flush(): void {
    this.#isFlushing = false;
    const only = this.#isAlone ? undefined : this.#source.onlyRun();
    for (const settling of this.#settling.splice(0))
      void this.#finish(settling, settling.lease.run === only ? this.#takers.shift() : undefined);
    this.#serve();
  }

  async #finish({ lease, summary, resolve, reject }: Settling, taker: Taker | undefined): Promise<void> {
    try {
      const { result, next } = await lease.finish(summary, taker !== undefined);
      resolve(result);
      if (next !== undefined) return await this.#hand(next, taker);
    } catch (error) {
      reject(error);
    }
    if (taker === undefined) return;
    this.#lineUp([taker]);
    this.#serve();
  }

  // If no caller is left, the site goes back.
  async #hand(lease: RunLease, first: Taker | undefined): Promise<void> {
    const isWanted = (taker: Taker | undefined) => taker !== undefined && !taker.signal.aborted;
    if (lease.isSuspect) {
      if (this.#isAlone) {
        // One at a time: others may have it.
        if (first !== undefined) this.#lineUp([first]);
        return lease.retry(undefined, 0);
      }
      this.#isAlone = true;
      try {
        while (this.#source.held() > 1 && isWanted(first)) await this.#sleep();
        await lease.begin();
      } catch (error) {
        // Nobody is left alone for a site that was not given.
        this.#isAlone = false;
        if (first !== undefined) this.#lineUp([first]);
        throw error;
      }
    }
    const taker = isWanted(first) ? first : this.#takers.shift();
    if (taker === undefined) {
      if (lease.isSuspect) this.#isAlone = false;
      return lease.retry(undefined, 0);
    }
    this.#source.onGiven(lease);
    taker.resolve(this.#given(lease));
  }

  // While a suspect is read, nothing else is given out.
  #given(lease: RunLease): Lease {
    const over = () => {
      if (lease.isSuspect) {
        this.#isAlone = false;
        this.wake();
      } else this.settled();
    };
    if (lease.isSuspect) lease.lost.addEventListener("abort", over, { once: true });
    return {
      ...lease,
      done: (summary) => told(() => this.#settle(lease, summary)).finally(over),
      retry: (reason, afterMs) =>
        told(() => lease.retry(reason, afterMs)).finally(() => {
          over();
          this.wake();
        }),
    };
  }

  async #sleep(): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, pollTime);
      this.#sleepers.add(wake);
    });
  }
}

// In milliseconds.
const pollTime = 250;
// With many sites in progress, several end within this time; with fewer there is no wait.
const manyHeld = 32;
const longestFlush = 40;
const mostAtOnce = 64;
