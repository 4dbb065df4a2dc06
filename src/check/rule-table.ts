// All rules, in the order in which they are documented and shown.
import type { BuiltInRule, RuleRow } from "./rule.ts";
import { aiRules } from "./rules/ai.ts";
import { dateRules } from "./rules/dates.ts";
import { documentRules } from "./rules/documents.ts";
import { fetchingRules } from "./rules/fetching.ts";
import { languageRules } from "./rules/languages.ts";
import { mediaRules } from "./rules/media.ts";
import { pageRules } from "./rules/pages.ts";
import { urlRules } from "./rules/urls.ts";

/** By the headings of the documentation. */
export const ruleGroups: Readonly<Record<string, readonly RuleRow[]>> = {
  "Finding and fetching": fetchingRules,
  "For AI": aiRules,
  "Documents and indexes": documentRules,
  URLs: urlRules,
  "Dates, priority, frequency": dateRules,
  "News, images, videos": mediaRules,
  Languages: languageRules,
  Pages: pageRules,
};

/** The rules that are built in, with their sentences. */
export const checkRules: readonly BuiltInRule[] = Object.values(ruleGroups)
  .flat()
  .map(({ problems, reasons, robotsProblems, websiteProblems, ...rule }) => rule);
