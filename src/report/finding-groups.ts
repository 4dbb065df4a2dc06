// Findings in the report: one for each rule and severity, with the first places and examples. A website can have URLs
// of any length and break any number of rules: all examples together are limited.

import { type Finding, groupedByRule } from "../check/findings.ts";
import type { CheckResult } from "../check/result.ts";
import type { ReportFinding } from "./facts.ts";
import type { Room } from "./room.ts";
import { shortened } from "./text.ts";

// The examples that each rule has in any case.
const leastExamples = 2;

export function findingGroups({ findings, rules }: CheckResult, room: Room): ReportFinding[] {
  const rows = new Map(rules.map((rule) => [rule.id, rule]));
  let left = room.allExamples;
  return groupedByRule(findings).map((group) => {
    const { rule: id, severity } = group[0];
    const { sentence = id, fix = "", link = "", basis = "heuristic", engines = [] } = rows.get(id) ?? {};
    const examples: ReportFinding["examples"][number][] = [];
    for (const example of examplesOf(group, room)) {
      if (examples.length >= leastExamples && left <= 0) break;
      left -= JSON.stringify(example).length;
      examples.push(example);
    }
    return {
      rule: id,
      severity,
      count: group.reduce((sum, { count }) => sum + count, 0),
      sitemaps: group.reduce((sum, { otherSitemaps = 1 }) => sum + otherSitemaps, 0),
      sentence,
      fix,
      link,
      basis,
      engines,
      places: group
        .filter(({ otherSitemaps }) => otherSitemaps === undefined)
        .slice(0, room.places)
        .map(({ sitemap, count }) => ({ sitemap: shortened(sitemap, room.text), count })),
      examples,
    };
  });
}

// First those of the first sitemap, but some of each.
function examplesOf(group: readonly Finding[], { examples: most, text }: Room): ReportFinding["examples"] {
  const examples: ReportFinding["examples"][number][] = [];
  for (let index = 0; index < most && examples.length < most; index++) {
    for (const finding of group.slice(0, most)) {
      const example = finding.examples[index];
      if (example === undefined || examples.length >= most) continue;
      const { url, value, line } = example;
      if (url === undefined && value === undefined) continue;
      examples.push({
        sitemap: shortened(finding.sitemap, text),
        ...(url === undefined ? {} : { url: shortened(url, text) }),
        ...(value === undefined ? {} : { value: shortened(value, text) }),
        ...(line === undefined ? {} : { line }),
      });
    }
  }
  return examples;
}
