// Limits that the crawls of a fleet share: how many requests go to one host at a time, with its delays and pauses, and how many to one
// address under any name, because a thousand shops may share a server. Each crawl also has its own limits. Here a host is a name and a
// port, because one port may be silent while another answers.
import net from "node:net";
import { unlessAborted } from "../fetch/abort.ts";
import { hostOf } from "../fetch/address-policy.ts";
import { HostLimiter, type SharedLimits, type Slot, type Traits } from "../fetch/limiter.ts";
import { proxyChoice } from "../fetch/proxy.ts";
import { defaultBackoff } from "../fetch/retry.ts";
import type { Settings } from "../model/options.ts";
import { nameServerLookup } from "./lookup.ts";

/** Creates the limits. All crawls share `settings`; `perAddress` limits the requests to one address at a time. */
export function sharedLimits(settings: Settings, perAddress: number): SharedLimits & { close(): void } {
  const total = Number.POSITIVE_INFINITY;
  const own = { ...settings, concurrency: { ...settings.concurrency, total } };
  const hosts = new HostLimiter(own, defaultBackoff, undefined, ({ host }) => host);
  const concurrency = { total, perHost: perAddress };
  const undelayed = { ...settings, delay: { ...settings.delay, milliseconds: 0 }, concurrency };
  const addresses = new HostLimiter(undelayed, defaultBackoff, undefined, ({ pathname }) => pathname);
  const { lookup, close } = nameServerLookup();
  const proxyFor = proxyChoice(settings.proxy);

  // If a name has several addresses, the first in sort order stands for all, because resolvers return them in any order. Undefined if it is
  // unknown: behind a proxy, with a client of the caller's own, or if the name cannot be resolved, which connecting will report.
  async function addressOf(target: URL, signal: AbortSignal, traits: Traits): Promise<string | undefined> {
    const { isTrusted = false, isRetry = false } = traits;
    if (settings.client !== undefined || proxyFor(target) !== undefined) return undefined;
    const host = hostOf(target);
    if (net.isIP(host) !== 0) return host;
    const answer = lookup(host, { isTrusted, isRetry, signal }).catch(() => []);
    return [...(await unlessAborted<readonly string[]>(signal, answer))].sort()[0];
  }

  return {
    // Repeats the answer that `acquire` got for the same request, so that a failed lookup is not tried again.
    lookup: (host, options) => lookup(host, { ...options, isRetry: false }),
    // Waits for a slot of the host, then for one of its address.
    async acquire(target, signal, traits) {
      const host = (await hosts.acquire(target, signal, { isRetry: traits.isRetry ?? false })) as Slot;
      try {
        const address = await addressOf(target, signal, traits);
        if (address === undefined) return host;
        const slot = (await addresses.acquire(new URL(`address:${address}`), signal)) as Slot;
        return {
          lend() {
            host.lend();
            slot.release();
          },
          release() {
            host.release();
            slot.release();
          },
        };
      } catch (error) {
        host.release();
        throw error;
      }
    },
    pause: (target, milliseconds) => hosts.pause(target, milliseconds),
    setLeastDelay: (target, milliseconds) => hosts.setLeastDelay(target, milliseconds),
    close() {
      hosts.close();
      addresses.close();
      close();
    },
  };
}
