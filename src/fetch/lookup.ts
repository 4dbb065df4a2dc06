// Resolves names with the system's resolver (getaddrinfo), which knows hosts files, VPNs and multicast DNS. Caches successful lookups.
import dns from "node:dns";

/** Returns all addresses of a name, in the order in which to try them. Rejects with errors that have the codes of node:dns. */
export type Lookup = (hostName: string, options: LookupOptions) => Promise<readonly string[]>;

export interface LookupOptions {
  /** Whether the request is a retry, so that a cached result may be wrong. */
  readonly isRetry: boolean;
  /** Whether the caller gave this host, or allows private addresses everywhere. */
  readonly isTrusted: boolean;
  /** A signal that is aborted when nobody is waiting any longer. */
  readonly signal: AbortSignal;
}

/** Resolves a name, without a time limit. Replaced in tests. */
export type Resolve = (hostName: string) => Promise<readonly string[]>;

export function systemLookup(resolveName: Resolve = getaddrinfo, limit: number = longestLookup): Lookup {
  const answers = new Map<string, Promise<readonly string[]>>();
  return (hostName, { isRetry }) => {
    const known = isRetry ? undefined : answers.get(hostName);
    if (known !== undefined) return known;
    const answer = inTurn(hostName, resolveName, limit);
    answers.delete(hostName);
    answers.set(hostName, answer);
    const [oldest = ""] = answers.keys();
    if (answers.size > mostAnswers) answers.delete(oldest);
    // A retry may have replaced the failed lookup in the meantime.
    answer.catch(() => answers.get(hostName) === answer && answers.delete(hostName));
    return answer;
  };
}

const mostAnswers = 10_000;

// libuv lets lookups use only two of its four threads. A third lookup would wait there while its timeout runs.
const atATime = 2;
let running = 0;
const waiting: (() => void)[] = [];

async function inTurn(hostName: string, resolveName: Resolve, limit: number): Promise<readonly string[]> {
  if (running < atATime) running++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  const asked = resolveName(hostName).finally(() => {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  });
  return withTimeout(limit, asked);
}

/** Returns the promise's result, or rejects after `limit` milliseconds. */
export function withTimeout<T>(limit: number, promise: Promise<T>, sentence = "No answer"): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error(sentence), { code: "ETIMEOUT" })), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function getaddrinfo(hostName: string): Promise<readonly string[]> {
  const answers = await dns.promises.lookup(hostName, { all: true });
  return answers.map(({ address }) => address);
}

/** How long resolving a name may take, in milliseconds. It does not count toward `timeout.connect`, which is about the website. */
export const longestLookup = 10_000;
