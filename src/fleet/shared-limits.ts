// Limits that the crawls of a fleet share: requests to one host at a time, with its delays and pauses, and requests to one address, whatever
// names lead there: a thousand shops may share a server. Each crawl also has hosts of its own. Here a host is a name and a port: one port may
// be silent while another answers.
import net from "node:net";
import { unlessAborted } from "../fetch/abort.ts";
import { hostOf } from "../fetch/address-policy.ts";
import { type Facts, Hosts, type SharedLimits as Shared, type SharedSlot, type Slot } from "../fetch/hosts.ts";
import type { Lookup } from "../fetch/lookup.ts";
import { type ProxyChoice, proxyChoice } from "../fetch/proxy.ts";
import { defaultBackoff } from "../fetch/retry.ts";
import type { Settings } from "../model/options.ts";
import { nameServerLookup } from "./lookup.ts";

export class SharedLimits implements Shared {
  readonly #hosts: Hosts;
  readonly #addresses: Hosts;
  /** How many requests to an address have freed their place. */
  readonly #silent = new Map<string, number>();
  readonly #lookup: Lookup = nameServerLookup();
  readonly #proxyFor: ProxyChoice;
  readonly #resolves: boolean;

  /** `settings`: of all crawls together. `perAddress`: requests to one address at a time. */
  constructor(settings: Settings, perAddress: () => number) {
    const total = Number.POSITIVE_INFINITY;
    const hosts = { ...settings, concurrency: { ...settings.concurrency, total } };
    this.#hosts = new Hosts(hosts, defaultBackoff, undefined, ({ host }) => host);
    const concurrency = {
      total,
      get perHost() {
        return perAddress();
      },
    };
    const addresses = { ...settings, delay: { ...settings.delay, milliseconds: 0 }, concurrency };
    this.#addresses = new Hosts(addresses, defaultBackoff, undefined, ({ pathname }) => pathname);
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
      return address === undefined
        ? { ...host, answered: () => {} }
        : await this.#atAddress(host, address, signal, isKnown);
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
    this.#addresses.close();
  }

  // The first request to a host frees its place at the address if no answer comes soon, as long as there are not too many such hosts: a silent
  // website must not hold up others.
  async #atAddress(host: Slot, address: string, signal: AbortSignal, isKnown: boolean): Promise<SharedSlot> {
    const place = (await this.#addresses.acquire(new URL(`address:${address}`), signal)) as Slot;
    let timer: NodeJS.Timeout | undefined;
    let isSilent = false;
    const count = (by: number) => this.#silent.set(address, (this.#silent.get(address) ?? 0) + by);
    const wait = () => {
      const due = performance.now() + patience;
      timer = setTimeout(() => {
        // If this process was busy, the silence may be its own fault.
        if (performance.now() - due > longestLag || (this.#silent.get(address) ?? 0) >= mostSilent) return wait();
        isSilent = true;
        count(1);
        place.lend();
      }, patience);
    };
    if (!isKnown) wait();
    const leave = () => {
      clearTimeout(timer);
      place.release();
      if (isSilent) count(-1);
      isSilent = false;
      if (this.#silent.get(address) === 0) this.#silent.delete(address);
    };
    return {
      answered: () => clearTimeout(timer),
      lend() {
        host.lend();
        leave();
      },
      release() {
        host.release();
        leave();
      },
    };
  }

  // The lowest address stands for all, because several come in any order. Undefined if it is unknown: behind a proxy,
  // or if the name cannot be resolved, which connecting will report.
  async #addressOf(target: URL, signal: AbortSignal, facts: Facts): Promise<string | undefined> {
    const { isTrusted = false, isRetry = false } = facts;
    if (!this.#resolves || this.#proxyFor(target) !== undefined) return undefined;
    const host = hostOf(target);
    if (net.isIP(host) !== 0) return host;
    const answer = this.#lookup(host, { isTrusted, isRetry, signal }).catch(() => []);
    return [...(await unlessAborted<readonly string[]>(signal, answer))].sort()[0];
  }
}

// In milliseconds.
const patience = 500;
const longestLag = 50;
const mostSilent = 64;
