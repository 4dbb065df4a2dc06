// What a rule is: one row of a table. The docs page, the SARIF `rules`, the JSON and the messages are made from the
// rows. Adding a rule is adding a row in rules/ and the code that decides it; `npm run tables` writes rule-id.ts.
import type { RuleId } from "./rule-id.ts";

/**
 * - `error`: an engine documents that it rejects or ignores the file, the entry or the annotation
 * - `warning`: an engine may ignore it, or it works against the owner
 * - `info`: no effect, or advice
 */
export type Severity = "error" | "warning" | "info";

/** Most severe first. */
export const severities: readonly Severity[] = ["error", "warning", "info"];

/**
 * What a rule rests on. `protocol`: sitemaps.org, or the standard it refers to. `engine`: a search engine documents or
 * reports it. `practice`: nobody has to document it (a URL with a password in it). `heuristic`: experience; never an error.
 */
export type Basis = "protocol" | "engine" | "practice" | "heuristic";

/** A search engine. */
export type Engine = "google" | "bing" | "yandex";

export const engines: readonly Engine[] = ["google", "bing", "yandex"];

/**
 * What a rule cannot be judged without. `complete`: a tree of which nothing is missing. `site`: a website, not one of its
 * sitemaps alone. `location`: the URL of the document. `response`: what the server said beside the document.
 * `robots`: robots.txt. `sample`: pages that were fetched.
 */
export type Need = "complete" | "site" | "location" | "response" | "robots" | "sample";

/** A rule of a check: what is wrong, and what to do about it. */
export interface Rule {
  readonly id: string;
  /** The default severity. */
  readonly severity: Severity;
  readonly basis: Basis;
  /** The engines that it matters to. */
  readonly engines: readonly Engine[];
  /** What is wrong, and what search engines do about it. */
  readonly sentence: string;
  /** What the owner of the website can do. */
  readonly fix: string;
  /** The page that the rule rests on. */
  readonly link: string;
  readonly needs?: readonly Need[];
}

/** A rule that comes with the package. */
export interface BuiltInRule extends Rule {
  readonly id: RuleId;
  /** Of a heuristic: on how many of the documents and websites it fired that it was measured on; each time it was right. */
  readonly firedOn?: number;
}

/**
 * What heuristics are measured on, all of them good enough for search engines or with the fault that the rule is about: documents of
 * public test suites (crawler-commons, sitemap.js, feedparser) and small websites.
 */
export const measuredOn: { readonly documents: number; readonly websites: number } = { documents: 304, websites: 35 };
