// Counts the pages of each language of a website. A page has a language if it is among its own alternate pages.
import type { AlternateSet } from "../check/rules/languages.ts";
import { detached } from "../model/text.ts";
import type { ReportLanguages } from "./facts.ts";
import { caps, fitted } from "./html.ts";

// Real websites have up to two hundred languages. Pages in languages beyond this limit are counted as "other".
const mostLanguages = 500;
/** The maximum length of a language code in characters. */
const longestCode = 35;

export class LanguageCounts {
  // The key is the code in lower case. The report shows its first spelling.
  readonly #languages = new Map<string, { language: string; pages: number }>();
  #others = 0;
  #pages = 0;
  #defaultPages = 0;

  /** Counts a page with alternate pages. */
  add({ ownLanguage: own, hasDefault }: Pick<AlternateSet, "ownLanguage" | "hasDefault">): void {
    this.#pages += 1;
    if (hasDefault) this.#defaultPages += 1;
    if (own === undefined) return;
    // The end must not be half of a surrogate pair.
    const code = own.slice(0, longestCode).replace(/[\ud800-\udbff]$/, "");
    const known = this.#languages.get(code.toLowerCase());
    if (known !== undefined) known.pages += 1;
    else if (this.#languages.size >= mostLanguages) this.#others += 1;
    else this.#languages.set(detached(code.toLowerCase()), { language: detached(code), pages: 1 });
  }

  /** The number of languages, up to `mostLanguages`. */
  get count(): number {
    return this.#languages.size;
  }

  /** Returns the largest languages, and how many pages the others have. */
  facts(): ReportLanguages {
    const all = [...this.#languages.values()].sort(
      (one, two) => two.pages - one.pages || (one.language < two.language ? -1 : 1),
    );
    return {
      languages: all.slice(0, caps.languages).map(({ language, pages }) => ({ language: fitted(language, 20), pages })),
      otherPages: all.slice(caps.languages).reduce((sum, { pages }) => sum + pages, this.#others),
      pages: this.#pages,
      defaultPages: this.#defaultPages,
    };
  }
}
