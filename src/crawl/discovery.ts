// Discovery: where the sitemaps of a website may be, in which order these candidates are tried, and what came of them: robots.txt, the links of
// the homepage, and then well-known paths, which are guesses.
import { type Candidate, candidatesFor, isGuess, nextNumbered } from "../discover/candidates.ts";
import { HomepageLinks } from "../discover/homepage-links.ts";
import { commonPaths } from "../discover/known-paths.ts";
import { PlatformHints } from "../discover/platforms.ts";
import type { DiscoveryRecord, UnreachableWebsite } from "../model/event.ts";
import { header } from "../model/exchange.ts";
import { hasNoResponse, isLossy, type Problem, ProblemLog, problem } from "../model/problem.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { isRobotsUnreachable } from "../model/status.ts";
import { atOrigin, movedOrigin } from "../model/url.ts";
import { OpenedDocument } from "../open/open-document.ts";
import { RobotsGroups } from "../parse/robots.ts";
import type { Crawl } from "./engine.ts";
import type { Frame, Missing } from "./frontier.ts";
import { type Document, pauseWhenDue } from "./read.ts";
import { type Followed, follow, followUnlessKnown, Hop } from "./redirects.ts";
import type { Reference, Visit } from "./visit.ts";

// How long robots.txt may take before the homepage is requested beside it, in milliseconds.
const homepageDelay = 5000;
// So many refusals that are alike, and nothing else, mean that the website blocks us: robots.txt, the homepage and the first guesses.
const alikeRefusals = 5;

export class Discovery {
  readonly records: DiscoveryRecord[] = [];
  /** Of the website as a whole. */
  readonly problems: ProblemLog = new ProblemLog();
  /** Those that were not tried yet. */
  candidates: Candidate[];
  /** Everything that is declared was read; well-known paths are left. */
  isGuessing = false;
  readonly #crawl: Crawl;
  #homepage: string;
  #answer: Promise<Followed> | undefined;
  #outcome: Followed | undefined;
  #links: Promise<void> | undefined;
  // The homepage, if it is an HTML page: what a guess finds there.
  #page: Missing | undefined;
  #timer: NodeJS.Timeout | undefined;
  // Whether it is known where well-known paths are asked for, and which are not: an earlier run had their answers.
  #isPlaced = false;
  #notAsked = new Set<string>();

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
      // A website that has refused everything so far is asked for one guess at a time.
      if (isGuess(candidate.by) && (!this.#isPlaced || this.#refusals > 0)) return;
      // Whether an `ifNeeded` candidate is needed is known once everything below robots.txt was read.
      if (!candidate.ifNeeded && !this.#isNotAsked(candidate.url)) yield candidate;
    }
  }

  /** The next candidate, once everything below the one before was read. Rejects when the crawl is aborted. */
  async next(root: Frame): Promise<(Candidate & Reference) | undefined> {
    const { rules, frontier } = this.#crawl;
    if (this.candidates[0]?.by !== "robots" && this.#usesHomepage) {
      await this.#readHomepage();
      // A guess that leads to the homepage need not request it again.
      if (this.#page !== undefined) frontier.abandon(this.#page);
    }
    if (isGuess(this.candidates[0]?.by)) await this.#settle(root);
    while (!this.#isStopped) {
      const candidate = this.candidates.shift();
      if (candidate === undefined) return undefined;
      const { url, by, ifNeeded } = candidate;
      // Paths of the caller's own are asked for in any case.
      if ((ifNeeded && hasReadable(root)) || (ifNeeded !== undefined && this.#refusals >= alikeRefusals)) {
        this.records.push({ url, by, outcome: "skipped" });
        continue;
      }
      if (by === "robots" && this.#triesHomepageEarly) {
        // Whoever needs the answer asks again, and gets the rejection.
        this.#timer = setTimeout(() => this.#askHomepage().catch(() => undefined), homepageDelay);
      }
      const isLeftOut = by === "known-path" && this.#isNotAsked(url);
      const isKnown = isLeftOut && frontier.isKnown(Hop.first(url, "sitemap", rules).key);
      return isLeftOut && !isKnown ? { ...candidate, notAsked: "guess" } : candidate;
    }
    return undefined;
  }

  /** A candidate was visited. */
  async took({ url, by, ifNeeded }: Candidate, { type, result }: Visit): Promise<void> {
    const { outcome, status, finalUrl = url, reason } = result;
    this.close();
    if (by === "robots") {
      // Where robots.txt got no answer, the homepage decides whether the website is down: then nothing else is requested.
      const isSilent = type === "omitted" && reason !== undefined && hasNoResponse(reason.code);
      if (isSilent && this.#triesHomepageEarly) await this.#askHomepage();
      // A robots.txt that came with status 200 has a node that says what is wrong with it.
      const facts = status === undefined || status < 300 ? {} : { status };
      const isUnreachable = isRobotsUnreachable(result);
      // One that was found was taken when it was read.
      const { robots } = this.#crawl;
      if (!robots.has(url)) robots.set(url, isUnreachable ? undefined : new RobotsGroups());
      if (isUnreachable) this.problems.add("robots-unreachable", facts);
    } else if (isGuess(by) && type === "omitted" && outcome === "failed") {
      this.problems.add("known-path-unreachable", { value: url });
    }
    this.records.push({ url, by, ...result });
    const next = outcome === "found" ? nextNumbered({ url, by, ifNeeded }) : undefined;
    if (next !== undefined) this.candidates.unshift(next);
    const isLast = this.candidates[0]?.by !== "robots";
    if (by === "robots" && isLast && !this.#isStopped) this.#beginHomepage(status === undefined ? url : finalUrl);
  }

  /** Why nothing could be read from the website, if so. A single answer that is not a refusal makes it reachable, even "not found". */
  unreachable(): UnreachableWebsite | undefined {
    const reasons: Problem[] = [];
    const outcomes = new Set<string>();
    for (const { outcome, status, reason } of this.#answers) {
      // A limit of ours says nothing about the website.
      const isFailure = outcome === "failed" || outcome === "blocked" || outcome === "refused";
      if (!isFailure || reason === undefined || reason.code.startsWith("limit-")) return undefined;
      // A document was received, even if its bytes cannot be read.
      if (outcome === "failed" && status === 200) return undefined;
      outcomes.add(outcome);
      reasons.push(reason);
    }
    const reason = mostFrequent(reasons);
    if (reason === undefined) return undefined;
    // A refusal alone is no loss: nothing says that there is a sitemap. Where there is nothing else, it is one.
    if (this.#crawl.start.sitemaps === undefined && this.problems.complete) this.problems.add("website-unreachable");
    const [outcome] = outcomes.size === 1 ? outcomes : ["failed"];
    return { outcome: outcome as UnreachableWebsite["outcome"], reason, documents: reasons.length };
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  // The result of everything that was asked for.
  get #answers(): readonly Omit<DiscoveryRecord, "by">[] {
    const asked = this.records.filter(({ outcome }) => outcome !== "skipped");
    return this.#outcome === undefined ? asked : [this.#outcome as Omit<DiscoveryRecord, "by">, ...asked];
  }

  // How many there were, if the website has refused everything in the same way.
  get #refusals(): number {
    const answers = this.#answers;
    const code = answers[0]?.reason?.code;
    return answers.every(({ outcome, reason }) => outcome === "blocked" && reason?.code === code) ? answers.length : 0;
  }

  get #usesHomepage(): boolean {
    const { start, settings } = this.#crawl;
    return start.sitemaps === undefined && settings.useHomepage && !this.#isStopped;
  }

  // Not where robots.txt has to be known first.
  get #triesHomepageEarly(): boolean {
    const { strictRobots, useCrawlDelay } = this.#crawl.settings;
    return this.#usesHomepage && !strictRobots && !useCrawlDelay;
  }

  // https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.4: "the crawler MUST assume complete disallow". With `strictRobots`.
  get #isStopped(): boolean {
    return this.#crawl.settings.strictRobots && this.problems.has("robots-unreachable");
  }

  // An archive also knows what its run did not request.
  #isNotAsked(url: string): boolean {
    const { store, source } = this.#crawl;
    return this.#notAsked.has(url) || (store ?? source).wasNotAsked?.(url) === true;
  }

  // Requests it once.
  #askHomepage(): Promise<Followed> {
    const { rules, fetch } = this.#crawl;
    this.#answer ??= follow(Hop.first(this.#homepage, "homepage", rules), fetch).then((answer) => {
      this.#outcome = answer;
      return answer;
    });
    return this.#answer;
  }

  // Beside the sitemaps of robots.txt, which was found at this URL.
  #beginHomepage(robots: string): void {
    const origin = this.#moveTo(robots);
    if (origin !== undefined) {
      // What was requested before does not count.
      this.#homepage = atOrigin(this.#homepage, origin);
      this.#answer = undefined;
    }
    if (!this.#usesHomepage) this.#isPlaced = this.#crawl.earlier === undefined;
    // A rejection reaches whoever asks for the next candidate.
    else this.#readHomepage().then(this.#crawl.lookAhead, () => undefined);
  }

  // Adds the sitemaps that it names, before the well-known paths.
  #readHomepage(): Promise<void> {
    this.#links ??= this.#findLinks();
    return this.#links;
  }

  async #findLinks(): Promise<void> {
    const { time, prefetcher, earlier, settings } = this.#crawl;
    const found = await this.#askHomepage();
    if (found.outcome === "found") {
      const { document, url, keys } = found;
      const { status } = document;
      const { useFeeds } = settings;
      const { candidates, isPage, paths } = await readHomepage(time.read(document), url, this.problems, useFeeds);
      if (paths !== undefined) {
        const chosen = candidatesFor(this.#homepage, settings, [...paths, ...commonPaths]);
        this.candidates = chosen.filter(({ by }) => by !== "robots");
      }
      this.#moveTo(url);
      await prefetcher.drop(document);
      const reason = problem("not-a-sitemap", { value: "html" });
      if (isPage) this.#page = { url, keys, outcome: "not-a-sitemap", status, reason };
      this.candidates.unshift(...candidates.filter(({ by }) => by !== "feed"));
      this.candidates.push(...candidates.filter(({ by }) => by === "feed"));
    } else {
      if (found.status !== undefined) this.#moveTo(found.url);
      const isUnreachable = found.outcome === "failed" && found.reason.code !== "archive-missing";
      if (isUnreachable) this.problems.add("homepage-unreachable");
    }
    this.#isPlaced = earlier === undefined;
  }

  // Where the website led to another origin of its own, its well-known paths are asked for there.
  #moveTo(place: string): string | undefined {
    const origin = movedOrigin(this.#homepage, place);
    if (origin === undefined) return undefined;
    this.candidates = this.candidates.map((candidate) =>
      isGuess(candidate.by) ? { ...candidate, url: atOrigin(candidate.url, origin) } : candidate,
    );
    return origin;
  }

  // Before the first well-known path. Most that led to no sitemap are not asked for again while the website is as it was: the same robots.txt, and a
  // sitemap wherever such a path led to one.
  async #settle(root: Frame): Promise<void> {
    const { earlier, rules, frontier } = this.#crawl;
    if (this.isGuessing) return;
    this.isGuessing = true;
    if (earlier?.isRobotsTheSame) {
      const hasSitemaps = hasReadable(root);
      const found: Hop[] = [];
      const notAsked = new Set<string>();
      for (const { url, by, ifNeeded } of this.candidates) {
        if (by !== "known-path" || (ifNeeded && hasSitemaps)) continue;
        const hop = Hop.first(url, "sitemap", rules);
        const hadSitemap = await earlier.hadSitemap(hop);
        if (hadSitemap && !frontier.isKnown(hop.key)) found.push(hop);
        if (hadSitemap === false) notAsked.add(url);
      }
      if (found.length === 0 ? hasSitemaps : await this.#areThere(found)) this.#notAsked = notAsked;
    }
    this.#isPlaced = true;
  }

  async #areThere(hops: readonly Hop[]): Promise<boolean> {
    const { frontier, prefetcher, time } = this.#crawl;
    if (frontier.exhausted() !== undefined) return false;
    for (const hop of hops) prefetcher.start(hop);
    const peek = (hop: Hop) => time.fetched(hop.request, prefetcher.peek(hop));
    const known = (hop: Hop) => frontier.isKnown(hop.key) || undefined;
    const ways = await Promise.all(hops.map((hop) => followUnlessKnown(hop, peek, known)));
    return ways.every(({ outcome }) => outcome === "found" || outcome === "known");
  }
}

// Whether a robots.txt names a sitemap that can be read. It is visited before every well-known path.
function hasReadable({ children }: Frame): boolean {
  const isReadable = ({ kind }: Sitemap) => kind !== "invalid";
  return children.some((each) => each.kind === "index" && each.format === "robots" && each.children.some(isReadable));
}

function mostFrequent(reasons: readonly Problem[]): Problem | undefined {
  const counts = new Map<string, number>();
  for (const { code } of reasons) counts.set(code, (counts.get(code) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return reasons.find(({ code }) => counts.get(code) === most);
}

// In bytes, decoded. Hardly any homepage has more, and most links are at its beginning.
const homepageLength = 10 * 1024 * 1024;
// In characters.
const startLength = 4096;
const pageStart = /^\s*(?:<!doctype\s+html[^>]*>\s*)?<html[\s>]/i;

// Adds to `problems` what was not read or not used. `isPage`: it is an HTML page without doubt, and so no sitemap. `paths`: those of its platform.
async function readHomepage({ headers, body, isCut }: Document, url: string, problems: ProblemLog, useFeeds: boolean) {
  const links = new HomepageLinks(url, problems);
  const hints = new PlatformHints(headers);
  links.addHeaders(headers);
  const isHtml = /html|^$/i.test(header(headers, "content-type") ?? "");
  if (!isHtml) return { candidates: links.candidates, isPage: false, paths: hints.paths };
  // Problems of the homepage itself do not matter here, unless they hide links.
  const wrong = new ProblemLog();
  const text = new OpenedDocument(body, { headers, maxBytes: homepageLength, encodingLayers: 3, problems: wrong });
  const html = links.html(hints, useFeeds);
  let start = "";
  for await (const piece of text) {
    html.write(piece.toString());
    if (start.length < startLength) start += piece.toString().slice(0, startLength);
    await pauseWhenDue();
    if (isCut?.()) break;
  }
  const why = text.refusal ?? body.problem ?? wrong.toArray().find(({ code }) => isLossy(code));
  html.end(why !== undefined);
  if (why !== undefined) problems.add("homepage-cut", { value: why.message });
  return { candidates: links.candidates, isPage: pageStart.test(start), paths: hints.paths };
}
