// Rules about what robots.txt says of the use of pages: Content-Signal, Content-Usage and License lines. None of them decides whether a
// page is crawled or indexed, so none is an error.
import type { RobotsPreference } from "../../model/sitemap.ts";
import { isHttpUrl } from "../../model/url.ts";
import { readPairs } from "../../parse/preferences.ts";
import type { Findings } from "../findings.ts";
import { type RuleRow, rule } from "../rule.ts";
import * as sources from "../sources.ts";

export const preferenceRules: readonly RuleRow[] = [
  rule("robots-preference-invalid", "warning", "practice", sources.contentSignals, {
    engines: [],
    sentence: "robots.txt has a Content-Signal, Content-Usage or License line that programs cannot read.",
    fix: "Write `Content-Signal: search=yes, ai-train=no`, `Content-Usage: train-ai=n` or `License: https://example.org/license.xml`.",
  }),
  rule("robots-preference-misplaced", "info", "practice", sources.contentUsage, {
    engines: [],
    sentence:
      "robots.txt has a Content-Signal or Content-Usage line before its first User-agent line; some programs ignore it there.",
    fix: "Put the line below a User-agent line.",
  }),
  rule("robots-preference-conflict", "warning", "practice", sources.contentSignals, {
    engines: [],
    sentence: "robots.txt allows and forbids the same use of the same pages to the same crawler.",
    fix: "Remove one of the two lines, or make them agree.",
  }),
];

export function judgePreferences(url: string, preferences: readonly RobotsPreference[], findings: Findings): void {
  const said = new Map<string, { readonly isYes: boolean; readonly line: number }>();
  for (const preference of preferences) {
    const { field, value, line, agents, path = "" } = preference;
    const add = (id: string, shown: string) => findings.count(id, url, 1, { value: `${field}: ${shown}`, line });
    if (!isReadable(preference)) add("robots-preference-invalid", value);
    if (field === "License") continue;
    if (agents === undefined) add("robots-preference-misplaced", value);
    const conflict = readPairs(field, value).pairs.find(([written, answer]) => {
      const isYes = /^y(?:es)?$/i.test(answer);
      if (!isYes && !/^no?$/i.test(answer)) return false;
      const earlier = (agents ?? [""]).map((agent) => {
        const key = JSON.stringify([agent.toLowerCase(), path, sameUse[written] ?? written]);
        const known = said.get(key);
        if (known === undefined) said.set(key, { isYes, line });
        return known;
      });
      return earlier.some((known) => known !== undefined && known.isYes !== isYes);
    });
    if (conflict !== undefined) add("robots-preference-conflict", conflict.join("="));
  }
}

// Content-Usage has its own name for what Content-Signal calls ai-train.
const sameUse: Readonly<Record<string, string>> = { "train-ai": "ai-train" };

function isReadable({ field, value }: RobotsPreference): boolean {
  if (field === "License") return isHttpUrl(value);
  const { pairs } = readPairs(field, value);
  const answers = field === "Content-Signal" ? /^(?:yes|no)$/i : /^[yn]$/;
  const isGood = (key: string, answer: string) =>
    knownUses.includes(key) ? answers.test(answer) : token.test(key) && answer !== "";
  return pairs.length > 0 && pairs.every(([key, answer]) => isGood(key, answer));
}

const knownUses = ["search", "ai-input", "ai-train", "train-ai"];
const token = /^[a-z*][a-z0-9_.*-]*$/;
