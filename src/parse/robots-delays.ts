// The pauses that robots.txt asks for with Crawl-delay, which no standard knows, in the groups that one does.
// https://www.rfc-editor.org/rfc/rfc9309#section-2.2.1
//   "Crawlers MUST use case-insensitive matching to find the group that matches the product token"
//   "If no matching group exists, crawlers MUST obey the group with a user-agent line with the "*" value, if present."
// Crawl-delay is one of the "other records" of section 2.2.4, which must not end a group: a user-agent line behind it still
// belongs to the same group. Where several groups name a program, the first delay counts.
import { parseNumber } from "./values.ts";

export class RobotsDelays {
  // In milliseconds, for every program that has a group; undefined where no delay is asked of it. By tokens that are no numbers: those an
  // engine hashes without a seed.
  readonly #delays = new Map<string, number | undefined>();
  #group: string[] = [];
  #groupDelay: number | undefined;
  // After a rule, the next user-agent line starts a new group.
  #hasRules = false;

  /** Returns whether it is one of the records of a robots.txt. */
  takeRecord(key: string, value: string): boolean {
    switch (key.toLowerCase()) {
      case "user-agent":
      case "useragent":
      case "user agent":
        this.#takeUserAgent(value);
        return true;
      case "crawl-delay":
      case "crawldelay":
        this.#takeDelay(value);
        return true;
      case "allow":
      case "disallow":
        this.#hasRules = true;
        return true;
      default:
        return false;
    }
  }

  delayFor(userAgent: string): number | undefined {
    const token = productToken(userAgent);
    return this.#delays.get(this.#delays.has(token) ? token : anybody);
  }

  #takeUserAgent(value: string): void {
    if (this.#hasRules) {
      this.#group = [];
      this.#groupDelay = undefined;
      this.#hasRules = false;
    }
    const token = productToken(value);
    this.#group.push(token);
    this.#delays.set(token, this.#delays.get(token) ?? this.#groupDelay);
  }

  #takeDelay(value: string): void {
    const seconds = parseNumber(value);
    if (seconds === undefined || this.#groupDelay !== undefined) return;
    this.#groupDelay = Math.round(seconds * 1000);
    for (const token of this.#group) this.#delays.set(token, this.#delays.get(token) ?? this.#groupDelay);
  }
}

const anybody = ":*";

// `Example-Bot/1.0 (+https://…)` is `example-bot`.
function productToken(userAgent: string): string {
  const trimmed = userAgent.trim();
  const end = trimmed.search(/[\s/]/);
  return `:${(end < 0 ? trimmed : trimmed.slice(0, end)).toLowerCase()}`;
}
