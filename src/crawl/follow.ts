// Follows redirects, one hop at a time: which URLs name the same document, what is a loop, how many hops are allowed, what
// may be sent where, and when a hop leads to something that is known already. Everybody else knows single answers only.
// Nothing here depends on what arrived first: hops are fetched ahead, but walked in declared order.
import {
  type DocumentRequest,
  type DocumentRole,
  documentKey,
  type FailedFetch,
  type FailureOutcome,
  type Fetched,
  type FetchedDocument,
  type FetchedRedirect,
  type NotAsked,
} from "../exchange.ts";
import type { Limits } from "../options.ts";
import { type Problem, problem } from "../problem.ts";
import type { RedirectHop, SitemapResponse } from "../response.ts";
import { parseUrl, withoutCredentials } from "../url.ts";
import { redirectTarget } from "./redirect-target.ts";

export interface FollowRules {
  readonly limits: Pick<Limits, "redirects" | "robotsRedirects" | "urlLength">;
  /** The origins that the operator named: what the operator supplied is sent to them and nowhere else. */
  readonly startOrigins: ReadonlySet<string>;
  /** Whether an anonymous request for this URL may get another answer. */
  readonly tellsApart: (url: string) => boolean;
}

/** What the redirects from a URL led to. `keys` are those of the URLs for which this holds from now on. */
export type Followed<Known> = FoundDocument | FollowFailure | { readonly outcome: "known"; readonly known: Known };

export interface FoundDocument {
  readonly outcome: "found";
  readonly document: FetchedDocument;
  /** Where the document was found. */
  readonly url: string;
  readonly keys: readonly string[];
  /** What is worth saying about the way there. */
  readonly problems: readonly Problem[];
  readonly hops: readonly RedirectHop[];
}

export interface FollowFailure {
  readonly outcome: FailureOutcome;
  /** Where it went wrong. */
  readonly url: string;
  readonly keys: readonly string[];
  readonly status?: number;
  readonly reason: Problem;
  /** How the failure came, where something was asked. */
  readonly response?: SitemapResponse | undefined;
}

/** A URL on the way from the first one to a document. */
export class Hop {
  readonly url: string;
  readonly role: DocumentRole;
  readonly #rules: FollowRules;
  readonly #before: Hop | undefined;
  readonly #hops: number;
  readonly #problems: readonly Problem[];
  // Answers of an earlier run count on the whole way.
  readonly #notAsked: NotAsked | undefined;
  // The status of the redirect that led here.
  readonly #status: number;
  #key: string | undefined;

  private constructor(
    url: string,
    before: Hop | undefined,
    role: DocumentRole,
    rules: FollowRules,
    problems: Problem[],
    notAsked: NotAsked | undefined,
    status = 0,
  ) {
    this.url = url;
    this.role = role;
    this.#rules = rules;
    this.#before = before;
    this.#hops = before === undefined ? 0 : before.#hops + 1;
    this.#problems = problems;
    this.#notAsked = notAsked;
    this.#status = status;
  }

  static first(url: string, role: DocumentRole, rules: FollowRules, notAsked?: NotAsked): Hop {
    // What follows # names a place inside of a document.
    const [document = url] = url.split("#", 1);
    return new Hop(withoutCredentials(document), undefined, role, rules, [], notAsked);
  }

  get request(): Omit<DocumentRequest, "signal"> {
    const { url, role } = this;
    return {
      url,
      role,
      ...(this.#hops > 0 ? { isRedirected: true } : {}),
      ...(this.#isAnonymous ? { anonymous: true } : {}),
      ...(this.#notAsked === undefined ? {} : { notAsked: this.#notAsked }),
    };
  }

  /** Equal for hops that lead to the same document. */
  get key(): string {
    this.#key ??= documentKey({ url: this.url, anonymous: this.#isAnonymous });
    return this.#key;
  }

  /** What is worth saying about the way so far. */
  get problems(): readonly Problem[] {
    return this.#before === undefined ? this.#problems : [...this.#before.problems, ...this.#problems];
  }

  /** The redirects on the way so far. */
  get hops(): readonly RedirectHop[] {
    const before = this.#before;
    return before === undefined ? [] : [...before.hops, { url: before.url, status: this.#status }];
  }

  /** Where a redirect leads from here, or why it does not. */
  next({ status, headers }: FetchedRedirect): Hop | FollowFailure {
    const { limits } = this.#rules;
    const redirect = redirectTarget(headers, this.url, limits.urlLength);
    if ("code" in redirect) {
      return this.#fail(redirect.code === "scheme-refused" ? "refused" : "failed", redirect, status);
    }
    const limit = this.role === "robots" ? limits.robotsRedirects : limits.redirects;
    if (this.#hops >= limit) {
      // Too many from the first URL need not be too many from this one.
      return { ...this.#fail("failed", problem("limit-redirects", { limit }), status), keys: [this.#first.key] };
    }
    const { target } = redirect;
    const problems = redirect.problem === undefined ? [] : [redirect.problem];
    if (parseUrl(this.url)?.protocol === "https:" && target.protocol === "http:") {
      problems.push(problem("redirect-downgrade", { value: target.href }));
    }
    const next = new Hop(target.href, this, this.role, this.#rules, problems, this.#notAsked, status);
    const passed = this.#passed(next.key);
    if (passed === undefined) return next;
    // A circle ends nowhere.
    const { url, key } = this.#first;
    return { outcome: "failed", url, keys: [key], reason: problem("redirect-loop", { value: passed.url }) };
  }

  /** What an answer that is no redirect means for the whole way. */
  end(fetched: Exclude<Fetched, FetchedRedirect>): FoundDocument | FollowFailure {
    const { url, hops, problems } = this;
    if (fetched.outcome !== "found") {
      return { ...this.#fail(fetched.outcome, fetched.reason, fetched.status), response: responseOf(fetched, hops) };
    }
    return { outcome: "found", document: fetched, url, keys: this.#ends, problems, hops };
  }

  #fail(outcome: FailureOutcome, reason: Problem, status: number | undefined): FollowFailure {
    return { outcome, url: this.url, keys: this.#ends, ...(status === undefined ? {} : { status }), reason };
  }

  // Whether everything up to here belongs to one origin of the start. What left it does not come back: whoever it went
  // through may have chosen where to.
  get #isTrusted(): boolean {
    if (this.#before === undefined) return this.#rules.startOrigins.has(originOf(this.url));
    return originOf(this.#before.url) === originOf(this.url) && this.#before.#isTrusted;
  }

  get #isAnonymous(): boolean {
    if (this.#before === undefined || !this.#rules.startOrigins.has(originOf(this.url))) return false;
    return this.#rules.tellsApart(this.url) && !this.#isTrusted;
  }

  get #first(): Hop {
    return this.#before === undefined ? this : this.#before.#first;
  }

  get #ends(): string[] {
    return [...new Set([this.#first.key, this.key])];
  }

  // The earliest hop to this document so far.
  #passed(key: string): Hop | undefined {
    const earlier = this.#before === undefined ? undefined : this.#before.#passed(key);
    return earlier ?? (this.key === key ? this : undefined);
  }
}

/**
 * Walks from a URL to its document. `fetch` answers for one hop; `known` is asked before each, and ends the walk where it
 * knows what is there. Rejects with what `fetch` rejects with.
 */
export async function follow<Known>(
  first: Hop,
  fetch: (hop: Hop) => Promise<Fetched>,
  known: (hop: Hop) => Known | undefined,
): Promise<Followed<Known>> {
  for (let hop = first; ; ) {
    const there = known(hop);
    if (there !== undefined) return { outcome: "known", known: there };
    const fetched = await fetch(hop);
    if (fetched.outcome !== "redirect") return hop.end(fetched);
    const next = hop.next(fetched);
    if (!(next instanceof Hop)) return next;
    hop = next;
  }
}

// Where nothing was asked, there is nothing to say.
function responseOf(failed: FailedFetch, hops: readonly RedirectHop[]): SitemapResponse | undefined {
  const { status, headers = [], attempts, receivedAt, firstByte } = failed;
  if (attempts === 0) return undefined;
  return {
    ...(status === undefined ? {} : { status }),
    headers,
    hops,
    attempts,
    ...(receivedAt === undefined ? {} : { receivedAt }),
    ...(firstByte === undefined ? {} : { firstByte }),
  };
}

function originOf(url: string): string {
  return parseUrl(url)?.origin ?? "";
}
