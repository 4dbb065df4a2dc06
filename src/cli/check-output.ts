// Findings in the formats of `sitegrove check`.
import type { CheckResult } from "../check/result.ts";
import { jsonOf } from "../write/printable.ts";
import { checkAnnotations } from "./check-annotations.ts";
import type { CheckFormat } from "./check-formats.ts";
import { verdict } from "./check-groups.ts";
import { checkMarkdown } from "./check-markdown.ts";
import type { Places } from "./check-places.ts";
import { checkSarif } from "./check-sarif.ts";
import { checkText } from "./check-text.ts";

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
