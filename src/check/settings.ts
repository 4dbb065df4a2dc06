// Turns the options of a check into settings: checks them, fills in defaults, and decides the severity of a rule for a sitemap.
import { statSync } from "node:fs";
import * as checks from "../model/option-checks.ts";
import { crawlOptionsIn } from "../model/options.ts";
import { wildcard } from "../model/pattern.ts";
import { parseUrl } from "../model/url.ts";
import { Baseline } from "./findings/baseline.ts";
import type { SeverityFor } from "./findings/findings.ts";
import { hosts } from "./folder/folder-files.ts";
import type { SiteFilesOptions, SiteFolder } from "./folder/site-files.ts";
import type { CheckOptions, CheckSettings, CustomRule, IgnoredFinding, RuleSeverities } from "./options.ts";
import { bounds } from "./rules/bounds.ts";
import { type Engine, engines, type Rule, type Severity, severities } from "./rules/rule.ts";
import { checkRules } from "./rules/rule-table.ts";

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
    agents: someStrings("agents", agents).map(anAgent),
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

/** Returns a function that decides the severity of a rule for a sitemap. `received` is when the website was received. */
export function severityFor(settings: CheckSettings, received: number): SeverityFor {
  const rows = new Map(settings.rules.map((rule) => [rule.id, rule]));
  const ignored = settings.ignore
    .filter(({ until }) => until === undefined || received < Date.parse(until))
    .map(({ rule, sitemap }) => ({ rule, matches: wildcard(sitemap ?? "*") }));
  return (id, sitemap, own) => {
    const rule = rows.get(id) as Rule;
    // A rule without engines is about other programs, so the choice of engines does not turn it off.
    if (rule.engines.length > 0 && !rule.engines.some((engine) => settings.engines.has(engine))) return undefined;
    const severity = settings.severities.get(id) ?? own ?? rule.severity;
    const isIgnored = severity === "off" || ignored.some((each) => each.rule === id && each.matches(sitemap));
    return isIgnored ? undefined : severity;
  };
}

function forbiddenBy(patterns: readonly string[]): (url: string) => string | undefined {
  const all = patterns.map((text) => {
    if (text === "") throw checks.invalid("Expected `forbidden` to have patterns, got an empty string");
    const isUrl = /^(?:https?:|\*)/i.test(text);
    return { text, isUrl, matches: wildcard(isUrl ? text : text.replace(/^\/?/, "/")) };
  });
  return (url) => {
    if (all.length === 0) return undefined;
    const path = url.replace(/^https?:\/\/[^/?#]*/i, "");
    return all.find(({ matches, isUrl }) => matches(isUrl ? url : path))?.text;
  };
}

// An empty list would silently turn rules off.
function someStrings(name: string, list: unknown): readonly string[] {
  const members = checks.strings(name, list);
  if (members.length === 0) throw checks.invalid(`Expected \`${name}\` to have at least one entry`);
  return members;
}

// A name with a version or a space would match no group of a robots.txt, and no robots tag.
function anAgent(name: string): string {
  if (/^(?:\*|[\w.-]+)$/.test(name)) return name;
  throw checks.unexpected("agents", "names of crawlers as in robots.txt, such as Googlebot", name);
}

// Accepts both `shop.example.org`, which people write, and `https://shop.example.org/`, which they copy.
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
    throw checks.invalid("A custom rule needs an `id` of letters, digits and hyphens");
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
    expectRule(id, ids);
    all.set(id, aSetting(`rules.${id}`, severity) as Severity | "off");
  }
  return all;
}

// Suggests a rule whose name goes on, such as `page-missing-file` for `page-missing`, if there is only one.
function expectRule(id: string, ids: readonly string[]): void {
  const longer = ids.includes(id) ? [] : ids.filter((each) => each.startsWith(`${id}-`));
  if (longer.length === 1) throw checks.invalid(`Unknown rule \`${id}\`; did you mean \`${longer[0]}\`?`);
  checks.expectKnown("rule", id, ids);
}

function checkedIgnore(ignore: readonly IgnoredFinding[], ids: readonly string[]): readonly IgnoredFinding[] {
  if (!Array.isArray(ignore)) throw checks.invalid("Expected `ignore` to be a list");
  for (const item of ignore as readonly IgnoredFinding[]) {
    checks.optionsIn("ignore", item, ["rule", "sitemap", "reason", "date", "until"], { prefix: "ignore." });
    expectRule(String(item.rule), ids);
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
