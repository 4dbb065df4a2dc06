// Reads robots.txt: groups with rules and a Crawl-delay for each crawler, preferences for the use of pages, and sitemaps. Lines are read
// as in Google's parser (https://github.com/google/robotstxt), which accepts a missing colon, common misspellings, and text after the
// name of a crawler.
// https://www.rfc-editor.org/rfc/rfc9309 has no Sitemap lines of its own: "Crawlers MAY interpret other records that are not
// part of the robots.txt protocol -- for example, 'Sitemaps'". So they are read anywhere: they belong to no group and
// end none. Crawl-delay, which is in no standard, does not end a group, either.
//   Lenient: any key that starts with `sitemap` or `site-map`, in any case; reported unless it is `sitemap`. Before an absolute URL, also
//   any unknown key if the key or the URL contains `sitemap`, or if the key looks like a misspelling of it; reported.
//   Lenient: a missing colon after the key; quotes or angle brackets around the URL; reported.
//   Lenient: the URL on the next line; a URL alone on a line; a Sitemap line inside another line (`Allow: Sitemap: URL`) or inside HTML; reported.
//   Lenient: `<loc>` around the URL; reported.
//   Lenient: several URLs in one line, also with a key between them; a comma or semicolon at the end; `&amp;` in a URL; reported.
//   Lenient: a relative URL is resolved against robots.txt; reported.
// A # starts a comment. In a Sitemap line, it does so only at the beginning, after white space or after the colon; a URL may contain a #.
import { documentProblem } from "../model/problem-log.ts";
import type { RobotsPreference } from "../model/sitemap.ts";
import { robotsTxtBytes } from "../model/sitemap.ts";
import { detached } from "../model/text.ts";
import { trimUrl } from "../model/url.ts";
import { type Entries, joined, type ParseContext, type ParseOutcome } from "./entries.ts";
import { LineParser } from "./lines.ts";
import { urlsOf } from "./text.ts";
import { parseNumber } from "./values.ts";
import { decodeHtml } from "./xml/text.ts";

export class RobotsParser extends LineParser {
  readonly robots: RobotsGroups = new RobotsGroups();
  readonly #resembles: string | undefined;
  #hasRecords = false;

  /** `resembles` is the format that the document resembles, in case it has no robots.txt line. */
  constructor(context: ParseContext, linesBefore = 0, resembles?: string) {
    super(context, linesBefore);
    this.#resembles = resembles;
  }

  /** The result. A robots.txt without sitemaps is valid, even an empty one. */
  get outcome(): ParseOutcome {
    const { preferences } = this.robots;
    // Text that was announced as compressed may be damaged data instead.
    const resembles = this.#resembles ?? (this.context.problems.has("coding-mismatch") ? "binary" : undefined);
    if (resembles === undefined || this.#hasRecords) {
      return { kind: "index", format: "robots", ...(preferences.length > 0 ? { preferences } : {}) };
    }
    return { kind: "invalid", reason: documentProblem("not-a-sitemap", { value: resembles }) };
  }

  protected takeLine(text: string): void {
    const isLenient = this.#resembles === undefined;
    const { omitted } = this.robots;
    if (this.robots.takeLine(text, this.line, isLenient, this.#takeSitemap)) this.#hasRecords = true;
    if (this.robots.omitted > omitted) this.report("limit-preferences", undefined, mostPreferences);
  }

  override end(): Entries {
    const last = super.end();
    this.robots.finish(this.#takeSitemap);
    return joined([last, this.sink.take()]);
  }

  readonly #takeSitemap = ({ urls: named, text, line, isUsual }: SitemapLine): void => {
    const current = this.line;
    this.line = line;
    if (named.length === 0) this.report("url-missing", text);
    const urls = named.flatMap((bare) => this.sink.takeUrl("sitemap", bare) ?? []);
    if (urls.length > 0 && !isUsual) this.report("robots-spelling", text);
    for (const url of urls) this.sink.addSitemap({ url });
    this.line = current;
  };
}

/** A Sitemap line, or a line that was accepted as one. */
interface SitemapLine {
  readonly text: string;
  readonly line: number;
  /** The URLs as written; empty if the line has none. */
  readonly urls: readonly string[];
  /** Whether the line is written as it should be. */
  readonly isUsual: boolean;
}

type OnSitemap = (found: SitemapLine) => void;

/** An Allow or Disallow line of robots.txt. */
export interface RobotsRule {
  readonly allows: boolean;
  /** As written, without comments. */
  readonly path: string;
  /** The line number, starting at 1. */
  readonly line: number;
}

/** The lines after one or more User-agent lines. */
export interface RobotsGroup {
  readonly rules: RobotsRule[];
  /** The first Crawl-delay, in milliseconds. */
  delay: number | undefined;
}

// https://www.rfc-editor.org/rfc/rfc9309#section-2.2.1
//   "Crawlers MUST use case-insensitive matching to find the group that matches the product token"
//   "If no matching group exists, crawlers MUST obey the group with a user-agent line with the "*" value, if present."
export class RobotsGroups {
  // The groups, keyed by crawler in lower case after a colon, because JavaScript engines hash numeric strings without a seed. `*` means all
  // crawlers.
  readonly #groups = new Map<string, RobotsGroup[]>();
  #open: RobotsGroup | undefined;
  readonly preferences: RobotsPreference[] = [];
  /** How many preferences there are beyond the limit. */
  omitted = 0;
  // The crawlers that preferences are for, as written; undefined before the first group.
  #agents: string[] | undefined;
  #hasLines = false;

  // A Sitemap line without a URL, which may be on the next line.
  #unfinished: SitemapLine | undefined;

  /** Reads a whole robots.txt, up to 500 KiB. `onSitemap` is called with each URL of a Sitemap line. */
  static in(text: string, onSitemap?: (url: string) => void): RobotsGroups {
    const groups = new RobotsGroups();
    const isLenient = !/^\s*<(?!https?:)/i.test(text);
    const onLine: OnSitemap = ({ urls }) => {
      for (const url of urls) onSitemap?.(url);
    };
    for (const [index, line] of withinBytes(text)
      .split(/\r\n|\r|\n/)
      .entries()) {
      groups.takeLine(line.slice(0, longestLine), index + 1, isLenient, onLine);
    }
    return groups;
  }

  /** Reads a line. With `isLenient`, a line in an unusual form may be a Sitemap line. Returns whether the line belongs to a robots.txt. */
  takeLine(written: string, line: number, isLenient: boolean, onSitemap: OnSitemap): boolean {
    const plain = isLenient ? written : withoutTags(written);
    const text = trimUrl(plain);
    const content = withoutComment(text);
    if (content === "") return false;
    if (isLenient && (urlAlone.test(content) || (this.#unfinished !== undefined && pathAlone.test(content)))) {
      this.#unfinished = undefined;
      onSitemap({ text, line, urls: sitemapUrls(content), isUsual: false });
      return true;
    }
    this.finish(onSitemap);
    const { record, sitemap } = readLine(plain, isLenient);
    if (record !== undefined) this.#take(record, line);
    if (sitemap === undefined) return record !== undefined && usualKey.test(record.key);
    const urls = sitemapUrls(sitemap.value);
    const isUsual = sitemap.isUsual && plain === written && urls[0] === sitemap.value;
    const found = { text, line, urls, isUsual };
    if (urls.length === 0) this.#unfinished = found;
    else onSitemap(found);
    return true;
  }

  /** Passes on a Sitemap line that still has no URL, because the next line cannot have it. */
  finish(onSitemap: OnSitemap): void {
    const found = this.#unfinished;
    this.#unfinished = undefined;
    if (found !== undefined) onSitemap(found);
  }

  /** Returns all groups for a crawler. Crawlers that no group names all get the same list: the groups for `*`. */
  of(agent: string): readonly RobotsGroup[] {
    return this.#groups.get(`:${agent.toLowerCase()}`) ?? this.#groups.get("*") ?? noGroups;
  }

  /** Returns the Crawl-delay for a user agent, in milliseconds. Only the first word of its name counts. */
  delayFor(userAgent: string): number | undefined {
    const [token = ""] = userAgent.trim().split(/[\s/]/, 1);
    return this.of(token).find(({ delay }) => delay !== undefined)?.delay;
  }

  #take({ kind, key, value }: RobotsRecord, line: number): void {
    if (kind === "user-agent") this.#takeUserAgent(value);
    else if (kind === undefined) this.#takePreference(key, value, line);
    if (kind === "allow" || kind === "disallow") this.#hasLines = true;
    if (this.#open === undefined) return;
    if (kind === "crawl-delay") {
      const seconds = parseNumber(value);
      if (seconds !== undefined) this.#open.delay ??= Math.round(seconds * 1000);
    } else if (kind === "allow" || kind === "disallow") {
      this.#open.rules.push({ allows: kind === "allow", path: value, line });
    }
  }

  // User-agent lines share a group if no rule is between them.
  #takeUserAgent(value: string): void {
    const shown = /^(?:\*|[a-z0-9_.-]+)/i.exec(value)?.[0] ?? value;
    if (this.#agents === undefined || this.#hasLines) this.#agents = [];
    this.#agents.push(shown);
    this.#hasLines = false;
    if (this.#open === undefined || this.#open.rules.length > 0) this.#open = { rules: [], delay: undefined };
    for (const name of namesOf(value)) {
      const own = this.#groups.get(name);
      if (own === undefined) this.#groups.set(name, [this.#open]);
      else if (own.at(-1) !== this.#open) own.push(this.#open);
    }
  }

  #takePreference(key: string, text: string, line: number): void {
    const field = preferenceFields.find((each) => each.toLowerCase() === key.toLowerCase());
    if (field === undefined) return;
    this.#hasLines = true;
    if (this.preferences.length >= mostPreferences) {
      this.omitted += 1;
      return;
    }
    const value = detached(text);
    if (field === "License") {
      this.preferences.push({ field, value, line });
      return;
    }
    const { path, pairs } = readPairs(field, value);
    const values = Object.fromEntries(pairs);
    const agents = this.#agents === undefined ? {} : { agents: this.#agents };
    this.preferences.push({ field, value, values, ...(path === undefined ? {} : { path }), line, ...agents });
  }
}

// Lines about how pages may be used, mainly by AI. Nothing enforces them.
//   Content-Signal: search=yes, ai-train=no      https://contentsignals.org/
//   Content-Usage: /path/ train-ai=n             https://datatracker.ietf.org/doc/draft-ietf-aipref-attach/
//   License: https://example.org/license.xml     https://rslstandard.org/
// Content-Signal occurs in groups and before all groups, and programs disagree about which counts: both are read, and `agents` says which.
const preferenceFields: readonly RobotsPreference["field"][] = ["Content-Signal", "Content-Usage", "License"];
const mostPreferences = 1000;

/** Splits the value of a line into its path and its pairs. Keys are in lower case; a key without a value has an empty one. */
export function readPairs(
  field: RobotsPreference["field"],
  text: string,
): { readonly path: string | undefined; readonly pairs: readonly (readonly [key: string, value: string])[] } {
  const path = field === "Content-Usage" ? /^\/\S*/.exec(text)?.[0] : undefined;
  const pairs = text
    .slice(path?.length ?? 0)
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const equals = part.indexOf("=");
      const [key, value] = equals < 0 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)];
      return [key.trim().toLowerCase(), value.trim()] as const;
    });
  return { path, pairs };
}

const noGroups: readonly RobotsGroup[] = [];

// `Googlebot/2.1` and `Googlebot Images` mean Googlebot. Google accepts only letters, `-` and `_`; other names have digits.
function namesOf(value: string): string[] {
  if (/^\*(?:\s|$)/.test(value)) return ["*"];
  const letters = /^[a-z_-]+/i.exec(value)?.[0];
  const all = /^[a-z0-9_.-]+/i.exec(value)?.[0];
  return [...new Set([letters, all])].flatMap((name) => (name === undefined ? [] : [`:${name.toLowerCase()}`]));
}

interface RobotsRecord {
  readonly kind: RecordKind | undefined;
  readonly key: string;
  readonly value: string;
}

type RecordKind = "user-agent" | "allow" | "disallow" | "crawl-delay";

// Record kinds, by the beginning of their keys.
const kinds: readonly (readonly [RecordKind, RegExp])[] = [
  ["user-agent", /^user[- ]?agent/i],
  ["allow", /^allow/i],
  ["disallow", /^(?:disallow|dissallow|dissalow|disalow|diasllow|disallaw)/i],
  ["crawl-delay", /^crawl-?delay/i],
];
// To recognize a robots.txt, a whole key must match, because lines of other texts may begin the same way.
const usualKey = /^(?:user[- ]?agent|allow|disallow|crawl-?delay)$/i;

/** A line may be a record, a Sitemap line, or both. */
interface RobotsLine {
  readonly record?: RobotsRecord;
  readonly sitemap?: { readonly value: string; readonly isUsual: boolean };
}

// `line` has a limited length, so all expressions below are cheap.
function readLine(line: string, isLenient: boolean): RobotsLine {
  const { key, value, hasColon } = readKey(line) ?? {};
  if (key === undefined || value === undefined) return {};
  const kind = kinds.find(([, start]) => start.test(key))?.[0];
  const isSitemap = sitemapKey.test(key) || (isLenient && kind === undefined && isNearlySitemap(key, trimUrl(value)));
  if (isSitemap) {
    return { sitemap: { value: trimUrl(value), isUsual: hasColon === true && key.toLowerCase() === "sitemap" } };
  }
  // A # starts a comment, except in the URL of a sitemap.
  if (key.includes("#")) return {};
  const comment = value.indexOf("#");
  const whole = comment < 0 ? value : value.slice(0, comment);
  const inner = innerSitemap.exec(whole);
  const own = inner === null ? whole : whole.slice(0, inner.index);
  const isRule = kind === "allow" || kind === "disallow";
  const record = { kind, key, value: isRule ? trimRule(own) : trimUrl(own) };
  if (inner === null) return { record };
  return { record, sitemap: { value: trimUrl(whole.slice(inner.index + inner[0].length)), isUsual: false } };
}

interface KeyAndValue {
  readonly key: string;
  readonly value: string;
  readonly hasColon: boolean;
}

function readKey(line: string): KeyAndValue | undefined {
  const content = withoutComment(line);
  const colon = content.search(/[:\uff1a]/);
  const key = trimUrl(content.slice(0, Math.max(colon, 0)));
  // Lenient: `Sitemap https://example.org/a.xml`, where the first colon belongs to the URL.
  const scheme = /[ \t\u00a0=]https?$/i.exec(key)?.[0];
  if (colon >= 0 && scheme !== undefined) {
    const value = key.slice(1 - scheme.length) + content.slice(colon);
    return { key: trimUrl(key.slice(0, -scheme.length)), value, hasColon: false };
  }
  if (colon >= 0) return { key, value: content.slice(colon + 1), hasColon: content[colon] === ":" };
  // Lenient: `Sitemap /a.xml`: two words and no colon.
  const [first = "", second = "", ...more] = trimUrl(content).split(/[ \t]+/, 3);
  return second === "" || more.length > 0 ? undefined : { key: first, value: second, hasColon: false };
}

// Recognizes `Video Sitemap: https://example.org/videos.xml` and `Stiemap: https://example.org/sitemap.xml`.
function isNearlySitemap(key: string, value: string): boolean {
  return absoluteUrl.test(value) && (anySitemap.test(key) || isMisspelled(key) || anySitemap.test(value));
}

// Recognizes `Sitemp`, `Stiemap`, `Sitenap` and `Site\u00admap`: at most two letters are missing, and at most two characters are extra, wrong or
// in another order.
function isMisspelled(key: string): boolean {
  let at = 0;
  let found = 0;
  for (const letter of key.toLowerCase()) {
    const next = "sitemap".indexOf(letter, at) + 1;
    at = next || at;
    if (next > 0) found++;
  }
  return found > 4 && key.length - found < 3;
}

// Removes spaces and tabs from the end of a path; other characters belong to it (https://www.rfc-editor.org/rfc/rfc9309#section-2.2). At the
// start, where they make no sense, removes all invisible characters.
function trimRule(value: string): string {
  let end = value.length;
  while (end > 0 && (value.charCodeAt(end - 1) === 0x20 || value.charCodeAt(end - 1) === 0x09)) end--;
  return trimUrl(`${value.slice(0, end)}.`).slice(0, -1);
}

// Splits the value of a Sitemap line into its URLs, nearly always one.
function sitemapUrls(value: string): string[] {
  return value
    .replace(/<\/?(?:loc|sitemap)>/gi, " ")
    .split(/(?:\t|site-?map:\s*)(?=["'<]?https?:)/i)
    .flatMap((part) => urlsOf(decodeHtml(trimUrl(trimUrl(part).replace(tagsAtEnd, "").replace(/[,;]$/, "")))))
    .filter((url) => url !== "");
}

// Matches HTML tags at the end of a line. Other text in angle brackets may be part of a URL.
const tagsAtEnd =
  /(?<=.)(?:\s*<\/?(?:a|b|body|br|code|div|font|html|i|li|p|pre|span|strong|td|tr|ul)\b(?:\s[^<>]*)?\/?>)+\s*$/i;

function withoutComment(line: string): string {
  const comment = commentStart.exec(line);
  return comment === null ? line : line.slice(0, comment.index + comment[0].length - 1);
}

// A comment starts at the beginning, after white space, or after the first colon.
const commentStart = /^#|[ \t\u00a0]#|^[^:#]*:#/;
const sitemapKey = /^site[-_ ]?map/i;
const anySitemap = /site[-_ ]?map/i;
const absoluteUrl = /^["'<]?https?:\/\//i;
// Matches a Sitemap line inside the value of another line, with or without its URL.
const innerSitemap = /site[-_ ]?map\s*:\s*(?=["'<]?https?:)|(?<![^\s])site[-_ ]?map\s*:\s*$/i;
// These match a line that is only a URL with more than a host, and a line that is only a path.
const urlAlone = /^["'<]?https?:\/\/[^/?#\s]+[/?][^\s"'>]/i;
const pathAlone = /^[^\s:]*[./][^\s:]*$/;

// Removes the tags around a Sitemap line in an HTML page. Other lines stay as they are.
function withoutTags(line: string): string {
  const text = line.replace(/<(?!https?:)[^<>]*>/gi, " ");
  return innerSitemap.test(text) ? text : line;
}

function withinBytes(text: string): string {
  const bare = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (bare.length * 3 <= robotsTxtBytes) return bare;
  return bare.slice(0, new TextEncoder().encodeInto(bare, new Uint8Array(robotsTxtBytes)).read);
}

// Google's parser keeps this much of a line.
const longestLine = 2083 * 8 - 1;
