// Resolves names for a fleet, in which many names are dead. The system resolves two at a time (fetch/lookup.ts), so a few names whose servers
// do not answer would hold up all others. This file asks name servers directly (c-ares, any number of names at a time). It asks the system
// only for names in its hosts file, without a dot, or in `.local` and `.localhost`; for hosts that the caller gave and no name server knows;
// and for everything while no name server can be reached. Answers are cached for their TTL, at most five minutes;
// failures and answers of the system for 30 seconds.
import dns from "node:dns";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { unlessAborted } from "../fetch/abort.ts";
import { isPublicAddress } from "../fetch/address-policy.ts";
import { type Lookup, longestLookup, systemLookup, withTimeout } from "../fetch/lookup.ts";

/** Parts that tests replace. */
export interface LookupParts {
  readonly hosts?: string;
  readonly system?: Lookup;
  readonly now?: () => number;
}

interface Answer {
  readonly addresses: readonly string[];
  /** How long the answer is valid, in milliseconds. */
  readonly lifetime: number;
}

interface Remembered {
  readonly answer: Promise<Answer>;
  /** When the cached answer expires; never while the query is running. */
  until: number;
  failed: boolean;
}

export function nameServerLookup(parts: LookupParts = {}): Lookup {
  const { hosts = systemHosts(), system = systemLookup(), now = () => performance.now() } = parts;
  const ownNames = hostsIn(hosts);
  const remembered = new Map<string, Remembered>();
  let resolver: dns.promises.Resolver | undefined;
  let waiting = 0;

  async function ask(name: string, isTrusted: boolean): Promise<Answer> {
    const isOfSystem = /^[^.]*$|\.local(host)?$/.test(name) || (await ownNames).has(name);
    resolver ??= newResolver();
    try {
      if (!isOfSystem) return await withTimeout(longestLookup, askServers(resolver, name));
    } catch (error) {
      const noServer = codeOf(error) === "ECONNREFUSED";
      if (!noServer && !(isTrusted && isNotFound(error))) throw error;
    }
    const options = { isRetry: true, isTrusted: true, signal: neverAborted };
    return { addresses: await system(name, options), lifetime: shortLifetime };
  }

  function start(key: string, name: string, isTrusted: boolean): Remembered {
    const entry: Remembered = { answer: ask(name, isTrusted), until: Number.POSITIVE_INFINITY, failed: false };
    const settle = (lifetime: number, failed: boolean) => Object.assign(entry, { until: now() + lifetime, failed });
    entry.answer.then(
      ({ lifetime }) => settle(lifetime, false),
      (error) => settle(codeOf(error) === "ECANCELLED" ? 0 : shortLifetime, true),
    );
    remembered.delete(key);
    remembered.set(key, entry);
    const [oldest = ""] = remembered.keys();
    if (remembered.size > mostNames) remembered.delete(oldest);
    return entry;
  }

  return async (hostName, { isRetry, isTrusted, signal }) => {
    const name = hostName.toLowerCase().replace(/\.$/, "");
    const key = `${name} ${isTrusted}`;
    const known = remembered.get(key);
    const isUsable = known !== undefined && known.until > now() && !(isRetry && known.failed);
    const { answer } = isUsable ? known : start(key, name, isTrusted);
    waiting += 1;
    try {
      return (await unlessAborted(signal, answer)).addresses;
    } finally {
      waiting -= 1;
      // Queries that nobody waits for would keep the process alive.
      if (waiting === 0) resolver?.cancel();
    }
  };
}

/** Creates a resolver for the name servers of the system, or those set with `dns.setServers`. */
function newResolver(): dns.promises.Resolver {
  const resolver = new dns.promises.Resolver({ timeout: firstTry, tries: 2 });
  resolver.setServers(dns.getServers());
  return resolver;
}

async function askServers(resolver: dns.promises.Resolver, name: string): Promise<Answer> {
  const families = [resolver.resolve6(name, { ttl: true }), resolver.resolve4(name, { ttl: true })];
  // After the answer for one address family, the other gets only a little longer: some servers never answer for IPv6.
  await Promise.any(families).catch(() => undefined);
  const late = sleep(otherFamily, { code: "ETIMEOUT" }, { ref: false }).then((error) => Promise.reject(error));
  const results = await Promise.allSettled(families.map((family) => Promise.race([family, late])));
  const [six = [], four = []] = results.map((result) => (result.status === "fulfilled" ? result.value : []));
  const records = hasGlobalIpv6() ? [...six, ...four] : [...four, ...six];
  if (records.length > 0) {
    const lifetime = Math.min(...records.map(({ ttl }) => ttl * 1000), longestLifetime);
    return { addresses: records.map(({ address }) => address), lifetime };
  }
  // A temporary failure is more informative than "no address" for the other family.
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  throw errors.find((error) => !isNotFound(error)) ?? errors[0];
}

// Whether this machine has a global IPv6 address. Without one, IPv6 addresses are tried last.
function hasGlobalIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ family, address }) => family === "IPv6" && isPublicAddress(address)),
  );
}

function isNotFound(error: unknown): boolean {
  return ["ENOTFOUND", "ENODATA", "EBADNAME"].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? "");
}

// How long answers of name servers are cached at most, and how long failures and answers of the system are cached, in milliseconds.
const longestLifetime = 5 * 60_000;
const shortLifetime = 30_000;
// How long to wait for a name server before the next attempt, in milliseconds. The second attempt gets twice as long.
const firstTry = 2500;
// How long to wait for the other address family after the first one has answered, in milliseconds.
const otherFamily = 1000;
const mostNames = 10_000;
const neverAborted = new AbortController().signal;

/** Returns the names in a hosts file, in lower case, without a trailing dot, or none if the system has no such file. */
async function hostsIn(file: string): Promise<ReadonlySet<string>> {
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, "").trim().split(/\s+/));
  return new Set(lines.flatMap(([, ...names]) => names.map((name) => name.replace(/\.$/, "").toLowerCase())));
}

function systemHosts(): string {
  const { SystemRoot = "C:\\Windows" } = process.env;
  return process.platform === "win32" ? path.join(SystemRoot, "System32/drivers/etc/hosts") : "/etc/hosts";
}
