// The progress line on a terminal: how far the crawl is and what it waits for. It is redrawn ten times a second, and cleared at the end.
import type { CrawlEvent } from "../../model/event.ts";
import { counted, duration, grouped, size } from "../../model/figures.ts";
import type { RecurseContext } from "../../model/options.ts";
import type { Messages } from "./messages.ts";

export class Progress {
  readonly #messages: Messages;
  readonly #startedAt = Date.now();
  // The URLs that are being requested, in the order of their requests.
  readonly #requested = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  // How many sitemaps were declared and will be followed. An index counts until its first child is declared: from then on, its children
  // count.
  #declared = 0;
  readonly #indexes = new Set<string>();
  #read = 0;
  #failed = 0;
  #pages = 0;
  // The sitemap of the last pages, and how many of its pages were counted already.
  #counted = { url: "", pages: 0 };
  #bytes = 0;
  #note = "";
  #homepage = "";

  constructor(messages: Messages) {
    this.#messages = messages;
    this.#timer = setInterval(() => this.#draw(), 100).unref();
  }

  see(event: CrawlEvent): void {
    if (event.type === "start" && event.depth === 0) this.#homepage = event.url;
    if (event.type === "request") this.#requested.add(event.url);
    if (event.type === "retry") this.#note = ` (retry in ${duration(Math.ceil(event.delay / 1000) * 1000)})`;
    if ((event.type === "response" || event.type === "failure") && this.#requested.delete(event.url)) this.#note = "";
    if (event.type === "pages") {
      const before = this.#counted.url === event.url ? this.#counted.pages : 0;
      this.#counted = { url: event.url, pages: before + event.pages.length };
      this.#pages += event.pages.length;
    }
    if (event.type !== "sitemap") return;
    const { sitemap, depth, response, wireBytes } = event;
    if (response?.obtained === undefined) this.#bytes += wireBytes;
    // Adds the pages that no event has reported: those of an archive, which are read later, and those that filters dropped.
    if (sitemap.kind === "pages" && response !== undefined)
      this.#pages += sitemap.pageCount - (sitemap.url === this.#counted.url ? this.#counted.pages : 0);
    if (sitemap.kind === "index" && (depth <= 1 || this.#indexes.has(sitemap.url))) return;
    // Sitemaps that discovery found were not declared before.
    if (depth === 1) this.#declared += 1;
    if (sitemap.kind === "invalid") this.#failed += 1;
    else this.#read += 1;
  }

  /** Counts a child of an index or of robots.txt that will be read. */
  declare({ parent, depth }: RecurseContext): void {
    this.#declared += 1;
    if (this.#indexes.has(parent)) return;
    this.#indexes.add(parent);
    // The parent was counted as a sitemap, but its children count instead. Indexes at depth 1 were never counted.
    if (depth > 2) this.#declared -= 1;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#messages.clearLive();
  }

  #draw(): void {
    const seconds = (Date.now() - this.#startedAt) / 1000;
    const done = this.#read + this.#failed;
    const total = Math.max(this.#declared, done);
    const parts = [total === 0 ? "looking for sitemaps" : `${grouped(done)} of ${counted(total, "sitemap")}`];
    if (this.#failed > 0) parts.push(`${grouped(this.#failed)} failed`);
    if (total > 0) parts.push(counted(this.#pages, "page"));
    if (this.#bytes > 0) parts.push(`${size(this.#bytes / seconds)}/s`);
    // An estimate from too little data would jump around.
    if (done >= 5 && seconds >= 3 && total > done)
      parts.push(`${duration((seconds * 1000 * (total - done)) / done)} left`);
    const [url] = this.#requested;
    // Shows only the path of URLs on the website itself, because a line is short.
    const shown = url?.startsWith(this.#homepage) ? url.slice(this.#homepage.length - 1) : url;
    if (shown !== undefined) parts.push(`waiting for ${shown}${this.#note}`);
    this.#messages.live(parts.join(" · "));
  }
}
