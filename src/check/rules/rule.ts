// Defines a rule as one row of a table. The docs page, the SARIF `rules`, the JSON and the messages are made from the
// rows. To add a rule, add a row to a table in this folder, and the code that decides it below the table.
import type { RuleId } from "./rule-id.ts";

/**
 * - `error`: a search engine rejects or ignores the file, the entry or the annotation, or something is obviously wrong
 * - `warning`: an engine may ignore it, or it hurts the site in another way
 * - `info`: no effect, or advice
 */
export type Severity = "error" | "warning" | "info";

/** Most severe first. */
export const severities: readonly Severity[] = ["error", "warning", "info"];

/**
 * What a rule is based on. `protocol`: sitemaps.org, or the standard it refers to. `engine`: a search engine documents or
 * reports it. `practice`: obviously wrong (a URL with a password in it). `heuristic`: experience; no built-in one is an error by default.
 */
export type Basis = "protocol" | "engine" | "practice" | "heuristic";

/** A search engine. */
export type Engine = "google" | "bing" | "yandex";

export const engines: readonly Engine[] = ["google", "bing", "yandex"];

/**
 * What a rule needs. `complete`: a complete tree. `site`: a website, not just one of its sitemaps. `location`: the URL of the document.
 * `response`: the server's response. `robots`: robots.txt. `requested`: pages that were requested. `files`: a static site. `pages`: either
 * `requested` or `files`.
 */
export type Need = "complete" | "site" | "location" | "response" | "robots" | "requested" | "files" | "pages";

/** A rule of a check: what is wrong, and what to do about it. */
export interface Rule {
  readonly id: string;
  /** The default severity. */
  readonly severity: Severity;
  readonly basis: Basis;
  /** The engines that the rule applies to; empty if it is about other programs. */
  readonly engines: readonly Engine[];
  /** What is wrong, and what search engines do about it. */
  readonly sentence: string;
  /** What the owner of the website can do. */
  readonly fix: string;
  /** The page that the rule is based on. */
  readonly link: string;
  readonly needs?: readonly Need[];
}

/** A rule that comes with the package. */
export interface BuiltInRule extends Rule {
  readonly id: RuleId;
}

/** A row of the table: a rule, and the codes of the problems that it is about, with spaces between them. */
export interface RuleRow extends Omit<Rule, "id"> {
  /** The problems of a sitemap. */
  readonly problems?: string;
  /** The reasons why a sitemap could not be read at all. Codes in `problems` are also reasons. */
  readonly reasons?: string;
  readonly robotsProblems?: string;
  readonly websiteProblems?: string;
}

/** The rows of a group, by id. */
export type RuleRows = Readonly<Partial<Record<RuleId, RuleRow>>>;

type Row = Pick<Rule, "sentence" | "fix"> & Partial<RuleRow>;

/** Creates the row of a rule that applies to all engines. */
export function rule(severity: Severity, basis: Basis, link: string, row: Row): RuleRow {
  return ruleFor(engines, severity, basis, link, row);
}

/** Creates the row of a rule that applies to the given engines. */
export function ruleFor(
  engines: readonly Engine[],
  severity: Severity,
  basis: Basis,
  link: string,
  { sentence, fix, ...rest }: Row,
): RuleRow {
  return { severity, basis, engines, sentence, fix, link, ...rest };
}
