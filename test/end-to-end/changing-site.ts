// A website that is another one every day: pages are added, changed, removed and moved, sitemaps are renamed, split, dropped, gone or cut off
// for a day, and their ETags are right, missing or useless. It knows what somebody can know who reads it once a day.
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { serve, type Website } from "../cli/website.ts";
import { Random } from "../support/random.ts";

type Fault = "gone" | "down" | "html" | "cut" | "broken";
type Tag = "none" | "right" | "new" | "stuck";
/** The last modification of each page, by its path. */
type Pages = Map<string, string>;

export class ChangingSite {
  readonly homepage: string;
  /** Answers since the last day began, by status. */
  readonly answers: string[] = [];
  onRequest: (count: number) => void = () => {};
  readonly #random: Random;
  #day = 0;
  #made = 0;
  readonly #sitemaps = new Map<string, Pages>();
  readonly #tags = new Map<string, Tag>();
  readonly #faults = new Map<string, Fault>();
  // For an index that is cut off.
  #shown = 0;
  #knownIndex: string[] = [];
  readonly #known = new Map<string, Pages>();
  // The sitemaps that were not found when the index was last read.
  #missing = new Set<string>();

  readonly close: () => void;

  private constructor(seed: number, { homepage, close }: Website) {
    this.#random = new Random(seed);
    this.homepage = homepage;
    this.close = close;
    for (let count = 0; count < 4; count++) this.#addSitemap(this.#newPages(5 + this.#random.below(20)));
    this.learn();
  }

  static async serve(seed: number): Promise<ChangingSite> {
    const server = await serve((request, response) => site.#answer(request, response));
    const site: ChangingSite = new ChangingSite(seed, server);
    return site;
  }

  /** The last modification of each page, by its URL, as far as it can be known by the end of this day. */
  get truth(): Map<string, string> {
    const pages = new Map<string, string>();
    for (const name of this.#knownIndex) {
      for (const [path, date] of this.#known.get(name) ?? []) {
        const url = this.homepage + path;
        if (!pages.has(url)) pages.set(url, date);
      }
    }
    return pages;
  }

  nextDay(): void {
    this.#day += 1;
    this.#faults.clear();
    for (let count = this.#random.below(6); count >= 0; count--) this.#change();
    for (const name of ["index.xml", ...this.#sitemaps.keys()]) {
      if (this.#random.below(name === "index.xml" ? 6 : 9) === 0)
        this.#faults.set(name, this.#random.pick(["gone", "down", "html", "cut", "broken"] as const));
    }
    this.#shown = this.#random.below(this.#sitemaps.size);
    this.learn();
  }

  #change(): void {
    const random = this.#random;
    const names = [...this.#sitemaps.keys()];
    const name = random.pick(names);
    const pages = this.#sitemaps.get(name)!;
    const paths = [...pages.keys()];
    const some = paths.filter(() => random.below(4) === 0);
    const renewed = (moved: Pages) => {
      this.#sitemaps.delete(name);
      this.#addSitemap(moved);
    };
    const half = paths.length / 2;
    random.pick([
      () => this.#newPages(1 + random.below(5)).forEach((date, path) => void pages.set(path, date)),
      () => some.forEach((path) => void pages.set(path, this.#date())),
      () => some.forEach((path) => void pages.delete(path)),
      () => {
        const other = this.#sitemaps.get(random.pick(names))!;
        for (const path of some) {
          const date = pages.get(path)!;
          pages.delete(path);
          other.set(path, date);
        }
      },
      () => renewed(pages),
      () => {
        if (paths.length < 4) return;
        renewed(new Map([...pages].slice(0, half)));
        this.#addSitemap(new Map([...pages].slice(half)));
      },
      () => names.length > 3 && this.#sitemaps.delete(name),
      () => names.length < 8 && this.#addSitemap(this.#newPages(1 + random.below(10))),
    ])();
  }

  #addSitemap(pages: Pages): void {
    const name = `s${this.#made++}.xml`;
    this.#sitemaps.set(name, pages);
    this.#tags.set(name, this.#random.pick(["none", "right", "right", "new", "stuck"] as const));
  }

  #newPages(count: number): Pages {
    return new Map(Array.from({ length: count }, () => [`page-${this.#made++}`, this.#date()]));
  }

  #date(): string {
    return new Date(Date.UTC(2026, 0, 1 + this.#day, 0, 0, this.#made++)).toISOString();
  }

  /**
   * Reads the website once more. A sitemap, or an index, that cannot be read keeps its last known state. So does a sitemap that is not named
   * any more, as long as one that nobody has read may have its pages; and a sitemap that lost a page, if one that nobody knew before may
   * have that page.
   */
  learn(): void {
    const names = [...this.#sitemaps.keys()];
    const fault = this.#faults.get("index.xml");
    const isCut = fault === "cut" || fault === "broken";
    if (fault !== undefined && !isCut) return;
    const asked = names.slice(0, isCut ? this.#shown : undefined);
    const before = this.#knownIndex;
    const mayListElsewhere = isCut || asked.some((name) => !before.includes(name) && this.#faults.has(name));
    if (!isCut) {
      const isUnread = (name: string) =>
        this.#faults.has(name) &&
        !this.#known.has(name) &&
        !(this.#missing.has(name) && this.#faults.get(name) === "gone");
      const held = asked.some(isUnread) ? before.filter((name) => this.#known.has(name) && !names.includes(name)) : [];
      this.#knownIndex = [...names, ...held];
      this.#missing = new Set(names.filter((name) => this.#faults.get(name) === "gone"));
    }
    const shown = new Set(asked.flatMap((name) => this.#shownPages(name)));
    for (const name of asked) {
      const [fault, known] = [this.#faults.get(name), this.#known.get(name)];
      const isDoubted = mayListElsewhere && [...(known?.keys() ?? [])].some((path) => !shown.has(path));
      if (!this.#knownIndex.includes(name) || isDoubted) continue;
      const read = new Set(this.#shownPages(name));
      const pages = [...this.#sitemaps.get(name)!].filter(([path]) => read.has(path));
      // If a sitemap is cut off, only a part of it was ever seen.
      const isPart = (fault === "cut" || fault === "broken") && known === undefined;
      if (fault === undefined || isPart) this.#known.set(name, new Map(pages));
    }
  }

  // The pages that a sitemap lists today, as far as they can be read.
  #shownPages(name: string): string[] {
    const paths = [...this.#sitemaps.get(name)!.keys()];
    const fault = this.#faults.get(name);
    if (fault === undefined) return paths;
    return fault === "cut" || fault === "broken" ? paths.slice(0, paths.length / 2) : [];
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const name = (request.url ?? "").slice(1);
    const fault = this.#faults.get(name);
    const body = this.#bodyOf(name, fault);
    const status = fault === "down" ? 503 : body === undefined || fault === "gone" ? 404 : 200;
    const digest = createHash("md5").update(`${body}`).digest("hex");
    const tag = { none: undefined, right: digest, new: `${this.answers.length}-${Date.now()}`, stuck: "always" };
    const etag = tag[this.#tags.get(name) ?? "none"];
    const isSame = etag === digest && request.headers["if-none-match"] === `"${etag}"`;
    this.answers.push(`${isSame && status === 200 ? 304 : status} ${name}`);
    this.onRequest(this.answers.length);
    if (etag !== undefined && status === 200) response.setHeader("etag", `"${etag}"`);
    if (isSame && status === 200) return void response.writeHead(304).end();
    const bytes = Buffer.from(status === 200 ? body! : "none");
    // If the transfer breaks, the announced length is longer than the body.
    response.writeHead(status, { "content-length": bytes.length + (fault === "broken" ? 1000 : 0) });
    if (fault === "broken") response.write(bytes, () => response.destroy());
    else response.end(bytes);
  }

  #bodyOf(name: string, fault: Fault | undefined): string | undefined {
    if (name === "robots.txt") return `Sitemap: ${this.homepage}index.xml\n`;
    if (fault === "html") return "<html><body>Just a moment</body></html>";
    const isCut = fault === "cut" || fault === "broken";
    const pages = this.#sitemaps.get(name);
    if (name === "index.xml") {
      const names = [...this.#sitemaps.keys()].slice(0, isCut ? this.#shown : undefined);
      const entries = names.map((each) => `<sitemap><loc>${this.homepage}${each}</loc></sitemap>`);
      return `<sitemapindex>${entries.join("")}${isCut ? "<sitemap><lo" : "</sitemapindex>"}`;
    }
    if (pages === undefined) return undefined;
    const entries = [...pages].map(
      ([path, date]) => `<url><loc>${this.homepage}${path}</loc><lastmod>${date}</lastmod></url>`,
    );
    const shown = isCut ? entries.slice(0, entries.length / 2) : entries;
    return `<urlset>${shown.join("")}${isCut ? "<url><lo" : "</urlset>"}`;
  }
}
