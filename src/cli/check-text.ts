// Findings for people: the verdict, then findings by severity and rule, with sitemaps, examples, fix and link. Texts
// from a website are made printable and are shortened, so that each stays on one line.
import picocolors from "picocolors";
import type { CheckResult } from "../check/result.ts";
import { counted } from "../model/figures.ts";
import { printable } from "../write/printable.ts";
import { exampleText, extentOf, groupsOf, notJudgedSentences, sampleSentence, verdict } from "./check-groups.ts";

const fewSitemaps = 3;
const fewExamples = 3;

export function checkText(result: CheckResult, { all, color }: { all: boolean; color: boolean }): string {
  const { red, yellow, cyan, bold, dim } = picocolors.createColors(color);
  const paint = { error: red, warning: yellow, info: cyan };
  const shown = (text: string) => printable(all ? text : shortened(text));
  const lines = [bold(shown(result.homepage)), verdict(result)];
  for (const group of groupsOf(result)) {
    const { rule, severity, findings } = group;
    lines.push("", `${paint[severity](severity)}  ${bold(printable(rule.sentence))}  ${dim(rule.id)}`);
    const extent = extentOf(group, result);
    if (extent !== undefined) lines.push(`  ${extent}`);
    let examples = 0;
    for (const finding of all ? findings : findings.slice(0, fewSitemaps)) {
      if (finding.sitemap !== result.homepage)
        lines.push(`  ${shown(finding.sitemap)} (${counted(finding.count, "place")})`);
      // Three examples in all: usually the first sitemap has them.
      for (const example of finding.examples.slice(0, all ? undefined : Math.max(fewExamples - examples, 1))) {
        const text = exampleText(example);
        if (text !== "") lines.push(`    ${shown(text)}`);
        examples += 1;
      }
    }
    const more = findings.length - fewSitemaps;
    if (!all && more > 0) lines.push(dim(`  and ${counted(more, "more sitemap")}; --all lists them`));
    if (rule.fix !== "") lines.push(`  Fix: ${printable(rule.fix)}`);
    if (rule.link !== "") lines.push(dim(`  ${printable(rule.link)}`));
  }
  const sample = sampleSentence(result);
  if (sample !== undefined) lines.push("", sample);
  const left = notJudgedSentences(result);
  if (left.length > 0) lines.push("", ...left.map((line) => dim(line)));
  return `${lines.join("\n")}\n`;
}

// A few lines of a terminal at most.
const longest = 300;

function shortened(text: string): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
