// Resolves names for a fleet, in which many names are dead. The system resolves two at a time (fetch/lookup.ts), so a few names whose servers
// do not answer would hold up all others. This file asks name servers directly (c-ares, any number of names at a time). It asks the system
// only for names in its hosts file, without a dot, or in `.local` and `.localhost`; for hosts that the caller gave and no name server knows;
// and for everything while no name server can be reached. Answers and failures are cached for 30 seconds.
import dns from "node:dns";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { unlessAborted } from "../fetch/abort.ts";
import { type Lookup, longestLookup, systemLookup, withTimeout } from "../fetch/lookup.ts";

/** Parts that tests replace. */
export interface LookupParts {
  readonly hosts?: string;
  readonly system?: Lookup;
  readonly now?: () => number;
}

interface Answer {
  readonly addresses: Promise<readonly string[]>;
  /** When the cached answer expires; never while the query is running. */
  until: number;
  failed: boolean;
}

/** `close` ends all queries, which would keep the process alive. */
export function nameServerLookup(parts: LookupParts = {}): { readonly lookup: Lookup; close(): void } {
  const { hosts = systemHosts(), system = systemLookup(), now = () => performance.now() } = parts;
  const ownNames = hostsIn(hosts);
  const answers = new Map<string, Answer>();
  let resolver: dns.promises.Resolver | undefined;

  async function resolve(name: string, isTrusted: boolean): Promise<readonly string[]> {
    const isOfSystem = /^[^.]*$|\.local(host)?$/.test(name) || (await ownNames).has(name);
    resolver ??= newResolver();
    try {
      if (!isOfSystem) return await withTimeout(longestLookup, askServers(resolver, name));
    } catch (error) {
      const isUnreachable = codeOf(error) === "ECONNREFUSED";
      if (!isUnreachable && !(isTrusted && isNotFound(error))) throw error;
    }
    return system(name, { isRetry: true, isTrusted: true, signal: neverAborted });
  }

  function ask(key: string, name: string, isTrusted: boolean): Answer {
    const answer: Answer = { addresses: resolve(name, isTrusted), until: Number.POSITIVE_INFINITY, failed: false };
    const settle = (failed: boolean) => () => void Object.assign(answer, { until: now() + lifetime, failed });
    answer.addresses.then(settle(false), settle(true));
    answers.delete(key);
    answers.set(key, answer);
    const [oldest = ""] = answers.keys();
    if (answers.size > mostNames) answers.delete(oldest);
    return answer;
  }

  return {
    lookup(hostName, { isRetry, isTrusted, signal }) {
      const name = hostName.toLowerCase().replace(/\.$/, "");
      const key = `${name} ${isTrusted}`;
      const known = answers.get(key);
      const isUsable = known !== undefined && known.until > now() && !(isRetry && known.failed);
      return unlessAborted(signal, (isUsable ? known : ask(key, name, isTrusted)).addresses);
    },
    close: () => resolver?.cancel(),
  };
}

/** Creates a resolver for the name servers of the system, or those set with `dns.setServers`. */
function newResolver(): dns.promises.Resolver {
  const resolver = new dns.promises.Resolver({ timeout: firstTry, tries: 2 });
  resolver.setServers(dns.getServers());
  return resolver;
}

// IPv4 comes first, because many machines cannot reach IPv6 addresses.
async function askServers(resolver: dns.promises.Resolver, name: string): Promise<readonly string[]> {
  const families = [resolver.resolve4(name), resolver.resolve6(name)];
  // After the answer for one address family, the other gets only a little longer: some servers never answer for IPv6.
  await Promise.any(families).catch(() => undefined);
  const results = await Promise.allSettled(families.map((family) => withTimeout(otherFamily, family)));
  const addresses = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  if (addresses.length > 0) return addresses;
  // A temporary failure is more informative than "no address" for the other family.
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  throw errors.find((error) => !isNotFound(error)) ?? errors[0];
}

function isNotFound(error: unknown): boolean {
  return ["ENOTFOUND", "ENODATA", "EBADNAME"].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? "");
}

// How long answers and failures are cached, in milliseconds.
const lifetime = 30_000;
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
