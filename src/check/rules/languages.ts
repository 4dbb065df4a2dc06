// Rules about the alternate pages of one entry in other languages (hreflang). across/clusters.ts compares the entries of all sitemaps; for
// that, this file fingerprints each entry's set of alternate pages, whatever their order.
import { counted } from "../../model/figures.ts";
import type { AlternatePage, SitemapPage } from "../../model/page.ts";
import type { CheckRun } from "../context.ts";
import type { SitemapFindings } from "../findings/findings.ts";
import { type LanguageCode, readLanguageCode } from "./language-codes.ts";
import { type RuleRows, ruleFor } from "./rule.ts";
import * as sources from "./sources.ts";
import { mixed, textHash, UrlScan, urlNumber } from "./url-scan.ts";

export const languageRules: RuleRows = {
  "hreflang-code": ruleFor(["google"], "error", "engine", sources.languages, {
    sentence: "Google does not support this language code.",
    fix: "Write an ISO 639-1 language, optionally with a script or an ISO 3166-1 region (`en`, `zh-Hant`, `en-US`), or `x-default`.",
  }),
  "hreflang-region": ruleFor(["google"], "error", "engine", sources.languages, {
    sentence: "The region is not a country code; Google ignores it.",
    fix: "Write an ISO 3166-1 Alpha 2 code: GB, not UK; Latin America and Europe have none.",
  }),
  "hreflang-not-absolute": ruleFor(["google"], "error", "engine", sources.languages, {
    sentence: "An alternate page's URL is relative; Google ignores it.",
    fix: "Write the full URL, with scheme and host.",
    problems: "alternate-relative",
  }),
  "hreflang-incomplete": ruleFor(["google"], "error", "engine", sources.languages, {
    sentence: "An alternate page has no `rel`, language or URL.",
    fix: 'Write all three: `<xhtml:link rel="alternate" hreflang="de" href="https://example.org/de"/>`.',
    problems: "alternate-incomplete",
  }),
  "hreflang-language-twice": ruleFor(["google"], "error", "practice", sources.languages, {
    sentence: "Two alternate pages of an entry have the same language.",
    fix: "List one page per language.",
  }),
  "hreflang-no-self": ruleFor(["google"], "warning", "engine", sources.languages, {
    sentence: "A page is not among its own alternate pages.",
    fix: "List every version for every page, including the page itself.",
  }),
  "hreflang-no-return": ruleFor(["google"], "error", "engine", sources.languages, {
    sentence: "No return links: an alternate page does not link back; Google ignores both annotations.",
    fix: "List every version for every page, including the page itself.",
  }),
  "hreflang-return-differs": ruleFor(["google"], "warning", "heuristic", sources.languages, {
    sentence: "Pages disagree about the language of a page.",
    fix: "Use one code per page.",
  }),
  "hreflang-target-unlisted": ruleFor(["google"], "info", "heuristic", sources.languages, {
    sentence: "An alternate page is in no sitemap.",
    fix: "List it.",
    needs: ["complete", "site"],
  }),
  "hreflang-no-default": ruleFor(["google"], "info", "engine", sources.languages, {
    sentence: "No `x-default` page.",
    fix: "Add one with the language `x-default`.",
    needs: ["complete"],
  }),
  "hreflang-no-catchall": ruleFor(["google"], "info", "engine", sources.languages, {
    sentence: "A language has pages for several regions, but no generic page.",
    fix: "Add a page for the language alone, such as `en` in addition to `en-US` and `en-GB`.",
  }),
};

/** The alternate pages of one entry. */
export interface AlternateSet {
  /** The two halves of the fingerprint of all languages and URLs. Sets in a different order have the same fingerprint. */
  readonly high: number;
  readonly low: number;
  /** How many different URLs the set has. */
  readonly members: number;
  /** Whether the page is in its own set. */
  readonly hasSelf: boolean;
  /** The fingerprint of the language that the page gives itself; 0 if it gives none, or several. */
  readonly ownHash: number;
}

// `code` is in lower case, because case makes no difference in language codes.
type Language = LanguageCode & { readonly code: string; readonly hash: number };

export class LanguageRules {
  readonly #scan = new UrlScan();
  readonly #codes = new Map<string, Language>();
  // These describe the current entry: the fingerprints of its URLs, the first URL of each language, and how many regions a language has.
  // They are reused, because a website may have millions of entries.
  readonly #urls = new Set<number>();
  readonly #firstUrls = new Map<string, string>();
  readonly #regions = new Map<string, number>();
  #pagesWithAlternates = 0;
  #hasDefault = false;
  #firstPage: string | undefined;

  /** Checks one entry. `own` has read the URL of its page. */
  check(
    page: SitemapPage,
    alternates: readonly AlternatePage[],
    own: UrlScan,
    findings: SitemapFindings,
  ): AlternateSet {
    const scan = this.#scan;
    let [high, low, ownHash, ownCount] = [0, 0, 0, 0];
    let hasSelf = false;
    let repeated: string | undefined;
    this.#urls.clear();
    this.#firstUrls.clear();
    this.#regions.clear();
    for (const { language, url } of alternates) {
      const { code, hash, fault, language: base, region } = this.#read(language);
      if (fault !== undefined) findings.add(fault, page.url, language);
      scan.read(url);
      const isDefault = base === "x-default";
      this.#hasDefault ||= isDefault;
      if (scan.spelling === own.spelling && scan.pageLow === own.pageLow && scan.pageHigh === own.pageHigh) {
        hasSelf = true;
        if (!isDefault) ownHash = ++ownCount === 1 ? hash : 0;
      }
      // A sum is the same in any order.
      high = (high + mixed(scan.pageHigh ^ mixed(scan.spelling ^ hash))) | 0;
      low = (low + mixed(scan.pageLow ^ mixed(scan.spelling + hash))) | 0;
      this.#urls.add(urlNumber(scan.spelling, scan.pageLow));
      const first = this.#firstUrls.get(code);
      if (first !== undefined) {
        if (first !== url) repeated ??= language;
        continue;
      }
      this.#firstUrls.set(code, url);
      if (base !== undefined && region !== undefined) this.#regions.set(base, (this.#regions.get(base) ?? 0) + 1);
    }
    if (!hasSelf) findings.add("hreflang-no-self", page.url);
    for (const [language, count] of this.#regions) {
      if (count < 2 || this.#firstUrls.has(language)) continue;
      findings.add("hreflang-no-catchall", page.url, language);
      break;
    }
    if (repeated !== undefined) findings.add("hreflang-language-twice", page.url, repeated);
    const members = this.#urls.size;
    if (members > 1 || (members === 1 && !hasSelf)) {
      this.#pagesWithAlternates += 1;
      this.#firstPage ??= page.url;
    }
    return { high, low, members, hasSelf, ownHash };
  }

  finish({ findings, tree }: CheckRun): void {
    if (this.#pagesWithAlternates === 0 || this.#hasDefault) return;
    const value = counted(this.#pagesWithAlternates, "page");
    findings.count("hreflang-no-default", tree.homepage, 1, { url: this.#firstPage, value });
  }

  #read(language: string): Language {
    let known = this.#codes.get(language);
    if (known === undefined) {
      const code = language.toLowerCase();
      known = { ...readLanguageCode(language), code, hash: textHash(code) };
      if (this.#codes.size >= mostCodes) this.#codes.clear();
      this.#codes.set(language, known);
    }
    return known;
  }
}

// Real websites use up to two hundred codes, but a hostile one could make up any number.
const mostCodes = 10_000;
