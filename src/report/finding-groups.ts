// Findings as the report shows them: one for each rule and severity, with the first places and examples. A website chooses how long
// its URLs are and how many rules it breaks: all examples together have a bound.

import type { Finding } from "../check/findings.ts";
import type { CheckResult } from "../check/result.ts";
import type { ReportFinding } from "./facts.ts";
import { shortened } from "./text.ts";

const mostExamples = 20;
const mostPlaces = 10;
/** Characters of all examples, and those that each rule has in any case. */
const allText = 12_000;
const leastExamples = 2;

export function findingGroups({ findings, rules }: CheckResult): ReportFinding[] {
  const rows = new Map(rules.map((rule) => [rule.id, rule]));
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = `${finding.severity} ${finding.rule}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  let room = allText;
  return [...groups.values()].map((group) => {
    const { rule: id, severity } = group[0]!;
    const { sentence = id, fix = "", link = "", basis = "heuristic", engines = [] } = rows.get(id) ?? {};
    const examples: ReportFinding["examples"][number][] = [];
    for (const example of examplesOf(group)) {
      if (examples.length >= leastExamples && room <= 0) break;
      room -= JSON.stringify(example).length;
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
        .slice(0, mostPlaces)
        .map(({ sitemap, count }) => ({ sitemap: shortened(sitemap), count })),
      examples,
    };
  });
}

// Those of the first sitemap first, but some of each: one sitemap alone tells less.
function examplesOf(group: readonly Finding[]): ReportFinding["examples"] {
  const examples: ReportFinding["examples"][number][] = [];
  for (let index = 0; index < mostExamples && examples.length < mostExamples; index++) {
    for (const finding of group.slice(0, mostExamples)) {
      const example = finding.examples[index];
      if (example === undefined || examples.length >= mostExamples) continue;
      const { url, value, line } = example;
      if (url === undefined && value === undefined) continue;
      examples.push({
        sitemap: shortened(finding.sitemap),
        ...(url === undefined ? {} : { url: shortened(url) }),
        ...(value === undefined ? {} : { value: shortened(value) }),
        ...(line === undefined ? {} : { line }),
      });
    }
  }
  return examples;
}
