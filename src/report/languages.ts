// The languages of a website: how many pages each of them has, counted from the alternate pages that entries name.
import type { AlternateSet } from "../check/rules/languages.ts";
import { detached } from "../model/text.ts";
import type { ReportLanguages } from "./facts.ts";
import { caps, fitted } from "./html.ts";

// Websites have up to two hundred languages. Further ones are counted together.
const mostLanguages = 500;
/** Characters of a language code that are kept. */
const longestCode = 35;

export class LanguageCounts {
  // Keyed by the code in lower case. The first spelling is shown.
  readonly #languages = new Map<string, { language: string; pages: number }>();
  #others = 0;
  #pages = 0;
  #defaultPages = 0;

  /** Counts a page with alternate pages. */
  add({ choice: { own, hasDefault } }: AlternateSet): void {
    this.#pages += 1;
    if (hasDefault) this.#defaultPages += 1;
    if (own === undefined) return;
    // The cut must not leave half a surrogate pair.
    const code = own.slice(0, longestCode).replace(/[\ud800-\udbff]$/, "");
    const known = this.#languages.get(code.toLowerCase());
    if (known !== undefined) known.pages += 1;
    else if (this.#languages.size >= mostLanguages) this.#others += 1;
    else this.#languages.set(detached(code.toLowerCase()), { language: detached(code), pages: 1 });
  }

  /** The languages with the most pages come first. */
  facts(): ReportLanguages {
    const languages = [...this.#languages.values()].sort(
      (one, two) => two.pages - one.pages || (one.language < two.language ? -1 : 1),
    );
    return { languages, otherPages: this.#others, pages: this.#pages, defaultPages: this.#defaultPages };
  }
}

export function shownLanguages({ languages, otherPages, ...rest }: ReportLanguages): ReportLanguages {
  const others = languages.slice(caps.languages).reduce((sum, { pages }) => sum + pages, otherPages);
  const largest = languages.slice(0, caps.languages);
  const shown = largest.map(({ language, pages }) => ({ language: fitted(language, 20), pages }));
  return { languages: shown, otherPages: others, ...rest };
}
