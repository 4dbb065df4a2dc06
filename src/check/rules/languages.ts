// Rules about the alternate pages of one entry in other languages (hreflang). clusters.ts compares entries across all sitemaps; for that,
// this file fingerprints each entry's set of alternate pages, whatever their order.
import { counted } from "../../model/figures.ts";
import type { AlternatePage, SitemapPage } from "../../model/page.ts";
import type { CheckRun } from "../context.ts";
import type { SitemapFindings } from "../findings.ts";
import { type LanguageCode, readLanguageCode } from "../language-codes.ts";
import { type RuleRows, ruleFor } from "../rule.ts";
import * as sources from "../sources.ts";
import { mixed, textHash, UrlScan, urlNumber } from "../url-scan.ts";

export const languageRules: RuleRows = {
  "hreflang-code": ruleFor(["google"], "error", "engine", sources.languages, {
    sentence: "Google does not support this language code.",
    fix: "Write an ISO 639-1 language, optionally with an ISO 3166-1 region: `en`, `en-US`, `zh-Hant`, `x-default`.",
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
    fix: "List every version on every page, the page itself included.",
  }),
  "hreflang-no-return": ruleFor(["google"], "error", "engine", sources.languages, {
    sentence: "No return links: an alternate page does not link back; Google ignores both annotations.",
    fix: "List every version on every page, the page itself included.",
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

/** The alternate pages of one entry, as fingerprints. */
export interface AlternateSet {
  /** The two halves of the fingerprint of all languages and URLs. Sets in a different order have the same fingerprint. */
  readonly high: number;
  readonly low: number;
  /** How many different URLs the set has. */
  readonly members: number;
  readonly hasSelf: boolean;
  readonly choice: LanguageChoice;
}

/** What depends only on the languages of an entry, not on its URLs. It is computed once, because most entries have the same languages. */
export interface LanguageChoice {
  /** The language that the page gives itself, as written. If there are several, the first. */
  readonly own: string | undefined;
  /** The fingerprint of the language that the page gives itself; 0 if it gives none, or several. */
  readonly selfLanguage: number;
  readonly hasDefault: boolean;
  readonly hasRepeated: boolean;
  /** A language that is listed for several regions, but not without a region. */
  readonly withoutCatchall: string | undefined;
}

export class LanguageRules {
  readonly #scan = new UrlScan();
  readonly #codes = new Map<string, Language>();
  // The key is a fingerprint of all languages of an entry, and of those that the page gives itself.
  readonly #choices = new Map<number, LanguageChoice>();
  // The fingerprints of the URLs of the current entry.
  readonly #urls = new Set<number>();
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
    let high = 0;
    let low = 0;
    let hasSelf = false;
    let ownLanguages = 0;
    let languages = 0;
    this.#urls.clear();
    for (let index = 0; index < alternates.length; index++) {
      const { language, url } = alternates[index]!;
      const code = this.#read(language);
      if (code.fault !== undefined) findings.add(code.fault, page.url, language);
      if (this.#isPage(url, own)) {
        hasSelf = true;
        if (code.language !== "x-default") ownLanguages = (ownLanguages + mixed(code.hash)) | 0;
      }
      // A sum is the same in any order.
      high = (high + mixed(scan.pageHigh ^ mixed(scan.spelling ^ code.hash))) | 0;
      low = (low + mixed(scan.pageLow ^ mixed(scan.spelling + code.hash))) | 0;
      languages = (languages + mixed(code.hash)) | 0;
      this.#urls.add(urlNumber(scan.spelling, scan.pageLow));
    }
    const members = this.#urls.size;
    if (!hasSelf) findings.add("hreflang-no-self", page.url);
    const key = ((languages ^ mixed(ownLanguages)) >>> 0) * 2 ** 20 + (alternates.length % 2 ** 20);
    const choice = this.#choices.get(key) ?? this.#choose(alternates, own);
    if (this.#choices.size >= mostCodes) this.#choices.clear();
    this.#choices.set(key, choice);
    this.#hasDefault ||= choice.hasDefault;
    checkChoice(choice, page.url, alternates, findings);
    if (members > 1 || (members === 1 && !hasSelf)) {
      this.#pagesWithAlternates += 1;
      this.#firstPage ??= page.url;
    }
    return { high, low, members, hasSelf, choice };
  }

  finish({ findings, tree }: CheckRun): void {
    if (this.#pagesWithAlternates === 0 || this.#hasDefault) return;
    const value = counted(this.#pagesWithAlternates, "page");
    findings.count("hreflang-no-default", tree.homepage, 1, { url: this.#firstPage, value });
  }

  // Case makes no difference in language codes, so the fingerprint ignores it.
  #read(language: string): Language {
    let known = this.#codes.get(language);
    if (known === undefined) {
      known = { ...readLanguageCode(language), hash: textHash(language.toLowerCase()) };
      if (this.#codes.size >= mostCodes) this.#codes.clear();
      this.#codes.set(language, known);
    }
    return known;
  }

  #choose(alternates: readonly AlternatePage[], page: UrlScan): LanguageChoice {
    const codes = new Set(alternates.map(({ language }) => language.toLowerCase()));
    const regions = new Map<string, number>();
    for (const code of codes) {
      const { language, region } = this.#read(code);
      if (language !== undefined && region !== undefined) regions.set(language, (regions.get(language) ?? 0) + 1);
    }
    const own = alternates
      .filter(({ language, url }) => language.toLowerCase() !== "x-default" && this.#isPage(url, page))
      .map(({ language }) => language);
    return {
      own: own[0],
      selfLanguage: own.length === 1 ? this.#read(own[0]!).hash : 0,
      hasDefault: codes.has("x-default"),
      hasRepeated: codes.size < alternates.length,
      withoutCatchall: [...regions].find(([language, count]) => count > 1 && !codes.has(language))?.[0],
    };
  }

  #isPage(url: string, { spelling, pageLow, pageHigh }: UrlScan): boolean {
    const scan = this.#scan;
    scan.read(url);
    return scan.spelling === spelling && scan.pageLow === pageLow && scan.pageHigh === pageHigh;
  }
}

function checkChoice(
  { withoutCatchall, hasRepeated }: LanguageChoice,
  page: string,
  alternates: readonly AlternatePage[],
  findings: SitemapFindings,
): void {
  if (withoutCatchall !== undefined) findings.add("hreflang-no-catchall", page, withoutCatchall);
  if (!hasRepeated) return;
  const first = new Map<string, string>();
  for (const { language, url } of alternates) {
    const known = first.get(language.toLowerCase());
    if (known === undefined) first.set(language.toLowerCase(), url);
    if (known === undefined || known === url) continue;
    findings.add("hreflang-language-twice", page, language);
    return;
  }
}

type Language = LanguageCode & { readonly hash: number };

// Real websites use up to two hundred codes, but a hostile one could make up any number.
const mostCodes = 10_000;
