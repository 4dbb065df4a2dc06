// Limits that the crawls of a fleet share: requests to one host at a time, with its delays and pauses, and requests to
// one address. Each crawl also has a throttle of its own. Here a host is a name and a port: one port may be silent
// while another answers.
import net from "node:net";
import type { Settings } from "../model/options.ts";
import { AddressLimit, type AddressSlot } from "./address-limit.ts";
import { hostOf } from "./address-policy.ts";
import { type Cancellation, signalOf } from "./cancellation.ts";
import { longestLookup } from "./connect.ts";
import { type Lookup, sharedLookup } from "./lookup.ts";
import { type ProxyChoice, proxyChoice } from "./proxy.ts";
import { type Slot, Throttle } from "./throttle.ts";

export interface SharedLimitsOptions {
  /** The limits of all crawls together. */
  readonly settings: Settings;
  /** Requests to one address at a time. */
  readonly perAddress: () => number;
  /** Replaced in tests. */
  readonly lookup?: Lookup | undefined;
}

/** A request that is about to be sent. */
export interface Applicant {
  readonly target: URL;
  /** The caller gave this host. */
  readonly isTrusted: boolean;
  readonly isRetry: boolean;
  /** The host has answered before. */
  readonly isKnown: boolean;
}

export interface SharedSlot extends Slot {
  /** The response has begun. */
  answered(): void;
}

export class SharedLimits {
  readonly #hosts: Throttle;
  readonly #addresses: AddressLimit;
  readonly #lookup: Lookup;
  readonly #proxyFor: ProxyChoice;
  readonly #resolves: boolean;

  constructor({ settings, perAddress, lookup = sharedLookup }: SharedLimitsOptions) {
    const { concurrency, delay, useCrawlDelay } = settings;
    const perHost = { perHost: concurrency.perHost, total: Number.POSITIVE_INFINITY };
    this.#hosts = new Throttle({ concurrency: perHost, delay, useCrawlDelay });
    this.#addresses = new AddressLimit(perAddress);
    this.#lookup = lookup;
    this.#proxyFor = proxyChoice(settings.proxy);
    // Which address a client of the caller's own connects to is unknown.
    this.#resolves = settings.client === undefined;
  }

  /** Waits for a slot of the host, then for one of its address. Rejects with the reason of the cancellation. */
  async acquire(applicant: Applicant, cancellation: Cancellation): Promise<SharedSlot> {
    const { target, isRetry, isKnown } = applicant;
    const host = (await this.#hosts.acquire(target.host, cancellation, isRetry)) as Slot;
    try {
      const address = await this.#addressOf(applicant, cancellation);
      const place = address === undefined ? undefined : await this.#addresses.acquire(address, isKnown, cancellation);
      return sharedSlot(host, place);
    } catch (error) {
      host.release();
      throw error;
    }
  }

  /** Sends nothing to this host for so many milliseconds. */
  pause({ host }: URL, milliseconds: number): void {
    this.#hosts.pause(host, milliseconds);
  }

  /** The minimum delay between two requests to this host. */
  setLeastDelay({ host }: URL, milliseconds: number): void {
    this.#hosts.setLeastDelay(host, milliseconds);
  }

  /** How many hosts and addresses are in use. */
  get size(): number {
    return this.#hosts.size + this.#addresses.size;
  }

  close(): void {
    this.#hosts.close();
  }

  // The lowest address stands for all, because several come in any order. Undefined if it is unknown: behind a proxy,
  // or if the name cannot be resolved, which connecting will report.
  async #addressOf({ target, isTrusted, isRetry }: Applicant, cancellation: Cancellation): Promise<string | undefined> {
    if (!this.#resolves || this.#proxyFor(target) !== undefined) return undefined;
    const host = hostOf(target);
    if (net.isIP(host) !== 0) return host;
    const [first, ...others] = await this.#resolved(host, { isTrusted, isRetry }, cancellation);
    return others.reduce((lowest, address) => (address < (lowest ?? address) ? address : lowest), first);
  }

  #resolved(
    host: string,
    options: { readonly isTrusted: boolean; readonly isRetry: boolean },
    cancellation: Cancellation,
  ): Promise<readonly string[]> {
    const signal = signalOf(cancellation);
    return new Promise((resolve, reject) => {
      const onCancel = () => {
        clearTimeout(timer);
        reject(cancellation.reason);
      };
      const settle = (addresses: readonly string[]) => {
        clearTimeout(timer);
        cancellation.remove(onCancel);
        resolve(addresses);
      };
      const timer = setTimeout(() => settle([]), longestLookup);
      if (cancellation.cancelled) return onCancel();
      cancellation.add(onCancel);
      this.#lookup(host, { ...options, signal }).then(settle, () => settle([]));
    });
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
