// May this host be asked now, and if not, when? Limits requests at a time, in all and for each host; keeps the delay between
// two requests to a host, and the pauses that it asks for; and stops asking hosts that do not answer. Hosts take turns.
//
// - The delay counts from the start of one request to the start of the next, so a slow answer does not add to it.
// - A pause (429, or Retry-After on a temporary failure) applies to the whole host. After it, one request goes first. Nothing more is
//   sent where a pause is longer than `limits.retryAfter`, or once the host has asked as often as a document is retried.
// - An origin that has never answered gets one request at a time after the first failure, and none after the second document that
//   fails. One that answered before gets one at a time after eight failures in a row, and none after a minute spent on them.
import type { HeaderList } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { hasNoResponse, isTemporary, type Problem, problem } from "../model/problem.ts";
import { waitFor } from "./abort.ts";
import { type Backoff, mostFailures, type OriginRecord, pauseDelay, retryAfterDelay, toDate } from "./retry.ts";
import { longestTimer } from "./timeouts.ts";

export type HostsSettings = Pick<Settings, "concurrency" | "delay" | "retries"> & {
  readonly limits: Pick<Settings["limits"], "retryAfter">;
};

/** What a host asks for. */
export interface Pause {
  /** How long to send nothing to the host, in milliseconds. */
  readonly delay: number;
  /** Why nothing more is sent to the host. */
  readonly refusal: Problem | undefined;
}

/** Permission to send one request. */
export interface Slot {
  readonly origin: OriginRecord;
  /** The request is sent now, unless a reason not to send it has become known since the slot was given. */
  begin(): Problem | undefined;
  /** The head of a response was received. */
  answered(status: number, headers: HeaderList): Pause | undefined;
  /** No response was received. `isRetried`: the request will be sent again. */
  failed(reason: Problem, isRetried: boolean): void;
  /** Lets another request use the slot while the reader pauses. The request still counts for `hasRoomFor`. */
  lend(): void;
  /** Returns it for good; a second call does nothing. */
  release(): void;
}

export class Hosts {
  readonly #settings: HostsSettings;
  readonly #backoff: Backoff;
  readonly #nameOf: (url: URL) => string;
  readonly #hosts = new Map<string, Host>();
  // Hosts that only the total limit holds back, in round-robin order: a host that was served goes to the end.
  readonly #ready = new Set<Host>();
  #running = 0;
  // Requests that wait, that run, and that have lent their slot.
  #open = 0;
  #closed = false;

  /** `nameOf`: what is one host. */
  constructor(settings: HostsSettings, backoff: Backoff, nameOf = ({ hostname }: URL): string => hostname) {
    this.#settings = settings;
    this.#backoff = backoff;
    this.#nameOf = nameOf;
  }

  /**
   * Waits for a slot, or returns why the host gets no more requests. `goesFirst`: before requests that begin something new; for
   * retries and redirects. Rejects with the signal's reason.
   */
  acquire(target: URL, signal: AbortSignal, goesFirst = false): Promise<Slot | Problem> {
    const host = this.#host(target);
    const { origin } = target;
    return waitFor(signal, (resolve) => {
      const waiter: Waiter = { origin, resolve };
      const line = goesFirst ? host.continuing : host.waiting;
      const refusal = refusalOf(host, origin);
      if (refusal !== undefined) resolve(refusal);
      else {
        line.add(waiter);
        this.#count(host, 1);
        this.#serve(host);
      }
      return () => {
        line.delete(waiter);
        this.#count(host, -1);
        this.#serve(host);
      };
    });
  }

  /** Whether one more request would be sent at once instead of being refused or having to wait. */
  hasRoomFor(target: URL): boolean {
    const { perHost, total } = this.#settings.concurrency;
    if (this.#open >= total) return false;
    const host = this.#hosts.get(this.#nameOf(target));
    if (host === undefined) return true;
    return (
      host.open < perHost && refusalOf(host, target.origin) === undefined && !doubts(host, target.origin).some(isProbed)
    );
  }

  hasAnswered(target: URL): boolean {
    return this.#hosts.get(this.#nameOf(target))?.origins.get(target.origin)?.hasAnswered ?? false;
  }

  /** Sends nothing to this host for so many milliseconds. */
  pause(target: URL, milliseconds: number): void {
    const host = this.#host(target);
    host.nextAt = Math.max(host.nextAt, performance.now() + milliseconds);
    this.#serve(host);
  }

  /** The minimum delay between two requests to this host, if it is longer than the `delay` option. Counts from the last one. */
  setLeastDelay(target: URL, milliseconds: number): void {
    const host = this.#host(target);
    host.leastDelay = milliseconds;
    if (host.lastStart !== undefined) this.pause(target, host.lastStart + milliseconds - performance.now());
  }

  /** Clears all timers. Requests that still wait have to be ended by their signal. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#hosts.values()) clearTimeout(timer);
  }

  #host(target: URL): Host {
    const name = this.#nameOf(target);
    let host = this.#hosts.get(name);
    if (host !== undefined) return host;
    // A fleet meets very many hosts: those without requests are forgotten, the oldest first.
    for (const [other, old] of this.#hosts) {
      if (this.#hosts.size < mostHosts) break;
      if (old.open === 0 && old.nextAt < performance.now()) this.#hosts.delete(other);
    }
    host = { running: 0, open: 0, waiting: new Set(), continuing: new Set(), origins: new Map(), ...untouched };
    this.#hosts.set(name, host);
    return host;
  }

  #count(host: Host, change: 1 | -1): void {
    host.open += change;
    this.#open += change;
  }

  // Gives out slots after something has changed for a host.
  #serve(host: Host): void {
    if (this.#closed) return;
    this.#consider(host);
    while (this.#running < this.#settings.concurrency.total) {
      const [next] = this.#ready;
      if (next === undefined) return;
      this.#ready.delete(next);
      const waiter = nextWaiter(next);
      if (waiter !== undefined && (next.continuing.delete(waiter) || next.waiting.delete(waiter))) {
        waiter.resolve(this.#start(next, waiter.origin));
      }
      this.#consider(next);
    }
  }

  // Moves a host to where it belongs: to the ready ones, or to a timer.
  #consider(host: Host): void {
    clearTimeout(host.timer);
    const isWanted = host.running < this.#settings.concurrency.perHost && nextWaiter(host) !== undefined;
    const wait = isWanted && host.nextAt > 0 ? host.nextAt - performance.now() : 0;
    if (isWanted && wait <= 0) this.#ready.add(host);
    else this.#ready.delete(host);
    if (wait > 0) host.timer = setTimeout(() => this.#serve(host), Math.min(wait, longestTimer));
  }

  #start(host: Host, originName: string): Slot {
    const now = performance.now();
    const delay = this.#delay(host);
    if (delay > 0) host.nextAt = Math.max(host.nextAt, now + delay);
    host.lastStart = now;
    host.running++;
    this.#running++;
    let sentAt = now;
    let held = true;
    let open = true;
    // This request finds out about them, and others wait for it.
    const probed = doubts(host, originName);
    for (const doubt of probed) doubt.isProbed = true;
    const endProbe = () => {
      for (const doubt of probed.splice(0)) doubt.isProbed = false;
      this.#serve(host);
    };
    const originOf = () => {
      let origin = host.origins.get(originName);
      if (origin === undefined) host.origins.set(originName, (origin = { ...neverAnswered }));
      return origin;
    };
    const slot: Slot = {
      get origin() {
        return originOf();
      },
      begin: () => {
        sentAt = performance.now();
        return refusalOf(host, originName);
      },
      answered: (status, headers) => {
        Object.assign(originOf(), neverAnswered, { hasAnswered: true });
        const pause = asksForPause(status, headers) ? this.#pauseOf(host, status, headers, sentAt) : undefined;
        // A failing server may simply have left out that it wants a pause.
        if (pause === undefined && status < 500) host.pauses = 0;
        endProbe();
        return pause;
      },
      failed: (reason, isRetried) => {
        const origin = originOf();
        if (hasNoResponse(reason.code)) countFailure(origin, reason, performance.now() - sentAt, isRetried);
        if (origin.refusal !== undefined) this.#refuseWaiting(host);
        endProbe();
      },
      lend: () => {
        if (!held) return;
        held = false;
        host.running--;
        this.#running--;
        this.#serve(host);
      },
      release: () => {
        if (!open) return;
        open = false;
        this.#count(host, -1);
        slot.lend();
        if (probed.length > 0) endProbe();
      },
    };
    return slot;
  }

  #refuseWaiting(host: Host): void {
    for (const line of [host.continuing, host.waiting]) {
      for (const waiter of line) {
        const refusal = refusalOf(host, waiter.origin);
        if (refusal === undefined) continue;
        line.delete(waiter);
        this.#count(host, -1);
        waiter.resolve(refusal);
      }
    }
  }

  #pauseOf(host: Host, status: number, headers: HeaderList, sentAt: number): Pause {
    const { retries, limits } = this.#settings;
    const now = performance.now();
    // Requests that ran at the same time count once.
    if (host.pauses === 0 || sentAt >= host.pausedAt) {
      host.pauses++;
      host.pausedAt = now;
    }
    const asked = retryAfterDelay(headers, Date.now());
    const delay = pauseDelay(asked, host.pauses, this.#backoff);
    const isTooLong = asked !== undefined && asked > limits.retryAfter;
    if (isTooLong || host.pauses > retries + 1) {
      const reason = problem("rate-limited", { status, retryAfter: toDate(Date.now() + delay) });
      // A host that asks again after each pause gets no more requests.
      const until = isTooLong ? now + delay : Number.POSITIVE_INFINITY;
      if (until > (host.refusal?.until ?? 0)) host.refusal = { until, reason };
    }
    if (host.refusal === undefined) host.nextAt = Math.max(host.nextAt, now + delay);
    else this.#refuseWaiting(host);
    return { delay, refusal: host.refusal?.reason };
  }

  #delay({ leastDelay }: Host): number {
    const { milliseconds, random } = this.#settings.delay;
    return Math.max(random ? milliseconds * (0.5 + this.#backoff.random()) : milliseconds, leastDelay);
  }
}

interface Waiter {
  readonly origin: string;
  readonly resolve: (slot: Slot | Problem) => void;
}

interface Host {
  running: number;
  open: number;
  // A Set keeps its order, and removing a waiting request costs nothing.
  readonly waiting: Set<Waiter>;
  readonly continuing: Set<Waiter>;
  readonly origins: Map<string, Origin>;
  /** On the clock of performance.now(), like all times here: nothing starts before. */
  nextAt: number;
  lastStart: number | undefined;
  leastDelay: number;
  timer: NodeJS.Timeout | undefined;
  /** How often in a row it asked for a pause, and when it did so last. */
  pauses: number;
  pausedAt: number;
  refusal: { readonly until: number; readonly reason: Problem } | undefined;
  isProbed: boolean;
}

/** Counted since the last answer. */
interface Origin extends OriginRecord {
  hasAnswered: boolean;
  wasRetried: boolean;
  failures: number;
  failedDocuments: number;
  /** Milliseconds spent on failures; the times of concurrent requests are added up. */
  wasted: number;
  refusal: Problem | undefined;
  isProbed: boolean;
}

const untouched = {
  nextAt: 0,
  lastStart: undefined,
  leastDelay: 0,
  timer: undefined,
  pauses: 0,
  pausedAt: 0,
  refusal: undefined,
  isProbed: false,
};

const neverAnswered: Origin = {
  hasAnswered: false,
  wasRetried: false,
  failures: 0,
  failedDocuments: 0,
  wasted: 0,
  refusal: undefined,
  isProbed: false,
};

function refusalOf(host: Host, originName: string): Problem | undefined {
  if (host.refusal !== undefined && host.refusal.until <= performance.now()) host.refusal = undefined;
  return host.origins.get(originName)?.refusal ?? host.refusal?.reason;
}

// The host and the origin, if one request at a time has to find out whether they answer again.
function doubts(host: Host, originName: string): (Host | Origin)[] {
  const origin = host.origins.get(originName);
  const list: (Host | Origin)[] = host.pauses > 0 ? [host] : [];
  if (origin !== undefined && origin.failures >= (origin.hasAnswered ? mostFailures : 1)) list.push(origin);
  return list;
}

function isProbed(doubt: Host | Origin): boolean {
  return doubt.isProbed;
}

function nextWaiter(host: Host): Waiter | undefined {
  for (const line of [host.continuing, host.waiting]) {
    for (const waiter of line) if (!doubts(host, waiter.origin).some(isProbed)) return waiter;
  }
  return undefined;
}

function countFailure(origin: Origin, reason: Problem, elapsed: number, isRetried: boolean): void {
  origin.failures++;
  origin.wasted += elapsed;
  if (isRetried) origin.wasRetried = true;
  else origin.failedDocuments++;
  const isDown = origin.hasAnswered
    ? origin.failures >= mostFailures && origin.wasted >= mostWasted
    : origin.failedDocuments >= 2;
  if (isDown && !isRetried) origin.refusal = reason;
}

function asksForPause(status: number, headers: HeaderList): boolean {
  return status === 429 || (isTemporary(`http-${status}`) && retryAfterDelay(headers, Date.now()) !== undefined);
}

// In milliseconds.
const mostWasted = 60_000;

// How many hosts are remembered, with their delays and failures.
const mostHosts = 10_000;
