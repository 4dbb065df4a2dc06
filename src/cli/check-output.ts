// Findings as text for people, JSON, SARIF, Markdown, and annotations of GitHub. What comes from a website is made printable.
import picocolors from "picocolors";
import type { Finding, FindingExample } from "../check/findings.ts";
import type { CheckResult } from "../check/result.ts";
import { type Rule, type Severity, severities } from "../check/rule.ts";
import { counted, grouped } from "../figures.ts";
import { version } from "../version.ts";
import { printable, printableJson } from "../write/printable.ts";
import type { CheckFormat } from "./check-formats.ts";

export interface CheckOutput {
  readonly format: CheckFormat;
  readonly all: boolean;
  readonly color: boolean;
}

export function writeCheck(result: CheckResult, { format, all, color }: CheckOutput): string {
  switch (format) {
    case "text":
      return text(result, all, color);
    case "json":
      return json(checkDocument(result));
    case "sarif":
      return json(sarif(result));
    case "markdown":
      return markdown(result, all);
    case "github":
      return annotations(result);
  }
}

/** One sentence about the whole. */
function verdict({ counts, sitemapCount, pageCount, notJudged, complete }: CheckResult): string {
  const size = `${counted(sitemapCount, "sitemap")} with ${counted(pageCount, "page")}`;
  const found = [
    ...(counts.error > 0 ? [counted(counts.error, "error")] : []),
    ...(counts.warning > 0 ? [counted(counts.warning, "warning")] : []),
    ...(counts.info > 0 ? [counted(counts.info, "note")] : []),
  ].join(", ");
  const meaning =
    counts.error > 0
      ? "search engines reject or ignore parts of it"
      : counts.warning > 0
        ? "search engines may ignore parts of it"
        : "nothing that search engines would reject";
  const rest = complete
    ? ""
    : ` Not everything could be read; ${counted(notJudged.length, "rule")} could not be judged.`;
  return found === "" ? `No findings in ${size}.${rest}` : `${found} in ${size}: ${meaning}.${rest}`;
}

function checkDocument(result: CheckResult): unknown {
  const { homepage, complete, sitemapCount, pageCount, counts, findings, notJudged } = result;
  const named = new Set(findings.map(({ rule }) => rule));
  const rules = result.rules.filter(({ id }) => named.has(id));
  return {
    version: 1,
    homepage,
    complete,
    verdict: verdict(result),
    sitemapCount,
    pageCount,
    counts,
    findings,
    notJudged,
    rules,
  };
}

function json(document: unknown): string {
  return `${printableJson(JSON.stringify(document, null, 2))}\n`;
}

interface Group {
  readonly rule: Rule;
  readonly severity: Severity;
  readonly findings: readonly Finding[];
  readonly count: number;
}

function groupsOf({ findings, rules }: CheckResult): Group[] {
  const rows = new Map(rules.map((rule) => [rule.id, rule]));
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = `${finding.severity} ${finding.rule}`;
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()].map((group) => ({
    rule: rows.get(group[0]!.rule) as Rule,
    severity: group[0]!.severity,
    findings: group,
    count: group.reduce((sum, { count }) => sum + count, 0),
  }));
}

function text(result: CheckResult, all: boolean, color: boolean): string {
  const { red, yellow, cyan, bold, dim } = picocolors.createColors(color);
  const paint = { error: red, warning: yellow, info: cyan };
  const lines = [bold(printable(result.homepage)), verdict(result)];
  for (const { rule, severity, findings, count } of groupsOf(result)) {
    lines.push("", `${paint[severity](severity)}  ${bold(rule.sentence)}  ${dim(rule.id)}`);
    const shown = all ? findings : findings.slice(0, 3);
    lines.push(`  ${grouped(count)} in ${sitemapsOf(findings)}`);
    for (const finding of shown) {
      lines.push(`  ${printable(finding.sitemap)} (${grouped(finding.count)})`);
      for (const example of all ? finding.examples : finding.examples.slice(0, 3)) {
        const shownExample = exampleText(example);
        if (shownExample !== "") lines.push(`    ${printable(shownExample)}`);
      }
    }
    if (shown.length < findings.length)
      lines.push(dim(`  and ${counted(findings.length - shown.length, "more sitemap")}; --all lists them`));
    if (rule.fix !== "") lines.push(`  Fix: ${rule.fix}`);
    if (rule.link !== "") lines.push(dim(`  ${rule.link}`));
  }
  lines.push(...notJudgedLines(result).map((line) => dim(line)));
  return `${lines.join("\n")}\n`;
}

function notJudgedLines({ notJudged }: CheckResult): string[] {
  const reasons = new Map<string, string[]>();
  for (const { rule, reason } of notJudged) reasons.set(reason, [...(reasons.get(reason) ?? []), rule]);
  return reasons.size === 0
    ? []
    : ["", ...[...reasons].map(([reason, rules]) => `Not judged, because ${reason}: ${rules.join(", ")}`)];
}

function sitemapsOf(findings: readonly Finding[]): string {
  const others = findings.reduce((sum, { otherSitemaps = 1 }) => sum + otherSitemaps, 0);
  return counted(others, "place");
}

function exampleText({ url, value, line }: FindingExample): string {
  const place = line === undefined ? "" : `line ${line}: `;
  return `${place}${[url, value].filter((part) => part !== undefined).join(" · ")}`;
}

function markdown(result: CheckResult, all: boolean): string {
  const lines = [`# Check of ${code(result.homepage)}`, "", verdict(result)];
  for (const { rule, severity, findings, count } of groupsOf(result)) {
    lines.push(
      "",
      `## ${severity}: ${rule.id}`,
      "",
      rule.sentence,
      "",
      `${grouped(count)} in ${sitemapsOf(findings)}.`,
    );
    if (rule.fix !== "") lines.push("", `**Fix:** ${rule.fix}${rule.link === "" ? "" : ` ([more](${rule.link}))`}`);
    lines.push("", "| sitemap | count | example |", "|---|--:|---|");
    for (const { sitemap, count: own, examples } of all ? findings : findings.slice(0, 10)) {
      const [first] = examples;
      lines.push(`| ${code(sitemap)} | ${grouped(own)} | ${first === undefined ? "" : code(exampleText(first))} |`);
    }
  }
  return `${[...lines, ...notJudgedLines(result)].join("\n")}\n`;
}

// As code, in a table: nothing in it is Markdown or HTML.
function code(value: string): string {
  const safe = printable(value).replaceAll("`", "'").replaceAll("|", "\\|").replaceAll("<", "&lt;");
  return safe === "" ? "" : `\`${safe}\``;
}

// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands: ten of a kind are shown in a step.
function annotations(result: CheckResult): string {
  const commands = { error: "error", warning: "warning", info: "notice" } as const;
  const lines = severities.flatMap((severity) =>
    groupsOf(result)
      .filter((group) => group.severity === severity)
      .slice(0, 10)
      .map(({ rule, findings, count }) => {
        const [first] = findings;
        const [example] = first?.examples ?? [];
        const words = `${rule.sentence} ${grouped(count)} in ${sitemapsOf(findings)}, first ${first?.sitemap ?? ""}${example === undefined ? "" : `: ${exampleText(example)}`}. Fix: ${rule.fix}`;
        return `::${commands[severity]} title=${escapedProperty(rule.id)}::${escapedData(printable(words))}`;
      }),
  );
  return `${[...lines, escapedData(verdict(result))].join("\n")}\n`;
}

function escapedData(value: string): string {
  return value.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapedProperty(value: string): string {
  return escapedData(value).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html: one result for each rule and sitemap.
function sarif(result: CheckResult): unknown {
  const levels = { error: "error", warning: "warning", info: "note" } as const;
  const { findings, rules } = result;
  const used = rules.filter(({ id }) => findings.some(({ rule }) => rule === id));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "sitegrove",
            version,
            rules: used.map(({ id, severity, sentence, fix, link, basis }) => ({
              id,
              shortDescription: { text: sentence },
              ...(fix === "" ? {} : { help: { text: fix } }),
              ...(link === "" ? {} : { helpUri: link }),
              defaultConfiguration: { level: levels[severity] },
              properties: { basis },
            })),
          },
        },
        results: findings.slice(0, mostResults).map(({ rule, severity, sitemap, count, examples }) => ({
          ruleId: rule,
          ruleIndex: used.findIndex(({ id }) => id === rule),
          level: levels[severity],
          message: { text: `${used.find(({ id }) => id === rule)?.sentence ?? rule} (${grouped(count)})` },
          locations: [location(sitemap, examples[0])],
          relatedLocations: examples.slice(1).map((example) => location(sitemap, example)),
          partialFingerprints: { "ruleAndSitemap/v1": `${rule} ${sitemap}` },
          properties: { count, examples },
        })),
      },
    ],
  };
}

// GitHub takes no more of one run.
const mostResults = 5000;

function location(sitemap: string, example: FindingExample | undefined): unknown {
  return {
    physicalLocation: {
      artifactLocation: { uri: encodeURI(decoded(sitemap)) },
      ...(example?.line === undefined ? {} : { region: { startLine: example.line } }),
    },
    ...(example === undefined ? {} : { message: { text: exampleText(example) || sitemap } }),
  };
}

// Encoded once, and only once.
function decoded(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}
