// What robots.txt allows the chosen crawlers to fetch. Only the robots.txt of the website itself is known.
import { pathOfUrl, type RobotsRules, ruleFinder } from "../parse/robots-rules.ts";

export interface Blocked {
  /** The crawlers, for people. */
  readonly agents: string;
  /** The most important one is among them. */
  readonly isFirst: boolean;
}

export class RobotsAccess {
  readonly #agents: readonly string[];
  // The beginnings of the URLs that the rules are about: `https://example.org`.
  #origins: string[] = [];
  // Each once, with the numbers of its crawlers: most crawlers share one.
  #rules: readonly { readonly rules: RobotsRules; readonly agents: readonly number[] }[] = [];
  #isOpen = true;
  /** Whether there is a robots.txt, or it is known that there is none. */
  isKnown = false;
  /** There are so many rules and pages that not all of them were compared. */
  isSpent = false;

  constructor(agents: readonly string[]) {
    this.#agents = agents;
  }

  /** `origins` have no slash at their ends; an empty `text` allows everything. */
  set(origins: readonly string[], text: string): void {
    this.#origins = [...new Set(origins)];
    const all = this.#agents.map(ruleFinder(text));
    this.#rules = [...new Set(all)]
      .filter(({ isOpen }) => !isOpen)
      .map((rules) => ({ rules, agents: all.flatMap((each, index) => (each === rules ? [index] : [])) }));
    this.#isOpen = this.#rules.length === 0;
    this.isKnown = true;
  }

  /** The crawlers that may not fetch a URL; undefined if all may, or nothing is known. */
  blocked(url: string): Blocked | undefined {
    if (this.#isOpen) return undefined;
    const origin = this.#origins.find((each) => isAt(url, each));
    if (origin === undefined) return undefined;
    const path = pathOfUrl(url.slice(origin.length));
    let blocked: number[] | undefined;
    for (const { rules, agents } of this.#rules) {
      if (!rules.allows(path)) blocked = blocked === undefined ? [...agents] : [...blocked, ...agents];
      if (rules.isSpent) [this.#isOpen, this.isSpent] = [true, true];
    }
    if (blocked === undefined) return undefined;
    blocked.sort((one, two) => one - two);
    return { agents: blocked.map((index) => this.#agents[index]).join(", "), isFirst: blocked[0] === 0 };
  }
}

function isAt(url: string, origin: string): boolean {
  if (!url.startsWith(origin)) return false;
  const next = url.charAt(origin.length);
  return next === "" || next === "/" || next === "?" || next === "#";
}
