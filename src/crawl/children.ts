// Collects the children of an index while it is read: those that `recurse` and `recurseList` accept, up to the number
// that the budget for documents can reach. The rest are only counted, because a website can list any number.
import { boolean, unexpected } from "../model/option-checks.ts";
import type { RecurseContext, Settings } from "../model/options.ts";
import type { SitemapReference } from "../model/sitemap.ts";

export class Children {
  readonly #settings: Pick<Settings, "recurse" | "recurseList">;
  readonly #context: RecurseContext;
  readonly #most: number;
  readonly #listed: SitemapReference[] = [];
  #unlisted = 0;

  constructor(settings: Pick<Settings, "recurse" | "recurseList">, context: RecurseContext, most: number) {
    this.#settings = settings;
    this.#context = context;
    this.#most = most;
  }

  add(references: readonly SitemapReference[]): void {
    // `recurseList` is called with all of them.
    if (this.#settings.recurseList !== undefined) for (const reference of references) this.#listed.push(reference);
    else for (const reference of references) this.#take(reference);
  }

  /** After the last reference: those to visit, in order, and how many more were counted. */
  end(): { readonly references: SitemapReference[]; readonly unlisted: number } {
    const { recurseList } = this.#settings;
    if (recurseList !== undefined) {
      for (const reference of listOf(recurseList(this.#listed.splice(0), this.#context))) this.#take(reference);
    }
    return { references: this.#listed, unlisted: this.#unlisted };
  }

  #take(reference: SitemapReference): void {
    if (!this.#isFollowed(reference)) return;
    if (this.#listed.length < this.#most) this.#listed.push(reference);
    else this.#unlisted += 1;
  }

  #isFollowed(reference: SitemapReference): boolean {
    const { recurse } = this.#settings;
    // A promise, or the result of `match`, would always or never be true.
    return recurse === undefined || boolean("the result of recurse", recurse(reference, this.#context));
  }
}

function listOf(result: unknown): readonly SitemapReference[] {
  const isReference = (item: unknown) => typeof (item as Partial<SitemapReference> | null)?.url === "string";
  if (Array.isArray(result) && result.every(isReference)) return result;
  throw unexpected("the result of recurseList", "a list of children", result);
}
