// Matches paths with the rules of a host: `/blog/:slug`, `/old/*`, `/old/:rest*`. Literal paths are looked up, so thousands of them cost
// little. Patterns are tried for each page, so their number and length are bounded.
import { parseUrl } from "../../model/url.ts";

/** A rule that matched. `fill` replaces the names in a target with the parts of the path that they matched. */
export interface PathMatch<T> {
  readonly value: T;
  fill(target: string): string;
}

interface Row<T> {
  readonly index: number;
  readonly value: T;
  readonly expression?: RegExp;
}

export class PathRules<T> {
  readonly #literal = new Map<string, Row<T>[]>();
  readonly #patterns: Row<T>[] = [];
  readonly #site: URL | null;
  readonly #isExact: boolean;
  #size = 0;

  /** Creates an empty table. With `isExact`, a trailing slash makes a difference and literal paths come first, as on Cloudflare Pages. */
  constructor(site: string, isExact: boolean) {
    this.#site = parseUrl(site);
    this.#isExact = isExact;
  }

  /** Adds a rule. Returns false if its pattern is not understood, or beyond a limit. A pattern for a different scheme or host never matches. */
  add(pattern: string, value: T): boolean {
    if (pattern.length > longest) return false;
    const [, origin, path = ""] = /^(https?:\/\/[^/]*)?(\/.*)$/s.exec(pattern) ?? [];
    const source = path === "" ? undefined : sourceOf(path, this.#isExact);
    if (source === undefined) return false;
    if (origin !== undefined && origin.toLowerCase() !== this.#site?.origin) return true;
    const index = this.#size++;
    if (!/[:*]/.test(path)) {
      const key = this.#keyOf(encoded(path));
      const rows = this.#literal.get(key);
      if (rows === undefined) this.#literal.set(key, [{ index, value }]);
      else rows.push({ index, value });
      return true;
    }
    if (this.#patterns.length >= mostPatterns) return false;
    this.#patterns.push({ index, value, expression: new RegExp(`^${source}${this.#isExact ? "" : "/?"}$`) });
    return true;
  }

  /** Yields all rules that match, in the order in which the host tries them. */
  *match(path: string): Generator<PathMatch<T>, void> {
    const rows = [...(this.#literal.get(this.#keyOf(path)) ?? [])];
    for (const row of this.#patterns) if (row.expression?.test(path)) rows.push(row);
    if (!this.#isExact) rows.sort((one, two) => one.index - two.index);
    for (const { value, expression } of rows) {
      const groups = expression?.exec(path)?.groups ?? {};
      yield { value, fill: (target) => target.replaceAll(/:(\w+)\*?/g, (whole, name) => groups[name] ?? whole) };
    }
  }

  #keyOf(path: string): string {
    return this.#isExact || path === "/" ? path : path.replace(/\/$/, "");
  }
}

const longest = 2000;
const mostPatterns = 1000;

// Returns the regular expression of a pattern, or undefined if it is not understood. Names must be whole parts of the path, and only one
// star is allowed, so that matching takes linear time.
function sourceOf(path: string, isExact: boolean): string | undefined {
  const names = new Set<string>();
  let stars = 0;
  let source = "";
  const parts = path.split("/").slice(1);
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const [, name, star] = /^:([a-z_]\w*)(\*?)$/i.exec(part) ?? [];
    stars += part.split("*").length - 1;
    if (stars > 1 || (name !== undefined && (name === "splat" || names.has(name)))) return undefined;
    if (name !== undefined) names.add(name);
    if (part === "*" || star === "*") {
      if (!isLast && !isExact) return undefined;
      const rest = `/(?<${name ?? "splat"}>.*)`;
      source += isExact ? rest : `(?:${rest})?`;
    } else if (name !== undefined) source += `/(?<${name}>[^/]+)`;
    else if (/[:(){}[\]|\\^$+?]/.test(part)) return undefined;
    else if (part !== "" || !isLast || isExact) {
      source += `/${encoded(`/${part}`).slice(1).replaceAll(".", "\\.").replace("*", "(?<splat>.*)")}`;
    }
  }
  return source;
}

// Percent-encodes a path as in a URL.
function encoded(path: string): string {
  return parseUrl(path, "https://local.invalid/")?.pathname ?? path;
}
