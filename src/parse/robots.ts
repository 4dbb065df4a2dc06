// Reads robots.txt: groups with rules and a Crawl-delay for each crawler, preferences for the use of pages, and sitemaps. Lines are read
// as in Google's parser (https://github.com/google/robotstxt), which accepts a missing colon, common misspellings, and text after the
// name of a crawler.
// https://www.rfc-editor.org/rfc/rfc9309 has no Sitemap lines of its own: "Crawlers MAY interpret other records that are not
// part of the robots.txt protocol -- for example, 'Sitemaps'". So they are read anywhere: they belong to no group and
// end none. Crawl-delay, which is in no standard, does not end a group, either.
//   Lenient: any key that starts with `sitemap` or `site-map`, in any case; reported unless it is `sitemap`.
//   Lenient: a missing colon after the key; quotes or angle brackets around the URL; reported.
//   Lenient: several URLs in one line, also with a key between them; a comma or semicolon at the end; `&amp;` in a URL; reported.
//   Lenient: a relative URL is resolved against robots.txt; reported.
// A comment starts with a # at the beginning or after white space; inside a URL, it starts a fragment.
import { problem } from "../model/problem.ts";
import type { RobotsPreference } from "../model/sitemap.ts";
import { robotsTxtBytes } from "../model/sitemap.ts";
import { detached } from "../model/text.ts";
import { trimUrl } from "../model/url.ts";
import type { ParseContext, ParseOutcome } from "./entries.ts";
import { LineParser } from "./lines.ts";
import { urlsOf } from "./text.ts";
import { parseNumber } from "./values.ts";
import { decodeHtml } from "./xml/text.ts";

export class RobotsParser extends LineParser {
  readonly robots: RobotsGroups = new RobotsGroups();
  readonly #seems: string | undefined;
  #hasRecords = false;

  /** `seems`: the format that the document resembles, in case it has no robots.txt line. */
  constructor(context: ParseContext, linesBefore = 0, seems?: string) {
    super(context, linesBefore);
    this.#seems = seems;
  }

  /** A robots.txt without sitemaps is valid, even an empty one. */
  get outcome(): ParseOutcome {
    const { preferences } = this.robots;
    if (this.#seems === undefined || this.#hasRecords) {
      return { kind: "index", format: "robots", ...(preferences.length > 0 ? { preferences } : {}) };
    }
    return { kind: "invalid", reason: problem("not-a-sitemap", { value: this.#seems }) };
  }

  protected takeLine(text: string): void {
    const line = trimUrl(text);
    const record = readRecord(line);
    if (record === undefined) return;
    this.#hasRecords ||= record.kind === "sitemap" || usualKey.test(record.key);
    if (record.kind === "sitemap") this.#takeSitemap(record, line);
    else this.robots.take(record, this.line);
  }

  #takeSitemap({ key, value, hasColon }: RobotsRecord, line: string): void {
    const named = sitemapUrls(value);
    if (named.length === 0) this.report("url-missing", line);
    const urls = named.flatMap((bare) => this.sink.takeUrl("sitemap", bare) ?? []);
    const isUsual = hasColon && named[0] === value && key.toLowerCase() === "sitemap";
    if (urls.length > 0 && !isUsual) this.report("robots-spelling", line);
    for (const url of urls) this.sink.addSitemap({ url });
  }
}

/** An Allow or Disallow line of robots.txt. */
export interface RobotsRule {
  readonly allows: boolean;
  /** As written, without comments. */
  readonly path: string;
  /** Starting at 1. */
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
  // Names are in lower case, after a colon, because JavaScript engines hash numeric strings without a seed. `*` means all crawlers.
  readonly #groups = new Map<string, RobotsGroup[]>();
  #open: RobotsGroup | undefined;
  readonly preferences: RobotsPreference[] = [];
  // The crawlers that preferences are for, as written; none before the first group.
  #agents: string[] | undefined;
  #hasLines = false;

  /** Reads a whole robots.txt, up to 500 KiB. `onSitemap` is called with each URL of a Sitemap line. */
  static in(text: string, onSitemap?: (url: string) => void): RobotsGroups {
    const groups = new RobotsGroups();
    for (const [index, line] of withinBytes(text)
      .split(/\r\n|\r|\n/)
      .entries()) {
      const record = readRecord(trimUrl(line.slice(0, longestLine)));
      if (record?.kind === "sitemap") {
        for (const url of sitemapUrls(record.value)) onSitemap?.(url);
      } else if (record !== undefined) groups.take(record, index + 1);
    }
    return groups;
  }

  /** All groups for a crawler; the same list for crawlers with the same groups. */
  of(agent: string): readonly RobotsGroup[] {
    return this.#groups.get(`:${agent.toLowerCase()}`) ?? this.#groups.get("*") ?? noGroups;
  }

  /** The Crawl-delay for a user agent, in milliseconds. Only the first word of its name counts. */
  delayFor(userAgent: string): number | undefined {
    const [token = ""] = userAgent.trim().split(/[\s/]/, 1);
    return this.of(token).find(({ delay }) => delay !== undefined)?.delay;
  }

  take({ kind, key, value }: RobotsRecord, line: number): void {
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

  // Consecutive user-agent lines share a group; a rule ends it.
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
    if (this.preferences.length >= mostPreferences) return;
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

/** The parts between commas: keys in lower case; a key without a value has an empty one. */
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

// `Googlebot/2.1` and `Googlebot Images` mean Googlebot. Google accepts only letters; other crawlers have digits in their names.
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
  readonly hasColon: boolean;
}

type RecordKind = "user-agent" | "allow" | "disallow" | "crawl-delay" | "sitemap";

// Record kinds, by the beginning of their keys.
const kinds: readonly (readonly [RecordKind, RegExp])[] = [
  ["user-agent", /^user[- ]?agent/i],
  ["allow", /^allow/i],
  ["disallow", /^(?:disallow|dissallow|dissalow|disalow|diasllow|disallaw)/i],
  ["crawl-delay", /^crawl-?delay/i],
  ["sitemap", /^site-?map/i],
];
// To recognize a robots.txt, a whole key must match, because lines of other texts may begin the same way.
const usualKey = /^(?:user[- ]?agent|allow|disallow|crawl-?delay)$/i;

// `line` is trimmed, and bounded by the longest line.
function readRecord(line: string): RobotsRecord | undefined {
  const record = readKey(line);
  if (record === undefined) return undefined;
  const { key, value } = record;
  const kind = kinds.find(([, start]) => start.test(key))?.[0];
  if (kind === "sitemap") return { ...record, kind };
  // Only in a sitemap's URL, a # may not be a comment.
  if (key.includes("#")) return undefined;
  const comment = value.indexOf("#");
  return { ...record, kind, value: comment < 0 ? value : trimUrl(value.slice(0, comment)) };
}

function readKey(line: string): Omit<RobotsRecord, "kind"> | undefined {
  const comment = commentStart.exec(line);
  const content = comment === null ? line : line.slice(0, comment.index + comment[0].length - 1).trimEnd();
  const colon = content.indexOf(":");
  const key = content.slice(0, Math.max(colon, 0)).trimEnd();
  // Lenient: `Sitemap https://example.org/a.xml`, where the first colon belongs to the URL.
  const scheme = key.search(/[ \t\u00a0]https?$/i);
  if (colon >= 0 && scheme >= 0) {
    return { key: key.slice(0, scheme).trimEnd(), value: content.slice(scheme + 1), hasColon: false };
  }
  if (colon >= 0) return { key, value: trimUrl(content.slice(colon + 1)), hasColon: true };
  // Lenient: `Sitemap /a.xml`: two words and no colon.
  const [first = "", second = "", ...more] = content.split(/[ \t]+/, 3);
  return second === "" || more.length > 0 ? undefined : { key: first, value: second, hasColon: false };
}

// Nearly always one.
function sitemapUrls(value: string): string[] {
  return value
    .split(/(?:\t|site-?map:\s*)(?=["'<]?https?:)/i)
    .flatMap((part) => urlsOf(decodeHtml(trimUrl(trimUrl(part).replace(/[,;]$/, "")))))
    .filter((url) => url !== "");
}

// At the beginning, after white space, or after the first colon.
const commentStart = /^#|[ \t\u00a0]#|^[^:#]*:#/;

function withinBytes(text: string): string {
  const bare = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (bare.length * 3 <= robotsTxtBytes) return bare;
  return bare.slice(0, new TextEncoder().encodeInto(bare, new Uint8Array(robotsTxtBytes)).read);
}

// The line length that Google's parser keeps.
const longestLine = 2083 * 8 - 1;
