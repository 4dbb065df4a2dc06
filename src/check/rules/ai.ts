// Rules about AI preferences in robots.txt: Content-Signal, Content-Usage and License lines. They are for programs other
// than search engines, so a bad line is never an error.
import type { RobotsPreference } from "../../model/sitemap.ts";
import { isHttpUrl } from "../../model/url.ts";
import { readPairs } from "../../parse/robots.ts";
import type { Findings } from "../findings/findings.ts";
import { type RuleRows, ruleFor } from "./rule.ts";
import * as sources from "./sources.ts";

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

export function checkPreferences(url: string, preferences: readonly RobotsPreference[], findings: Findings): void {
  const answers = new Map<string, boolean>();
  for (const preference of preferences) {
    const { field, value, line, agents, path = "" } = preference;
    const report = (id: string, shown: string) => findings.count(id, url, 1, { value: `${field}: ${shown}`, line });
    if (!isValid(preference)) report("robots-preference-invalid", value);
    if (field === "License") continue;
    if (agents === undefined) report("robots-preference-misplaced", value);
    const conflict = readPairs(field, value).pairs.find(([use, answer]) => {
      const isYes = /^y(?:es)?$/i.test(answer);
      if (!isYes && !/^no?$/i.test(answer)) return false;
      const earlier = (agents ?? [""]).map((agent) => {
        const key = JSON.stringify([agent.toLowerCase(), path, synonyms[use] ?? use]);
        const known = answers.get(key);
        if (known === undefined) answers.set(key, isYes);
        return known;
      });
      return earlier.includes(!isYes);
    });
    if (conflict !== undefined) report("robots-preference-conflict", conflict.join("="));
  }
}

// Content-Usage calls training `train-ai`; Content-Signal calls it `ai-train`.
const synonyms: Readonly<Record<string, string>> = { "train-ai": "ai-train" };

function isValid({ field, value }: RobotsPreference): boolean {
  if (field === "License") return isHttpUrl(value);
  const { pairs } = readPairs(field, value);
  const answers = field === "Content-Signal" ? /^(?:yes|no)$/i : /^[yn]$/;
  return (
    pairs.length > 0 &&
    pairs.every(([use, answer]) =>
      knownUses.includes(use) ? answers.test(answer) : wellFormedUse.test(use) && answer !== "",
    )
  );
}

const knownUses = ["search", "ai-input", "ai-train", "train-ai"];
const wellFormedUse = /^[a-z*][a-z0-9_.*-]*$/;
