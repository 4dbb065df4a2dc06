// What is known about hosts in a run, and who may ask them next: whether an origin answers at all (reachability.ts), and whether
// a host wants to be left alone (politeness.ts).
import type { HeaderList } from "../exchange.ts";
import type { Settings } from "../options.ts";
import type { Problem } from "../problem.ts";
import type { Cancellation } from "./cancellation.ts";
import { asksForPause, type Pause, Politeness, type PolitenessOptions } from "./politeness.ts";
import { Reachability } from "./reachability.ts";
import type { Backoff } from "./retry.ts";

/** The right to ask a host once, and the duty to tell what came of it. */
export interface Admission {
  /** Whether something was learned meanwhile by which it would not be given any more. */
  readonly isStale: boolean;
  /** The request goes out. */
  sent(): void;
  /** A response came. */
  answered(status: number, headers: HeaderList): Pause | undefined;
  /** None came. `isRetryable`: the document would be tried again; tells whether it may. */
  failed(reason: Problem, isRetryable: boolean): boolean;
  /** Has to be called at the end; a second call does nothing. */
  end(): void;
}

export class HostRecords {
  readonly #options: PolitenessOptions;
  // By origin and by host name: connections are made to a port, and a server is a host. Most have no record: a crawl may meet
  // very many, and there is something to remember only about those that fail or ask for a pause.
  readonly #reachability = new Map<string, Reachability>();
  readonly #politeness = new Map<string, Politeness>();
  readonly #answered = new Set<string>();

  constructor({ retries, limits }: Settings, backoff: Backoff) {
    this.#options = { retries, longestPause: limits.retryAfter, backoff };
  }

  /** Why a host is not asked, where it is not. */
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

  /** Waits, where another request has to find out about the host first. Rejects with the reason of the cancellation. */
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

  // The records by which one request has to go first.
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
