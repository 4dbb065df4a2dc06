// A local file as one side of a diff: a sitemap of any format, or a list of URLs. Nothing that it names is fetched.
import { createReadStream } from "node:fs";
import path from "node:path";
import { type Reading, read } from "../crawl/read.ts";
import { SitemapError } from "../errors.ts";
import { defaultLimits } from "../options.ts";
import type { SitemapPage } from "../page.ts";
import type { Problem } from "../problem.ts";
import { lineRanges, type Range } from "./line-ranges.ts";
import type { PageLists } from "./page-lists.ts";
import type { Side, SideSitemap } from "./side.ts";

export interface FileSideOptions {
  readonly path: string;
  readonly signal?: AbortSignal | undefined;
  /** Told what is wrong with it. */
  readonly onProblems?: ((problems: readonly Problem[]) => void) | undefined;
}

// The file is the caller's own: nobody else decides how long it is.
const limits = {
  ...defaultLimits,
  documentBytes: Number.POSITIVE_INFINITY,
  documentEntries: Number.POSITIVE_INFINITY,
};

export class FileSide implements Side {
  readonly homepage = undefined;
  readonly #options: FileSideOptions;
  readonly #name: string;
  readonly #sitemaps = new Map<string, SideSitemap>();
  #ranges: readonly Range[] = [];
  #outcome: Reading["outcome"] | undefined;
  complete = true;

  constructor(options: FileSideOptions) {
    this.#options = options;
    this.#name = path.basename(options.path);
  }

  get hasFields(): boolean {
    return !(this.#outcome?.kind === "pages" && this.#outcome.format === "text");
  }

  get kind(): "index" | "file" {
    return this.#outcome?.kind === "index" ? "index" : "file";
  }

  get sitemaps(): ReadonlyMap<string, SideSitemap> {
    return this.#sitemaps;
  }

  namesAll(index: string | undefined): boolean | undefined {
    return index === undefined ? this.complete : undefined;
  }

  async scan(lists: PageLists): Promise<void> {
    const { path: file, onProblems } = this.#options;
    this.#ranges = await lineRanges(file);
    for (const range of this.#ranges) {
      const entries = this.#entries(range);
      let step = await entries.next();
      for (; !step.done; step = await entries.next()) {
        const { pages, sitemaps } = step.value;
        for (const { url } of sitemaps) this.#sitemaps.set(url, { reason: undefined, parent: undefined });
        if (pages.length > 0) await lists.add(this.#name, pages);
      }
      const { outcome, complete, problems } = step.value;
      // Of a text that was cut, the first range tells what it is.
      this.#outcome ??= outcome;
      this.complete &&= complete;
      onProblems?.(problems);
    }
    if (this.#outcome?.kind !== "invalid") return;
    const { message } = this.#outcome.reason;
    throw new SitemapError("invalid-file", `${file} is neither an archive nor a sitemap: ${message}`);
  }

  async *read(): AsyncGenerator<readonly SitemapPage[], void> {
    for (const range of this.#ranges) {
      for await (const { pages } of this.#entries(range)) if (pages.length > 0) yield pages;
    }
  }

  async close(): Promise<void> {}

  #entries(range: Range): ReturnType<typeof read> {
    const { path: file, signal } = this.#options;
    const body = createReadStream(file, { highWaterMark: 256 * 1024, signal, ...range });
    const isRobots = path.basename(file) === "robots.txt";
    return read({ url: undefined, headers: [], body, isRobots }, { limits, strict: false });
  }
}
