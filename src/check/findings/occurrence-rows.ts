// Passes the occurrences of findings to a reader, one row each. The check waits until a full batch is taken, so memory stays flat.
import type { PagesSitemap } from "../../model/sitemap.ts";
import { detached } from "../../model/text.ts";
import { partsOf, type SitemapTree } from "../../tree/tree.ts";
import type { CheckTime } from "../check-time.ts";
import type { Rule, Severity } from "../rules/rule.ts";
import { findLines, linesOf } from "./example-lines.ts";
import type { ExampleParts } from "./result.ts";

/** One occurrence of a finding. */
export interface Occurrence {
  readonly rule: string;
  readonly severity: Severity;
  /** The page concerned. */
  readonly url?: string | undefined;
  /** The wrong value, or what it was compared with. */
  readonly value?: string | undefined;
  /** The URL of the sitemap, or of the homepage if the occurrence is about the website as a whole. */
  readonly sitemap: string;
  /** The line of the entry in the decoded sitemap, from 1. */
  readonly line?: number | undefined;
  /** What is wrong. */
  readonly message: string;
}

/** The columns of a table of occurrences, in order. */
export const occurrenceColumns: readonly (keyof Occurrence)[] = [
  "rule",
  "severity",
  "url",
  "value",
  "sitemap",
  "line",
  "message",
];

type Row = { -readonly [Name in keyof Occurrence]: Occurrence[Name] };

/** The rows of a check. When a batch is full, the check waits until the batch is taken. */
export class OccurrenceRows {
  readonly #tree: SitemapTree;
  readonly #emit: (batch: readonly Occurrence[]) => Promise<void>;
  readonly #sentences: ReadonlyMap<string, string>;
  #rows: Row[] = [];
  // Tells the lines of the entries of `#sitemap`, whose pages are being checked.
  #lineOf: ((url: string) => number | undefined) | undefined;
  #sitemap: string | undefined;

  constructor(tree: SitemapTree, rules: readonly Rule[], emit: (batch: readonly Occurrence[]) => Promise<void>) {
    this.#tree = tree;
    this.#emit = emit;
    this.#sentences = new Map(rules.map(({ id, sentence }) => [id, sentence]));
  }

  add(
    { rule, severity, sitemap }: Pick<Row, "rule" | "severity" | "sitemap">,
    { url, value, file, line }: ExampleParts,
  ): void {
    const inFile = file === undefined ? undefined : line === undefined ? file : `${file}:${line}`;
    const shown = [inFile, value].filter((part) => part !== undefined).join(" · ");
    const own = { url: url && detached(url), value: shown === "" ? undefined : detached(shown) };
    const message = this.#sentences.get(rule) ?? rule;
    this.#rows.push({ rule, severity, ...own, sitemap, line: file === undefined ? line : undefined, message });
  }

  /** Adds line numbers to rows about the pages of a sitemap. */
  async settlePages(sitemap: PagesSitemap, time: CheckTime): Promise<void> {
    const rows = this.#rows.filter((row) => row.line === undefined && row.sitemap === sitemap.url);
    if (rows.length > 0 && this.#sitemap !== sitemap.url) {
      this.#sitemap = sitemap.url;
      this.#lineOf = await linesOf(this.#tree.text(sitemap), partsOf(this.#tree).settings.rewrite, time);
    }
    for (const row of rows) if (row.url !== undefined) row.line = this.#lineOf?.(row.url);
    if (this.#rows.length >= fullBatch) await this.flush();
  }

  /** Adds line numbers to rows about documents, if they fill a batch or are the last ones. */
  async settleDocuments(time: CheckTime, isLast = false): Promise<void> {
    if (this.#rows.length < fullBatch && !isLast) return;
    const rows = this.#rows.map((row) => [row.sitemap, row] as const);
    await findLines(this.#tree, rows, time);
    if (this.#rows.length >= fullBatch) await this.flush();
  }

  /** Passes on the rows so far, and waits until they are taken. */
  async flush(): Promise<void> {
    const batch = this.#rows;
    this.#rows = [];
    if (batch.length > 0) await this.#emit(batch);
  }
}

const fullBatch = 1000;
