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
    const address = this.#addresses.get(key) ?? { key, counted: 0, silent: 0, waiting: new Set() };
    this.#addresses.set(key, address);
    return waitFor(signal, (resolve) => {
      const waiter = () => resolve(this.#start(address, isKnown));
      address.waiting.add(waiter);
      this.#dispatch(address);
      return () => {
        address.waiting.delete(waiter);
        this.#dispatch(address);
      };
    });
  }

  /** How many addresses are in use. */
  get size(): number {
    return this.#addresses.size;
  }

  #start(address: Address, isKnown: boolean): AddressSlot {
    let state: "counted" | "silent" | "over" = "counted";
    let timer: NodeJS.Timeout | undefined;
    const become = (next: typeof state) => {
      if (state !== "over") address[state] -= 1;
      if (next !== "over") address[next] += 1;
      state = next;
    };
    const wait = () => {
      const due = performance.now() + patience;
      timer = setTimeout(() => {
        // If this process was busy, the silence may be its own fault.
        if (performance.now() - due > longestLag || address.silent >= mostSilent) return wait();
        become("silent");
        this.#dispatch(address);
      }, patience);
    };
    address.counted += 1;
    if (!isKnown) wait();
    return {
      answered: () => clearTimeout(timer),
      release: () => {
        clearTimeout(timer);
        if (state === "over") return;
        become("over");
        this.#dispatch(address);
      },
    };
  }

  #dispatch(address: Address): void {
    const { waiting } = address;
    for (const waiter of waiting) {
      if (address.counted >= this.#limit()) return;
      waiting.delete(waiter);
      waiter();
    }
    if (address.counted + address.silent === 0) this.#addresses.delete(address.key);
  }
}

interface Address {
  readonly key: string;
  counted: number;
  /** Those that freed their place. */
  silent: number;
  readonly waiting: Set<() => void>;
}

// In milliseconds.
const patience = 500;
const longestLag = 50;
const mostSilent = 64;
