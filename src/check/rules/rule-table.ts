// All built-in rules, in the order in which they are documented.

import { aiRules } from "./ai.ts";
import { dateRules } from "./dates.ts";
import { documentRules } from "./documents.ts";
import { fetchingRules } from "./fetching.ts";
import { languageRules } from "./languages.ts";
import { mediaRules } from "./media.ts";
import { pageRules } from "./pages.ts";
import type { BuiltInRule, RuleRow, RuleRows } from "./rule.ts";
import type { RuleId } from "./rule-id.ts";
import { urlRules } from "./urls.ts";

const groups: Readonly<Record<string, RuleRows>> = {
  "Finding and fetching": fetchingRules,
  "For AI": aiRules,
  "Documents and indexes": documentRules,
  URLs: urlRules,
  "Dates, priority, frequency": dateRules,
  "News, images, videos": mediaRules,
  Languages: languageRules,
  Pages: pageRules,
};

type IdentifiedRow = RuleRow & { readonly id: RuleId };

/** The rows by the headings of the documentation. */
export const ruleGroups: ReadonlyMap<string, readonly IdentifiedRow[]> = new Map(
  Object.entries(groups).map(([heading, rows]) => [
    heading,
    (Object.entries(rows) as [RuleId, RuleRow][]).map(([id, row]) => ({ id, ...row })),
  ]),
);

/** The rows of all groups. */
export const ruleRows: readonly IdentifiedRow[] = [...ruleGroups.values()].flat();

/** The built-in rules, in the order of the documentation. */
export const checkRules: readonly BuiltInRule[] = ruleRows.map(
  ({ problems, reasons, robotsProblems, websiteProblems, ...rule }) => rule,
);
