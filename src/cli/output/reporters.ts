// Findings in the formats of `sitegrove check`: text and Markdown for people, JSON; sarif.ts and github.ts have their own. Texts from a website
// are made printable; in text they are shortened, in Markdown they are in code spans, which they cannot break out of.

import picocolors from "picocolors";
import type { CheckResult } from "../../check/result.ts";
import { counted, grouped } from "../../model/figures.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import type { Places } from "../input/local-files.ts";
import {
  type CheckFormat,
  exampleText,
  extentOf,
  groupsOf,
  notJudgedSentences,
  sampleSentence,
  verdict,
} from "./findings.ts";
import { checkAnnotations } from "./github.ts";
import { checkSarif } from "./sarif.ts";

export interface CheckOutput {
  readonly format: CheckFormat;
  readonly all: boolean;
  readonly color: boolean;
  readonly places: Places;
}

export function writeCheck(result: CheckResult, { format, all, color, places }: CheckOutput): string {
  switch (format) {
    case "text":
      return checkText(result, { all, color });
    case "json":
      return json(checkDocument(result));
    case "sarif":
      return json(checkSarif(result, places));
    case "markdown":
      return checkMarkdown(result, { all });
    case "github":
      return checkAnnotations(result, places);
  }
}

// The shape is described by schema/check.json.
function checkDocument(result: CheckResult): unknown {
  const { homepage, complete, sitemapCount, pageCount, counts, places, findings, notJudged, sample } = result;
  const named = new Set(findings.map(({ rule }) => rule));
  return {
    version: 1,
    homepage,
    complete,
    verdict: verdict(result),
    sitemapCount,
    pageCount,
    counts,
    places,
    findings,
    notJudged,
    ...(sample === undefined ? {} : { sample }),
    rules: result.rules.filter(({ id }) => named.has(id)),
  };
}

function json(document: unknown): string {
  return `${jsonOf(document, 2)}\n`;
}

const fewInText = 3;
const fewExamples = 3;

function checkText(result: CheckResult, { all, color }: { all: boolean; color: boolean }): string {
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
    for (const finding of all ? findings : findings.slice(0, fewInText)) {
      if (finding.sitemap !== result.homepage)
        lines.push(`  ${shown(finding.sitemap)} (${counted(finding.count, "place")})`);
      // Three examples in all: usually the first sitemap has them.
      for (const example of finding.examples.slice(0, all ? undefined : Math.max(fewExamples - examples, 1))) {
        const text = exampleText(example);
        if (text !== "") lines.push(`    ${shown(text)}`);
        examples += 1;
      }
    }
    const more = findings.length - fewInText;
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

const fewInMarkdown = 10;

function checkMarkdown(result: CheckResult, { all }: { all: boolean }): string {
  const lines = [`# Check of ${code(result.homepage)}`, "", verdict(result)];
  for (const group of groupsOf(result)) {
    const { rule, severity, findings } = group;
    const { fix, link } = rule;
    lines.push("", `## ${severity}: ${rule.id}`, "", escaped(rule.sentence));
    const extent = extentOf(group, result);
    if (extent !== undefined) lines.push("", `${extent}.`);
    if (fix !== "") lines.push("", `**Fix:** ${escaped(fix)}${link === "" ? "" : ` ([more](<${link}>))`}`);
    lines.push("", "| sitemap | count | example |", "|---|--:|---|");
    for (const { sitemap, count, examples } of all ? findings : findings.slice(0, fewInMarkdown)) {
      const shown = (all ? examples : examples.slice(0, 1)).map((example) => code(exampleText(example)));
      lines.push(`| ${code(sitemap)} | ${grouped(count)} | ${shown.filter(Boolean).join("<br>")} |`);
    }
    const more = findings.length - fewInMarkdown;
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
