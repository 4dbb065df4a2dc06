// Rules about AI preferences in robots.txt (Content-Signal, Content-Usage and License lines). No search engine uses them, so none is an
// error.
import type { RobotsPreference } from "../../model/sitemap.ts";
import { isHttpUrl } from "../../model/url.ts";
import { readPairs } from "../../parse/robots.ts";
import type { Findings } from "../findings.ts";
import { type RuleRows, ruleFor } from "../rule.ts";
import * as sources from "../sources.ts";

export const aiRules: RuleRows = {
  "robots-preference-invalid": ruleFor([], "warning", "practice", sources.contentSignals, {
    sentence: "robots.txt has an invalid Content-Signal, Content-Usage or License line.",
    fix: "Write `Content-Signal: search=yes, ai-train=no`, `Content-Usage: train-ai=n` or `License: https://example.org/license.xml`.",
  }),
  "robots-preference-misplaced": ruleFor([], "info", "practice", sources.contentUsage, {
    sentence:
      "A Content-Signal or Content-Usage line comes before the first User-agent line; some programs ignore it there.",
    fix: "Move it below a User-agent line.",
  }),
  "robots-preference-conflict": ruleFor([], "warning", "practice", sources.contentSignals, {
    sentence: "robots.txt both allows and forbids the same use of the same pages for a crawler.",
    fix: "Remove one of the lines.",
  }),
};

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
