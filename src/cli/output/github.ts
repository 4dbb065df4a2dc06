// Findings as GitHub annotations and as a step summary.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
import { appendFileSync } from "node:fs";
import type { CheckResult } from "../../check/result.ts";
import { severities } from "../../check/rule.ts";
import { counted } from "../../model/figures.ts";
import { systemReason } from "../../model/system-reason.ts";
import { printable } from "../../write/printable.ts";
import type { Places } from "../input/local-files.ts";
import { exampleText, extentOf, groupsOf, notJudgedSentences, sampleSentence, verdict } from "./findings.ts";

const commands = { error: "error", warning: "warning", info: "notice" } as const;
// GitHub shows this many of each kind for a step.
const mostOfOneKind = 10;

export function checkAnnotations(result: CheckResult, places: Places): string {
  const groups = groupsOf(result);
  const lines = severities.flatMap((severity) =>
    groups
      .filter((group) => group.severity === severity)
      .slice(0, mostOfOneKind)
      .map((group) => {
        const { rule, findings } = group;
        const { sitemap = "", examples = [] } = findings[0] ?? {};
        const [example] = examples;
        const { file } = places.of(sitemap);
        const properties = [
          ...(file === undefined ? [] : [`file=${property(file)}`, `line=${example?.line ?? 1}`]),
          `title=${property(rule.id)}`,
        ].join(",");
        const shown = example === undefined ? "" : `: ${exampleText(example)}`;
        const fix = rule.fix === "" ? "" : ` Fix: ${rule.fix}`;
        const extent = extentOf(group, result) ?? counted(group.count, "place");
        const words = `${rule.sentence} ${extent}, first ${sitemap}${shown}.${fix}`;
        return `::${commands[severity]} ${properties}::${data(shortened(words))}`;
      }),
  );
  const rest = [verdict(result), sampleSentence(result), ...notJudgedSentences(result)];
  // A line that begins with two colons would be read as a command.
  return `${[...lines, ...rest.filter((line) => line !== undefined).map((line) => data(line))].join("\n")}\n`;
}

/** Appends Markdown to the step summary. Returns the error, if there is one. */
export function appendSummary(file: string, markdown: string): string | undefined {
  const bytes = Buffer.from(markdown);
  const isCut = bytes.length > mostSummaryBytes;
  const text = isCut ? `${wholeLines(bytes.subarray(0, mostSummaryBytes).toString())}\nAnd more.\n` : markdown;
  try {
    appendFileSync(file, `${text}\n`);
    return undefined;
  } catch (error) {
    return `the step summary could not be written: ${systemReason(error)}`;
  }
}

// GitHub accepts one MiB for each step.
const mostSummaryBytes = 1_000_000;

function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

// GitHub refuses messages of 64 KB.
const longest = 4000;

function shortened(text: string): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

function data(value: string): string {
  return printable(value).replaceAll("%", "%25");
}

function property(value: string): string {
  return data(value).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
