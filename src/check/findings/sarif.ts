// Writes SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html) for code scanning: one result for each rule and
// sitemap, with its count in the message and its examples as locations. GitHub accepts only relative URIs.
import { createHash } from "node:crypto";
import { counted, grouped } from "../../model/figures.ts";
import { version } from "../../model/version.ts";
import type { Rule } from "../rules/rule.ts";
import type { FileLocation, FileLocations } from "./file-locations.ts";
import type { CheckResult, Finding, FindingExample } from "./result.ts";
import { exampleText, failedRules, notCheckedSentences, occurrencesInWords, pageSentences, verdict } from "./words.ts";

const levels = { error: "error", warning: "warning", info: "note" } as const;
// GitHub keeps at most this many results of a run.
const mostResults = 5000;
const docs = "https://github.com/sitegrove/sitegrove/blob/main/docs/check.md";

/** Converts a result to a SARIF log. */
export function checkSarif(result: CheckResult, locations: FileLocations): unknown {
  const { findings, homepage, complete, pageCount } = result;
  const rules = failedRules(result);
  const results = findings.slice(0, mostResults).map((finding) => resultOf(finding, rules, locations));
  const cut = findings.length - results.length;
  const beyond = `${counted(cut, "finding")} beyond the ${grouped(mostResults)} that code scanning accepts.`;
  const notes = [
    verdict(result),
    ...(cut > 0 ? [beyond] : []),
    ...pageSentences(result),
    ...notCheckedSentences(result),
  ].map((text) => ({ level: "note", message: { text } }));
  const bases = Object.fromEntries([...locations.bases].map(([uri, name]) => [name, { uri }]));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "sitegrove", version, informationUri: docs, rules: rules.map(ruleOf) } },
        invocations: [{ executionSuccessful: true, toolExecutionNotifications: notes }],
        ...(locations.bases.size === 0 ? {} : { originalUriBaseIds: bases }),
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

function resultOf(finding: Finding, rules: readonly Rule[], locations: FileLocations): unknown {
  const { severity, sitemap, count, examples, otherSitemaps } = finding;
  const ruleIndex = rules.findIndex(({ id }) => id === finding.rule);
  const { id: ruleId, sentence } = rules[ruleIndex] as Rule;
  const [first, ...others] = examples;
  const more = otherSitemaps === undefined ? "" : ` in ${counted(otherSitemaps, "more sitemap")}`;
  const example = first === undefined ? "" : ` First: ${exampleText(first)}`;
  const located = (each?: FindingExample) => locationOf(locations.of(sitemap, each), each);
  // The schema forbids equal locations. Examples may be equal after shortening, or if they are on one long line.
  const related = new Map(others.map(located).map((location) => [JSON.stringify(location), location]));
  // The hash does not depend on lines, so a finding keeps it when lines move.
  const hash = createHash("sha256").update(`${ruleId}\n${severity}\n${sitemap}`).digest("hex").slice(0, 16);
  return {
    ruleId,
    ruleIndex,
    level: levels[severity],
    message: { text: `${sentence} (${occurrencesInWords(finding)}${more})${example}` },
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
