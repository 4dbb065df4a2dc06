// Findings as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), for code scanning: one result for each
// rule and sitemap, with its count in the message and its examples as locations. GitHub takes relative URIs only.
import { createHash } from "node:crypto";
import type { Finding, FindingExample } from "../../check/findings.ts";
import type { CheckResult } from "../../check/result.ts";
import type { Rule } from "../../check/rule.ts";
import { counted } from "../../model/figures.ts";
import { version } from "../../model/version.ts";
import type { Places } from "../input/local-files.ts";
import { exampleText, sampleSentence, verdict } from "./findings.ts";

const levels = { error: "error", warning: "warning", info: "note" } as const;
// GitHub keeps this many of one run.
const mostResults = 5000;
const docs = "https://github.com/sitegrove/sitegrove/blob/main/docs/rules.md";

export function checkSarif(result: CheckResult, places: Places): unknown {
  const { findings, rules, notJudged, homepage } = result;
  const found = new Set(findings.map(({ rule }) => rule));
  const used = rules.filter(({ id }) => found.has(id));
  const indexes = new Map(used.map(({ id }, index) => [id, index]));
  const results = findings
    .slice(0, mostResults)
    .map((finding) => resultOf(finding, used[indexes.get(finding.rule) as number]!, indexes, places));
  const cut = findings.length - results.length;
  const notes = [
    verdict(result),
    ...(cut > 0 ? [`${counted(cut, "finding")} beyond the ${mostResults} that code scanning takes.`] : []),
    ...[sampleSentence(result)].filter((sentence) => sentence !== undefined),
    ...notJudged.map(({ rule, reason }) => `Not judged, because ${reason}: ${rule}`),
  ];
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "sitegrove", version, informationUri: docs, rules: used.map(ruleOf) } },
        invocations: [
          {
            executionSuccessful: true,
            toolExecutionNotifications: notes.map((text) => ({ level: "note", message: { text } })),
          },
        ],
        ...(places.bases.size === 0 ? {} : { originalUriBaseIds: basesOf(places) }),
        results,
        columnKind: "utf16CodeUnits",
        properties: { homepage, complete: result.complete, pageCount: result.pageCount },
      },
    ],
  };
}

function basesOf(places: Places): Record<string, { uri: string }> {
  return Object.fromEntries([...places.bases].map(([name, uri]) => [name, { uri }]));
}

function ruleOf({ id, severity, sentence, fix, link, basis }: Rule): unknown {
  return {
    id,
    shortDescription: { text: sentence },
    fullDescription: { text: sentence },
    help: { text: fix === "" ? sentence : fix },
    ...(isUri(link) ? { helpUri: link } : {}),
    defaultConfiguration: { level: levels[severity] },
    properties: { basis, tags: ["seo", "sitemap"] },
  };
}

function resultOf(finding: Finding, rule: Rule, indexes: ReadonlyMap<string, number>, places: Places): unknown {
  const { severity, sitemap, count, examples, otherSitemaps } = finding;
  const [first] = examples;
  const more = otherSitemaps === undefined ? "" : ` in ${counted(otherSitemaps, "further sitemap")}`;
  const example = first === undefined ? "" : ` First: ${exampleText(first)}`;
  const place = places.of(sitemap);
  return {
    ruleId: rule.id,
    ruleIndex: indexes.get(rule.id),
    level: levels[severity],
    message: { text: `${rule.sentence} (${counted(count, "case")}${more})${example}` },
    locations: [locationOf(place, first)],
    ...(examples.length > 1
      ? { relatedLocations: distinct(examples.slice(1).map((each) => locationOf(place, each))) }
      : {}),
    // The same finding keeps its hash when lines move.
    partialFingerprints: { primaryLocationLineHash: `${hashOf(`${rule.id}\n${severity}\n${sitemap}`)}:1` },
    properties: { count, sitemap, examples },
  };
}

// The schema wants no two that are the same: examples that are shortened may be, and those of one long line.
function distinct(locations: readonly unknown[]): unknown[] {
  return [...new Map(locations.map((location) => [JSON.stringify(location), location])).values()];
}

function locationOf({ uri, base }: ReturnType<Places["of"]>, example: FindingExample | undefined): unknown {
  const text = example === undefined ? "" : exampleText(example);
  return {
    physicalLocation: {
      artifactLocation: { uri, uriBaseId: base },
      // Code scanning shows nothing without a line.
      region: { startLine: example?.line ?? 1 },
    },
    ...(text === "" ? {} : { message: { text } }),
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function isUri(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text) && URL.canParse(text);
}
