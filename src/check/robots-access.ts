// What robots.txt lets the chosen crawlers fetch. Only the robots.txt of the website itself is known.
import { RobotsRules } from "./robots-rules.ts";

export interface Blocked {
  /** The crawlers, for people. */
  readonly agents: string;
  /** The one that matters most is among them. */
  readonly isFirst: boolean;
}

export class RobotsAccess {
  readonly #agents: readonly string[];
  // The beginning of the URLs that the rules are about: `https://example.org`.
  #origin = "";
  #rules: readonly RobotsRules[] = [];
  #isOpen = true;
  /** Whether there is a robots.txt, or is known that there is none. */
  isKnown = false;

  constructor(agents: readonly string[]) {
    this.#agents = agents;
  }

  /** `origin` has no slash at its end; an empty `text` allows everything. */
  set(origin: string, text: string): void {
    this.#origin = origin;
    this.#rules = this.#agents.map((agent) => new RobotsRules(text, agent));
    this.#isOpen = this.#rules.every(({ isEmpty }) => isEmpty);
    this.isKnown = true;
  }

  /** The crawlers that may not fetch a URL; undefined where all may, or nobody knows. */
  blocked(url: string): Blocked | undefined {
    if (this.#isOpen || !url.startsWith(this.#origin)) return undefined;
    const rest = url.slice(this.#origin.length);
    if (rest !== "" && !/^[/?#]/.test(rest)) return undefined;
    const [path = ""] = rest.split("#", 1);
    const blocked = this.#agents.filter(
      (_, index) => !this.#rules[index]!.allows(path.startsWith("/") ? path : `/${path}`),
    );
    if (blocked.length === 0) return undefined;
    return { agents: blocked.join(", "), isFirst: blocked[0] === this.#agents[0] };
  }
}
