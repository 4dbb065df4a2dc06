// The options of a check: meaning, default, check. All other code uses `CheckSettings`. The configuration file of
// the program has the same names (cli/input/check-files.ts).
import { statSync } from "node:fs";
import type { OrderedEvent } from "../model/event.ts";
import * as checks from "../model/option-checks.ts";
import { crawlOptionsIn, type Options } from "../model/options.ts";
import { wildcard } from "../model/pattern.ts";
import { parseUrl } from "../model/url.ts";
import { Baseline } from "./baseline.ts";
import { bounds } from "./bounds.ts";
import type { Judge } from "./findings.ts";
import { hosts } from "./folder-files.ts";
import { type Engine, engines, type Rule, type Severity, severities } from "./rule.ts";
import { checkRules } from "./rule-table.ts";
import type { SiteFilesOptions, SiteFolder } from "./site-files.ts";

/** Options of `checkTree`. Those of a crawl are for requesting `pages`; with `resume`, the responses are appended to the archive of the tree. */
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
   * URLs that no sitemap may list: paths, or URLs if they have a scheme; `*` is a wildcard.
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
   * How many pages of the sitemaps to request and check, or `"all"`: spread over sitemaps and sections, the same ones each time, and only if
   * robots.txt allows it. For a tree from an archive, nothing is requested: the archive has the pages of the check that wrote it.
   * @default 0; for an archive, as many as it has
   */
  pages?: number | "all" | undefined;
  /**
   * The archive of an earlier run: dates that change although their pages do not, or the reverse, count in `lastmodTrust`. Whether a page
   * changed is known if both runs requested it and the archive has its response.
   */
  previous?: string | undefined;
  /** Called after each of the requested pages: how many are done, of how many. */
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

/** A custom rule. It receives all events, in tree order. */
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
  /** One finding more. `sitemap` is the one that the event is about, unless another is named. */
  report(found?: RuleReport): void;
}

/** What a rule of your own found. */
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
  /** How pages are requested. */
  readonly crawl: Options;
  readonly rules: readonly Rule[];
  readonly own: readonly CustomRule[];
  readonly agents: readonly string[];
  readonly crossSubmit: ReadonlySet<string>;
  /** The pattern that forbids a URL. */
  readonly forbiddenBy: (url: string) => string | undefined;
  readonly ignore: readonly IgnoredFinding[];
  readonly severities: ReadonlyMap<string, Severity | "off">;
  readonly engines: ReadonlySet<Engine>;
  readonly now: number | undefined;
  readonly slow: number;
  readonly hasLocation: boolean;
  readonly time: number;
}

const names =
  "rules engines agents crossSubmit forbidden ignore baseline now slow location pages previous onPage files time signal".split(
    " ",
  );

/** Checks options and fills in the defaults. Throws a `SitemapError` with the code `invalid-option`. */
export function resolveCheckOptions(options: CheckOptions = {}): CheckSettings {
  const crawl = crawlOptionsIn(options, names);
  const {
    rules: given = [],
    engines: asked = engines,
    agents = defaultAgents,
    crossSubmit = [],
    forbidden = [],
    ignore = [],
  } = options;
  const { now, slow = bounds.slow, location = true, pages, previous, onPage, files, signal, baseline } = options;
  const { time = crawl.limits?.time ?? Number.POSITIVE_INFINITY } = options;
  if (signal !== undefined) checks.signal("signal", signal);
  if (baseline !== undefined && !(baseline instanceof Baseline))
    throw checks.unexpected("baseline", "a Baseline", baseline);
  const list = (Array.isArray(given) ? given : [given]) as readonly (RuleSeverities | CustomRule)[];
  for (const item of list) checks.expectObject("rules", item);
  const own = list.filter(isCustomRule).map(checkedCustomRule);
  const rows: Rule[] = [...checkRules, ...own.map(toRow)];
  const ids = rows.map(({ id }) => id);
  const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
  if (repeated !== undefined) throw checks.invalid(`There are two rules with the id \`${repeated}\``);
  return {
    rules: rows,
    own,
    severities: checkedSeverities(list.filter((item) => !isCustomRule(item)) as RuleSeverities[], ids),
    engines: new Set(someStrings("engines", asked).map((engine) => anEngine("engines", engine) as Engine)),
    agents: someStrings("agents", agents),
    crossSubmit: new Set(checks.strings("crossSubmit", crossSubmit).map(hostOf)),
    forbiddenBy: forbiddenBy(checks.strings("forbidden", forbidden)),
    ignore: checkedIgnore(ignore, ids),
    baseline,
    now: now === undefined ? undefined : checkedTime("now", now),
    slow: checks.number("slow", slow),
    hasLocation: checks.boolean("location", location),
    pages: pages === undefined ? undefined : checkedPages(pages),
    previous: previous === undefined ? undefined : checks.path("previous", previous),
    onPage: onPage && (checks.functionValue("onPage", onPage) as CheckOptions["onPage"]),
    crawl,
    files: files && checkedFiles(files),
    time: checks.number("time", time),
    signal,
  };
}

/** Which severity a rule has for a sitemap. `received`: when the website was received. */
export function judgeFor(settings: CheckSettings, received: number): Judge {
  const rows = new Map(settings.rules.map((rule) => [rule.id, rule]));
  const ignored = settings.ignore
    .filter(({ until }) => until === undefined || received < Date.parse(until))
    .map(({ rule, sitemap }) => ({ rule, matches: wildcard(sitemap ?? "*") }));
  return (id, sitemap, own) => {
    const rule = rows.get(id) as Rule;
    // Some rules matter to programs that are no search engine.
    if (rule.engines.length > 0 && !rule.engines.some((engine) => settings.engines.has(engine))) return undefined;
    const severity = settings.severities.get(id) ?? own ?? rule.severity;
    const isIgnored = severity === "off" || ignored.some((each) => each.rule === id && each.matches(sitemap));
    return isIgnored ? undefined : severity;
  };
}

function forbiddenBy(patterns: readonly string[]): (url: string) => string | undefined {
  const all = patterns.map((text) => {
    if (text === "") throw checks.invalid("Expected `forbidden` to have patterns, got an empty text");
    const matches = wildcard(/^(?:https?:|\*)/i.test(text) ? text : text.replace(/^\/?/, "/"));
    return { text, matches, isUrl: /^(?:https?:|\*)/i.test(text) };
  });
  return (url) => {
    if (all.length === 0) return undefined;
    const path = url.replace(/^https?:\/\/[^/?#]*/i, "");
    return all.find(({ matches, isUrl }) => matches(isUrl ? url : path))?.text;
  };
}

// A list without a member would turn rules off without a word.
function someStrings(name: string, list: unknown): readonly string[] {
  const members = checks.strings(name, list);
  if (members.length === 0) throw checks.invalid(`Expected \`${name}\` to name at least one`);
  return members;
}

// People write `shop.example.org`, and copy `https://shop.example.org/`.
function hostOf(text: string): string {
  const url = parseUrl(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw checks.unexpected("crossSubmit", "hosts, such as shop.example.org", text);
  }
  return url.host.replace(/\.(?=$|:)/, "");
}

function checkedPages(count: number | "all"): number | "all" {
  if (count === "all" || (Number.isSafeInteger(count) && count >= 0)) return count;
  throw checks.unexpected("pages", 'a whole number or "all"', count);
}

function checkedFiles(files: SiteFilesOptions): SiteFilesOptions {
  checks.optionsIn("files", files, ["folders", "pages", "ignore", "host", "onFile"], { prefix: "files." });
  const { folders, pages = [], ignore = [] } = files;
  checks.strings("files.pages", pages);
  checks.strings("files.ignore", ignore);
  if (files.host !== undefined) aHost("files.host", files.host);
  if (!Array.isArray(folders)) throw checks.invalid("Expected `files.folders` to be a list");
  return { ...files, folders: folders.map(checkedFolder) };
}

function checkedFolder({ url, path }: SiteFolder): SiteFolder {
  const { href } = parseUrl(url) ?? {};
  if (href === undefined) throw checks.unexpected("files.folders.url", "the URL of a website", url);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw checks.unexpected("files.folders.path", "a folder", path);
  return { url: href.endsWith("/") ? href : `${href}/`, path };
}

const anEngine = checks.oneOf(engines);
const aHost = checks.oneOf(hosts);
const aSeverity = checks.oneOf(severities);
const aSetting = checks.oneOf(["off", ...severities]);
const defaultAgents = ["Googlebot", "bingbot", "YandexBot"] as const;

function isCustomRule(item: RuleSeverities | CustomRule): item is CustomRule {
  return typeof (item as Partial<CustomRule>).check === "function";
}

function checkedCustomRule(rule: CustomRule): CustomRule {
  if (typeof rule.id !== "string" || !/^[a-z0-9][\w./@-]*$/i.test(rule.id)) {
    throw checks.invalid("A rule of your own needs an `id` of letters, digits and hyphens");
  }
  if (rule.severity !== undefined) aSeverity(`${rule.id}.severity`, rule.severity);
  return rule;
}

function toRow({ id, severity = "warning", sentence = id, fix = "", link = "" }: CustomRule): Rule {
  return { id, severity, basis: "heuristic", engines, sentence, fix, link };
}

function checkedSeverities(tables: readonly RuleSeverities[], ids: readonly string[]): Map<string, Severity | "off"> {
  const all = new Map<string, Severity | "off">();
  for (const [id, severity] of tables.flatMap((table) => Object.entries(table))) {
    checks.expectKnown("rule", id, ids);
    all.set(id, aSetting(`rules.${id}`, severity) as Severity | "off");
  }
  return all;
}

function checkedIgnore(ignore: readonly IgnoredFinding[], ids: readonly string[]): readonly IgnoredFinding[] {
  if (!Array.isArray(ignore)) throw checks.invalid("Expected `ignore` to be a list");
  for (const item of ignore as readonly IgnoredFinding[]) {
    checks.optionsIn("ignore", item, ["rule", "sitemap", "reason", "date", "until"], { prefix: "ignore." });
    checks.expectKnown("rule", String(item.rule), ids);
    if (typeof item.reason !== "string" || item.reason.trim() === "") {
      throw checks.invalid(`\`ignore\` needs a \`reason\` for \`${item.rule}\``);
    }
    if (item.sitemap !== undefined) checks.strings("ignore.sitemap", [item.sitemap]);
    if (item.date !== undefined) checkedTime("ignore.date", item.date);
    if (item.until !== undefined) checkedTime("ignore.until", item.until);
  }
  return ignore;
}

function checkedTime(name: string, value: unknown): number {
  const time = typeof value === "number" ? value : value instanceof Date ? value.getTime() : Date.parse(String(value));
  if (!Number.isFinite(time)) throw checks.invalid(`Expected \`${name}\` to be a date, such as "2026-05-31"`);
  return time;
}
