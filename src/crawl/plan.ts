// Decides what a crawl does next, in declared order: robots.txt and everything below it, then the homepage's links, then well-known paths,
// which are guesses; below each index depth first. The plan does no I/O: the engine does the steps and reports their results, so the plan
// depends on what was found, not on what arrived first.
import { type Candidate, candidatesBeyond, candidatesFor, isGuess, nextNumbered } from "../discover/candidates.ts";
import { defined } from "../model/defined.ts";
import type { DiscoveryRecord, UnreachableWebsite } from "../model/event.ts";
import { type Problem, ProblemLog, problem } from "../model/problem.ts";
import { type IndexSitemap, protocolEntries, type Sitemap, type SitemapReference } from "../model/sitemap.ts";
import { isRobotsUnreachable } from "../model/status.ts";
import { atOrigin, movedOrigin } from "../model/url.ts";
import type { CrawlContext } from "./context.ts";
import { type Declaration, type Frame, frameOf, type Visit } from "./frame.ts";
import type { HomepageContent } from "./homepage.ts";
import { type Followed, Hop, refusedByName } from "./redirects.ts";

export type Step =
  /** Visit a reference. `needsFetch`: it is a candidate that is not known yet, to be requested before others are prefetched. */
  | { readonly type: "visit"; readonly entry: Declaration; readonly needsFetch: boolean }
  /** Discovery needs the homepage to go on. */
  | { readonly type: "homepage" }
  /** Add one node for all children that are left when a budget is used up, or that were refused for the same reason. */
  | { readonly type: "cut"; readonly entry: Declaration; readonly reason: Problem }
  /** Finish an index: no more of its children are to be visited. */
  | { readonly type: "leave"; readonly node: IndexSitemap; readonly frame: Frame };

// If the first requests, for robots.txt, the homepage and guesses, are all refused in the same way, this many refusals mean that the website
// blocks us.
const alikeRefusals = 5;
// How many references of an index are examined for prefetching at a time, because an index may have a million.
const mostAtOnce = 1024;

export class Plan {
  readonly root: Frame;
  readonly records: DiscoveryRecord[] = [];
  /** Problems of the whole website. */
  readonly problems: ProblemLog = new ProblemLog();
  /** The current URL of the homepage. Redirects of robots.txt and of the homepage may change it. */
  homepage: string;
  readonly #context: CrawlContext;
  // The indexes whose children are being visited, from the outermost to the innermost. Not recursion, because a website chooses the depth.
  readonly #stack: Frame[] = [];
  // Indexes that were read before their visit, so that their references may be prefetched, too.
  readonly #earlyFrames = new Set<Frame>();
  // The next page of the feed that was visited last.
  #nextPage: Declaration | undefined;
  // Each robots.txt that has not been read yet.
  readonly #robots: Candidate[] = [];
  // The given sitemaps, or the candidates after robots.txt, that have not been tried yet. The latter are known once the homepage is.
  #candidates: Candidate[] = [];
  // Well-known paths that are not those of the website's CMS. They are tried if nothing else is found.
  #unlikely: Candidate[] = [];
  // `later`: a robots.txt may still redirect, and so show where the homepage is. `due`: the homepage can be requested. `done`: its result
  // is known, or it is not needed.
  #homepageState: "later" | "due" | "done";
  #homepageResult: Followed | undefined;
  // The URL of the homepage, if that is a sitemap.
  #ignored: string | undefined;
  // Whether the first guess was reached: all that remain are guesses, and feeds that the homepage links to.
  #isGuessing = false;

  constructor(context: CrawlContext) {
    const { start, settings, problems = [] } = context;
    this.#context = context;
    this.homepage = start.homepage;
    this.root = frameOf({ kind: "index", format: "website", url: start.homepage, complete: true, problems: [] });
    for (const each of problems) this.problems.addProblem(each);
    if (start.sitemaps === undefined) {
      this.#robots.push(...candidatesFor(start.homepage, settings).filter(({ by }) => by === "robots"));
      this.#homepageState = this.#robots.length > 0 ? "later" : "due";
    } else {
      this.#candidates = start.sitemaps.map((url) => ({ url, by: "given" }));
      this.#homepageState = "done";
    }
  }

  /** Whether the homepage can be requested, although it may not be needed yet. */
  get isHomepageDue(): boolean {
    return this.#homepageState === "due";
  }

  /** Whether `strictRobots` ends the crawl: https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.4 ("MUST assume complete disallow"). */
  get isStopped(): boolean {
    return this.#context.settings.strictRobots && this.problems.has("robots-unreachable");
  }

  /** Returns the next step, or undefined at the end. The result of the previous step must have been reported. */
  next(): Step | undefined {
    const nextPage = this.#nextPage;
    this.#nextPage = undefined;
    if (nextPage !== undefined && !this.#context.budget.isEnough)
      return { type: "visit", entry: nextPage, needsFetch: false };
    const frame = this.#stack.at(-1);
    return frame === undefined ? this.#nextCandidate() : this.#nextBelow(frame);
  }

  /** Calls `start` with what to prefetch, about in the order of the visits, until it returns false. A spare fetch must not delay others. */
  lookAhead(start: (entry: Declaration, isSpare: boolean) => boolean): void {
    const { budget } = this.#context;
    if (budget.isEnough || budget.exhausted() !== undefined) return;
    for (const frame of [...this.#stack.toReversed(), ...this.#earlyFrames]) {
      if (!this.#lookBelow(frame, start)) return;
      this.#earlyFrames.delete(frame);
    }
    if (this.#robots.length > 0) return;
    for (const candidate of this.#candidates) {
      const { by, ifNeeded } = candidate;
      const isGuessed = isGuess(by);
      // If the website has refused all requests so far, it gets one guess at a time.
      if (isGuessed && this.#refusals > 0) return;
      // Whether `ifNeeded` candidates are needed is known only after everything below robots.txt has been read.
      if (ifNeeded) continue;
      // Guesses must not delay declared sitemaps, and are not needed if those use up the budget for pages.
      const isSpare = isGuessed && !(this.#isGuessing && this.#stack.length === 0);
      if (isSpare && budget.pagesLeft < protocolEntries) return;
      if (!start({ ...candidate, parent: this.root }, isSpare)) return;
    }
  }

  /** Adds references that became known before the visit of their index, so that they may be prefetched, too. */
  addEarly(frame: Frame): void {
    this.#earlyFrames.add(frame);
  }

  /** Records the result of a visit. */
  recordVisit(entry: Declaration, visit: Visit): void {
    const { parent, by } = entry;
    if (by !== undefined) this.#recordCandidate({ ...entry, by }, visit);
    if (visit.type === "node") {
      parent.children.push(visit.node);
      const { next } = visit;
      if (next !== undefined && !this.#declares(parent, next.url)) this.#nextPage = { ...next, parent };
    } else if (visit.type === "frame") {
      this.#stack.push(visit.frame);
      this.#context.visited.enter(visit.frame);
    }
  }

  // Whether the parent of a feed also declares its next page, and so visits it anyway. A guess does not count: its absence is no loss.
  #declares(parent: Frame, url: string): boolean {
    if (parent !== this.root) return parent.references.some((each) => each.url === url);
    return this.#candidates.some((each) => each.url === url && !isGuess(each.by));
  }

  /** Records the homepage, or that it was not requested or not found, and determines the candidates after robots.txt. */
  recordHomepage(
    followed?: Followed,
    content: HomepageContent = { links: [], paths: undefined, isHtml: false, isSitemap: false },
  ): void {
    this.#homepageState = "done";
    this.#homepageResult = followed;
    if (followed?.outcome === "found" || followed?.status !== undefined) this.#moveTo(followed.url);
    if (followed !== undefined && followed.outcome !== "found") {
      const { outcome, status, reason } = followed;
      // Whether a blocked homepage is a loss is decided at the end.
      const isKnown = outcome === "absent" || outcome === "blocked" || reason.code === "archive-missing";
      if (!isKnown) this.problems.add("homepage-unreachable", defined({ status }));
    }
    const { links, paths, isSitemap } = content;
    if (isSitemap && followed !== undefined) this.#ignored = followed.url;
    const { candidates, unlikely } = candidatesBeyond(this.homepage, this.#context.settings, links, paths);
    this.#candidates = candidates;
    this.#unlikely = unlikely;
  }

  /**
   * Ends the plan, after everything was visited. `ignored` are sitemaps that were found in place of a robots.txt. Returns why nothing could
   * be read from the website, or undefined if it is reachable. Any document makes it reachable, and so does "not found".
   */
  finish(ignored: readonly string[] = []): UnreachableWebsite | undefined {
    const homepage = this.#homepageResult;
    if (homepage?.outcome === "blocked") {
      // Many websites let programs read robots.txt and what it declares, but not their pages.
      const code = this.#declaresReadable ? "homepage-blocked" : "homepage-unreachable";
      this.problems.add(code, defined({ status: homepage.status }));
    }
    this.#reportCutSearch();
    this.#reportIgnored(ignored);
    return this.#unreachable();
  }

  // If nothing was found, and a limit ended the search, what the website declares is unknown. If something was found, paths that were not
  // tried are no loss, because nothing is declared there.
  #reportCutSearch(): void {
    if (this.#hasReadable) return;
    const cut = this.records.find(({ by, reason }) => isGuess(by) && reason?.code.startsWith("limit-"))?.reason;
    if (cut !== undefined) this.problems.add(cut.code, defined({ limit: cut.limit }));
  }

  // Reports sitemaps in place of robots.txt or the homepage, which are not read there, unless they were read elsewhere.
  #reportIgnored(robots: readonly string[]): void {
    const { budget, visited, rules } = this.#context;
    const home = this.#ignored;
    const isRead = home !== undefined && visited.sitemapAt(Hop.first(home, "sitemap", rules)) !== undefined;
    const all = home === undefined || isRead ? robots : [...robots, home];
    if (!budget.isEnough) for (const value of all) this.problems.add("sitemap-ignored", { value });
  }

  #unreachable(): UnreachableWebsite | undefined {
    const reasons: Problem[] = [];
    const outcomes = new Set<UnreachableWebsite["outcome"]>();
    for (const { outcome, status, reason } of this.#answers) {
      // A request that our own limits prevented says nothing about the website.
      const isFailure = outcome === "failed" || outcome === "blocked" || outcome === "refused";
      if (!isFailure || reason === undefined || reason.code.startsWith("limit-")) return undefined;
      // A document was received, even if its bytes cannot be read.
      if (outcome === "failed" && status === 200) return undefined;
      outcomes.add(outcome);
      reasons.push(reason);
    }
    const [reason] = reasons;
    if (reason === undefined) return undefined;
    // A refused guess is a loss only if nothing else was found, because no sitemap was declared there.
    const isSaid = this.problems.has("robots-unreachable") || this.#homepageResult?.outcome === "failed";
    if (this.#context.start.sitemaps === undefined && !isSaid) this.problems.add("website-unreachable");
    const [outcome = "failed", other] = outcomes;
    return { outcome: other === undefined ? outcome : "failed", reason, documents: reasons.length };
  }

  #nextBelow(frame: Frame): Step {
    const { time, budget, visited, rules } = this.#context;
    const reference = frame.references[frame.next];
    const [counted] = reference === undefined ? frame.refusals.values() : [];
    if (counted !== undefined) {
      const { entry, reason, count } = counted;
      frame.refusals.delete(reason.code);
      return { type: "cut", entry, reason: count === 1 ? reason : { ...reason, count } };
    }
    if (reference === undefined || budget.isEnough) {
      this.#stack.pop();
      const node: IndexSitemap = { ...frame.node, children: frame.children };
      visited.leave(frame, node);
      frame.parent?.children.push(node);
      return { type: "leave", node, frame };
    }
    const entry = { ...reference, parent: frame };
    const spent = time.exhausted() ?? budget.exhausted() ?? budget.exhaustedUrls(frame);
    // References whose documents were read early are still visited, because their pages were already reported.
    const isRead = ({ url }: SitemapReference) => budget.isReserved(Hop.first(url, "sitemap", rules).key);
    if (spent === undefined || isRead(reference)) {
      frame.next += 1;
      return { type: "visit", entry, needsFetch: false };
    }
    const rest = frame.references.slice(frame.next);
    const read = rest.filter(isRead);
    const { code, limit } = spent;
    const count = rest.length - read.length + frame.unlisted;
    frame.references = read;
    frame.next = 0;
    frame.unlisted = 0;
    frame.withinBudget = read.length;
    return { type: "cut", entry, reason: problem(code, defined({ limit, count: count > 1 ? count : undefined })) };
  }

  // Returns the next step of discovery, after everything below the previous candidate has been read.
  #nextCandidate(): Step | undefined {
    if (this.isStopped || this.#context.budget.isEnough) return undefined;
    const robots = this.#nextRobots();
    if (robots !== undefined) return this.#visitOf(robots);
    if (this.#homepageState !== "done") return { type: "homepage" };
    this.#isGuessing ||= isGuess(this.#candidates[0]?.by);
    for (;;) {
      const candidate = this.#candidates.shift() ?? (this.#hasReadable ? undefined : this.#unlikely.shift());
      if (candidate === undefined || !this.#isSkipped(candidate)) return candidate && this.#visitOf(candidate);
      this.records.push({ url: candidate.url, by: candidate.by, outcome: "skipped" });
    }
  }

  // Skips a robots.txt that was already visited, directly or by a redirect.
  #nextRobots(): Candidate | undefined {
    const isKnown = (robots: string) => this.records.some(({ url, finalUrl }) => url === robots || finalUrl === robots);
    for (;;) {
      const candidate = this.#robots.shift();
      if (candidate === undefined || !isKnown(candidate.url)) return candidate;
    }
  }

  // Candidates without `ifNeeded`, such as the caller's paths, are not skipped.
  #isSkipped({ ifNeeded }: Candidate): boolean {
    return (ifNeeded === true && this.#declaresReadable) || (ifNeeded !== undefined && this.#refusals >= alikeRefusals);
  }

  #visitOf(candidate: Candidate): Step {
    const { budget, visited, rules } = this.#context;
    const isKnown = visited.isKnown(Hop.first(candidate.url, "sitemap", rules).key);
    // robots.txt needs no head start, because hardly anything can be prefetched before it has been read.
    const needsFetch = candidate.by !== "robots" && budget.exhausted() === undefined && !isKnown;
    return { type: "visit", entry: { ...candidate, parent: this.root }, needsFetch };
  }

  #recordCandidate({ url, by, ifNeeded }: Candidate, { type, result }: Visit): void {
    const { outcome, status, finalUrl = url, reason } = result;
    // The archive has the document, but its bytes are damaged.
    const isDamaged = type === "omitted" && reason?.code === "archive-digest";
    if (isDamaged) this.problems.add("archive-digest", { value: url });
    if (by === "robots") {
      // With a status below 300, the content is the problem, and its node in the tree says why.
      const isError = status !== undefined && status >= 300;
      if (isRobotsUnreachable(result)) this.problems.add("robots-unreachable", isError ? { status } : {});
    } else if (isGuess(by) && type === "omitted" && outcome === "failed" && !isDamaged) {
      this.problems.add("known-path-unreachable", { value: url });
    }
    this.records.push({ url, by, ...result });
    const next = outcome === "found" ? nextNumbered({ url, by, ifNeeded }) : undefined;
    if (next !== undefined) this.#candidates.unshift(next);
    if (by !== "robots" || this.#robots.length > 0 || this.#homepageState !== "later") return;
    // Once the homepage is requested, its redirects decide where the website is.
    this.#moveTo(status === undefined ? url : finalUrl);
    this.#homepageState = "due";
  }

  // Prefetches references of one index. Returns false if more of them are to be started later.
  #lookBelow(frame: Frame, start: (entry: Declaration, isSpare: boolean) => boolean): boolean {
    if (frame.depth > this.#context.settings.limits.depth) return true;
    frame.prefetched = Math.max(frame.prefetched, frame.next);
    const end = Math.min(frame.references.length, frame.withinBudget);
    for (const reference of frame.references.slice(frame.prefetched, Math.min(frame.prefetched + mostAtOnce, end))) {
      if (refusedByName(reference.url) === undefined && !start({ ...reference, parent: frame }, false)) break;
      frame.prefetched += 1;
    }
    return frame.prefetched >= end;
  }

  // If the website redirected to another of its origins, its homepage, robots.txt and well-known paths are requested there.
  #moveTo(url: string): void {
    const origin = movedOrigin(this.homepage, url);
    if (origin === undefined) return;
    this.homepage = atOrigin(this.homepage, origin);
    if (this.#context.settings.useRobots) this.#robots.push({ url: `${origin}/robots.txt`, by: "robots" });
  }

  // The results of all requests for discovery so far.
  get #answers(): readonly Omit<DiscoveryRecord, "by">[] {
    const asked = this.records.filter(({ outcome }) => outcome !== "skipped");
    return this.#homepageResult === undefined ? asked : [this.#homepageResult as Omit<DiscoveryRecord, "by">, ...asked];
  }

  // The number of refusals, if the website has refused every request in the same way; otherwise 0.
  get #refusals(): number {
    const answers = this.#answers;
    const code = answers[0]?.reason?.code;
    return answers.every(({ outcome, reason }) => outcome === "blocked" && reason?.code === code) ? answers.length : 0;
  }

  // Whether robots.txt declares a sitemap that could be read.
  get #declaresReadable(): boolean {
    return this.root.children.some((each) => isRobots(each) && isReadable(each));
  }

  get #hasReadable(): boolean {
    return this.root.children.some(isReadable);
  }
}

function isReadable(sitemap: Sitemap): boolean {
  return isRobots(sitemap) ? sitemap.children.some(isReadable) : sitemap.kind !== "invalid";
}

function isRobots(sitemap: Sitemap): sitemap is IndexSitemap {
  return sitemap.kind === "index" && sitemap.format === "robots";
}
