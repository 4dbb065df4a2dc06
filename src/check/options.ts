// Defines the options of a check. settings.ts checks them. The configuration file of the program uses the same names
// (cli/input/check-files.ts).
import type { OrderedEvent } from "../model/event.ts";
import type { Options } from "../model/options.ts";
import type { Baseline } from "./findings/baseline.ts";
import type { SiteFilesOptions } from "./folder/site-files.ts";
import type { Engine, Rule, Severity } from "./rules/rule.ts";

/**
 * Options of `checkTree`. Crawl options apply when it requests `pages`; with `resume`, it appends the responses to the archive of the
 * tree.
 */
export interface CheckOptions extends Options {
  /**
   * Severities for rules, or `"off"`; and custom rules. A list may contain both.
   * @example [{ "url-fragment": "off", "lastmod-missing": "warning" }, { id: "no-drafts", check(event, context) {} }]
   */
  rules?: RuleSeverities | readonly (RuleSeverities | CustomRule)[] | undefined;
  /**
   * The search engines whose rules apply.
   * @default ["google", "bing", "yandex"]
   */
  engines?: readonly Engine[] | undefined;
  /**
   * Crawlers that robots.txt should allow. Blocking the first is an error, blocking only others a warning.
   * @default ["Googlebot", "bingbot", "YandexBot"]
   */
  agents?: readonly string[] | undefined;
  /**
   * Other hosts whose pages these sitemaps may list, because cross-submission is set up.
   * @default []
   */
  crossSubmit?: readonly string[] | undefined;
  /**
   * URLs that no sitemap may list: paths, or whole URLs if they begin with a scheme or `*`; `*` is a wildcard.
   * @default []
   * @example ["/drafts/*", "*?preview=*"]
   */
  forbidden?: readonly string[] | undefined;
  /**
   * Findings that are known and accepted.
   * @default []
   * @example [{ rule: "url-other-host", sitemap: "https://example.org/shop/*", reason: "the shop is verified, too", until: "2027-01-01" }]
   */
  ignore?: readonly IgnoredFinding[] | undefined;
  /** Known findings: the result has only what is new. */
  baseline?: Baseline | undefined;
  /**
   * The time to compare dates with: milliseconds, a date or ISO 8601. @default the time of the crawl; for local files, now
   */
  now?: number | string | Date | undefined;
  /**
   * Time to first byte above which a sitemap is slow, in milliseconds.
   * @default 5000
   */
  slow?: number | undefined;
  /**
   * Whether the sitemaps are published at these URLs. If not, rules about their location are skipped.
   * @default true
   */
  location?: boolean | undefined;
  /**
   * How many pages of the sitemaps to request and check, or `"all"`: spread over sitemaps and sections, the same ones each time, and only
   * if robots.txt allows it. For a tree from an archive, nothing is requested: the archive has the pages of the check that wrote it.
   * @default 0; for an archive, as many as it has
   */
  pages?: number | "all" | undefined;
  /**
   * The archive of an earlier run: dates that change although their pages do not, or the reverse, count in `lastmodTrust`. Whether a page
   * changed can be known only if both runs requested it and the archive has its response.
   */
  previous?: string | undefined;
  /** Called after each requested page, with the number of pages done and their total. */
  onPage?: ((done: number, total: number) => void) | undefined;
  /**
   * A static site in folders: its files are the pages. All listed ones are checked, and pages that no sitemap lists are reported.
   * @example { folders: [{ url: "https://example.org/", path: "dist" }], ignore: ["drafts/"] }
   */
  files?: SiteFilesOptions | undefined;
  /**
   * Time limit for the check and its requests, in milliseconds. Rules that did not run are in `notChecked`.
   * @default limits.time
   */
  time?: number | undefined;
  /** Aborts the check: it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Severities that override those of the rules. */
export type RuleSeverities = Readonly<Record<string, Severity | "off">>;

/** A finding that is known and accepted. */
export interface IgnoredFinding {
  readonly rule: string;
  /** The URL of a sitemap; `*` is a wildcard. @default all */
  readonly sitemap?: string | undefined;
  /** Why it is accepted. */
  readonly reason: string;
  /** The day this was decided. */
  readonly date?: string | undefined;
  /** The day from which the finding is no longer ignored. */
  readonly until?: string | undefined;
}

/** A custom rule. It receives the events of the tree in declared order; the pages of a repeated sitemap come once. */
export interface CustomRule {
  readonly id: string;
  /** @default "warning" */
  readonly severity?: Severity | undefined;
  /** What is wrong, for people. @default the id */
  readonly sentence?: string | undefined;
  /** What to do about it. */
  readonly fix?: string | undefined;
  /** A URL with more information. */
  readonly link?: string | undefined;
  check(event: OrderedEvent, context: RuleContext): void | Promise<void>;
}

/** What a custom rule can query and report. */
export interface RuleContext {
  readonly homepage: string;
  /** Whether nothing is missing in the tree. */
  readonly complete: boolean;
  /** When the document that the event is about was received, in milliseconds. */
  readonly receivedAt: number;
  /** Reports a finding. `sitemap` is the one that the event is about, unless another is named. */
  report(found?: RuleReport): void;
}

/** What a custom rule found. */
export interface RuleReport {
  readonly sitemap?: string | undefined;
  readonly url?: string | undefined;
  readonly value?: string | undefined;
  readonly line?: number | undefined;
  readonly severity?: Severity | undefined;
  readonly count?: number | undefined;
}

export interface CheckSettings
  extends Readonly<Pick<CheckOptions, "baseline" | "files" | "signal" | "onPage" | "pages" | "previous">> {
  /** The crawl options, for requests of pages. */
  readonly crawl: Options;
  readonly rules: readonly Rule[];
  readonly own: readonly CustomRule[];
  readonly agents: readonly string[];
  readonly crossSubmit: ReadonlySet<string>;
  /** Returns the pattern that forbids a URL, if any. */
  readonly forbiddenBy: (url: string) => string | undefined;
  readonly ignore: readonly IgnoredFinding[];
  readonly severities: ReadonlyMap<string, Severity | "off">;
  readonly engines: ReadonlySet<Engine>;
  readonly now: number | undefined;
  readonly slow: number;
  readonly hasLocation: boolean;
  readonly time: number;
}
