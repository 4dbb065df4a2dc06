// The options of a report.
import type { CheckOptions } from "../check/options.ts";
import type { DiffSide } from "../diff/diff-side.ts";

/** Options of `reportHtml` and `reportFacts`. */
export interface ReportOptions {
  /** How the tree is checked. */
  check?: CheckOptions | undefined;
  /** An earlier state of the website, such as the path of an archive: the report shows what changed since. */
  previous?: DiffSide | undefined;
  /** Aborts: the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}
