// The Allow and Disallow lines of robots.txt, for any crawler: https://www.rfc-editor.org/rfc/rfc9309
//   "The most specific match found MUST be used. The most specific match is the match that has the most octets.", and of
//   an allow and a disallow rule that are equivalent, "the allow rule SHOULD be used".
// As in Google's parser (https://github.com/google/robotstxt), allowing `index.html` also allows its folder. A robots.txt may have many
// long rules full of wildcards: a URL is compared only with rules that have the same beginning, and the cost of all comparisons is
// counted, so that callers with many URLs can stop.
import { unexpected, urlText } from "../model/option-checks.ts";
import { resolve, urlOption } from "../model/option-row.ts";
import type { ParseOptions, ParseSettings } from "../model/parse-options.ts";
import type { RobotsPreference } from "../model/sitemap.ts";
import { isHttpUrl } from "../model/url.ts";
import { resolveListedUrl } from "../model/url-forms.ts";
import { type RobotsGroup, RobotsGroups, type RobotsRule } from "./robots.ts";

/** A robots.txt: what it allows crawlers to fetch, its sitemaps, and its AI preferences. */
export interface RobotsTxt {
  /** The absolute URLs of its Sitemap lines. Relative ones are listed only with the option `url`. */
  readonly sitemaps: readonly string[];
  /** Its Content-Signal, Content-Usage and License lines, up to 1,000. */
  readonly preferences: readonly RobotsPreference[];
  /**
   * Whether a crawler may fetch a URL. `url` is a URL, or the part after its host; `agent` is the crawler's product token, its
   * name in robots.txt: `Googlebot`, without a version.
   */
  isAllowed(url: string | URL, agent: string): boolean;
  /** The rule that applies to a URL. If none matches, it is undefined, and the URL is allowed. */
  matchingRule(url: string | URL, agent: string): RobotsRule | undefined;
}

/**
 * Reads a robots.txt: its Sitemap lines, its AI preferences, and its rules as in RFC 9309: groups for the same crawler are merged, the
 * longest rule wins, and Allow wins over a Disallow of the same length. Only the first 500 KiB are read. `url` is the URL of the
 * robots.txt, to resolve Sitemap lines such as `/sitemap.xml` and `//example.org/sitemap.xml`.
 *
 * @example
 * const robots = parseRobots("User-agent: *\nDisallow: /cart");
 * robots.isAllowed("https://example.org/cart/1", "Googlebot"); // false
 */
export function parseRobots(text: string, options?: Pick<ParseOptions, "url">): RobotsTxt {
  if (typeof text !== "string") throw unexpected("text", "a string", text);
  const { url: base }: Pick<ParseSettings, "url"> = resolve([urlOption], options);
  const sitemaps = new Set<string>();
  const groups = RobotsGroups.in(text, (written) => {
    const { url } = resolveListedUrl(written, base, Number.POSITIVE_INFINITY);
    if (url !== undefined && isHttpUrl(url)) sitemaps.add(url);
  });
  const find = ruleFinder(groups);
  const rulesFor = (agent: string): RobotsRules => {
    if (typeof agent !== "string") throw unexpected("agent", "a string", agent);
    return find(agent);
  };
  const pathOf = (url: string | URL): string => {
    const text = urlText(url);
    if (typeof text !== "string") throw unexpected("url", "a URL", url);
    return pathOfUrl(text);
  };
  return {
    sitemaps: [...sitemaps],
    preferences: groups.preferences,
    isAllowed: (url, agent) => rulesFor(agent).allows(pathOf(url)),
    matchingRule: (url, agent) => rulesFor(agent).match(pathOf(url))?.rule,
  };
}

interface Line {
  readonly rule: RobotsRule;
  /** The text before the first wildcard. */
  readonly start: string;
  /** The text parts after the first wildcard. */
  readonly parts: readonly string[];
  /** Whether the rule ends with `$`, so that nothing may follow. */
  readonly isWhole: boolean;
  readonly length: number;
}

/** The rules of one robots.txt for one crawler. */
export class RobotsRules {
  // The lines, keyed by the text before their first wildcard.
  readonly #lines = new Map<string, Line[]>();
  readonly #lengths: readonly number[];
  /** Whether nothing is disallowed. */
  readonly isOpen: boolean;
  // An upper bound of the characters compared, and for how many URLs.
  #work = 0;
  #urls = 0;

  constructor(lines: readonly Line[]) {
    for (const line of lines) {
      const alike = this.#lines.get(line.start);
      if (alike === undefined) this.#lines.set(line.start, [line]);
      else alike.push(line);
    }
    // The lines are sorted, so the first one that matches counts.
    for (const alike of this.#lines.values()) alike.sort(byPrecedence);
    this.#lengths = [...new Set(lines.map(({ start }) => start.length))].sort((one, two) => one - two);
    this.isOpen = lines.every(({ rule }) => rule.allows);
  }

  /** Whether a path may be fetched: the part of a URL after the host, including the query. */
  allows(path: string): boolean {
    return this.isOpen || (this.match(path)?.rule.allows ?? true);
  }

  match(path: string): Line | undefined {
    const normal = normalized(path === "" ? "/" : path).replaceAll("*", "%2A");
    // "The /robots.txt URI is implicitly allowed."
    if (normal === "/robots.txt") return undefined;
    this.#urls += 1;
    let best: Line | undefined;
    for (const length of this.#lengths) {
      if (length > normal.length) break;
      this.#work += length + workPerStep;
      for (const line of this.#lines.get(normal.slice(0, length)) ?? []) {
        if (best !== undefined && byPrecedence(best, line) <= 0) break;
        this.#work += workPerStep;
        if (!this.#matches(line, normal)) continue;
        best = line;
        break;
      }
    }
    return best;
  }

  /** Whether comparisons take too long: more than about 0.3 s, plus 20 µs per URL. A unit of work takes up to about a nanosecond. */
  get isSpent(): boolean {
    return this.#work > mostWork + this.#urls * workPerUrl;
  }

  // Uses the first occurrence of each part: if the rest does not match after that, it does not match after a later one, either.
  #matches({ start, parts, isWhole }: Line, path: string): boolean {
    let at = start.length;
    for (const [index, part] of parts.entries()) {
      if (isWhole && index === parts.length - 1) return path.length - part.length >= at && path.endsWith(part);
      const found = path.indexOf(part, at);
      const end = found < 0 ? path.length : found + part.length;
      // Searching for a long part may compare it at every position.
      this.#work += (end - at) * (part.length > longPart ? part.length : 1) + workPerStep;
      if (found < 0) return false;
      at = end;
    }
    return !isWhole || at === path.length;
  }
}

const mostWork = 300_000_000;
const workPerUrl = 20_000;
const workPerStep = 16;
const longPart = 32;

// Sorts the longest rule first, and Allow before a Disallow of the same length.
function byPrecedence(one: Line, two: Line): number {
  return two.length - one.length || Number(two.rule.allows) - Number(one.rule.allows);
}

/** Returns a function that finds the rules for a crawler. Crawlers that no group names share one object. */
export function ruleFinder(robots: string | RobotsGroups): (agent: string) => RobotsRules {
  const all = typeof robots === "string" ? RobotsGroups.in(robots) : robots;
  const known = new Map<readonly RobotsGroup[], RobotsRules>();
  return (agent) => {
    const groups = all.of(agent);
    let found = known.get(groups);
    if (found === undefined) {
      found = new RobotsRules(groups.flatMap(({ rules }) => rules.flatMap(linesOf)));
      known.set(groups, found);
    }
    return found;
  };
}

/** Returns the part of a URL after the host, without its fragment. */
export function pathOfUrl(url: string): string {
  const rest = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url);
  const path = rest === null ? url : url.slice(rest[0].length);
  const fragment = path.indexOf("#");
  const whole = fragment < 0 ? path : path.slice(0, fragment);
  return whole.startsWith("/") ? whole : `/${whole}`;
}

function linesOf(rule: RobotsRule): Line[] {
  // An empty path matches nothing: `Disallow:` allows everything.
  if (rule.path === "") return [];
  const line = lineOf(rule, rule.path);
  if (!rule.allows) return [line];
  // An Allow for `/a/index.html` also applies to `/a/`.
  const folder = /^(.*\/)index\.htm[^/]*$/.exec(rule.path)?.[1];
  return folder === undefined ? [line] : [line, lineOf(rule, `${folder}$`)];
}

function lineOf(rule: RobotsRule, path: string): Line {
  const isWhole = path.endsWith("$");
  const normal = normalized(isWhole ? path.slice(0, -1) : path);
  const [start = "", ...parts] = normal.split(/\*+/);
  return { rule, start, parts, isWhole, length: normal.length + (isWhole ? 1 : 0) };
}

// Normalizes a path before comparing, as in https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2: percent-encodes characters that a URL
// cannot have, and decodes those that need no encoding. Hex digits are case-insensitive. The caller encodes a `*` in a URL, where it is not
// a wildcard (section 2.2.3).
function normalized(path: string): string {
  const legal = illegal.test(path) ? path.replaceAll(illegalRun, encoded) : path;
  return legal.includes("%") ? legal.replaceAll(/%[0-9a-f]{2}/gi, decodedOctet) : legal;
}

// Matches characters that a URL cannot have (https://www.rfc-editor.org/rfc/rfc3986#section-2), and `$`, which marks the end of a rule if
// it is the last character.
const illegal = /[^\x21-\x7e]|["$<>\\^`{|}]/;
const illegalRun = /(?:[^\x21-\x7e]|["$<>\\^`{|}])+/gu;

function encoded(text: string): string {
  return [...encoder.encode(text)].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");
}

function decodedOctet(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  return /[a-z0-9._~-]/i.test(character) ? character : octet.toUpperCase();
}

const encoder = new TextEncoder();
