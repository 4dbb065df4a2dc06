// The sides that a run of `changes` compares: what was known before, and what is known now.
import type { PageChange } from "../model/change.ts";
import type { SitemapPage } from "../model/page.ts";
import type { Block } from "../storage/file.ts";
import type { SitemapTree } from "../tree/tree.ts";
import type { SideFacts } from "./diff-side.ts";
import { skippedFor } from "./evidence.ts";
import type { HeldBatch, HeldPages, Skipped } from "./held-pages.ts";
import type { PageList, PageLists } from "./page-lists.ts";
import { TreeSide } from "./tree-side.ts";

/** Compares a tree as if it were complete. What is not certain is held back afterwards. */
export class KnownSide extends TreeSide {
  override async scan(lists: PageLists): Promise<SideFacts> {
    const { kind, hasFields, sitemaps, indexes } = await super.scan(lists);
    return { kind, hasFields, sitemaps, indexes, complete: true };
  }
}

/** Decides about the pages of a list that are not known any more. */
export interface Judge {
  /** Whether it is certain that the list does not have them, given how many entries were skipped when it had. */
  isGone(list: Pick<PageList, "sitemap" | "key">, skipped: Skipped): boolean;
  hold(batch: HeldBatch): Promise<void>;
}

/** The last known state: the pages of its tree, then those that are held. */
export class StateSide extends KnownSide {
  readonly #held: HeldPages;
  readonly #judge: Judge;
  readonly #skippedFor: (list: PageList) => Skipped;
  readonly #batches = new Map<PageList, { readonly line: Block; readonly skipped: Skipped }>();

  constructor(tree: SitemapTree, held: HeldPages, judge: Judge) {
    super(tree);
    this.#held = held;
    this.#judge = judge;
    this.#skippedFor = skippedFor(tree);
  }

  override async scan(lists: PageLists): Promise<SideFacts> {
    const facts = await super.scan(lists);
    for await (const [line, { sitemap, key, kind, skipped, pages }] of this.#held) {
      const list = lists.add(sitemap, pages, true);
      Object.assign(list, { key, expires: kind === "expired" });
      this.#batches.set(list, { line, skipped });
    }
    return facts;
  }

  override async *read(list: PageList): AsyncGenerator<readonly SitemapPage[], void> {
    const batch = this.#batches.get(list);
    if (batch === undefined) yield* super.read(list);
    else yield (await this.#held.batch(batch.line)).pages;
  }

  async holdsBack(list: PageList, changes: readonly PageChange[]): Promise<boolean> {
    const { sitemap, key } = list;
    const skipped = this.#batches.get(list)?.skipped ?? this.#skippedFor(list);
    if (this.#judge.isGone(list, skipped)) return false;
    for (const kind of ["removed", "expired"] as const) {
      const pages = changes.flatMap((change) => (change.kind === kind ? [change.page] : []));
      await this.#judge.hold({ sitemap, key, kind, skipped, pages });
    }
    return true;
  }
}
