// Reads a local file or a stream as one side of a diff: a sitemap of any format, or a list or table of URLs. Fetches nothing.

import { createReadStream } from "node:fs";
import path from "node:path";
import { type ReadSettings, read } from "../crawl/read.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import type { SitemapPage } from "../model/page.ts";
import { defaultLimits } from "../model/parse-options.ts";
import type { Problem } from "../model/problem.ts";
import { rewrite as checkedRewrite } from "../model/rewrite.ts";
import { isRobotsPath } from "../model/url.ts";
import type { Block } from "../storage/file.ts";
import { Scratch } from "../storage/scratch.ts";
import { kindOfBytes, withStart } from "./archive-magic.ts";
import {
  type DiffBytes,
  type OpenSideOptions,
  type Side,
  type SideFacts,
  type SideSitemap,
  skippedEntries,
} from "./diff-side.ts";
import type { PageLists } from "./page-lists.ts";
import { isFeed } from "./tree-side.ts";
import { urlColumn } from "./url-table.ts";

export class FileSide implements Side {
  readonly #source: string | DiffBytes;
  readonly #name: string;
  // Keeps the bytes of a stream, which can be read only once.
  readonly #scratch = new Scratch();
  readonly #blocks: Block[] = [];
  readonly #options: OpenSideOptions;
  readonly #settings: ReadSettings;
  #isTable: boolean;

  constructor(source: string | DiffBytes, options: OpenSideOptions, isTable = false) {
    this.#isTable = isTable;
    this.#source = source;
    this.#name = typeof source === "string" ? source : source.name;
    this.#options = options;
    const { limits, strict = false } = options.crawl ?? {};
    const rewrite = checkedRewrite("rewrite", options.crawl?.rewrite ?? []);
    // By default, the length of the file is not limited, because it belongs to the caller.
    const endless = { documentBytes: Number.POSITIVE_INFINITY, documentEntries: Number.POSITIVE_INFINITY };
    this.#settings = { limits: { ...defaultLimits, ...endless, ...defined(limits ?? {}) }, strict, rewrite };
  }

  async scan(lists: PageLists): Promise<SideFacts> {
    const source = this.#source;
    if (typeof source !== "string") await this.#receive(source);
    const name = typeof source === "string" ? path.basename(source) : source.name;
    const sitemaps = new Map<string, SideSitemap>();
    const entries = this.#entries();
    let step = await entries.next();
    for (; !step.done; step = await entries.next()) {
      for (const { url } of step.value.sitemaps) sitemaps.set(url, { reason: undefined, parent: undefined });
      if (step.value.pages.length > 0) lists.add(name, step.value.pages);
    }
    const { outcome, problems } = step.value;
    const reasons = outcome.kind === "invalid" ? [this.#emptyList(outcome.reason)] : [];
    this.#options.onProblems?.([...reasons, ...problems]);
    for (const list of lists.lists) list.expires = (outcome.kind === "pages" && isFeed(outcome.format)) || undefined;
    // An empty list may be a failed download, so it does not show that its pages are gone.
    const complete = outcome.kind !== "invalid" && step.value.complete;
    return {
      kind: outcome.kind === "index" ? "index" : "file",
      hasFields: outcome.kind === "index" || (outcome.kind === "pages" && outcome.format !== "text"),
      complete,
      skipped: new Map([["", skippedEntries(problems)]]),
      sitemaps,
      indexes: new Map([[undefined, complete]]),
    };
  }

  // Returns why a list or table has no URLs. Throws for any other invalid file.
  #emptyList(reason: Problem): Problem {
    const mayBeEmpty = typeof this.#source !== "string" || this.#isTable || /\.(?:txt|ndjson)$/i.test(this.#source);
    if (reason.code !== "empty" || !mayBeEmpty)
      throw new SitemapError("invalid-file", `${this.#name} is neither an archive nor a sitemap: ${reason.message}`);
    return this.#isTable ? { ...reason, message: "The table has no rows" } : reason;
  }

  async *read(): AsyncGenerator<readonly SitemapPage[], void> {
    for await (const { pages } of this.#entries()) if (pages.length > 0) yield pages;
  }

  close(): Promise<void> {
    return this.#scratch.close();
  }

  #entries(): ReturnType<typeof read> {
    const isRobots = typeof this.#source === "string" && isRobotsPath(this.#source);
    const body = this.#isTable ? urlColumn(this.#name, this.#bytes(), this.#options.column) : this.#bytes();
    return read({ url: undefined, headers: [], body, isRobots }, this.#settings);
  }

  async *#bytes(): AsyncGenerator<Uint8Array, void> {
    const { signal } = this.#options;
    if (typeof this.#source === "string")
      yield* createReadStream(this.#source, { highWaterMark: blockLength, signal }) as AsyncIterable<Uint8Array>;
    for (const block of this.#blocks) yield await this.#scratch.get(block);
  }

  async #receive({ name, bytes: chunks }: DiffBytes): Promise<void> {
    const { start, bytes: all } = await withStart(chunks);
    const kind = kindOfBytes(start);
    if (kind === "table") this.#isTable = true;
    else if (kind !== "other") throw new SitemapError("invalid-file", `${name} contains ${notText[kind]}`);
    for await (const bytes of all) {
      this.#options.signal?.throwIfAborted();
      // Copies the bytes, because the producer may reuse its buffer.
      this.#blocks.push(await this.#scratch.put(bytes.slice()));
    }
  }
}

const notText = {
  archive: "an archive, which must be a file",
  ndjson: "NDJSON, which must be a file",
};
const blockLength = 256 * 1024;
