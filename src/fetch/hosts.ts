// Decides when a host may get a request. Limits requests, in total and per host; hosts take turns.
// - A delay counts from the start of one request to the start of the next. 429, or Retry-After on a temporary failure, pauses the whole
//   host; then one request goes first. After too long a pause, or too many pauses, the host gets no more requests.
// - An origin that has never responded gets one request at a time after the first failure, and none after two failed documents.
import type { HeaderList } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { hasNoResponse, isTemporary, type Problem, problem } from "../model/problem.ts";
import { waitFor } from "./abort.ts";
import type { Lookup } from "./lookup.ts";
import { type Backoff, mostFailures, type OriginRecord, pauseDelay, retryAfterDelay, toDate } from "./retry.ts";
import { longestTimer } from "./timeouts.ts";

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
  /** The head of a response was received. */
  answered(status: number, headers: HeaderList): Pause | undefined;
  /** No response was received. `isRetried`: the request will be sent again. */
  failed(reason: Problem, isRetried: boolean): void;
  /** Lets another request use the slot while the reader pauses. The request still counts for `hasRoomFor`. */
  lend(): void;
  /** Returns it for good; a second call does nothing. */
  release(): void;
}

export interface Traits {
  readonly isRetry?: boolean;
  readonly isRedirected?: boolean;
  /** The caller gave this host. */
  readonly isTrusted?: boolean;
}

/** What the crawls of a fleet share. */
export interface SharedLimits {
  readonly lookup: Lookup;
  /** `isKnown`: the host has responded before. */
  acquire(target: URL, signal: AbortSignal, traits: Traits, isKnown: boolean): Promise<SharedSlot>;
  pause(target: URL, milliseconds: number): void;
  setLeastDelay(target: URL, milliseconds: number): void;
}

export interface SharedSlot extends Pick<Slot, "lend" | "release"> {
  /** The response has begun. */
  answered(): void;
}

export class Hosts {
  readonly #settings: Settings;
  readonly #backoff: Backoff;
  readonly #shared: SharedLimits | undefined;
  readonly #nameOf: (url: URL) => string;
  readonly #hosts = new Map<string, Host>();
  // Hosts that wait only because of the total limit, in round-robin order: a host that was served goes to the end.
  readonly #ready = new Set<Host>();
  #running = 0;
  // Requests that are waiting, running, or have lent their slot.
  #open = 0;
  #closed = false;

  /** `nameOf`: URLs with the same name count as one host. */
  constructor(
    settings: Settings,
    backoff: Backoff,
    shared?: SharedLimits,
    nameOf = ({ hostname }: URL): string => hostname,
  ) {
    this.#settings = settings;
    this.#backoff = backoff;
    this.#shared = shared;
    this.#nameOf = nameOf;
  }

  /**
   * Waits for a slot, or returns why the host gets no more requests. Retries and redirects go before new requests. Rejects with the
   * signal's reason.
   */
  async acquire(target: URL, signal: AbortSignal, traits: Traits = {}): Promise<Slot | Problem> {
    const host = this.#host(target);
    const slot = refusalOf(host, target.origin) ?? (await this.#inLine(host, target, signal, traits));
    if ("code" in slot || this.#shared === undefined) return slot;
    try {
      slot.join(await this.#shared.acquire(target, signal, traits, slot.origin.hasAnswered));
    } catch (error) {
      slot.release();
      throw error;
    }
    const refusal = refusalOf(host, target.origin);
    if (refusal !== undefined) slot.release();
    return refusal ?? slot;
  }

  /** Whether another request would be sent immediately, without waiting or being refused; with `isSpare`, without delaying others. */
  hasRoomFor(target: URL, isSpare = false): boolean {
    const { concurrency, delay } = this.#settings;
    const { perHost, total } = concurrency;
    const { origin } = target;
    const host = this.#hosts.get(this.#nameOf(target)) ?? new Host();
    const isRefused = refusalOf(host, origin) !== undefined || isProbed(host, origin);
    const isDelayed = delay.milliseconds > 0 || host.leastDelay > 0;
    // Spare requests leave half of the slots to others; with a delay, each would take the turn of another.
    const most = isSpare ? (isDelayed ? 0 : Math.floor(perHost / 2)) : perHost;
    return this.#open < total && host.open < most && !isRefused;
  }

  /** Sends nothing to this host for this many milliseconds. */
  pause(target: URL, milliseconds: number): void {
    const host = this.#host(target);
    host.nextAt = Math.max(host.nextAt, performance.now() + milliseconds);
    this.#serve(host);
  }

  /** The minimum delay between two requests to this host, if it is longer than the `delay` option. Counts from the last one. */
  setLeastDelay(target: URL, milliseconds: number): void {
    const host = this.#host(target);
    host.leastDelay = milliseconds;
    this.#shared?.setLeastDelay(target, milliseconds);
    if (host.lastStart !== undefined) this.pause(target, host.lastStart + milliseconds - performance.now());
  }

  /** Clears all timers. Requests that still wait must be ended by their signal. */
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
    host = new Host();
    this.#hosts.set(name, host);
    return host;
  }

  #count(host: Host, change: 1 | -1): void {
    host.open += change;
    this.#open += change;
  }

  #inLine(host: Host, target: URL, signal: AbortSignal, { isRetry, isRedirected }: Traits): Promise<OwnSlot | Problem> {
    return waitFor(signal, (resolve) => {
      const waiter: Waiter = { target, resolve };
      const line = isRetry || isRedirected ? host.continuing : host.waiting;
      line.add(waiter);
      this.#count(host, 1);
      this.#serve(host);
      return () => {
        line.delete(waiter);
        this.#count(host, -1);
        this.#serve(host);
      };
    });
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
        waiter.resolve(this.#start(next, waiter.target));
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

  #start(host: Host, target: URL): OwnSlot {
    const { origin: originName } = target;
    const now = performance.now();
    const delay = this.#delay(host);
    if (delay > 0) host.nextAt = Math.max(host.nextAt, now + delay);
    host.lastStart = now;
    host.running++;
    this.#running++;
    let shared: SharedSlot | undefined;
    let sentAt = now;
    let held = true;
    let open = true;
    // This request probes them, and others wait for its result.
    const probed = doubts(host, originName);
    for (const doubt of probed) doubt.isProbed = true;
    const endProbe = () => {
      for (const doubt of probed.splice(0)) doubt.isProbed = false;
      this.#serve(host);
    };
    const slot: OwnSlot = {
      get origin() {
        return host.origin(originName);
      },
      join: (other) => {
        shared = other;
        sentAt = performance.now();
      },
      answered: (status, headers) => {
        shared?.answered();
        const { hasAnswered, onlyErrors } = host.origin(originName);
        const isFailing = !hasAnswered || onlyErrors > 0;
        host.origins.set(originName, new Origin(true, status >= 500 && isFailing ? onlyErrors + 1 : 0));
        const pause = asksForPause(status, headers) ? this.#pauseOf(host, status, headers, sentAt) : undefined;
        if (pause !== undefined && pause.refusal === undefined) this.#shared?.pause(target, pause.delay);
        // A failing server may have omitted Retry-After by mistake.
        if (pause === undefined && status < 500) host.pauses = 0;
        endProbe();
        return pause;
      },
      failed: (reason, isRetried) => {
        const origin = host.origin(originName);
        if (hasNoResponse(reason.code)) countFailure(origin, reason, performance.now() - sentAt, isRetried);
        if (origin.refusal !== undefined) this.#refuseWaiting(host);
        endProbe();
      },
      lend: () => {
        shared?.lend();
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
        shared?.release();
        if (probed.length > 0) endProbe();
      },
    };
    return slot;
  }

  #refuseWaiting(host: Host): void {
    for (const line of [host.continuing, host.waiting]) {
      for (const waiter of line) {
        const refusal = refusalOf(host, waiter.target.origin);
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
  readonly target: URL;
  readonly resolve: (slot: OwnSlot | Problem) => void;
}

interface OwnSlot extends Slot {
  /** The request also uses a slot of the fleet. */
  join(shared: SharedSlot): void;
}

class Host {
  running = 0;
  open = 0;
  // A Set keeps its order, and removing a waiting request costs nothing.
  readonly waiting = new Set<Waiter>();
  readonly continuing = new Set<Waiter>();
  readonly origins = new Map<string, Origin>();
  /** No request starts before this time of performance.now(), like all times here. */
  nextAt = 0;
  lastStart: number | undefined;
  leastDelay = 0;
  timer: NodeJS.Timeout | undefined;
  /** How often in a row it asked for a pause, and when it did so last. */
  pauses = 0;
  pausedAt = 0;
  refusal: { readonly until: number; readonly reason: Problem } | undefined;
  isProbed = false;

  origin(name: string): Origin {
    const origin = this.origins.get(name) ?? new Origin(false);
    this.origins.set(name, origin);
    return origin;
  }
}

/** Counted since the last response. */
class Origin implements OriginRecord {
  readonly hasAnswered: boolean;
  readonly onlyErrors: number;
  wasRetried = false;
  failures = 0;
  failedDocuments = 0;
  /** Milliseconds spent on failures, summed over concurrent requests. */
  wasted = 0;
  refusal: Problem | undefined;
  isProbed = false;

  constructor(hasAnswered: boolean, onlyErrors = 0) {
    this.hasAnswered = hasAnswered;
    this.onlyErrors = onlyErrors;
  }
}

function refusalOf(host: Host, originName: string): Problem | undefined {
  if (host.refusal !== undefined && host.refusal.until <= performance.now()) host.refusal = undefined;
  return host.origins.get(originName)?.refusal ?? host.refusal?.reason;
}

// The host and the origin, if a single request must first probe whether they respond again.
function doubts(host: Host, originName: string): (Host | Origin)[] {
  const origin = host.origins.get(originName);
  const list: (Host | Origin)[] = host.pauses > 0 ? [host] : [];
  if (origin !== undefined && origin.failures >= (origin.hasAnswered ? mostFailures : 1)) list.push(origin);
  return list;
}

// Whether a request must wait for the result of such a probe.
function isProbed(host: Host, originName: string): boolean {
  return doubts(host, originName).some((doubt) => doubt.isProbed);
}

function nextWaiter(host: Host): Waiter | undefined {
  for (const line of [host.continuing, host.waiting]) {
    for (const waiter of line) if (!isProbed(host, waiter.target.origin)) return waiter;
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
