// Findings as Markdown, for pull requests and step summaries. Everything that comes from a website is in code spans,
// which it cannot break out of.
import type { CheckResult } from "../check/result.ts";
import { counted, grouped } from "../model/figures.ts";
import { printable } from "../write/printable.ts";
import { exampleText, extentOf, groupsOf, notJudgedSentences, sampleSentence, verdict } from "./check-groups.ts";

const fewSitemaps = 10;

export function checkMarkdown(result: CheckResult, { all }: { all: boolean }): string {
  const lines = [`# Check of ${code(result.homepage)}`, "", verdict(result)];
  for (const group of groupsOf(result)) {
    const { rule, severity, findings } = group;
    const { fix, link } = rule;
    lines.push("", `## ${severity}: ${rule.id}`, "", escaped(rule.sentence));
    const extent = extentOf(group, result);
    if (extent !== undefined) lines.push("", `${extent}.`);
    if (fix !== "") lines.push("", `**Fix:** ${escaped(fix)}${link === "" ? "" : ` ([more](<${link}>))`}`);
    lines.push("", "| sitemap | count | example |", "|---|--:|---|");
    for (const { sitemap, count, examples } of all ? findings : findings.slice(0, fewSitemaps)) {
      const shown = (all ? examples : examples.slice(0, 1)).map((example) => code(exampleText(example)));
      lines.push(`| ${code(sitemap)} | ${grouped(count)} | ${shown.filter(Boolean).join("<br>")} |`);
    }
    const more = findings.length - fewSitemaps;
    if (!all && more > 0) lines.push("", `And ${counted(more, "more sitemap")}.`);
  }
  const sample = sampleSentence(result);
  if (sample !== undefined) lines.push("", sample);
  for (const line of notJudgedSentences(result)) lines.push("", line);
  return `${lines.join("\n")}\n`;
}

function code(value: string): string {
  const safe = printable(value).replaceAll("`", "'").replaceAll("|", "\\|");
  return safe === "" ? "" : `\`${safe}\``;
}

// Sentences of our rules have code spans of their own; those of users' rules may hold anything.
function escaped(sentence: string): string {
  return printable(sentence).replaceAll("<", "&lt;").replaceAll("|", "\\|");
}
