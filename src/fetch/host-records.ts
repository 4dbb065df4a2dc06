// What a run knows about hosts, and which request may go to them next: whether an origin answers at all
// (reachability.ts), and whether a host asked for a pause (politeness.ts).
import type { HeaderList } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import type { Cancellation } from "./cancellation.ts";
import { asksForPause, type Pause, Politeness, type PolitenessOptions } from "./politeness.ts";
import { Reachability } from "./reachability.ts";
import type { Backoff } from "./retry.ts";

/** Permission to send one request to a host. Its holder has to report the result. */
export interface Admission {
  /** Whether it would no longer be granted, because of what was learned meanwhile. */
  readonly isStale: boolean;
  /** The request is sent. */
  sent(): void;
  /** A response was received. */
  answered(status: number, headers: HeaderList): Pause | undefined;
  /** No response was received. `isRetryable`: the failure is temporary. Returns whether the request may be retried. */
  failed(reason: Problem, isRetryable: boolean): boolean;
  /** Must be called at the end; a second call does nothing. */
  end(): void;
}

export class HostRecords {
  readonly #options: PolitenessOptions;
  // By origin for reachability, by host name for pauses. Most hosts have no record: only those that fail or ask for a
  // pause need one, and a crawl may meet very many hosts.
  readonly #reachability = new Map<string, Reachability>();
  readonly #politeness = new Map<string, Politeness>();
  readonly #answered = new Set<string>();

  constructor({ retries, limits }: Settings, backoff: Backoff) {
    this.#options = { retries, longestPause: limits.retryAfter, backoff };
  }

  /** Why a host gets no requests, if so. */
  refusal({ origin, hostname }: URL): Problem | undefined {
    return this.#reachability.get(origin)?.refusal ?? this.#politeness.get(hostname)?.refusal;
  }

  hasAnswered({ origin }: URL): boolean {
    return this.#answered.has(origin);
  }

  /** Whether a request would neither be refused nor have to wait for another one. */
  isOpen(target: URL): boolean {
    return this.refusal(target) === undefined && !this.#doubtful(target).some(({ gate }) => gate.isTaken);
  }

  /** Waits if another request has to find out about the host first. Rejects with the reason of the cancellation. */
  admit(target: URL, cancellation: Cancellation): Admission | Problem | Promise<Admission | Problem> {
    const refusal = this.refusal(target);
    if (refusal !== undefined) return refusal;
    const taken = this.#doubtful(target).find(({ gate }) => gate.isTaken);
    if (taken === undefined) return this.#admission(target);
    return taken.gate.given(cancellation).then(() => this.admit(target, cancellation));
  }

  #admission(target: URL): Admission {
    const { origin, hostname } = target;
    const held = this.#doubtful(target);
    const gates = held.map(({ gate }) => gate.take());
    let sentAt = performance.now();
    const isStale = () =>
      this.refusal(target) !== undefined || this.#doubtful(target).some((record) => !held.includes(record));
    return {
      get isStale() {
        return isStale();
      },
      sent: () => {
        sentAt = performance.now();
      },
      answered: (status, headers) => {
        this.#answered.add(origin);
        this.#reachability.get(origin)?.answered();
        if (!asksForPause(status, headers)) {
          this.#politeness.get(hostname)?.calm(status);
          return undefined;
        }
        const politeness = existing(this.#politeness, hostname, () => new Politeness(this.#options));
        return politeness.asked(status, headers, sentAt);
      },
      failed: (reason, isRetryable) => {
        const record = existing(this.#reachability, origin, () => new Reachability(this.#answered.has(origin)));
        return record.failed(reason, performance.now() - sentAt, isRetryable);
      },
      end: () => {
        for (const give of gates) give();
      },
    };
  }

  // The records that let only one request through at a time.
  #doubtful({ origin, hostname }: URL): (Reachability | Politeness)[] {
    const records = [this.#reachability.get(origin), this.#politeness.get(hostname)];
    return records.filter((record) => record?.isDoubtful === true) as (Reachability | Politeness)[];
  }
}

function existing<T>(records: Map<string, T>, key: string, create: () => T): T {
  let record = records.get(key);
  if (record === undefined) {
    record = create();
    records.set(key, record);
  }
  return record;
}
