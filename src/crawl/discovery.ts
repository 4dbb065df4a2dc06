// Discovery: where the sitemaps of a website may be, in which order these candidates are tried, and the results. First robots.txt, then
// the homepage's links, then well-known paths, which are guesses.
import { type Candidate, candidatesFor, isGuess, nextNumbered } from "../discover/candidates.ts";
import { HomepageLinks } from "../discover/homepage-links.ts";
import { commonPaths } from "../discover/known-paths.ts";
import { PlatformHints } from "../discover/platforms.ts";
import { defined } from "../model/defined.ts";
import type { DiscoveryRecord, UnreachableWebsite } from "../model/event.ts";
import { header } from "../model/exchange.ts";
import { isLossy, type Problem, ProblemLog } from "../model/problem.ts";
import type { IndexSitemap, Sitemap } from "../model/sitemap.ts";
import { isRobotsUnreachable } from "../model/status.ts";
import { atOrigin, movedOrigin } from "../model/url.ts";
import { OpenedDocument } from "../open/open-document.ts";
import { RobotsGroups } from "../parse/robots.ts";
import type { Crawl } from "./engine.ts";
import type { Frame } from "./frontier.ts";
import { type Document, pauseWhenDue } from "./read.ts";
import { type Followed, follow, Hop } from "./redirects.ts";
import type { Reference, Visit } from "./visit.ts";

// This many identical refusals, and nothing else, mean that the website blocks us: for robots.txt, the homepage and the first guesses.
const alikeRefusals = 5;

export class Discovery {
  readonly records: DiscoveryRecord[] = [];
  /** Problems of the whole website. */
  readonly problems: ProblemLog = new ProblemLog();
  /** Candidates that have not been tried yet. */
  candidates: Candidate[];
  // Well-known paths that the website's CMS does not use: tried if nothing else is found.
  #others: Candidate[] = [];
  /** Everything that is declared was read; well-known paths are left. */
  isGuessing = false;
  readonly #crawl: Crawl;
  #homepage: string;
  #outcome: Followed | undefined;
  #links: Promise<void> | undefined;
  // Whether the origin for well-known paths is final, and which paths an earlier run did not find.
  #isPlaced = false;
  readonly #absent = new Set<string>();

  constructor(crawl: Crawl) {
    const { start, settings, problems = [] } = crawl;
    this.#crawl = crawl;
    this.#homepage = start.homepage;
    this.candidates = start.sitemaps?.map((url) => ({ url, by: "given" })) ?? candidatesFor(start.homepage, settings);
    for (const each of problems) this.problems.addProblem(each);
  }

  /** What may be prefetched. */
  *upcoming(): Generator<Candidate> {
    for (const candidate of this.candidates) {
      if (candidate.by === "robots") return;
      // If the website has refused all requests so far, it gets one guess at a time.
      if (isGuess(candidate.by) && (!this.#isPlaced || this.#refusals > 0)) return;
      // Once everything below robots.txt was read, it is known whether `ifNeeded` candidates are needed.
      const isAsked = !this.#absent.has(candidate.url) && !this.#wasNotAsked(candidate.url);
      if (isAsked && !candidate.ifNeeded) yield candidate;
    }
  }

  /** The next candidate, once everything below the previous one was read. Rejects when the crawl is aborted. */
  async next(root: Frame): Promise<(Candidate & Reference) | undefined> {
    const { rules, frontier, prefetcher } = this.#crawl;
    if (this.candidates[0]?.by !== "robots") await this.#readHomepage();
    if (isGuess(this.candidates[0]?.by)) await this.#settle();
    while (!this.#isStopped) {
      const candidate = this.candidates.shift() ?? (root.children.some(isReadable) ? undefined : this.#others.shift());
      if (candidate === undefined) return undefined;
      const { url, by, ifNeeded } = candidate;
      // The caller's paths are always requested.
      if (
        (ifNeeded && root.children.some((each) => isRobots(each) && isReadable(each))) ||
        (ifNeeded !== undefined && this.#refusals >= alikeRefusals)
      ) {
        this.records.push({ url, by, outcome: "skipped" });
        continue;
      }
      // Until a sitemap is found, everything is requested.
      const isAbsent = this.#absent.has(url) && root.children.some(isReadable);
      const isLeftOut = by === "known-path" && (isAbsent || this.#wasNotAsked(url));
      const isKnown = frontier.isKnown(Hop.first(url, "sitemap", rules).key);
      const notAsked = isLeftOut && !isKnown ? "guess" : undefined;
      const hop = Hop.first(url, by === "robots" ? "robots" : "sitemap", rules, notAsked);
      if (frontier.exhausted() === undefined && !isKnown) prefetcher.start(hop);
      return { ...candidate, notAsked };
    }
    return undefined;
  }

  /** A candidate was visited. */
  took({ url, by, ifNeeded }: Candidate, { type, result }: Visit): void {
    const { outcome, status, finalUrl = url, reason } = result;
    // It was there, but the archive is damaged.
    const isDamaged = type === "omitted" && reason?.code === "archive-digest";
    if (isDamaged) this.problems.add("archive-digest", { value: url });
    if (by === "robots") {
      // A robots.txt with status 200 has a node with its problems.
      const facts = status === undefined || status < 300 ? {} : { status };
      const isUnreachable = isRobotsUnreachable(result);
      // A robots.txt that was found was already taken when it was read.
      const { robots } = this.#crawl;
      if (!robots.has(url)) robots.set(url, isUnreachable ? undefined : new RobotsGroups());
      if (isUnreachable) this.problems.add("robots-unreachable", facts);
    } else if (isGuess(by) && type === "omitted" && outcome === "failed" && !isDamaged) {
      this.problems.add("known-path-unreachable", { value: url });
    }
    this.records.push({ url, by, ...result });
    const next = outcome === "found" ? nextNumbered({ url, by, ifNeeded }) : undefined;
    if (next !== undefined) this.candidates.unshift(next);
    // Once the homepage is requested, it decides where the website is.
    if (by !== "robots" || this.candidates[0]?.by === "robots" || this.#links !== undefined) return;
    this.#moveTo(status === undefined ? url : finalUrl);
    // In parallel with the sitemaps of robots.txt. A rejection reaches the caller of `next`.
    this.#readHomepage().then(this.#crawl.lookAhead, () => undefined);
  }

  /** Why nothing could be read from the website; undefined if it is reachable. A single response that is not a refusal, even "not found", is enough. */
  unreachable(): UnreachableWebsite | undefined {
    const reasons: Problem[] = [];
    const outcomes = new Set<UnreachableWebsite["outcome"]>();
    for (const { outcome, status, reason } of this.#answers) {
      // Our own limits say nothing about the website.
      const isFailure = outcome === "failed" || outcome === "blocked" || outcome === "refused";
      if (!isFailure || reason === undefined || reason.code.startsWith("limit-")) return undefined;
      // A document was received, even if its bytes cannot be read.
      if (outcome === "failed" && status === 200) return undefined;
      outcomes.add(outcome);
      reasons.push(reason);
    }
    const [reason] = reasons;
    if (reason === undefined) return undefined;
    // A refused guess is not a loss, since no sitemap was declared there, unless nothing else was found.
    const isSaid = this.problems.has("robots-unreachable") || this.#outcome?.outcome === "failed";
    if (this.#crawl.start.sitemaps === undefined && !isSaid) this.problems.add("website-unreachable");
    const [outcome = "failed", other] = outcomes;
    return { outcome: other === undefined ? outcome : "failed", reason, documents: reasons.length };
  }

  // The results of all requests.
  get #answers(): readonly Omit<DiscoveryRecord, "by">[] {
    const asked = this.records.filter(({ outcome }) => outcome !== "skipped");
    return this.#outcome === undefined ? asked : [this.#outcome as Omit<DiscoveryRecord, "by">, ...asked];
  }

  // The number of refusals, if the website has refused every request in the same way.
  get #refusals(): number {
    const answers = this.#answers;
    const code = answers[0]?.reason?.code;
    return answers.every(({ outcome, reason }) => outcome === "blocked" && reason?.code === code) ? answers.length : 0;
  }

  // https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.4: "the crawler MUST assume complete disallow". With `strictRobots`.
  get #isStopped(): boolean {
    return this.#crawl.settings.strictRobots && this.problems.has("robots-unreachable");
  }

  // An archive records what its run did not request.
  #wasNotAsked(url: string): boolean {
    const { store, source } = this.#crawl;
    return (store ?? source).wasNotAsked?.(url) === true;
  }

  // Reads the homepage once. Adds its sitemap links before the well-known paths, and its feeds after them.
  #readHomepage(): Promise<void> {
    this.#links ??= this.#findLinks();
    return this.#links;
  }

  async #findLinks(): Promise<void> {
    const { start, settings, rules, fetch, time, prefetcher, earlier } = this.#crawl;
    if (start.sitemaps === undefined && settings.useHomepage && !this.#isStopped) {
      const found = await follow(Hop.first(this.#homepage, "homepage", rules), fetch);
      this.#outcome = found;
      if (found.outcome === "found") {
        const { document, url } = found;
        const { links, paths } = await readHomepage(time.read(document), url, this.problems, settings.useFeeds);
        prefetcher.drop(found);
        if (paths !== undefined) {
          const chosen = candidatesFor(this.#homepage, settings, [...paths, ...commonPaths]);
          this.#others = this.candidates.filter(({ url }) => !chosen.some((each) => each.url === url));
          this.candidates = chosen.filter(({ by }) => by !== "robots");
        }
        const guessedFeed = this.candidates.findIndex(({ by }) => by === "feed");
        this.candidates.splice(guessedFeed, 0, ...links.filter(({ isFeed }) => isFeed));
        this.candidates.unshift(...links.filter(({ isFeed }) => !isFeed));
        this.#moveTo(url);
      } else {
        if (found.status !== undefined) this.#moveTo(found.url);
        const isAbsent = found.outcome === "absent" || found.reason.code === "archive-missing";
        if (!isAbsent) this.problems.add("homepage-unreachable", defined({ status: found.status }));
      }
    }
    this.#isPlaced = earlier === undefined;
  }

  // If the website redirected to another of its origins, its homepage, robots.txt and well-known paths are requested there.
  #moveTo(place: string): void {
    const origin = movedOrigin(this.#homepage, place);
    if (origin === undefined) return;
    const moved = (candidate: Candidate) =>
      isGuess(candidate.by) ? { ...candidate, url: atOrigin(candidate.url, origin) } : candidate;
    this.#homepage = atOrigin(this.#homepage, origin);
    this.candidates = this.candidates.map(moved);
    this.#others = this.#others.map(moved);
    const robots = `${origin}/robots.txt`;
    const isKnown = this.records.some(({ url, finalUrl }) => url === robots || finalUrl === robots);
    if (this.#crawl.settings.useRobots && !isKnown) this.candidates.unshift({ url: robots, by: "robots" });
  }

  // Called before the first well-known path.
  async #settle(): Promise<void> {
    const { earlier, rules } = this.#crawl;
    if (this.isGuessing) return;
    this.isGuessing = true;
    for (const { url, by } of earlier === undefined ? [] : this.candidates) {
      const request = by === "known-path" ? Hop.first(url, "sitemap", rules).request : undefined;
      if (request !== undefined && (await earlier?.isAbsent(request))) this.#absent.add(url);
    }
    this.#isPlaced = true;
  }
}

function isReadable(sitemap: Sitemap): boolean {
  return isRobots(sitemap) ? sitemap.children.some(isReadable) : sitemap.kind !== "invalid";
}

function isRobots(sitemap: Sitemap): sitemap is IndexSitemap {
  return sitemap.kind === "index" && sitemap.format === "robots";
}

// In bytes, decoded. Hardly any homepage has more, and most links are at its beginning.
const homepageLength = 10 * 1024 * 1024;

// Reports what was not read or not used. `paths`: those of its CMS.
async function readHomepage({ headers, body, isCut }: Document, url: string, problems: ProblemLog, useFeeds: boolean) {
  const links = new HomepageLinks(url, problems);
  const hints = new PlatformHints(headers);
  links.addHeaders(headers);
  if (/html|^$/i.test(header(headers, "content-type") ?? "")) {
    // Problems of the homepage itself do not matter here, unless they hide links.
    const wrong = new ProblemLog();
    const text = new OpenedDocument(body, { headers, maxBytes: homepageLength, encodingLayers: 3, problems: wrong });
    const html = links.html(hints, useFeeds);
    for await (const piece of text) {
      html.write(piece.toString());
      await pauseWhenDue();
      if (isCut?.()) break;
    }
    const why = text.refusal ?? body.problem ?? wrong.toArray().find(({ code }) => isLossy(code));
    html.end(why !== undefined);
    if (why !== undefined) problems.add("homepage-cut", { value: why.message });
  }
  return { links: links.candidates, paths: hints.paths };
}
