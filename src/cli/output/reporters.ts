// Findings in the formats of `sitegrove check`: text and Markdown for people, JSON, and GitHub annotations with a step summary; sarif.ts has its
// own. Texts from a website are made printable; in text they are shortened, in Markdown they are in code spans, which they cannot break out of.

import { appendFileSync } from "node:fs";
import picocolors from "picocolors";
import type { CheckResult } from "../../check/result.ts";
import { severities } from "../../check/rule.ts";
import { systemReason } from "../../model/errors.ts";
import { counted, grouped } from "../../model/figures.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import type { Places } from "../input/local-files.ts";
import {
  type CheckFormat,
  casesInWords,
  exampleText,
  extentOf,
  type FindingGroup,
  groupsOf,
  notJudgedSentences,
  sampleSentence,
  verdict,
} from "./findings.ts";
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
      return checkText(result, all, color);
    case "json":
      return `${jsonOf(checkDocument(result), 2)}\n`;
    case "sarif":
      return `${jsonOf(checkSarif(result, places), 2)}\n`;
    case "markdown":
      return checkMarkdown(result, all);
    case "github":
      return checkAnnotations(result, places);
  }
}

// The shape is described by schema/check.json.
function checkDocument(result: CheckResult): unknown {
  const { homepage, complete, sitemapCount, pageCount, counts, places, findings, notJudged, sample } = result;
  const named = new Set(findings.map(({ rule }) => rule));
  const rules = result.rules.filter(({ id }) => named.has(id));
  const head = { version: 1, homepage, complete, verdict: verdict(result), sitemapCount, pageCount, counts, places };
  return { ...head, findings, notJudged, ...(sample === undefined ? {} : { sample }), rules };
}

const fewInText = 3;
const fewExamples = 3;

function checkText(result: CheckResult, all: boolean, color: boolean): string {
  const { red, yellow, cyan, bold, dim } = picocolors.createColors(color);
  const paint = { error: red, warning: yellow, info: cyan };
  // A few lines of a terminal at most.
  const shown = (text: string) => printable(all ? text : shortened(text, 300));
  const lines = [bold(shown(result.homepage)), verdict(result)];
  for (const group of groupsOf(result)) {
    const { rule, severity, findings } = group;
    lines.push("", `${paint[severity](severity)}  ${bold(printable(rule.sentence))}  ${dim(rule.id)}`);
    const extent = extentOf(group, result);
    if (extent !== undefined) lines.push(`  ${extent}`);
    let examples = 0;
    for (const finding of all ? findings : findings.slice(0, fewInText)) {
      if (finding.sitemap !== result.homepage) lines.push(`  ${shown(finding.sitemap)} (${casesInWords(finding)})`);
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

function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

const fewInMarkdown = 10;

function checkMarkdown(result: CheckResult, all: boolean): string {
  const parts = [`# Check of ${code(result.homepage)}`, verdict(result)];
  for (const group of groupsOf(result)) {
    const { rule, severity, findings } = group;
    const { fix, link } = rule;
    parts.push(`## ${severity}: ${rule.id}`, escaped(rule.sentence));
    const extent = extentOf(group, result);
    if (extent !== undefined) parts.push(`${extent}.`);
    if (fix !== "") parts.push(`**Fix:** ${escaped(fix)}${link === "" ? "" : ` ([more](<${link}>))`}`);
    const rows = (all ? findings : findings.slice(0, fewInMarkdown)).map(({ sitemap, count, examples }) => {
      const shown = (all ? examples : examples.slice(0, fewInMarkdown)).map((example) => code(exampleText(example)));
      return `| ${code(sitemap)} | ${grouped(count)} | ${shown.filter(Boolean).join("<br>")} |`;
    });
    parts.push(["| sitemap | count | example |", "|---|--:|---|", ...rows].join("\n"));
    const more = findings.length - fewInMarkdown;
    if (!all && more > 0) parts.push(`And ${counted(more, "more sitemap")}.`);
  }
  const sample = sampleSentence(result);
  if (sample !== undefined) parts.push(sample);
  return `${[...parts, ...notJudgedSentences(result)].join("\n\n")}\n`;
}

function code(value: string): string {
  const safe = printable(value).replaceAll("`", "'").replaceAll("|", "\\|");
  return safe === "" ? "" : `\`${safe}\``;
}

// Sentences of our rules have code spans of their own; those of users' rules may hold anything.
function escaped(sentence: string): string {
  return printable(sentence).replaceAll("<", "&lt;").replaceAll("|", "\\|");
}

const annotations = { error: "error", warning: "warning", info: "notice" } as const;

// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
function checkAnnotations(result: CheckResult, places: Places): string {
  const groups = groupsOf(result);
  const shown = severities.flatMap((severity) => {
    const lists = groups.filter((group) => group.severity === severity).map((each) => annotated(each, result, places));
    // Every rule comes before more examples of one.
    return [...lists.flatMap((list) => list.slice(0, 1)), ...lists.flatMap((list) => list.slice(1))].slice(
      0,
      mostShown,
    );
  });
  const rest = [verdict(result), sampleSentence(result), ...notJudgedSentences(result)];
  // A line that begins with two colons would be read as a command.
  const lines = rest.flatMap((line) => (line === undefined ? [] : data(line)));
  return `${[...shown, ...lines].join("\n")}\n`;
}

// GitHub shows ten of each kind for a step.
const mostShown = 10;

/** One for each example; the first says how many there are. */
function annotated(group: FindingGroup, result: CheckResult, places: Places): string[] {
  const { rule, severity, findings } = group;
  const fix = rule.fix === "" ? "" : ` Fix: ${rule.fix}`;
  const extent = extentOf(group, result) ?? casesInWords(findings[0] ?? group);
  const cases = findings.flatMap(({ sitemap, examples }) =>
    (examples.length === 0 ? [undefined] : examples).map((example) => ({ sitemap, example })),
  );
  return cases.slice(0, mostShown).map(({ sitemap, example }, index) => {
    const { file } = example?.file === undefined ? places.of(sitemap) : places.file(example.file);
    const place = file === undefined ? "" : `file=${property(file)},line=${example?.line ?? 1},`;
    const shown = example === undefined ? "" : `: ${exampleText(example)}`;
    const count = index === 0 ? `${extent}, first ` : "";
    // GitHub refuses messages of 64 KB.
    const words = shortened(`${rule.sentence} ${count}${sitemap}${shown}.${fix}`, 4000);
    return `::${annotations[severity]} ${place}title=${property(rule.id)}::${data(words)}`;
  });
}

function data(value: string): string {
  return printable(value).replaceAll("%", "%25");
}

function property(value: string): string {
  return data(value).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

// GitHub accepts one MiB for each step.
const mostSummaryBytes = 1_000_000;

/** Appends Markdown to the step summary. Returns the error, if there is one. */
export function appendSummary(file: string, markdown: string): string | undefined {
  const start = Buffer.from(markdown).subarray(0, mostSummaryBytes).toString();
  const isCut = Buffer.byteLength(markdown) > mostSummaryBytes;
  try {
    appendFileSync(file, isCut ? `${start.slice(0, start.lastIndexOf("\n") + 1)}\nAnd more.\n\n` : `${markdown}\n`);
    return undefined;
  } catch (error) {
    return `the step summary could not be written: ${systemReason(error)}`;
  }
}
