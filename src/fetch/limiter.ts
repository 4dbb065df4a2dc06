// Decides when a host may get a request, by slots and delays. Slots limit concurrent requests, in total and per host; hosts take turns. A
// delay counts from the start of one request to the start of the next. health.ts decides whether a host gets requests at all.
import type { HeaderList } from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import { waitFor } from "./abort.ts";
import { HostHealth, type Pause } from "./health.ts";
import type { Lookup } from "./lookup.ts";
import type { Backoff, OriginRecord } from "./retry.ts";
import { longestTimer } from "./timeouts.ts";

/** Permission to send one request. */
export interface Slot {
  readonly origin: OriginRecord;
  /** Call this when the head of a response was received. */
  answered(status: number, headers: HeaderList): Pause | undefined;
  /** Call this if no response was received. `isRetried` means that the request will be sent again. */
  failed(reason: Problem, isRetried: boolean): void;
  /** Lets another request use the slot while the reader pauses. The request still counts for `hasRoomFor`. */
  lend(): void;
  /** Gives the slot back for good. A second call does nothing. */
  release(): void;
}

/** What the limiter must know about a request. */
export interface Traits {
  readonly isRetry?: boolean;
  readonly isRedirected?: boolean;
  /** Whether the caller gave this host, or allows private addresses everywhere. */
  readonly isTrusted?: boolean;
}

/** What the crawls of a fleet share. */
export interface SharedLimits {
  readonly lookup: Lookup;
  acquire(target: URL, signal: AbortSignal, traits: Traits): Promise<SharedSlot>;
  pause(target: URL, milliseconds: number): void;
  setLeastDelay(target: URL, milliseconds: number): void;
}

export type SharedSlot = Pick<Slot, "lend" | "release">;

export class HostLimiter {
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

  /** URLs for which `nameOf` returns the same name count as one host. */
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
    const slot = refusalOf(host, target) ?? (await this.#queue(host, target, signal, traits));
    if ("code" in slot || this.#shared === undefined) return slot;
    try {
      slot.addShared(await this.#shared.acquire(target, signal, traits));
    } catch (error) {
      slot.release();
      throw error;
    }
    const refusal = refusalOf(host, target);
    if (refusal !== undefined) slot.release();
    return refusal ?? slot;
  }

  /** Whether a slot is free, and the request would neither be refused nor wait for a probe. With `isSpare`, it must not delay others. */
  hasRoomFor(target: URL, isSpare = false): boolean {
    const { concurrency, delay } = this.#settings;
    const { perHost, total } = concurrency;
    const host = this.#hosts.get(this.#nameOf(target)) ?? this.#newHost();
    const isRefused = refusalOf(host, target) !== undefined || host.health.isProbed(target.origin);
    const isDelayed = delay.milliseconds > 0 || host.leastDelay > 0;
    // Spare requests leave half of the host's slots to others. With a delay there are none, because each would take another request's turn.
    const most = isSpare ? (isDelayed ? 0 : Math.floor(perHost / 2)) : perHost;
    return this.#open < total && host.open < most && !isRefused;
  }

  /** Sends nothing to this host for this many milliseconds. */
  pause(target: URL, milliseconds: number): void {
    const host = this.#host(target);
    host.nextAt = Math.max(host.nextAt, performance.now() + milliseconds);
    this.#assignSlots(host);
  }

  /** Sets the minimum delay between two requests to this host, if it is longer than the `delay` option. Counts from the last request. */
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
    // A fleet contacts very many hosts, so idle hosts are forgotten, the oldest first.
    for (const [other, old] of this.#hosts) {
      if (this.#hosts.size < mostHosts) break;
      if (old.open === 0 && old.nextAt < performance.now()) this.#hosts.delete(other);
    }
    host = this.#newHost();
    this.#hosts.set(name, host);
    return host;
  }

  #newHost(): Host {
    return new Host(new HostHealth(this.#settings, this.#backoff));
  }

  #count(host: Host, change: 1 | -1): void {
    host.open += change;
    this.#open += change;
  }

  #queue(host: Host, target: URL, signal: AbortSignal, { isRetry, isRedirected }: Traits): Promise<OwnSlot | Problem> {
    return waitFor(signal, (resolve) => {
      const waiter: Waiter = { target, resolve };
      const line = isRetry || isRedirected ? host.continuing : host.waiting;
      line.add(waiter);
      this.#count(host, 1);
      this.#assignSlots(host);
      return () => {
        line.delete(waiter);
        this.#count(host, -1);
        this.#assignSlots(host);
      };
    });
  }

  // Assigns slots after the state of a host has changed.
  #assignSlots(host: Host): void {
    if (this.#closed) return;
    this.#updateReady(host);
    while (this.#running < this.#settings.concurrency.total) {
      const [next] = this.#ready;
      if (next === undefined) return;
      this.#ready.delete(next);
      const waiter = nextWaiter(next);
      if (waiter !== undefined && (next.continuing.delete(waiter) || next.waiting.delete(waiter))) {
        waiter.resolve(this.#start(next, waiter.target));
      }
      this.#updateReady(next);
    }
  }

  // Adds a host to the ready ones, or sets its timer.
  #updateReady(host: Host): void {
    clearTimeout(host.timer);
    const isWanted = host.running < this.#settings.concurrency.perHost && nextWaiter(host) !== undefined;
    const wait = isWanted && host.nextAt > 0 ? host.nextAt - performance.now() : 0;
    if (isWanted && wait <= 0) this.#ready.add(host);
    else this.#ready.delete(host);
    if (wait > 0) host.timer = setTimeout(() => this.#assignSlots(host), Math.min(wait, longestTimer));
  }

  #start(host: Host, target: URL): OwnSlot {
    const { health } = host;
    const { origin } = target;
    const now = performance.now();
    const delay = this.#delay(host);
    if (delay > 0) host.nextAt = Math.max(host.nextAt, now + delay);
    host.lastStart = now;
    host.running++;
    this.#running++;
    let shared: SharedSlot | undefined;
    let sentAt = now;
    let isHeld = true;
    let isOpen = true;
    const endRequest = health.startRequest(origin);
    const slot: OwnSlot = {
      get origin() {
        return health.origin(origin);
      },
      addShared: (other) => {
        shared = other;
        sentAt = performance.now();
      },
      answered: (status, headers) => {
        const received = performance.now();
        const pause = health.answered(origin, status, headers, sentAt, received);
        if (pause?.refusal !== undefined) this.#refuseWaiting(host);
        else if (pause !== undefined) {
          host.nextAt = Math.max(host.nextAt, received + pause.delay);
          this.#shared?.pause(target, pause.delay);
        }
        endRequest();
        this.#assignSlots(host);
        return pause;
      },
      failed: (reason, isRetried) => {
        health.failed(origin, reason, performance.now() - sentAt, isRetried);
        this.#refuseWaiting(host);
        endRequest();
        this.#assignSlots(host);
      },
      lend: () => {
        shared?.lend();
        if (!isHeld) return;
        isHeld = false;
        host.running--;
        this.#running--;
        this.#assignSlots(host);
      },
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#count(host, -1);
        slot.lend();
        shared?.release();
        if (endRequest()) this.#assignSlots(host);
      },
    };
    return slot;
  }

  #refuseWaiting(host: Host): void {
    for (const line of [host.continuing, host.waiting]) {
      for (const waiter of line) {
        const refusal = refusalOf(host, waiter.target);
        if (refusal === undefined) continue;
        line.delete(waiter);
        this.#count(host, -1);
        waiter.resolve(refusal);
      }
    }
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
  /** Makes the request also use a slot of the fleet. */
  addShared(shared: SharedSlot): void;
}

class Host {
  readonly health: HostHealth;
  running = 0;
  open = 0;
  // Retries and redirects are in `continuing`, and go first. Sets keep their order, and delete in constant time.
  readonly waiting = new Set<Waiter>();
  readonly continuing = new Set<Waiter>();
  /** No request starts before this time. All times here are those of performance.now(). */
  nextAt = 0;
  lastStart: number | undefined;
  leastDelay = 0;
  timer: NodeJS.Timeout | undefined;

  constructor(health: HostHealth) {
    this.health = health;
  }
}

function refusalOf({ health }: Host, { origin }: URL): Problem | undefined {
  return health.refusalOf(origin, performance.now());
}

function nextWaiter(host: Host): Waiter | undefined {
  for (const line of [host.continuing, host.waiting]) {
    for (const waiter of line) if (!host.health.isProbed(waiter.target.origin)) return waiter;
  }
  return undefined;
}

// How many hosts are remembered, with their delays and failures.
const mostHosts = 10_000;
