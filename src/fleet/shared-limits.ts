// Limits that the crawls of a fleet share: requests to one host at a time, with its delays and pauses, and requests to
// one address. Each crawl also has hosts of its own. Here a host is a name and a port: one port may be silent
// while another answers.
import net from "node:net";
import { unlessAborted, waitFor } from "../fetch/abort.ts";
import { hostOf } from "../fetch/address-policy.ts";
import { type Facts, Hosts, type SharedLimits as Shared, type SharedSlot, type Slot } from "../fetch/hosts.ts";
import type { Lookup } from "../fetch/lookup.ts";
import { type ProxyChoice, proxyChoice } from "../fetch/proxy.ts";
import { defaultBackoff } from "../fetch/retry.ts";
import type { Settings } from "../model/options.ts";
import { nameServerLookup } from "./lookup.ts";

export interface SharedLimitsOptions {
  /** The limits of all crawls together. */
  readonly settings: Settings;
  /** Requests to one address at a time. */
  readonly perAddress: () => number;
  /** Replaced in tests. */
  readonly lookup?: Lookup | undefined;
}

export class SharedLimits implements Shared {
  readonly #hosts: Hosts;
  readonly #addresses: AddressLimit;
  readonly #lookup: Lookup;
  readonly #proxyFor: ProxyChoice;
  readonly #resolves: boolean;

  constructor({ settings, perAddress, lookup = nameServerLookup() }: SharedLimitsOptions) {
    const concurrency = { ...settings.concurrency, total: Number.POSITIVE_INFINITY };
    this.#hosts = new Hosts({ ...settings, concurrency }, defaultBackoff, undefined, ({ host }) => host);
    this.#addresses = new AddressLimit(perAddress);
    this.#lookup = lookup;
    this.#proxyFor = proxyChoice(settings.proxy);
    // Which address a client of the caller's own connects to is unknown.
    this.#resolves = settings.client === undefined;
  }

  /** Answers as it did in `acquire` for the same request: a failure is not asked about again. */
  readonly lookup: Lookup = (host, options) => this.#lookup(host, { ...options, isRetry: false });

  /** Waits for a slot of the host, then for one of its address. Rejects with the signal's reason. */
  async acquire(target: URL, signal: AbortSignal, facts: Facts, isKnown: boolean): Promise<SharedSlot> {
    const { isRetry = false } = facts;
    const host = (await this.#hosts.acquire(target, signal, { isRetry })) as Slot;
    try {
      const address = await this.#addressOf(target, signal, facts);
      const place = address === undefined ? undefined : await this.#addresses.acquire(address, isKnown, signal);
      return sharedSlot(host, place);
    } catch (error) {
      host.release();
      throw error;
    }
  }

  /** Sends nothing to this host for so many milliseconds. */
  pause(target: URL, milliseconds: number): void {
    this.#hosts.pause(target, milliseconds);
  }

  /** The minimum delay between two requests to this host. */
  setLeastDelay(target: URL, milliseconds: number): void {
    this.#hosts.setLeastDelay(target, milliseconds);
  }

  close(): void {
    this.#hosts.close();
  }

  // The lowest address stands for all, because several come in any order. Undefined if it is unknown: behind a proxy,
  // or if the name cannot be resolved, which connecting will report.
  async #addressOf(target: URL, signal: AbortSignal, facts: Facts): Promise<string | undefined> {
    const { isTrusted = false, isRetry = false } = facts;
    if (!this.#resolves || this.#proxyFor(target) !== undefined) return undefined;
    const host = hostOf(target);
    if (net.isIP(host) !== 0) return host;
    const answer = this.#lookup(host, { isTrusted, isRetry, signal }).catch(() => []);
    const [first, ...others] = await unlessAborted<readonly string[]>(signal, answer);
    return others.reduce((lowest, address) => (address < (lowest ?? address) ? address : lowest), first);
  }
}

function sharedSlot(host: Slot, address: AddressSlot | undefined): SharedSlot {
  return {
    answered: () => address?.answered(),
    lend() {
      host.lend();
      address?.release();
    },
    release() {
      host.release();
      address?.release();
    },
  };
}

/** Permission to send one request to an address. */
export interface AddressSlot {
  /** The response has begun. */
  answered(): void;
  /** Returns it; a second call does nothing. */
  release(): void;
}

/**
 * Limits the requests to one address at a time, whatever names lead there: a thousand shops may share a server. The
 * first request to a host frees its place if no answer comes soon, as long as there are not too many such hosts: a
 * silent website must not hold up others on the same address.
 */
export class AddressLimit {
  readonly #limit: () => number;
  readonly #addresses = new Map<string, Address>();

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /**
   * Waits for a slot, in the order of the calls. `isKnown`: the host has answered before. Rejects with the reason of
   * the signal.
   */
  acquire(key: string, isKnown: boolean, signal: AbortSignal): Promise<AddressSlot> {
    let address = this.#addresses.get(key);
    if (address === undefined) {
      address = { key, counted: new Set(), silent: 0, waiting: new Set(), timer: undefined };
      this.#addresses.set(key, address);
    }
    const found = address;
    return waitFor(signal, (resolve) => {
      const waiter = () => resolve(this.#start(found, isKnown));
      found.waiting.add(waiter);
      this.#dispatch(found);
      return () => {
        found.waiting.delete(waiter);
        this.#dispatch(found);
      };
    });
  }

  /** How many addresses are in use. */
  get size(): number {
    return this.#addresses.size;
  }

  #start(address: Address, isKnown: boolean): AddressSlot {
    const request: Request = { since: performance.now(), isAnswered: isKnown };
    address.counted.add(request);
    let held = true;
    return {
      answered: () => {
        request.isAnswered = true;
      },
      release: () => {
        if (!held) return;
        held = false;
        if (!address.counted.delete(request)) address.silent--;
        this.#dispatch(address);
      },
    };
  }

  #dispatch(address: Address): void {
    clearTimeout(address.timer);
    address.timer = undefined;
    const { counted, waiting } = address;
    for (const waiter of waiting) {
      if (counted.size >= this.#limit()) {
        this.#makeRoomLater(address);
        return;
      }
      waiting.delete(waiter);
      waiter();
    }
    if (counted.size + address.silent === 0) this.#addresses.delete(address.key);
  }

  #makeRoomLater(address: Address): void {
    if (address.silent >= mostSilent) return;
    const oldest = [...address.counted].find(({ isAnswered }) => !isAnswered);
    if (oldest === undefined) return;
    const due = Math.max(oldest.since + patience, performance.now() + shortest);
    address.timer = setTimeout(
      () => {
        // If this process was busy, the silence may be its own fault.
        const isBusy = performance.now() - due > longestLag;
        if (isBusy) for (const request of address.counted) request.since = performance.now();
        else if (!oldest.isAnswered && address.counted.delete(oldest)) address.silent++;
        this.#dispatch(address);
      },
      Math.ceil(due - performance.now()),
    );
  }
}

interface Request {
  /** On the clock of performance.now(): since when nothing was received. */
  since: number;
  isAnswered: boolean;
}

interface Address {
  readonly key: string;
  /** The oldest first. */
  readonly counted: Set<Request>;
  /** Those that freed their place. */
  silent: number;
  readonly waiting: Set<() => void>;
  timer: NodeJS.Timeout | undefined;
}

// In milliseconds.
const patience = 500;
const shortest = 10;
const longestLag = 50;
const mostSilent = 64;
