// A website that is another one every day: pages are added, changed, removed and moved, sitemaps and indexes are renamed, split, dropped,
// and unreadable for a day or longer, and their ETags are right, missing or useless. It knows what is true, and what can be seen of it.
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Client } from "../../src/model/client.ts";
import { serve } from "../cli/website.ts";
import { Random } from "../support/random.ts";
import { home } from "../support/site.ts";

/** `broken`: the transfer breaks. `flawed`: the first entry has no URL. */
type Fault = "gone" | "down" | "html" | "cut" | "broken" | "flawed";
type Tag = "none" | "right" | "new" | "stuck";
/** The last modification of each page, by its path. */
type Pages = Map<string, string>;

const faults = ["gone", "down", "html", "cut", "broken"] as const;
const possibleFaults = (name: string): readonly Fault[] => {
  if (name === "robots.txt") return ["gone", "down"];
  return name === "index.xml" || name === "more.xml" ? faults : [...faults, "flawed"];
};
/** A sitemap at a known path, which nothing declares. */
const guess = "guess.xml";

export class ChangingSite {
  readonly homepage: string;
  /** Answers since the first day, by status. */
  readonly answers: string[] = [];
  onRequest: (count: number) => void = () => {};
  readonly close: () => void;
  readonly #random: Random;
  #day = 0;
  #made = 0;
  readonly #sitemaps = new Map<string, Pages>();
  /** What robots.txt and the indexes list. */
  readonly #lists: Record<"robots.txt" | "index.xml" | "more.xml", string[]>;
  readonly #tags = new Map<string, Tag>();
  #faults = new Map<string, Fault>();
  // The faults that the last run met.
  #lastFaults: ReadonlyMap<string, Fault> = new Map();

  constructor(seed: number, homepage: string = home, close: () => void = () => {}) {
    this.#random = new Random(seed);
    this.homepage = homepage;
    this.close = close;
    this.#lists = { "robots.txt": ["index.xml", "more.xml"], "index.xml": [], "more.xml": [] };
    for (let count = 0; count < 4; count++) this.#addSitemap(this.#newPages(5 + this.#random.below(20)));
    this.#sitemaps.set(guess, this.#newPages(5));
  }

  static async serve(seed: number): Promise<ChangingSite> {
    const { homepage, close } = await serve((request, response) => site.#answer(request, response));
    const site: ChangingSite = new ChangingSite(seed, homepage, close);
    return site;
  }

  /** Answers without a server. */
  get client(): Client {
    return {
      request: async ({ url, headers }) => {
        const { status, etag, length, bytes } = this.#responseTo(
          url.slice(this.homepage.length),
          headers["if-none-match"],
        );
        const tag = etag === undefined ? [] : ([["etag", etag]] as const);
        async function* body() {
          yield bytes;
        }
        return { status, headers: [...tag, ["content-length", String(length)]], body: body() };
      },
    };
  }

  /** Whether every document can be read. */
  get isWhole(): boolean {
    return this.#faults.size === 0;
  }

  /** The last modification of each page, by its URL. */
  get truth(): Map<string, string> {
    return this.#pagesIn(() => true);
  }

  /** The pages that the website declares, except by documents that two runs in a row did not find, and entries that both could not read. */
  get declared(): Map<string, string> {
    const areGone = (name: string) => [this.#faults, this.#lastFaults].every((each) => isGone(name, each.get(name)));
    const areFlawed = (name: string) => [this.#faults, this.#lastFaults].every((each) => each.get(name) === "flawed");
    return this.#pagesIn((name) => !areGone(name), areFlawed);
  }

  /** The pages that can be seen: all documents on the way to them can be read. */
  get visible(): Map<string, string> {
    return this.#pagesIn((name) => !this.#faults.has(name));
  }

  /** Begins another day, with these faults or random ones, which may last for days. */
  nextDay(chosen?: Readonly<Record<string, Fault>>): void {
    this.#day += 1;
    for (let count = this.#random.below(6); count >= 0; count--) this.#change();
    this.#faults = new Map(Object.entries(chosen ?? this.#randomFaults()));
  }

  #randomFaults(): Record<string, Fault> {
    const found: Record<string, Fault> = {};
    // Everything can be read on some days.
    const names = this.#random.below(5) === 0 ? [] : [...Object.keys(this.#lists), ...this.#sitemaps.keys()];
    for (const name of names) {
      if (this.#random.below(this.#faults.has(name) ? 2 : 9) === 0)
        found[name] = this.#random.pick(possibleFaults(name));
    }
    return found;
  }

  /** Is called after each run that saved its state. */
  wasRead(): void {
    this.#lastFaults = this.#faults;
  }

  #pagesIn(counts: (name: string) => boolean, isFlawed = (_: string) => false): Map<string, string> {
    const { "robots.txt": roots, ...indexes } = this.#lists;
    const listed = counts("robots.txt") ? roots.filter(counts) : [];
    const names = [...listed.flatMap((name) => indexes[name as "index.xml"]), guess].filter(counts);
    const entries = names.flatMap((name) => this.#entriesOf(name).slice(isFlawed(name) ? 1 : 0));
    return new Map(entries.map(([path, date]) => [this.homepage + path, date]));
  }

  #entriesOf(name: string): [path: string, date: string][] {
    return [...(this.#sitemaps.get(name) ?? [])];
  }

  #change(): void {
    const random = this.#random;
    const names = [...this.#sitemaps.keys()];
    const name = random.pick(names);
    const pages = this.#sitemaps.get(name)!;
    const paths = [...pages.keys()];
    const some = paths.filter(() => random.below(4) === 0);
    const half = paths.length / 2;
    const isListed = name !== guess;
    const move = () => {
      const other = this.#sitemaps.get(random.pick(names))!;
      for (const path of some) {
        const date = pages.get(path)!;
        pages.delete(path);
        other.set(path, date);
      }
    };
    const halves = [[0, half], [half]].map((range) => new Map([...pages].slice(...range)));
    random.pick([
      () => this.#newPages(1 + random.below(5)).forEach((date, path) => void pages.set(path, date)),
      () => some.forEach((path) => void pages.set(path, this.#date())),
      () => some.forEach((path) => void pages.delete(path)),
      move,
      move,
      move,
      () => isListed && this.#replace(name, pages),
      () => isListed && paths.length > 3 && this.#replace(name, ...halves),
      () => isListed && names.length > 3 && this.#replace(name),
      () => names.length < 8 && this.#addSitemap(this.#newPages(1 + random.below(10))),
      () => {
        this.#lists["robots.txt"] = random.below(2) === 0 ? ["index.xml"] : ["more.xml", "index.xml"];
      },
    ])();
  }

  #replace(name: string, ...sitemaps: Pages[]): void {
    this.#sitemaps.delete(name);
    for (const list of ["index.xml", "more.xml"] as const)
      this.#lists[list] = this.#lists[list].filter((each) => each !== name);
    for (const pages of sitemaps) this.#addSitemap(pages);
  }

  #addSitemap(pages: Pages): void {
    const name = `s${this.#made++}.xml`;
    this.#sitemaps.set(name, pages);
    this.#lists[this.#random.pick(["index.xml", "index.xml", "more.xml"] as const)].push(name);
    this.#tags.set(name, this.#random.pick(["none", "right", "right", "new", "stuck"] as const));
  }

  #newPages(count: number): Pages {
    return new Map(Array.from({ length: count }, () => [`page-${this.#made++}`, this.#date()]));
  }

  #date(): string {
    return new Date(Date.UTC(2026, 0, 1 + this.#day, 0, 0, this.#made++)).toISOString();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const asked = (request.url ?? "").slice(1);
    const { status, etag, length, bytes } = this.#responseTo(asked, request.headers["if-none-match"]);
    if (etag !== undefined) response.setHeader("etag", etag);
    if (status === 304) return void response.writeHead(304).end();
    response.writeHead(status, { "content-length": length });
    if (length > bytes.length) response.write(bytes, () => response.destroy());
    else response.end(bytes);
  }

  #responseTo(name: string, known: string | undefined) {
    const fault = this.#faults.get(name);
    const body = this.#bodyOf(name, fault);
    const found = fault === "down" ? 503 : body === undefined || fault === "gone" ? 404 : 200;
    const digest = createHash("md5").update(`${body}`).digest("hex");
    const tags = { none: undefined, right: digest, new: `${this.answers.length}-${Date.now()}`, stuck: "always" };
    const tag = found === 200 ? tags[this.#tags.get(name) ?? "none"] : undefined;
    const etag = tag && `"${tag}"`;
    const status = tag === digest && known === etag ? 304 : found;
    this.answers.push(`${status} ${name}`);
    this.onRequest(this.answers.length);
    const bytes = Buffer.from(status === 304 ? "" : status === 200 ? body! : "none");
    // If the transfer breaks, the announced length is longer than the body.
    return { status, etag, bytes, length: bytes.length + (fault === "broken" && status === 200 ? 1000 : 0) };
  }

  #bodyOf(name: string, fault: Fault | undefined): string | undefined {
    if (fault === "html") return "<html><body>Just a moment</body></html>";
    const list = (this.#lists as Readonly<Record<string, readonly string[]>>)[name];
    if (name === "robots.txt") return list!.map((each) => `Sitemap: ${this.homepage}${each}\n`).join("");
    const isCut = fault === "cut" || fault === "broken";
    const written = (tag: string, root: string, entries: readonly string[]) => {
      const shown = entries.slice(0, isCut ? entries.length / 2 : undefined);
      const locations = shown.map((entry) => `<loc>${this.homepage}${entry}`);
      if (fault === "flawed" && locations.length > 0) locations[0] = "<loc></loc>";
      const body = locations.map((each) => `<${tag}>${each}</${tag}>`).join("");
      return `<${root}>${body}${isCut ? `<${tag}><lo` : `</${root}>`}`;
    };
    if (list !== undefined)
      return written(
        "sitemap",
        "sitemapindex",
        list.map((each) => `${each}</loc>`),
      );
    if (!this.#sitemaps.has(name)) return undefined;
    const entries = this.#entriesOf(name).map(([path, date]) => `${path}</loc><lastmod>${date}</lastmod>`);
    return written("url", "urlset", entries);
  }
}

// A page at the known path means that there is no sitemap.
function isGone(name: string, fault: Fault | undefined): boolean {
  return fault === "gone" || (fault === "html" && name === guess);
}
