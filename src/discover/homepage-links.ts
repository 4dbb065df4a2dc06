// Collects the sitemaps that a homepage names, in its headers (link-header.ts) and in its HTML (html-links.ts): each
// once, up to a limit, with a problem for each link that is not used.
import type { ProblemLog } from "../model/problem.ts";
import { resolveUrl } from "../model/url.ts";
import type { Candidate } from "./candidates.ts";

// A homepage that names more is not describing its sitemaps.
const mostLinks = 100;
const longestUrl = 8192;

export class HomepageLinks {
  readonly #problems: ProblemLog;
  readonly #found = new Map<string, Candidate>();

  constructor(problems: ProblemLog) {
    this.#problems = problems;
  }

  /** In the order in which they were first named. */
  get candidates(): Candidate[] {
    return [...this.#found.values()];
  }

  add(target: string, base: string, by: Candidate["by"]): void {
    const trimmed = target.trim();
    const { url, problem } = resolveUrl(trimmed, base, longestUrl);
    if (url === undefined) {
      if (problem === "limit-url-length") this.#problems.add(problem, { limit: longestUrl });
      else this.#problems.add("homepage-link-invalid", { value: trimmed });
    } else if (this.#found.has(url)) {
      return;
    } else if (this.#found.size >= mostLinks) {
      this.#problems.add("homepage-too-many-links", { limit: mostLinks });
    } else {
      this.#found.set(url, { url, by });
    }
  }
}

/** Whether a link with these relations and this media type leads to a feed of the website. */
export function isFeed(relations: string, type: string): boolean {
  if (!/^\s*application\/(?:rss\+xml|atom\+xml|feed\+json)\s*(?:;|$)/i.test(type)) return false;
  return /(?:^|\s)alternate(?:\s|$)/i.test(relations);
}

/** Whether a link with these relations and this media type leads to a sitemap. Those of type HTML are for people. */
export function isSitemap(relations: string, type: string): boolean {
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(type)) return false;
  if (relations === "sitemap") return true;
  return relations
    .toLowerCase()
    .split(/[\t\n\f\r ]+/)
    .includes("sitemap");
}
