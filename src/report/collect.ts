// Collects the facts about pages during the check. Every table is limited; what is beyond the limit is counted
// together.
import type { AlternateSet } from "../check/language-rules.ts";
import type { PageWatcher } from "../check/page-watcher.ts";
import type { UrlScan } from "../check/url-scan.ts";
import type { SitemapPage } from "../model/page.ts";
import { DateCounts } from "./dates.ts";
import { LanguageMatrix } from "./languages.ts";
import { PageSections } from "./ordinals.ts";
import { type Section, Sections } from "./sections.ts";

export class Collector implements PageWatcher {
  readonly receivedAt: number;
  readonly dates: DateCounts;
  readonly languages: LanguageMatrix = new LanguageMatrix();
  readonly #sections = new Sections();
  readonly #pageSections = new PageSections();
  /** All pages; those of a repeated sitemap once. */
  pages = 0;
  /** Pages with errors or warnings of their own. */
  flawed = 0;
  images = 0;
  pagesWithImages = 0;
  videos = 0;
  pagesWithVideos = 0;
  stories = 0;
  pagesWithAlternates = 0;

  /** `receivedAt`: when the website was received, in milliseconds; ages are counted from it. */
  constructor(receivedAt: number) {
    this.receivedAt = receivedAt;
    this.dates = new DateCounts(receivedAt);
  }

  page(
    page: SitemapPage,
    scan: UrlScan,
    lastModified: number,
    alternates: AlternateSet | undefined,
    isFlawed: boolean,
  ): void {
    this.pages += 1;
    if (isFlawed) this.flawed += 1;
    const age = this.dates.add(lastModified, page.lastModified);
    this.#pageSections.add(this.#sections.add(page.url, scan, age, isFlawed), isFlawed);
    if (alternates !== undefined) {
      this.pagesWithAlternates += 1;
      this.languages.add(page, alternates);
    }
    const { images, videos } = page;
    if (images !== undefined) {
      this.pagesWithImages += 1;
      this.images += images.length;
    }
    if (videos !== undefined) {
      this.pagesWithVideos += 1;
      this.videos += videos.length;
    }
    if (page.newsStory !== undefined) this.stories += 1;
  }

  flush(): Promise<void> {
    return this.#pageSections.flush();
  }

  addFlaw(ordinal: number): void {
    this.#pageSections.flaw(ordinal);
  }

  languagePair(own: string | undefined, language: string): number {
    return this.languages.pair(own, language);
  }

  link(pair: number, outcome: "no-return" | "unlisted"): void {
    this.languages.miss(pair, outcome);
  }

  /** The sections of the website, once the check is done. */
  async sections(): Promise<Section> {
    for await (const section of this.#pageSections.newlyFlawed()) {
      this.#sections.addFlaw(section);
      this.flawed += 1;
    }
    return this.#sections.toTree();
  }

  /** Releases the disk. */
  close(): Promise<void> {
    return this.#pageSections.close();
  }
}
