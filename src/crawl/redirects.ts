// Follows redirects, one hop at a time. Decides how many hops are allowed, what is a loop, for which URLs the result is valid, and whether
// the caller's headers may be sent.
import { staysOnWebsite } from "../fetch/request-headers.ts";
import { defined } from "../model/defined.ts";
import {
  type DocumentRequest,
  type DocumentRole,
  type DocumentSource,
  documentKey,
  type FailedFetch,
  type FailureOutcome,
  type Fetched,
  type FetchedDocument,
  type FetchedRedirect,
  type HeaderList,
  header,
  type RedirectHop,
  type SitemapResponse,
} from "../model/exchange.ts";
import type { AllLimits } from "../model/options.ts";
import { isRefused, type Problem, problem } from "../model/problem.ts";
import { notSitemap } from "../model/problem-log.ts";
import { isBelow, type Rewrite, rewriteUnlessTarget } from "../model/rewrite.ts";
import { isRobotsUrl, parseUrl, resolveUrl, withoutCredentials } from "../model/url.ts";
import { Cookies } from "./cookies.ts";

export interface FollowRules {
  readonly limits: Pick<AllLimits, "redirects" | "robotsRedirects" | "urlLength">;
  /** Whether a request without the caller's headers may get a different response. */
  readonly variesByCredentials: (url: string) => boolean;
  /** The cookies set by the responses so far. */
  readonly cookies: Cookies;
  /** Returns the URL to fetch: if the crawl started below the target of a `rewrite`, the rewritten one. */
  readonly rewritten: (url: string) => string;
}

/** Makes the rules for these start URLs and this source. */
export function followRules(
  limits: FollowRules["limits"],
  startUrls: readonly string[],
  source: Pick<DocumentSource, "variesByCredentials">,
  rewrite: Rewrite = [],
): FollowRules {
  const cookies = new Cookies(startUrls);
  const isStart = (prefix: string) => startUrls.some((url) => isBelow(withoutCredentials(url), prefix));
  const pairs = rewrite.filter(([, to]) => isStart(to));
  const variesByCredentials = (url: string) => source.variesByCredentials?.(url) === true;
  return { limits, variesByCredentials, cookies, rewritten: (url) => rewriteUnlessTarget(url, pairs) };
}

/** The result of following redirects from a URL. `keys` are the keys of the URLs that this result is valid for. */
export type Followed = FoundDocument | FollowFailure;

export interface FoundDocument {
  readonly outcome: "found";
  readonly document: FetchedDocument;
  readonly request: DocumentRequest;
  /** Where the document was found. */
  readonly url: string;
  readonly keys: readonly string[];
  /** Problems with the redirects on the way. */
  readonly problems: readonly Problem[];
  readonly hops: readonly RedirectHop[];
}

export interface FollowFailure {
  readonly outcome: FailureOutcome;
  /** The URL that failed. */
  readonly url: string;
  readonly keys: readonly string[];
  readonly status?: number;
  readonly reason: Problem;
  /** The response; absent if no request was sent, or if a redirect was not followed. */
  readonly response?: SitemapResponse | undefined;
}

// How often a chain that sets cookies may return to one of its URLs, and continue as if it were there for the first time.
const mostReturns = 3;

/** How a hop was reached. */
interface Chain {
  readonly role: DocumentRole;
  readonly rules: FollowRules;
  /** The hops before this one with the status of their redirects, first to last, and the problems on the way. */
  readonly before: readonly { readonly hop: Hop; readonly status: number }[];
  readonly problems: readonly Problem[];
  /** Whether no hop has left the website. Once one has, another website may have chosen the URL, so the caller's headers are not sent. */
  readonly isTrusted: boolean;
  /** How often the chain returned to a URL, and whether a cookie was set since the last return. */
  readonly returns: number;
  readonly setsCookie: boolean;
}

/** One step of a redirect chain: a URL, and how it was reached. */
export class Hop {
  readonly url: string;
  readonly #chain: Chain;
  #key: string | undefined;

  private constructor(url: string, chain: Chain) {
    this.url = url;
    this.#chain = chain;
  }

  static first(url: string, role: DocumentRole, rules: FollowRules): Hop {
    // A fragment is a position inside a document, so it is removed.
    const [document = url] = url.split("#", 1);
    const nothing = { before: [], problems: [], isTrusted: true, returns: 0, setsCookie: false };
    return new Hop(rules.rewritten(withoutCredentials(document)), { role, rules, ...nothing });
  }

  get request(): DocumentRequest {
    const { url } = this;
    const { role, rules, before, returns } = this.#chain;
    const again = returns === 0 ? undefined : returns;
    const anonymous = this.#isAnonymous || undefined;
    const cookie = anonymous ? undefined : () => rules.cookies.headerFor(url);
    const isRedirected = before.length + returns > 0;
    return { url, role, isRedirected, ...defined({ cookie, anonymous, again }) };
  }

  /** A key that is equal for hops that lead to the same document. */
  get key(): string {
    this.#key ??= documentKey({ url: this.url, anonymous: this.#isAnonymous });
    return this.#key;
  }

  /** The key to look up documents that were already read. They are not requested again, whether credentials are sent or not. */
  get readKey(): string {
    return this.#isAnonymous ? documentKey({ url: this.url }) : this.key;
  }

  /** Returns the next hop, or why the redirect is not followed. */
  next({ status, headers }: FetchedRedirect): Hop | FollowFailure {
    const { url } = this;
    const { role, rules, before, returns, ...chain } = this.#chain;
    const { limits } = rules;
    const redirect = redirectTarget(headers, url, limits.urlLength);
    if ("code" in redirect) return this.#fail(isRefused(redirect.code) ? "refused" : "failed", redirect, status);
    const limit = role === "robots" ? limits.robotsRedirects : limits.redirects;
    // The limit counts from the first URL, so the result is valid only for that one.
    if (before.length >= limit)
      return { ...this.#fail("failed", problem("limit-redirects", { limit }), status), keys: [this.#first.key] };
    const target = new URL(rules.rewritten(redirect.target.href));
    const from = parseUrl(url);
    const problems = [...chain.problems, ...(redirect.problem === undefined ? [] : [redirect.problem])];
    if (from?.protocol === "https:" && target.protocol === "http:")
      problems.push(problem("redirect-downgrade", { value: target.href }));
    const next = new Hop(target.href, {
      ...this.#chain,
      before: [...before, { hop: this, status }],
      problems,
      isTrusted: chain.isTrusted && keepsTrust(url, target.href),
      setsCookie: chain.setsCookie || (rules.cookies.accepts(url) && header(headers, "set-cookie") !== undefined),
    });
    const passed = [...before.map(({ hop }) => hop), this].find(({ key }) => key === next.key);
    if (passed === undefined) return next;
    // Repeats the step with the cookies set since. Archives keep the last response per URL, so a replay ends at the same document.
    if (next.#chain.setsCookie && returns < mostReturns)
      return new Hop(next.url, { ...passed.#chain, returns: returns + 1, setsCookie: false });
    // The redirects form a loop. A chain from a different start might leave it, so the result is valid only for the first URL.
    const { url: start, key } = this.#first;
    return { outcome: "failed", url: start, keys: [key], reason: problem("redirect-loop", { value: passed.url }) };
  }

  /** Ends the chain with a response that is not a redirect. */
  end(fetched: Exclude<Fetched, FetchedRedirect>): Followed {
    const { before, problems } = this.#chain;
    const { url } = this;
    const hops = before.map(({ hop, status }) => ({ url: hop.url, status }));
    if (fetched.outcome === "found")
      return { outcome: "found", document: fetched, request: this.request, url, keys: this.#keys, problems, hops };
    const response = fetched.attempts === 0 ? undefined : responseOf(fetched, hops);
    return { ...this.#fail(fetched.outcome, fetched.reason, fetched.status), response };
  }

  #fail(outcome: FailureOutcome, reason: Problem, status: number | undefined): FollowFailure {
    return { outcome, url: this.url, keys: this.#keys, ...defined({ status }), reason };
  }

  get #isAnonymous(): boolean {
    const { rules, isTrusted } = this.#chain;
    return !isTrusted && rules.variesByCredentials(this.url);
  }

  get #first(): Hop {
    return this.#chain.before[0]?.hop ?? this;
  }

  get #keys(): string[] {
    return [...new Set([this.#first.key, this.key])];
  }
}

/** Requests the hops of a chain from `source`, and keeps the cookies of the responses. */
export function hopsFrom(source: Pick<DocumentSource, "fetch">, { cookies }: FollowRules, signal?: AbortSignal) {
  return async ({ request }: Hop): Promise<Fetched> => {
    const fetched = await source.fetch({ ...request, signal });
    cookies.store(fetched);
    return fetched;
  };
}

/**
 * Follows redirects from a URL to its document. `known` is called before each hop, and ends the chain if it returns a result. `fetch`
 * requests the hop, and may reject.
 */
export async function follow<Known = never>(
  first: Hop,
  fetch: (hop: Hop) => Promise<Fetched>,
  known: (hop: Hop) => Known | undefined = () => undefined,
): Promise<Followed | Known> {
  for (let hop = first; ; ) {
    const there = known(hop);
    if (there !== undefined) return there;
    const fetched = await fetch(hop);
    if (fetched.outcome !== "redirect") return hop.end(fetched);
    const next = hop.next(fetched);
    if (!(next instanceof Hop)) return next;
    hop = next;
  }
}

/** Whether a redirect stays on its website. Otherwise another website has chosen the target, so the caller's headers are not sent there. */
export function keepsTrust(from: string, to: string): boolean {
  const [source, target] = [parseUrl(from), parseUrl(to)];
  return source !== null && target !== null && staysOnWebsite(source, target);
}

/** Returns why a URL cannot be a sitemap, if its name shows that: a robots.txt must not be listed in a sitemap. */
export function refusedByName(url: string): Problem | undefined {
  return isRobotsUrl(url) ? notSitemap("robots.txt") : undefined;
}

/** Returns the details of a response, without its document. */
export function responseOf(
  { status, headers = [], attempts, receivedAt, revalidatedAt, firstByte, obtained }: FetchedDocument | FailedFetch,
  hops: readonly RedirectHop[],
): SitemapResponse {
  const reused = obtained === "fetched" ? undefined : obtained;
  const times = defined({ receivedAt, revalidatedAt, firstByte });
  return { ...defined({ status }), headers, hops, attempts, ...times, ...defined({ obtained: reused }) };
}

/**
 * Returns the target of the first `Location` header, without credentials and fragment, and what is wrong with it; or why there is none.
 * https://www.rfc-editor.org/rfc/rfc9110#name-redirection-3xx
 */
export function redirectTarget(
  headers: HeaderList,
  base: string,
  maxLength: number,
): { readonly target: URL; readonly problem?: Problem } | Problem {
  const location = header(headers, "location");
  if (location === undefined) return problem("redirect-invalid", { value: "none" });
  const text = utf8(location.trim());
  // An empty Location is a relative reference to the document itself.
  const { url, problem: code } = text === "" ? { url: base } : resolveUrl(text, base, maxLength);
  if (url === undefined) {
    const value = withoutCredentials(text);
    return problem(code === "url-scheme" ? "scheme-refused" : "redirect-invalid", { value });
  }
  const target = Object.assign(parseUrl(url) as URL, { username: "", password: "", hash: "" });
  return notAscii.test(text) ? { target, problem: problem("redirect-encoding", { value: target.href }) } : { target };
}

// Lenient: bytes above 127 are not allowed in a URL, but websites send them, in UTF-8 as browsers expect it.
function utf8(latin1: string): string {
  if (!notAscii.test(latin1)) return latin1;
  const text = Buffer.from(latin1, "latin1").toString("utf8");
  return text.includes("\ufffd") ? latin1 : text;
}

const notAscii = /[^\x00-\x7f]/;
