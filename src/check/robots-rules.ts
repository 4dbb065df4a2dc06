// The Allow and Disallow lines of robots.txt, for the crawlers that are asked about: https://www.rfc-editor.org/rfc/rfc9309
//   "The most specific match found MUST be used. The most specific match is the match that has the most octets.", and of
//   an allow and a disallow rule that are equivalent, "the allow rule SHOULD be used".
// The paths that a website writes may be long and full of wildcards: matching takes linear time for each.

interface Line {
  readonly allows: boolean;
  /** Between the wildcards. */
  readonly parts: readonly string[];
  /** Ends with `$`: nothing may follow. */
  readonly isWhole: boolean;
  readonly length: number;
}

/** The rules of one robots.txt for one crawler. */
export class RobotsRules {
  // The longest first; of equal ones those that allow.
  readonly #lines: readonly Line[];

  constructor(text: string, agent: string) {
    this.#lines = linesFor(text, agent).sort(
      (one, two) => two.length - one.length || Number(two.allows) - Number(one.allows),
    );
  }

  get isEmpty(): boolean {
    return this.#lines.every(({ allows }) => allows);
  }

  /** `path`: what follows the host, query included. */
  allows(path: string): boolean {
    const normal = normalized(path === "" ? "/" : path);
    // "The /robots.txt URI is implicitly allowed."
    if (normal === "/robots.txt") return true;
    for (const line of this.#lines) if (matches(line, normal)) return line.allows;
    return true;
  }
}

// The groups of the crawler, joined; where it has none, those of all others.
function linesFor(text: string, agent: string): Line[] {
  const own: Line[] = [];
  const others: Line[] = [];
  const name = agent.toLowerCase();
  let isOwn = false;
  let isOthers = false;
  let hasOwn = false;
  let isInGroup = false;
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = raw.replace(/#.*$/, "").trim();
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    const key = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (key === "user-agent") {
      // Agents that follow one another share a group; a rule in between ends it.
      if (isInGroup) [isOwn, isOthers, isInGroup] = [false, false, false];
      const token = /^[a-z_-]+|^\*/i.exec(value)?.[0]?.toLowerCase();
      if (token === name) [isOwn, hasOwn] = [true, true];
      if (token === "*") isOthers = true;
    } else if (key === "allow" || key === "disallow") {
      isInGroup = true;
      const rule = readLine(key === "allow", value);
      if (rule !== undefined && isOwn) own.push(rule);
      if (rule !== undefined && isOthers) others.push(rule);
    }
  }
  return hasOwn ? own : others;
}

// An empty path matches nothing: `Disallow:` allows everything.
function readLine(allows: boolean, value: string): Line | undefined {
  if (value === "") return undefined;
  const isWhole = value.endsWith("$");
  const path = normalized(isWhole ? value.slice(0, -1) : value);
  return { allows, parts: path.split(/\*+/), isWhole, length: path.length + (isWhole ? 1 : 0) };
}

function matches({ parts, isWhole }: Line, path: string): boolean {
  const [first = ""] = parts;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (let index = 1; index < parts.length; index++) {
    const part = parts[index]!;
    if (isWhole && index === parts.length - 1) {
      return path.length - part.length >= at && path.endsWith(part);
    }
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return !isWhole || at === path.length || (parts.length > 1 && parts.at(-1) === "");
}

// https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2: characters outside of ASCII are percent-encoded before they are
// compared, and the letters of percent-encoding have no case.
function normalized(path: string): string {
  const ascii = /[^\x21-\x7e]/.test(path) ? path.replaceAll(/[^\x21-\x7e]+/gu, encoded) : path;
  return ascii.includes("%") ? ascii.replaceAll(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase()) : ascii;
}

function encoded(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join("");
}
