// The homepage of a website: fetched once, beside the sitemaps of robots.txt, and read for the sitemaps that it names, in its headers and in
// a limited part of its text. If robots.txt does not answer, it is requested early, to find out whether the whole website is down.
import type { Candidate } from "../discover/candidates.ts";
import { HomepageLinks } from "../discover/homepage-links.ts";
import { HtmlLinks, looksLikeHtml } from "../discover/html-links.ts";
import { addLinksInHeaders } from "../discover/link-header.ts";
import { header } from "../model/exchange.ts";
import { isLossy, type Problem, ProblemLog, problem } from "../model/problem.ts";
import { openDocument } from "../open/open-document.ts";
import type { Crawl } from "./engine.ts";
import { answeredAt, type Followed, follow, Hop } from "./follow.ts";
import type { Abandoned } from "./frontier.ts";
import { type Document, pauseWhenDue } from "./read.ts";

// How long robots.txt may take before the homepage is requested beside it, in milliseconds. One after the other would
// take too long if neither answers.
const homepageDelay = 5000;
// In bytes, decoded. Hardly any homepage has more, and most links are at its beginning.
const readLength = 10 * 1024 * 1024;
// In characters.
const startLength = 4096;
const pageStart = /^\s*(?:<!doctype\s+html[^>]*>\s*)?<html[\s>]/i;

/** What a homepage is and names, and the problems with reading it. */
export interface LinksFound {
  readonly candidates: readonly Candidate[];
  /** The URL that answered. */
  readonly place: string;
  /** If it is an HTML page: what a guess finds there. */
  readonly page?: Abandoned | undefined;
  readonly problems: readonly Problem[];
  readonly isUnreachable: boolean;
}

export class Homepage {
  readonly #crawl: Crawl;
  #url: string;
  #result: Promise<Followed<never>> | undefined;
  #outcome: Followed<never> | undefined;
  #links: Promise<LinksFound> | undefined;

  constructor(crawl: Crawl) {
    this.#crawl = crawl;
    this.#url = crawl.start.homepage;
  }

  get url(): string {
    return this.#url;
  }

  /** The website is at another origin. What was requested before does not count. */
  moveTo(url: string): void {
    this.#url = url;
    this.#result = undefined;
    this.#links = undefined;
  }

  /** The result, if it was requested. */
  get outcome(): Followed<never> | undefined {
    return this.#outcome;
  }

  /** Rejects when the crawl is aborted. */
  get(): Promise<Followed<never>> {
    this.#result ??= this.#follow();
    return this.#result;
  }

  /** Starts after a delay, unless the returned function is called first. */
  beginLater(): () => void {
    const timer = setTimeout(() => {
      // `get` is called again by whoever needs the result, and rejects there.
      this.get().catch(() => undefined);
    }, homepageDelay);
    return () => clearTimeout(timer);
  }

  /** Read once. Rejects when the crawl is aborted. */
  links(): Promise<LinksFound> {
    this.#links ??= this.#read();
    return this.#links;
  }

  async #read(): Promise<LinksFound> {
    const { time, prefetcher } = this.#crawl;
    const found = await this.get();
    const isUnreachable = found.outcome === "failed" && found.reason.code !== "archive-missing";
    const place = answeredAt(found) ?? this.#url;
    if (found.outcome !== "found") return { candidates: [], place, problems: [], isUnreachable };
    const { document, url, keys } = found;
    const problems = new ProblemLog();
    const { candidates, isPage } = await readHomepage(time.read(document), url, problems);
    await prefetcher.drop(document);
    const reason = problem("not-a-sitemap", { value: "html" });
    const page = { url, keys, result: { outcome: "not-a-sitemap", status: document.status, reason } } as const;
    return { candidates, place, ...(isPage && { page }), problems: problems.toArray(), isUnreachable };
  }

  async #follow(): Promise<Followed<never>> {
    const { rules, fetch } = this.#crawl;
    this.#outcome = await follow<never>(Hop.first(this.#url, "homepage", rules), fetch, () => undefined);
    return this.#outcome;
  }
}

// Adds to `problems` what was not read or not used. `isPage`: it is an HTML page without doubt, and so no sitemap.
async function readHomepage(
  { headers, body, isCut }: Document,
  url: string,
  problems: ProblemLog,
): Promise<{ readonly candidates: readonly Candidate[]; readonly isPage: boolean }> {
  const links = new HomepageLinks(problems);
  addLinksInHeaders(headers, url, links);
  if (!looksLikeHtml(headers)) return { candidates: links.candidates, isPage: false };
  // Problems of the homepage itself do not matter here, unless they hide links.
  const wrong = new ProblemLog();
  const text = openDocument(body, {
    contentEncoding: header(headers, "content-encoding"),
    contentType: header(headers, "content-type"),
    maxBytes: readLength,
    encodingLayers: 3,
    problems: wrong,
  });
  const html = new HtmlLinks(url, links);
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
  return { candidates: links.candidates, isPage: pageStart.test(start) };
}
