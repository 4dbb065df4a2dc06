// What the page and its worker say to each other.
import type { Problem } from "../../../../src/model/problem.ts";

export interface Question {
  readonly number: number;
  readonly document: string | File;
  readonly url: string | undefined;
}

export interface Answer {
  readonly number: number;
  readonly kind: "pages" | "index" | "invalid";
  readonly format: string | undefined;
  readonly complete: boolean;
  /** Pages, or the sitemaps of an index. */
  readonly count: number;
  /** The first of them. */
  readonly entries: readonly { readonly url: string; readonly lastModified?: string }[];
  readonly problems: readonly Problem[];
  readonly findings: readonly RuleFinding[];
}

/** What a rule of `sitegrove check` found in the document. */
export interface RuleFinding {
  readonly rule: string;
  readonly severity: string;
  readonly sentence: string;
  readonly fix: string;
  readonly count: number;
  readonly example: string | undefined;
}

/** The document could not be read at all. */
export interface Failure {
  readonly number: number;
  readonly error: string;
}
