// The formats of `sitegrove check`: text and Markdown for people, JSON, SARIF, and GitHub annotations with a step summary. Texts from a
// website are made printable; in text they are shortened, in Markdown they are in code spans, which they cannot break out of.
import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import picocolors from "picocolors";
import { type Finding, type FindingExample, groupedByRule } from "../../check/findings.ts";
import { type CheckResult, failedInWords, severitiesInWords } from "../../check/result.ts";
import { type Rule, severities } from "../../check/rule.ts";
import { systemReason } from "../../model/errors.ts";
import { counted, grouped } from "../../model/figures.ts";
import { version } from "../../model/version.ts";
import { jsonOf, printable } from "../../write/printable.ts";
import type { FileLocation, FileLocations } from "../input/local-files.ts";

export const checkFormats = ["text", "json", "sarif", "markdown", "github"] as const;
export type CheckFormat = (typeof checkFormats)[number];

export const failLevels = ["error", "warning", "info", "never"] as const;
export type FailLevel = (typeof failLevels)[number];

export interface CheckOutput {
  readonly format: CheckFormat;
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

// The shape is described by schema/check.json.
function checkDocument(result: CheckResult): unknown {
  const { homepage, complete, sitemapCount, pageCount, counts, places, findings, known, notJudged, sample } = result;
  const head = { version: 1, homepage, complete, verdict: verdict(result), sitemapCount, pageCount, counts, places };
  const rules = failedRules(result);
  return { ...head, findings, known, notJudged, ...(sample === undefined ? {} : { sample }), rules };
}

function failedRules({ findings, rules }: CheckResult): readonly Rule[] {
  const failed = new Set(findings.map(({ rule }) => rule));
  return rules.filter(({ id }) => failed.has(id));
}

const fewInText = 3;
const fewExamples = 3;

function checkText(result: CheckResult, all: boolean, color: boolean): string {
  const { red, yellow, cyan, bold, dim } = picocolors.createColors(color);
  const paint = { error: red, warning: yellow, info: cyan };
  // A few lines of a terminal at most.
  const shown = (text: string) => printable(all ? text : shortened(text, 300));
  const lines = [bold(shown(result.homepage)), verdict(result)];
  for (const { rule, severity, findings, extent } of groupsOf(result)) {
    lines.push("", `${paint[severity](severity)}  ${bold(printable(rule.sentence))}  ${dim(rule.id)}`);
    if (extent !== undefined) lines.push(`  ${extent}`);
    let examples = 0;
    for (const finding of all ? findings : findings.slice(0, fewInText)) {
      if (finding.sitemap !== result.homepage) lines.push(`  ${shown(finding.sitemap)} (${casesInWords(finding)})`);
      // Three examples in total: usually the first sitemap has them.
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
  for (const sentence of sampleSentences(result)) lines.push("", sentence);
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
  for (const { rule, severity, findings, extent } of groupsOf(result)) {
    const { fix, link } = rule;
    parts.push(`## ${severity}: ${rule.id}`, escaped(rule.sentence));
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
  return `${[...parts, ...sampleSentences(result), ...notJudgedSentences(result)].join("\n\n")}\n`;
}

function code(value: string): string {
  const safe = printable(value).replaceAll("`", "'").replaceAll("|", "\\|");
  return safe === "" ? "" : `\`${safe}\``;
}

// Our rules' sentences contain code spans; those of custom rules may contain anything.
function escaped(sentence: string): string {
  return printable(sentence).replaceAll("<", "&lt;").replaceAll("|", "\\|");
}

const annotations = { error: "error", warning: "warning", info: "notice" } as const;

// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
function checkAnnotations(result: CheckResult, places: FileLocations): string {
  const groups = groupsOf(result);
  const shown = severities.flatMap((severity) => {
    const lists = groups.filter((group) => group.severity === severity).map((each) => annotated(each, places));
    // Every rule comes before more examples of one.
    const firsts = lists.flatMap((list) => list.slice(0, 1));
    return [...firsts, ...lists.flatMap((list) => list.slice(1))].slice(0, mostShown);
  });
  const rest = [verdict(result), ...sampleSentences(result), ...notJudgedSentences(result)];
  // A line that begins with two colons would be read as a command.
  return `${[...shown, ...rest.map(data)].join("\n")}\n`;
}

// GitHub shows ten of each kind for a step.
const mostShown = 10;

/** One for each example; the first says how many there are. */
function annotated(group: FindingGroup, places: FileLocations): string[] {
  const { rule, severity, findings } = group;
  const fix = rule.fix === "" ? "" : ` Fix: ${rule.fix}`;
  const extent = group.extent ?? casesInWords(findings[0]);
  const cases = findings.flatMap(({ sitemap, examples }) =>
    (examples.length === 0 ? [undefined] : examples).map((example) => ({ sitemap, example })),
  );
  return cases.slice(0, mostShown).map(({ sitemap, example }, index) => {
    const { file } = places.of(sitemap, example);
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

// SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), for code scanning: one result for each rule and
// sitemap, with its count in the message and its examples as locations. GitHub takes relative URIs only.
const levels = { error: "error", warning: "warning", info: "note" } as const;
// GitHub keeps this many of one run.
const mostResults = 5000;
const docs = "https://github.com/sitegrove/sitegrove/blob/main/docs/check.md";

function checkSarif(result: CheckResult, places: FileLocations): unknown {
  const { findings, notJudged, homepage, complete, pageCount } = result;
  const rules = failedRules(result);
  const results = findings.slice(0, mostResults).map((finding) => resultOf(finding, rules, places));
  const cut = findings.length - results.length;
  const beyond = `${counted(cut, "finding")} beyond the ${mostResults} that code scanning accepts.`;
  const notes = [
    verdict(result),
    ...(cut > 0 ? [beyond] : []),
    ...sampleSentences(result),
    ...notJudged.map(({ rule, reason }) => `Not judged, because ${reason}: ${rule}`),
  ].map((text) => ({ level: "note", message: { text } }));
  const bases = Object.fromEntries([...places.bases].map(([uri, name]) => [name, { uri }]));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "sitegrove", version, informationUri: docs, rules: rules.map(ruleOf) } },
        invocations: [{ executionSuccessful: true, toolExecutionNotifications: notes }],
        ...(places.bases.size === 0 ? {} : { originalUriBaseIds: bases }),
        results,
        columnKind: "utf16CodeUnits",
        properties: { homepage, complete, pageCount },
      },
    ],
  };
}

function ruleOf({ id, severity, sentence, fix, link, basis }: Rule): unknown {
  return {
    id,
    shortDescription: { text: sentence },
    fullDescription: { text: sentence },
    help: { text: fix === "" ? sentence : fix },
    ...(/^https?:\/\/\S+$/.test(link) && URL.canParse(link) ? { helpUri: link } : {}),
    defaultConfiguration: { level: levels[severity] },
    properties: { basis, tags: ["seo", "sitemap"] },
  };
}

function resultOf(finding: Finding, rules: readonly Rule[], places: FileLocations): unknown {
  const { severity, sitemap, count, examples, otherSitemaps } = finding;
  const ruleIndex = rules.findIndex(({ id }) => id === finding.rule);
  const { id: ruleId, sentence } = rules[ruleIndex] as Rule;
  const [first, ...others] = examples;
  const more = otherSitemaps === undefined ? "" : ` in ${counted(otherSitemaps, "further sitemap")}`;
  const example = first === undefined ? "" : ` First: ${exampleText(first)}`;
  const located = (each?: FindingExample) => locationOf(places.of(sitemap, each), each);
  // The schema wants no two that are the same: examples that are shortened may be, and those of one long line.
  const related = new Map(others.map(located).map((location) => [JSON.stringify(location), location]));
  // The same finding keeps its hash when lines move.
  const hash = createHash("sha256").update(`${ruleId}\n${severity}\n${sitemap}`).digest("hex").slice(0, 16);
  return {
    ruleId,
    ruleIndex,
    level: levels[severity],
    message: { text: `${sentence} (${casesInWords(finding, "case")}${more})${example}` },
    locations: [located(first)],
    ...(others.length > 0 ? { relatedLocations: [...related.values()] } : {}),
    partialFingerprints: { primaryLocationLineHash: `${hash}:1` },
    properties: { count, sitemap, examples },
  };
}

function locationOf({ uri, base }: FileLocation, example: FindingExample | undefined): unknown {
  const text = example === undefined ? "" : exampleText(example);
  // Code scanning shows nothing without a line.
  const region = { startLine: example?.line ?? 1 };
  const physicalLocation = { artifactLocation: { uri, uriBaseId: base }, region };
  return { physicalLocation, ...(text === "" ? {} : { message: { text } }) };
}

/** The findings of one rule with one severity. */
type FindingGroup = ReturnType<typeof groupsOf>[number];

/** Most severe first. */
function groupsOf({ findings, rules, homepage }: CheckResult) {
  const rows = new Map(rules.map((rule) => [rule.id, rule]));
  return groupedByRule(findings).map((group) => {
    const [{ rule, severity }] = group;
    return { rule: rows.get(rule) as Rule, severity, findings: group, extent: extentOf(group, homepage) };
  });
}

/** The result in one sentence. */
function verdict(result: CheckResult): string {
  const { sitemapCount, pageCount, complete, counts, known = 0 } = result;
  const none = known > 0 ? `No new findings (${counted(known, "occurrence")} in the baseline)` : "No findings";
  const found = result.findings.length === 0 ? "" : `${failedInWords(result)} (${severitiesInWords(counts)})`;
  if (sitemapCount === 0) return `${found || none}: no sitemap could be read.`;
  const size = `${counted(sitemapCount, "sitemap")} with ${counted(pageCount, "page")}`;
  const rest = complete ? "" : `, as far as the website could be read`;
  if (found === "") return `${none} in ${size}${rest}.`;
  let meaning = "nothing that search engines would reject";
  if (counts.warning > 0) meaning = "search engines may ignore parts of it";
  if (counts.error > 0) meaning = "search engines reject or ignore parts of it";
  return `${found} in ${size}: ${meaning}${rest}.`;
}

/** The result of the sample of pages, if one was fetched. */
function sampleSentences({ sample }: CheckResult): string[] {
  if (sample === undefined) return [];
  const { pages, judged, bad, atMost, disallowed, unanswered } = sample;
  const left = [];
  if (disallowed > 0)
    left.push(`${counted(disallowed, "page")} not fetched: robots.txt disallows it, or could not be read`);
  if (unanswered > 0) left.push(`${counted(unanswered, "page")} not checked: the server denied access`);
  const percent = `${(atMost * 100).toFixed(atMost < 0.1 ? 1 : 0)} %`;
  let bound = `at most ${percent} of all ${counted(pages, "page")}, at 95 % confidence`;
  if (judged >= pages) bound = "these are all pages";
  if (judged === 0) bound = "this says nothing about the others";
  const rest = left.length === 0 ? "" : ` (${left.join("; ")})`;
  return [`Sample: ${bad} of ${counted(judged, "page")} should not be listed as is; ${bound}${rest}.`];
}

/** Rules that were not checked, by reason, as sentences. */
function notJudgedSentences({ notJudged }: CheckResult): string[] {
  const reasons = new Map<string, string[]>();
  for (const { rule, reason } of notJudged) reasons.set(reason, [...(reasons.get(reason) ?? []), rule]);
  return [...reasons].map(([reason, rules]) => `Not judged, because ${reason}: ${rules.join(", ")}`);
}

/** `17 occurrences in 2 sitemaps`, or the count if it is about the whole website. Undefined for one sitemap. */
function extentOf(findings: readonly [Finding, ...Finding[]], homepage: string): string | undefined {
  const [{ sitemap, examples }] = findings;
  const count = findings.reduce((sum, finding) => sum + finding.count, 0);
  const known = findings.reduce((sum, finding) => sum + (finding.known ?? 0), 0);
  const sitemaps = findings.reduce((sum, { otherSitemaps = 1 }) => sum + otherSitemaps, 0);
  const isSite = sitemaps === 1 && sitemap === homepage;
  const isFile = isSite && examples[0]?.file !== undefined;
  if (isFile) return casesInWords({ count, known }, "file");
  if (isSite) return count === 1 ? "the website as a whole" : `${casesInWords({ count, known })} on the website`;
  // For one sitemap, the line with its URL shows it.
  if (sitemaps === 1) return undefined;
  return `${casesInWords({ count, known })} in ${counted(sitemaps, "sitemap")}`;
}

/** `3 occurrences`, `39 new of 539 occurrences`. */
function casesInWords({ count, known = 0 }: Pick<Finding, "count" | "known">, noun = "occurrence"): string {
  return known === 0 ? counted(count, noun) : `${grouped(count)} new of ${counted(count + known, noun)}`;
}

function exampleText({ url, value, file, line }: FindingExample): string {
  const inFile = line === undefined ? `${file}: ` : `${file}:${line}: `;
  const place = file !== undefined ? inFile : line === undefined ? "" : `line ${line}: `;
  return `${place}${[url, value].filter((part) => part !== undefined).join(" · ")}`;
}
