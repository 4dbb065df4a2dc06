// A local file as one side of a diff: a sitemap of any format, or a list of URLs. Nothing in it is fetched.
import { type Reading, type ReadSettings, read } from "../crawl/read.ts";
import { SitemapError } from "../model/errors.ts";
import { defaultLimits, type Options } from "../model/options.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Problem } from "../model/problem.ts";
import type { FileContent } from "./file-content.ts";
import type { Range } from "./line-ranges.ts";
import type { PageLists } from "./page-lists.ts";
import type { Side, SideSitemap } from "./side.ts";

export interface FileSideOptions {
  readonly content: FileContent;
  readonly limits?: Options["limits"];
  readonly strict?: boolean | undefined;
  /** Receives its problems. */
  readonly onProblems?: ((problems: readonly Problem[]) => void) | undefined;
}

export class FileSide implements Side {
  readonly homepage = undefined;
  readonly #options: FileSideOptions;
  readonly #settings: ReadSettings;
  readonly #sitemaps = new Map<string, SideSitemap>();
  #ranges: readonly Range[] = [];
  #outcome: Reading["outcome"] | undefined;
  complete = true;

  constructor(options: FileSideOptions) {
    this.#options = options;
    // The file is the caller's own: no limit on its length.
    const endless = { documentBytes: Number.POSITIVE_INFINITY, documentEntries: Number.POSITIVE_INFINITY };
    this.#settings = {
      limits: { ...defaultLimits, ...endless, ...options.limits },
      strict: options.strict ?? false,
    };
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
    const { content, onProblems } = this.#options;
    this.#ranges = await content.ranges();
    for (const range of this.#ranges) {
      const entries = this.#entries(range);
      let step = await entries.next();
      for (; !step.done; step = await entries.next()) {
        const { pages, sitemaps } = step.value;
        for (const { url } of sitemaps) this.#sitemaps.set(url, { reason: undefined, parent: undefined });
        if (pages.length > 0) await lists.add(content.name, pages);
      }
      const { outcome, complete, problems } = step.value;
      // The first range of a divided text decides its format.
      this.#outcome ??= outcome;
      this.complete &&= complete || outcome.kind === "invalid";
      onProblems?.(problems);
    }
    if (this.#outcome?.kind === "invalid") this.#expectEmptyList(this.#outcome.reason);
  }

  // A list may be empty, and is complete then; any other file without pages is not a sitemap.
  #expectEmptyList(reason: Problem): void {
    const { content, onProblems } = this.#options;
    if (reason.code !== "empty" || !content.mayBeEmpty) {
      const sentence = `${content.shown} is neither an archive nor a sitemap: ${reason.message}`;
      throw new SitemapError("invalid-file", sentence);
    }
    this.#outcome = { kind: "pages", format: "text" };
    onProblems?.([reason]);
  }

  async *read(): AsyncGenerator<readonly SitemapPage[], void> {
    for (const range of this.#ranges) {
      for await (const { pages } of this.#entries(range)) if (pages.length > 0) yield pages;
    }
  }

  async close(): Promise<void> {}

  #entries(range: Range): ReturnType<typeof read> {
    const { content } = this.#options;
    const { isRobots } = content;
    return read({ url: undefined, headers: [], body: content.open(range), isRobots }, this.#settings);
  }
}
