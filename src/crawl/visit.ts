// Visits one reference: resolves it to a document, reads that, and reports the result. The result is a finished sitemap, an
// index whose children are to be visited, or nothing (for example, for a guess without a sitemap).
import { isGuess } from "../discover/candidates.ts";
import { defined } from "../model/defined.ts";
import { documentKey, type Fetched, header } from "../model/exchange.ts";
import { isComplete, isLossy, type Problem, problem } from "../model/problem.ts";
import {
  type InvalidSitemap,
  isReadSitemap,
  problemsOf,
  type Sitemap,
  type SitemapReference,
} from "../model/sitemap.ts";
import { isRobotsUnreachable } from "../model/status.ts";
import { bareHost, parseUrl } from "../model/url.ts";
import { RobotsGroups } from "../parse/robots.ts";
import { type Content, readContent } from "./content.ts";
import type { CrawlContext } from "./context.ts";
import {
  type CandidateResult,
  type Declaration,
  frameOf,
  type Measurements,
  type Missing,
  nothingRead,
  type Visit,
} from "./frame.ts";
import { rulesIn } from "./host-robots.ts";
import type { Prefetcher } from "./prefetch.ts";
import type { Reading } from "./read.ts";
import { type FoundDocument, follow, Hop, refusedByName, responseOf } from "./redirects.ts";

/** What is known about a document that was read: its measurements, and whether its `start` event was sent. */
interface ReadState extends Pick<Content, "started"> {
  readonly measurements: Measurements;
}

export class Visitor {
  /** Whether there was no loss so far. */
  complete = true;
  /** Sitemaps that could be read, at least in part. */
  readable = 0;
  invalid = 0;
  /** The rules of each robots.txt that was visited, by URL; undefined if they are unknown. */
  readonly robots: Map<string, RobotsGroups | undefined> = new Map();
  readonly #context: CrawlContext;
  readonly #prefetcher: Prefetcher;
  readonly #fetch: (hop: Hop) => Promise<Fetched>;
  readonly #homeHost: string;
  // Sitemaps in place of a robots.txt.
  readonly #ignored: { readonly url: string; readonly reading: Reading }[] = [];
  // Documents that were read before their visit, by URL; undefined once they were visited.
  readonly #contents = new Map<string, Promise<Content> | undefined>();

  /** `fetch` returns the response for one hop, or a failure if the time limit is reached. */
  constructor(context: CrawlContext, prefetcher: Prefetcher, fetch: (hop: Hop) => Promise<Fetched>) {
    this.#context = context;
    this.#prefetcher = prefetcher;
    this.#fetch = fetch;
    this.#homeHost = bareHostOf(context.start.homepage);
  }

  async visit(entry: Declaration): Promise<Visit> {
    const visit = await this.#visit(entry);
    // If robots.txt was found, its rules were recorded when it was read.
    if (entry.by === "robots" && !this.robots.has(entry.url))
      this.robots.set(entry.url, isRobotsUnreachable(visit.result) ? undefined : new RobotsGroups());
    return visit;
  }

  async #visit(entry: Declaration): Promise<Visit> {
    const { budget, visited, rules, omitMissing } = this.#context;
    const isRobots = entry.by === "robots";
    const first = Hop.first(entry.url, isRobots ? "robots" : "sitemap", rules);
    const refusal = (hop: Hop, depth: number | undefined): Problem | undefined => {
      if (visited.isAncestor(hop)) return problem("cycle");
      // Redirects use no budget, and a document that was read before its visit was already counted.
      const isCounted = hop !== first || budget.unreserve(hop.key);
      return (isCounted ? undefined : budget.exhausted(1, depth)) ?? refusedByName(hop.url);
    };
    const known = (hop: Hop): { node: Sitemap } | { missing: Missing } | undefined => {
      // A redirect of robots.txt leads to robots.txt, even if its target was declared as a sitemap.
      if (isRobots && hop !== first) return undefined;
      const node = visited.sitemapAt(hop);
      const missing = visited.missingAt(hop.key, isOptional(entry));
      const seen = node ? { node } : missing && { missing: { ...missing, keys: [first.key] } };
      // A guess at a known URL does not use any budget.
      if (seen !== undefined && hop === first && isOptional(entry)) return seen;
      const reason = isRobots ? undefined : refusal(hop, node ? undefined : entry.parent.depth + 1);
      const url = hop === first ? rules.rewritten(entry.url) : hop.url;
      return reason === undefined ? seen : { missing: { url, keys: [], outcome: "refused", reason } };
    };
    const followed = await follow(first, this.#fetch, known);
    if ("node" in followed) return this.#repeated(entry, followed.node);
    if ("missing" in followed) return this.#missing(entry, followed.missing);
    if (followed.outcome === "found") return this.#document(followed, entry);
    const { reason } = followed;
    if (reason.code === "archive-missing" && (omitMissing || isOptional(entry))) {
      // If another tool did not save robots.txt, what it declares is unknown.
      return { type: "omitted", result: { outcome: isRobots && !omitMissing ? "failed" : "absent", reason } };
    }
    return this.#missing(entry, reason.code === "not-a-sitemap" ? { ...followed, outcome: reason.code } : followed);
  }

  /** The URLs of sitemaps in place of a robots.txt that list what no other sitemap lists. */
  get ignored(): string[] {
    const { identities } = this.#context;
    return this.#ignored.filter(({ reading }) => identities.find(reading) === undefined).map(({ url }) => url);
  }

  /** Reports a sitemap that cannot be read, and why. */
  async invalidAt(
    entry: Declaration,
    { url, reason, keys, response }: Pick<Missing, "url" | "reason" | "keys" | "response">,
    content?: ReadState,
  ): Promise<InvalidSitemap> {
    const node: InvalidSitemap = { kind: "invalid", ...this.#declared(entry, url), reason };
    const depth = entry.parent.depth + 1;
    if (!content?.started) await this.#context.emit({ type: "start", url, depth });
    await this.#finish(node, depth, keys, content?.measurements ?? { ...nothingRead, ...defined({ response }) });
    return node;
  }

  /** Emits the events of a finished sitemap: its problems, then the sitemap itself. */
  async report(sitemap: Sitemap, depth: number, measurements: Measurements): Promise<void> {
    if (sitemap.kind === "invalid") this.invalid += sitemap.reason.count ?? 1;
    else if (isReadSitemap(sitemap)) this.readable += 1;
    const problems = problemsOf(sitemap);
    this.complete &&= isComplete(problems);
    for (const problem of problems) await this.#context.emit({ type: "problem", url: sitemap.url, problem });
    await this.#context.emit({ type: "sitemap", sitemap, depth, ...measurements });
  }

  /** Reads a document before its visit. Returns undefined if it was already read or visited. */
  readEarly(found: FoundDocument, entry: Declaration): Promise<Content> | undefined {
    const key = documentKey({ url: found.url });
    if (this.#contents.has(key)) return undefined;
    const content = readContent(this.#context, found, entry);
    this.#contents.set(key, content);
    return content;
  }

  #contentOf(found: FoundDocument, entry: Declaration): Promise<Content> {
    if (!this.#context.readsEarly || entry.by === "robots") return readContent(this.#context, found, entry);
    const key = documentKey({ url: found.url });
    const early = this.#contents.get(key);
    this.#contents.set(key, undefined);
    return early ?? readContent(this.#context, found, entry);
  }

  async #document(found: FoundDocument, entry: Declaration): Promise<Visit> {
    const { budget, visited, rules, identities } = this.#context;
    const { url, keys, document } = found;
    const { parent } = entry;
    const content = await this.#contentOf(found, entry);
    const { reading, outcome, cut, pageCount, started, sameAs, listed, next } = content;
    this.#prefetcher.drop(found);
    // If the document was read early after this visit began, its place in the budget is still reserved.
    for (const key of keys) budget.unreserve(key);
    const result: CandidateResult = { outcome: "found", status: document.status, ...movedTo(entry.url, url) };
    if (sameAs !== undefined) {
      visited.finishAs(sameAs, keys);
      return { type: "omitted", result: { ...result, outcome: "duplicate", sameAs } };
    }
    const measurements = measured(found, reading);
    if (outcome.kind === "invalid" && reading.outcome.kind !== "invalid") this.#ignored.push({ url, reading });
    if (outcome.kind === "invalid") return this.#unreadable(found, entry, outcome.reason, { measurements, started });
    if (content.isReported) identities.add(url, reading, pageCount);
    if (!started) await this.#context.emit({ type: "start", url, depth: parent.depth + 1 });
    const problems = [...found.problems, ...reading.problems, ...(cut === undefined ? [] : [cut])];
    const declared = { ...this.#declared(entry, url), complete: isComplete(problems), problems };
    if (outcome.kind === "pages") {
      const { kind, format } = outcome;
      const node = { kind, format, ...declared, pageCount };
      await this.#finish(node, parent.depth + 1, keys, measurements);
      // Skips a feed page that was already read, which would be a loop, but not one where a guess failed: that page is now declared.
      const hop = next && Hop.first(next.url, "sitemap", rules);
      const isNew = hop !== undefined && !visited.isAncestor(hop) && visited.sitemapAt(hop) === undefined;
      return { type: "node", node, result, next: isNew ? next : undefined };
    }
    if (entry.by === "robots") await this.#applyCrawlDelay(reading, url);
    else budget.spendSitemaps(1);
    if (reading.robots) for (const each of [entry.url, url]) this.robots.set(each, rulesIn(reading));
    // An index that also lists pages gets a child for them, at the same URL.
    const losses = problems.filter(({ code }) => isLossy(code));
    const own: Sitemap[] =
      pageCount === 0 ? [] : [{ kind: "pages", format: "xml", ...declared, problems: losses, pageCount }];
    const frame = frameOf({ ...outcome, ...declared }, { parent, keys, ...listed, children: own, measurements });
    return { type: "frame", frame, result };
  }

  // Handles a document that was received, but cannot be read as a sitemap or robots.txt.
  #unreadable(found: FoundDocument, entry: Declaration, reason: Problem, content: ReadState): Promise<Visit> {
    const { url, keys, document } = found;
    const { status } = document;
    const isRobots = entry.by === "robots";
    // A document that is not a robots.txt may still be a sitemap, under the URL that robots.txt redirected to.
    const known = isRobots ? keys.slice(0, 1) : keys;
    const failed: Missing = { url, keys: known, outcome: "failed", status, reason, ...content.measurements };
    // A page in place of robots.txt means that there is none. Binary data may be a robots.txt that was compressed or damaged.
    const isDamaged = isRobots && (reason.value === "binary" || reason.value === "archive");
    const isOther = reason.code === "not-a-sitemap" || reason.code === "empty";
    const isNone = (isOther && !isDamaged) || this.#isLinkToPage(entry, failed);
    return this.#missing(entry, isNone ? { ...failed, outcome: "not-a-sitemap" } : failed, content);
  }

  // Applies the Crawl-delay or, if it is longer than `delay`, reports that it is ignored: only as an event, because the document is fine.
  async #applyCrawlDelay(reading: Reading, url: string): Promise<void> {
    const { settings, sources } = this.#context;
    // A replay sends no requests.
    const limit = sources.fetcher && reading.robots?.delayFor(settings.userAgent);
    if (limit === undefined) return;
    if (settings.useCrawlDelay) sources.fetcher?.setCrawlDelay(url, limit);
    else if (limit > settings.delay.milliseconds)
      await this.#context.emit({ type: "problem", url, problem: problem("crawl-delay", { limit }) });
  }

  // A sitemap that was visited before gets another node, but is not fetched again, and its pages are not reported again.
  async #repeated(entry: Declaration, known: Sitemap): Promise<Visit> {
    const { budget, visited } = this.#context;
    const { parent, by, continues } = entry;
    const result: CandidateResult = { outcome: "duplicate", ...movedTo(entry.url, known.url) };
    // Where a feed goes on is unknown if its next page redirects to one that was read.
    if (continues !== undefined && documentKey(entry) !== documentKey(known)) {
      const reason = problem("feed-next", { value: `${entry.url} redirects to a page that was already read` });
      return this.#missing(entry, { url: known.url, keys: [], outcome: "failed", reason });
    }
    // Sitemaps declared twice are shown twice; candidates of discovery that are already known are not.
    if (continues !== undefined || (by !== undefined && by !== "given")) return { type: "omitted", result };
    const reason = budget.exhausted(visited.sizeOf(known));
    if (reason !== undefined) return this.#missing(entry, { url: known.url, keys: [], outcome: "refused", reason });
    const depth = parent.depth + 1;
    const { declaredUrl: _, lastModified: __, ...rest } = known;
    const node = { ...rest, ...this.#declared(entry, known.url) } as Sitemap;
    await this.#context.emit({ type: "start", url: node.url, depth });
    await this.#finish(node, depth, [], nothingRead);
    return { type: "node", node, result };
  }

  // Handles a URL without a sitemap. If it was declared, a node says why; many that are refused for the same reason share one. A guess gets
  // no node, unless its document is damaged, but is remembered, so that it is not requested again.
  async #missing(entry: Declaration, missing: Missing, content?: ReadState): Promise<Visit> {
    const { url, outcome, status, reason } = missing;
    const result: CandidateResult = { outcome, ...defined({ status }), ...movedTo(entry.url, url), reason };
    const isRead = content !== undefined && outcome === "failed";
    if ((isOptional(entry) && !isRead) || this.#isLinkToPage(entry, missing)) {
      this.#context.visited.abandon(missing);
      return { type: "omitted", result };
    }
    if (outcome === "refused" && entry.by === undefined && !this.#context.budget.mayShowRefused()) {
      const { refusals } = entry.parent;
      const alike = refusals.get(reason.code);
      if (alike === undefined) refusals.set(reason.code, { entry, reason, count: 1 });
      else alike.count += 1;
      return { type: "omitted", result };
    }
    return { type: "node", node: await this.invalidAt(entry, missing, content), result };
  }

  // Whether the homepage's `rel="sitemap"` link leads back to the homepage, or to another HTML page, which is a sitemap for people.
  #isLinkToPage(
    { by, isForPrograms }: Declaration,
    { outcome, keys, reason: { code, value }, response }: Missing,
  ): boolean {
    if ((by !== "homepage-link" && by !== "homepage-header") || outcome === "blocked" || isForPrograms) return false;
    if (code === "not-a-sitemap" && value === "html") return true;
    const isHtml = response?.status === 200 && /html/i.test(header(response.headers, "content-type") ?? "");
    if (isHtml && this.#context.visited.isHomepage(keys)) return true;
    // A document with one of these problems may still be a sitemap.
    return isHtml && !/^(?:coding|charset|limit|body|timeout|xml)-/.test(code);
  }

  // Records and reports a finished sitemap, which has no children to visit.
  #finish(node: Sitemap, depth: number, keys: readonly string[], measurements: Measurements): Promise<void> {
    const { budget, visited } = this.#context;
    // A sitemap and everything below it count each time it is declared, even if it is refused. Otherwise a few documents that list each
    // other could become a huge tree.
    budget.spendSitemaps(visited.sizeOf(node));
    visited.finish(node, keys);
    return this.report(node, depth, measurements);
  }

  // Returns the fields that all kinds of nodes share.
  #declared(reference: SitemapReference, url: string) {
    // `startsWith` recognizes most sitemaps of the homepage's host without parsing their URLs.
    const isAtHome = url.startsWith(this.#context.start.homepage) || bareHostOf(url) === this.#homeHost;
    const declaredUrl = reference.url === url ? undefined : reference.url;
    const offHost = isAtHome ? undefined : (true as const);
    return { url, ...defined({ declaredUrl, lastModified: reference.lastModified, offHost }) };
  }
}

// Whether no sitemap was declared there, so that a failure usually leaves no node.
function isOptional({ by }: Declaration): boolean {
  return by === "robots" || isGuess(by);
}

// Returns the URL of a document after redirects, if it differs from the declared one.
function movedTo(declared: string, url: string): { finalUrl?: string } {
  return declared === url ? {} : { finalUrl: url };
}

function measured({ document, hops }: FoundDocument, { wireBytes, decodedBytes, charset }: Reading): Measurements {
  const { attempts, duration = document.duration } = document.body.end;
  const response = { ...responseOf(document, hops), ...defined({ attempts, duration, charset }) };
  return { wireBytes, decodedBytes, response };
}

function bareHostOf(url: string): string {
  return bareHost(parseUrl(url)?.host ?? "");
}
