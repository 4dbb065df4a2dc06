// The formats of findings: text and Markdown for people, JSON, SARIF, annotations for GitHub, and rows of occurrences. In text and
// annotations, examples are made printable and shortened (in text, unless all are wanted); in Markdown they are in code spans.
import { counted, grouped } from "../../model/figures.ts";
import { shortened } from "../../model/text.ts";
import { createColors } from "../../write/colors.ts";
import { csvCell } from "../../write/csv.ts";
import { codeInTable, codeSpan, sentence } from "../../write/markdown.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import { type Rule, severities } from "../rules/rule.ts";
import type { FileLocations } from "./file-locations.ts";
import { type Occurrence, occurrenceColumns } from "./occurrence-rows.ts";
import { type CheckResult, groupedByRule } from "./result.ts";
import { checkSarif } from "./sarif.ts";
import {
  exampleText,
  extentOf,
  failedRules,
  notCheckedSentences,
  occurrencesInWords,
  pageSentences,
  verdict,
} from "./words.ts";

/** These formats have one row for each occurrence, and are written while the check runs. */
const rowFormats = ["ndjson", "csv", "parquet"] as const;
export type RowFormat = (typeof rowFormats)[number];
export const checkFormats = ["text", "json", "sarif", "markdown", "github", "ndjson", "csv", "parquet"] as const;
export type CheckFormat = (typeof checkFormats)[number];

export function isRowFormat(format: CheckFormat): format is RowFormat {
  return rowFormats.some((each) => each === format);
}

/** Writes rows, batch by batch. */
export interface RowWriter {
  write(rows: readonly Occurrence[]): string | Uint8Array;
  /** Returns what follows the last row. */
  end(): string | Uint8Array;
}

export async function rowWriter(format: RowFormat, csvSafe: boolean): Promise<RowWriter> {
  if (format === "ndjson") return { write: (rows) => rows.map((row) => `${jsonOf(row)}\n`).join(""), end: () => "" };
  if (format === "csv") {
    const cell = csvCell(csvSafe);
    let header = `${occurrenceColumns.join(",")}\n`;
    const write = (rows: readonly Occurrence[]) => {
      const lines = rows.map((row) => `${occurrenceColumns.map((name) => cell(row[name])).join(",")}\n`);
      const text = header + lines.join("");
      header = "";
      return text;
    };
    return { write, end: () => header };
  }
  const { parquetTable } = await import("../../write/parquet.ts");
  let pieces: Buffer[] = [];
  const take = () => {
    const bytes = Buffer.concat(pieces);
    pieces = [];
    return bytes;
  };
  const names = occurrenceColumns.map((name) => (name === "line" ? "line:integer" : name)).join(" ");
  const table = parquetTable((bytes) => pieces.push(Buffer.from(bytes)), names);
  return {
    write(rows) {
      for (const row of rows) table.add({ ...row }, 500);
      return take();
    },
    end() {
      table.finish();
      return take();
    },
  };
}

export interface CheckOutput {
  readonly format: Exclude<CheckFormat, RowFormat>;
  readonly all: boolean;
  readonly color: boolean;
  readonly places: FileLocations;
}

export function writeCheck(result: CheckResult, { format, all, color, places }: CheckOutput): string {
  if (format === "text") return checkText(result, all, color);
  if (format === "markdown") return checkMarkdown(result, all);
  if (format === "github") return checkAnnotations(result, places);
  return `${jsonOf(format === "json" ? checkDocument(result) : checkSarif(result, places), 2)}\n`;
}

// schema/check.json describes the result.
function checkDocument(result: CheckResult): unknown {
  const { homepage, complete, sitemapCount, pageCount, rulesFailed, occurrences } = result;
  const { findings, known, notChecked, pages, lastmodTrust } = result;
  return {
    ...{ version: 1, homepage, complete, verdict: verdict(result), sitemapCount, pageCount, rulesFailed, occurrences },
    ...{ findings, known, notChecked, ...(pages && { pages }), lastmodTrust, rules: failedRules(result) },
  };
}

const fewInText = 3;
const fewExamples = 3;

function checkText(result: CheckResult, all: boolean, color: boolean): string {
  const { red, yellow, cyan, bold, dim } = createColors(color);
  const paint = { error: red, warning: yellow, info: cyan };
  // Unless everything is wanted, shortens a text to a few lines of a terminal.
  const shown = (text: string) => printable(all ? text : shortened(text, 300));
  const lines = [bold(shown(result.homepage)), verdict(result)];
  for (const { rule, severity, findings, extent } of groupsOf(result)) {
    lines.push("", `${paint[severity](severity)}  ${bold(printable(rule.sentence))}  ${dim(rule.id)}`);
    if (extent !== undefined) lines.push(`  ${extent}`);
    let examples = 0;
    for (const finding of all ? findings : findings.slice(0, fewInText)) {
      if (finding.sitemap !== result.homepage)
        lines.push(`  ${shown(finding.sitemap)} (${occurrencesInWords(finding)})`);
      // Shows three examples of a rule, and more if it needs them to show one from each sitemap listed.
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
  for (const sentence of pageSentences(result)) lines.push("", sentence);
  const left = notCheckedSentences(result);
  if (left.length > 0) lines.push("", ...left.map((line) => dim(line)));
  return `${lines.join("\n")}\n`;
}

const fewInMarkdown = 10;

function checkMarkdown(result: CheckResult, all: boolean): string {
  const parts = [`# Check of ${codeSpan(result.homepage)}`, verdict(result)];
  for (const { rule, severity, findings, extent } of groupsOf(result)) {
    const { fix, link } = rule;
    parts.push(`## ${severity}: ${rule.id}`, sentence(rule.sentence));
    if (extent !== undefined) parts.push(`${extent}.`);
    if (fix !== "") parts.push(`**Fix:** ${sentence(fix)}${link === "" ? "" : ` ([more](<${link}>))`}`);
    const rows = (all ? findings : findings.slice(0, fewInMarkdown)).map(({ sitemap, count, examples }) => {
      const shown = (all ? examples : examples.slice(0, fewInMarkdown)).map((example) =>
        codeInTable(exampleText(example)),
      );
      return `| ${codeInTable(sitemap)} | ${grouped(count)} | ${shown.filter(Boolean).join("<br>")} |`;
    });
    parts.push(["| sitemap | count | example |", "|---|--:|---|", ...rows].join("\n"));
    const more = findings.length - fewInMarkdown;
    if (!all && more > 0) parts.push(`And ${counted(more, "more sitemap")}.`);
  }
  return `${[...parts, ...pageSentences(result), ...notCheckedSentences(result)].join("\n\n")}\n`;
}

const annotations = { error: "error", warning: "warning", info: "notice" } as const;

// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
function checkAnnotations(result: CheckResult, places: FileLocations): string {
  const groups = groupsOf(result);
  const shown = severities.flatMap((severity) => {
    const lists = groups.filter((group) => group.severity === severity).map((each) => annotated(each, places));
    // The first example of every rule comes before further examples of one.
    const firsts = lists.flatMap((list) => list.slice(0, 1));
    return [...firsts, ...lists.flatMap((list) => list.slice(1))].slice(0, mostShown);
  });
  const rest = [verdict(result), ...pageSentences(result), ...notCheckedSentences(result)];
  // `data` escapes line breaks: a line that begins with two colons would be read as a command.
  return `${[...shown, ...rest.map(data)].join("\n")}\n`;
}

// GitHub shows ten annotations of each kind for a step.
const mostShown = 10;

/** Writes annotations for the first examples of a rule. The first annotation says how many occurrences there are, if there are several. */
function annotated(group: FindingGroup, places: FileLocations): string[] {
  const { rule, severity, findings } = group;
  const fix = rule.fix === "" ? "" : ` Fix: ${rule.fix}`;
  const extent = group.extent ?? occurrencesInWords(findings[0]);
  const isAlone = findings.reduce((sum, { count, known = 0 }) => sum + count + known, 0) === 1;
  const shownExamples = findings.flatMap(({ sitemap, examples }) =>
    (examples.length === 0 ? [undefined] : examples).map((example) => ({ sitemap, example })),
  );
  return shownExamples.slice(0, mostShown).map(({ sitemap, example }, index) => {
    const { file } = places.of(sitemap, example);
    const place = file === undefined ? "" : `file=${property(file)},line=${example?.line ?? 1},`;
    const shown = example === undefined ? "" : `: ${exampleText(example)}`;
    const count = index === 0 && !isAlone ? `${extent}, first ` : "";
    // GitHub refuses messages of 64 KB or more.
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

/** The findings of one rule with one severity. */
type FindingGroup = ReturnType<typeof groupsOf>[number];

/** Groups the findings by rule and severity, and keeps their order. */
function groupsOf({ findings, rules, homepage }: CheckResult) {
  const rows = new Map(rules.map((rule) => [rule.id, rule]));
  return groupedByRule(findings).map((group) => {
    const [{ rule, severity }] = group;
    return { rule: rows.get(rule) as Rule, severity, findings: group, extent: extentOf(group, homepage) };
  });
}
