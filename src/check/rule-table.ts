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

const groups = {
  "Finding and fetching": fetchingRules,
  "For AI": aiRules,
  "Documents and indexes": documentRules,
  URLs: urlRules,
  "Dates, priority, frequency": dateRules,
  "News, images, videos": mediaRules,
  Languages: languageRules,
  Pages: pageRules,
};

/** The id of a built-in rule, used in configurations and baselines. */
export type RuleId =
  | keyof typeof fetchingRules
  | keyof typeof aiRules
  | keyof typeof documentRules
  | keyof typeof urlRules
  | keyof typeof dateRules
  | keyof typeof mediaRules
  | keyof typeof languageRules
  | keyof typeof pageRules;

type IdentifiedRow = RuleRow & { readonly id: RuleId };

/** By the headings of the documentation. */
export const ruleGroups: ReadonlyMap<string, readonly IdentifiedRow[]> = new Map(
  Object.entries(groups).map(([heading, rows]) => [
    heading,
    Object.entries(rows).map(([id, row]) => ({ id: id as RuleId, ...row })),
  ]),
);

/** All rows. */
export const ruleRows: readonly IdentifiedRow[] = [...ruleGroups.values()].flat();

/** The built-in rules, with their sentences. */
export const checkRules: readonly BuiltInRule[] = ruleRows.map(
  ({ problems, reasons, robotsProblems, websiteProblems, ...rule }) => rule,
);
