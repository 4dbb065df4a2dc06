// The Allow and Disallow lines of robots.txt, for any crawler: https://www.rfc-editor.org/rfc/rfc9309
//   "The most specific match found MUST be used. The most specific match is the match that has the most octets.", and of
//   an allow and a disallow rule that are equivalent, "the allow rule SHOULD be used".
// Lines are read like Google's parser does (https://github.com/google/robotstxt): it accepts a missing colon, common
// misspellings of Disallow, text after the name of a crawler, and `index.html` for its folder. A robots.txt may have
// many long rules full of wildcards: a URL is compared only with the rules that begin like it, and with each in linear
// time.
import { readable, unexpected, urlText } from "../model/option-checks.ts";
import { robotsTxtBytes } from "../model/protocol-limits.ts";

/** An Allow or Disallow line of robots.txt. */
export interface RobotsRule {
  readonly allows: boolean;
  /** As it is written, without a comment. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** What robots.txt allows crawlers to fetch. */
export interface RobotsTxt {
  /**
   * Whether a crawler may fetch a URL. `url` is a URL or what follows its host; `agent` is the name of the crawler in
   * robots.txt, its product token: `Googlebot`, without version.
   */
  isAllowed(url: string | URL, agent: string): boolean;
  /** The line that decides about a URL; undefined if none matches, which allows it. */
  matchingRule(url: string | URL, agent: string): RobotsRule | undefined;
}

/**
 * Reads the Allow and Disallow lines of a robots.txt, as RFC 9309 asks: groups of one crawler are joined, the longest rule
 * counts, and Allow wins over a Disallow of the same length. What comes after 500 KiB is not read.
 *
 * @example
 * const robots = parseRobots("User-agent: *\nDisallow: /cart");
 * robots.isAllowed("https://example.org/cart/1", "Googlebot"); // false
 */
export function parseRobots(text: string): RobotsTxt {
  if (typeof text !== "string") throw unexpected("text", "a string", text);
  const find = ruleFinder(text);
  const rulesFor = (agent: string): RobotsRules => {
    if (typeof agent !== "string") throw unexpected("agent", "a string", agent);
    return find(agent);
  };
  const pathOf = (url: string | URL): string => {
    const text = readable("url", () => urlText(url));
    if (typeof text !== "string") throw unexpected("url", "a URL", url);
    return pathOfUrl(text);
  };
  return {
    isAllowed: (url, agent) => rulesFor(agent).allows(pathOf(url)),
    matchingRule: (url, agent) => rulesFor(agent).match(pathOf(url))?.rule,
  };
}

interface Line {
  readonly rule: RobotsRule;
  /** The text before the first wildcard. */
  readonly start: string;
  /** The texts after the first wildcard, between the others. */
  readonly parts: readonly string[];
  /** Ends with `$`: nothing may follow. */
  readonly isWhole: boolean;
  readonly length: number;
}

/** The rules of one robots.txt for one crawler. */
export class RobotsRules {
  // By the text before the first wildcard.
  readonly #lines = new Map<string, Line[]>();
  readonly #lengths: readonly number[];
  /** Nothing is disallowed. */
  readonly isOpen: boolean;

  constructor(lines: readonly Line[]) {
    for (const line of lines) {
      const alike = this.#lines.get(line.start);
      if (alike === undefined) this.#lines.set(line.start, [line]);
      else alike.push(line);
    }
    // Sorted: the first rule that matches counts.
    for (const alike of this.#lines.values()) alike.sort(byPrecedence);
    this.#lengths = [...new Set(lines.map(({ start }) => start.length))].sort((one, two) => one - two);
    this.isOpen = lines.every(({ rule }) => rule.allows);
  }

  /** `path`: the part of a URL after the host, including the query. */
  allows(path: string): boolean {
    return this.isOpen || (this.match(path)?.rule.allows ?? true);
  }

  match(path: string): Line | undefined {
    const normal = normalized(path === "" ? "/" : path);
    // "The /robots.txt URI is implicitly allowed."
    if (normal === "/robots.txt") return undefined;
    let best: Line | undefined;
    for (const length of this.#lengths) {
      if (length > normal.length) break;
      for (const line of this.#lines.get(normal.slice(0, length)) ?? []) {
        this.comparisons += 1;
        if (best !== undefined && byPrecedence(best, line) <= 0) break;
        if (!matches(line, normal)) continue;
        best = line;
        break;
      }
    }
    this.comparisons += this.#lengths.length;
    return best;
  }

  /** How many rules were compared so far: a measure of the time it took. */
  comparisons = 0;
}

// Longest first; of equal length, Allow first.
function byPrecedence(one: Line, two: Line): number {
  return two.length - one.length || Number(two.rule.allows) - Number(one.rule.allows);
}

/** Parses a robots.txt. The returned function finds the rules for a crawler; crawlers with the same rules get the same object. */
export function ruleFinder(text: string): (agent: string) => RobotsRules {
  const agents = readGroups(text);
  const known = new Map<readonly Group[], RobotsRules>();
  return (agent) => {
    // All groups of a crawler are joined; a crawler without a group gets those of `*`.
    const groups = agents.get(`:${agent.toLowerCase()}`) ?? agents.get("*") ?? noGroups;
    let rules = known.get(groups);
    if (rules === undefined) {
      rules = new RobotsRules(groups.flat());
      known.set(groups, rules);
    }
    return rules;
  };
}

/** The part of a URL after the host, without its fragment. */
export function pathOfUrl(url: string): string {
  const rest = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url);
  const path = rest === null ? url : url.slice(rest[0].length);
  const fragment = path.indexOf("#");
  const whole = fragment < 0 ? path : path.slice(0, fragment);
  return whole.startsWith("/") ? whole : `/${whole}`;
}

type Group = Line[];

const noGroups: readonly Group[] = [];

// The groups of each crawler. Names are in lower case, after a colon; `*` stands for all crawlers.
function readGroups(text: string): ReadonlyMap<string, readonly Group[]> {
  const groups = new Map<string, Group[]>();
  let open: Group | undefined;
  let hasRules = false;
  for (const [index, raw] of withinBytes(text)
    .split(/\r\n|\r|\n/)
    .entries()) {
    const [key, value] = readRecord(raw.slice(0, longestLine));
    if (userAgent.test(key)) {
      // Consecutive user-agent lines share a group; a rule ends it.
      if (open === undefined || hasRules) [open, hasRules] = [[], false];
      for (const name of namesOf(value)) {
        const own = groups.get(name);
        if (own === undefined) groups.set(name, [open]);
        else if (own.at(-1) !== open) own.push(open);
      }
      continue;
    }
    const allows = allow.test(key);
    if (open === undefined || !(allows || disallow.test(key))) continue;
    hasRules = true;
    // An empty path matches nothing: `Disallow:` allows everything.
    if (value === "") continue;
    const rule = { allows, path: value, line: index + 1 };
    open.push(...linesOf(rule));
  }
  return groups;
}

function readRecord(raw: string): readonly [key: string, value: string] {
  const comment = raw.indexOf("#");
  const line = (comment < 0 ? raw : raw.slice(0, comment)).trim();
  const colon = line.indexOf(":");
  if (colon >= 0) return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  const words = line.split(/[ \t]+/, 3);
  return words.length === 2 ? [words[0]!, words[1]!] : ["", ""];
}

// `Googlebot/2.1` and `Googlebot Images` mean Googlebot. Google accepts only letters; other crawlers have digits in
// their names.
function namesOf(value: string): string[] {
  if (/^\*(?:\s|$)/.test(value)) return ["*"];
  const letters = /^[a-z_-]+/i.exec(value)?.[0];
  const all = /^[a-z0-9_.-]+/i.exec(value)?.[0];
  return [...new Set([letters, all])].flatMap((name) => (name === undefined ? [] : [`:${name.toLowerCase()}`]));
}

function linesOf(rule: RobotsRule): Line[] {
  const line = lineOf(rule, rule.path);
  if (!rule.allows) return [line];
  // A rule for `/a/index.html` also applies to `/a/`.
  const folder = /^(.*\/)index\.htm[^/]*$/.exec(rule.path)?.[1];
  return folder === undefined ? [line] : [line, lineOf(rule, `${folder}$`)];
}

function lineOf(rule: RobotsRule, path: string): Line {
  const isWhole = path.endsWith("$");
  const normal = normalized(isWhole ? path.slice(0, -1) : path);
  const [start = "", ...parts] = normal.split(/\*+/);
  return { rule, start, parts, isWhole, length: normal.length + (isWhole ? 1 : 0) };
}

function matches({ start, parts, isWhole }: Line, path: string): boolean {
  let at = start.length;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!;
    if (isWhole && index === parts.length - 1) {
      return path.length - part.length >= at && path.endsWith(part);
    }
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return !isWhole || at === path.length;
}

// https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2: characters outside of ASCII are percent-encoded before
// comparing, and those that need no encoding are decoded. Hex digits are compared without regard to case.
function normalized(path: string): string {
  const ascii = /[^\x21-\x7e]/.test(path) ? path.replaceAll(/[^\x21-\x7e]+/gu, encoded) : path;
  return ascii.includes("%") ? ascii.replaceAll(/%[0-9a-f]{2}/gi, decodedOctet) : ascii;
}

function encoded(text: string): string {
  return [...encoder.encode(text)].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");
}

function decodedOctet(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  return /[a-z0-9._~-]/i.test(character) ? character : octet.toUpperCase();
}

function withinBytes(text: string): string {
  const bare = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (bare.length * 3 <= robotsTxtBytes) return bare;
  return bare.slice(0, encoder.encodeInto(bare, new Uint8Array(robotsTxtBytes)).read);
}

const encoder = new TextEncoder();
// The line length that Google's parser keeps.
const longestLine = 2083 * 8 - 1;
const userAgent = /^user[- ]?agent/i;
const allow = /^allow/i;
const disallow = /^(?:disallow|dissallow|dissalow|disalow|diasllow|disallaw)/i;
