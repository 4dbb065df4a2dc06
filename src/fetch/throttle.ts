// Decides which request may be sent next: how many at a time in total and for each host, a delay between two requests
// to one host, and pauses that a host asked for. Hosts take turns; a host without waiting requests costs nothing.
//
// The delay is counted from the start of one request to the start of the next, so a slow answer does not add to it.
import type { Cancellation } from "./cancellation.ts";
import { longestTimer } from "./timeouts.ts";

export interface ThrottleOptions {
  readonly concurrency: { readonly perHost: number; readonly total: number };
  readonly delay: { readonly milliseconds: number; readonly random: boolean };
  /** A delay may become known after the first request: then it counts from that request. */
  readonly useCrawlDelay?: boolean;
  /** From 0 to below 1. */
  readonly random?: () => number;
}

/** Permission to send one request. */
export interface Slot {
  /** Lets another request use it while the reader pauses. The request still counts for `hasRoomFor`. */
  lend(): void;
  /** Returns it for good; a second call does nothing. */
  release(): void;
}

export class Throttle {
  readonly #options: ThrottleOptions;
  readonly #hosts = new Map<string, Host>();
  readonly #leastDelays = new Map<string, number>();
  // When the last request to a host started; kept only if a delay may need it.
  readonly #lastStarts = new Map<string, number>();
  // Hosts with waiting requests that only the total limit holds back, in round-robin order: a host that was served goes
  // to the end.
  readonly #ready = new Set<Host>();
  #running = 0;
  // Requests that wait, that run, and that have lent their slot.
  #open = 0;
  #closed = false;

  constructor(options: ThrottleOptions) {
    this.#options = options;
  }

  /**
   * Waits for a slot. `first`: before requests that begin something new; for retries and redirects. `isStale`: called
   * when the slot is free; true means that it is no longer wanted, and the result is undefined. Rejects with the reason
   * of the cancellation.
   */
  acquire(
    hostName: string,
    cancellation: Cancellation,
    first = false,
    isStale: () => boolean = () => false,
  ): Slot | Promise<Slot | undefined> {
    const host = this.#host(hostName);
    // The usual case: nothing to wait for.
    if (this.#isFree(host)) {
      this.#count(host, 1);
      return this.#start(host);
    }
    return new Promise((resolve, reject) => {
      if (cancellation.cancelled) return reject(cancellation.reason);
      this.#count(host, 1);
      const onCancel = () => {
        this.#count(host, -1);
        host.waiting.delete(waiter);
        host.continuing.delete(waiter);
        this.#consider(host);
        reject(cancellation.reason);
      };
      const waiter: Waiter = () => {
        cancellation.remove(onCancel);
        if (!isStale()) return resolve(this.#start(host));
        this.#count(host, -1);
        resolve(undefined);
      };
      (first ? host.continuing : host.waiting).add(waiter);
      cancellation.add(onCancel);
      this.#consider(host);
      this.#dispatch();
    });
  }

  /** Whether one more request to this host would be sent at once instead of having to wait. */
  hasRoomFor(hostName: string): boolean {
    const { perHost, total } = this.#options.concurrency;
    return (this.#hosts.get(hostName)?.open ?? 0) < perHost && this.#open < total;
  }

  /** Sends nothing to this host for so many milliseconds. */
  pause(hostName: string, milliseconds: number): void {
    const host = this.#host(hostName);
    host.nextAt = Math.max(host.nextAt, performance.now() + milliseconds);
    this.#consider(host);
  }

  /** The minimum delay between two requests to this host, if that is longer than the `delay` option. */
  setLeastDelay(hostName: string, milliseconds: number): void {
    remember(this.#leastDelays, hostName, milliseconds);
    const lastStart = this.#lastStarts.get(hostName);
    if (lastStart !== undefined) this.pause(hostName, lastStart + milliseconds - performance.now());
  }

  /** How many hosts are remembered: those in use, and those with a pause. */
  get size(): number {
    return this.#hosts.size;
  }

  /** Clears all timers. Requests that still wait have to be cancelled by their signal. */
  close(): void {
    this.#closed = true;
    for (const host of this.#hosts.values()) clearTimeout(host.timer);
    this.#hosts.clear();
    this.#ready.clear();
  }

  #host(name: string): Host {
    let host = this.#hosts.get(name);
    if (host === undefined) {
      host = { name, running: 0, open: 0, waiting: new Set(), continuing: new Set(), nextAt: 0, timer: undefined };
      this.#hosts.set(name, host);
    }
    return host;
  }

  #isFree({ waiting, continuing, running, nextAt }: Host): boolean {
    const { perHost, total } = this.#options.concurrency;
    if (this.#ready.size > 0 || waiting.size + continuing.size > 0) return false;
    return running < perHost && this.#running < total && (nextAt === 0 || nextAt <= performance.now());
  }

  // Moves a host to where it belongs: the ready ones, a timer, or out of memory.
  #consider(host: Host): void {
    if (host.timer !== undefined) clearTimeout(host.timer);
    host.timer = undefined;
    if (this.#closed) return;
    const wanted = host.waiting.size + host.continuing.size > 0;
    const wait = host.nextAt === 0 ? 0 : host.nextAt - performance.now();
    if (wanted && host.running < this.#options.concurrency.perHost && wait <= 0) {
      this.#ready.add(host);
      return;
    }
    this.#ready.delete(host);
    if (host.running > 0 && (!wanted || host.running >= this.#options.concurrency.perHost)) return;
    if (wait <= 0) {
      if (host.open === 0) this.#hosts.delete(host.name);
      return;
    }
    host.timer = setTimeout(
      () => {
        this.#consider(host);
        this.#dispatch();
      },
      Math.min(wait, longestTimer),
    );
    // This timer only frees memory: it must not keep the process alive.
    if (!wanted) host.timer.unref();
  }

  #dispatch(): void {
    while (this.#running < this.#options.concurrency.total) {
      const [host] = this.#ready;
      if (host === undefined) return;
      const line = host.continuing.size > 0 ? host.continuing : host.waiting;
      const [waiter] = line;
      line.delete(waiter as Waiter);
      waiter?.();
      this.#ready.delete(host);
      this.#consider(host);
    }
  }

  #start(host: Host): Slot {
    host.running++;
    this.#running++;
    if (this.#options.useCrawlDelay) remember(this.#lastStarts, host.name, performance.now());
    const delay = this.#delay(host.name);
    if (delay > 0) host.nextAt = Math.max(host.nextAt, performance.now() + delay);
    let held = true;
    let open = true;
    const lend = () => {
      if (!held) return;
      held = false;
      host.running--;
      this.#running--;
      this.#consider(host);
      this.#dispatch();
    };
    const release = () => {
      if (!open) return;
      open = false;
      this.#count(host, -1);
      if (held) lend();
      else this.#consider(host);
    };
    return { lend, release };
  }

  #count(host: Host, change: 1 | -1): void {
    host.open += change;
    this.#open += change;
  }

  #delay(hostName: string): number {
    const { milliseconds, random } = this.#options.delay;
    const draw = this.#options.random ?? Math.random;
    const drawn = random ? milliseconds * (0.5 + draw()) : milliseconds;
    return Math.max(drawn, this.#leastDelays.get(hostName) ?? 0);
  }
}

// The oldest is dropped first: a fleet meets very many hosts.
function remember(times: Map<string, number>, hostName: string, time: number): void {
  times.delete(hostName);
  times.set(hostName, time);
  if (times.size <= mostRemembered) return;
  for (const oldest of times.keys()) {
    times.delete(oldest);
    return;
  }
}

const mostRemembered = 10_000;

type Waiter = () => void;

interface Host {
  readonly name: string;
  running: number;
  open: number;
  // A Set keeps its order, and removing a waiting request costs nothing.
  readonly waiting: Set<Waiter>;
  readonly continuing: Set<Waiter>;
  /** On the clock of performance.now(): nothing starts before. 0 for no limit. */
  nextAt: number;
  timer: NodeJS.Timeout | undefined;
}
