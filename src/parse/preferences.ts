// The lines of robots.txt about what may be done with pages, for AI above all. Nobody enforces them.
//   Content-Signal: search=yes, ai-train=no      https://contentsignals.org/
//   Content-Usage: /path/ train-ai=n             https://datatracker.ietf.org/doc/draft-ietf-aipref-attach/
//   License: https://example.org/license.xml     https://rslstandard.org/
// Content-Signal stands in groups and before all groups, and programs disagree which counts: both are read, and `agents` says which.

import type { RobotsPreference } from "../model/sitemap.ts";
import { detached } from "../model/text.ts";

export class Preferences {
  readonly list: RobotsPreference[] = [];
  // Of the group, as written. None before the first group.
  #agents: readonly string[] | undefined;
  #hasRules = false;

  takeUserAgent(value: string): void {
    const name = /^(?:\*|[a-z0-9_.-]+)/i.exec(value)?.[0] ?? value;
    this.#agents = this.#hasRules ? [name] : [...(this.#agents ?? []), name];
    this.#hasRules = false;
  }

  /** Allow and Disallow, and the lines that are read here: the next User-agent line begins a group. */
  takeRule(): void {
    this.#hasRules = true;
  }

  /** Any other line. */
  take(key: string, value: string, line: number): void {
    const field = fields.find((each) => each.toLowerCase() === key.toLowerCase());
    if (field === undefined) return;
    this.takeRule();
    if (this.list.length >= mostPreferences) return;
    const text = detached(value);
    if (field === "License") {
      this.list.push({ field, value: text, line });
      return;
    }
    const { path, pairs } = readPairs(field, text);
    const values = Object.fromEntries(pairs);
    const agents = this.#agents === undefined ? {} : { agents: this.#agents };
    this.list.push({ field, value: text, values, ...(path === undefined ? {} : { path }), line, ...agents });
  }
}

const fields: readonly RobotsPreference["field"][] = ["Content-Signal", "Content-Usage", "License"];
const mostPreferences = 1000;

/** What stands between the commas: keys in lower case; a key without a value has an empty one. */
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
