// The progress line on a terminal: how far the crawl is and what it waits for. Redrawn at most ten times a second, and
// cleared at the end.
import type { CrawlEvent } from "../../model/event.ts";
import { counted, duration, grouped, size } from "../../model/figures.ts";
import type { RecurseContext } from "../../model/options.ts";
import type { Messages } from "./messages.ts";

export class Progress {
  readonly #messages: Messages;
  readonly #startedAt = Date.now();
  // In the order in which they were requested.
  readonly #underway = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  // Sitemaps that were declared and are to be followed. An index counts until its first child is declared: then its
  // children count.
  #declared = 0;
  readonly #indexes = new Set<string>();
  #read = 0;
  #failed = 0;
  #pages = 0;
  // The sitemap that the last pages are from.
  #told = "";
  #bytes = 0;
  #note = "";
  #homepage = "";

  constructor(messages: Messages) {
    this.#messages = messages;
    this.#timer = setInterval(() => this.#draw(), interval);
    this.#timer.unref();
  }

  see(event: CrawlEvent): void {
    switch (event.type) {
      case "start":
        if (event.depth === 0) this.#homepage = event.url;
        break;
      case "request":
        this.#underway.add(event.url);
        break;
      case "retry":
        this.#note = ` (again in ${Math.ceil(event.delay / 1000)} s)`;
        break;
      case "response":
        this.#underway.delete(event.url);
        this.#note = "";
        break;
      case "pages":
        this.#pages += event.pages.length;
        this.#told = event.url;
        break;
      case "sitemap":
        this.#bytes += event.wireBytes;
        // An archive says how many pages it has; they are read later.
        if (event.sitemap.kind === "pages" && event.response !== undefined && event.sitemap.url !== this.#told) {
          this.#pages += event.sitemap.pageCount;
        }
        if (event.sitemap.kind === "index" && (event.depth <= 1 || this.#indexes.has(event.sitemap.url))) break;
        // Sitemaps of discovery were not declared before.
        if (event.depth === 1) this.#declared += 1;
        if (event.sitemap.kind === "invalid") this.#failed += 1;
        else this.#read += 1;
        break;
    }
  }

  /** A child of an index or robots.txt will be read. */
  declare({ parent, depth }: RecurseContext): void {
    this.#declared += 1;
    if (this.#indexes.has(parent)) return;
    this.#indexes.add(parent);
    // Those at depth 1 were not counted.
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
    const parts = [
      `${grouped(done)} of ${counted(total, "sitemap")}`,
      ...(this.#failed > 0 ? [`${grouped(this.#failed)} failed`] : []),
      counted(this.#pages, "page"),
      ...(this.#bytes > 0 ? [`${size(this.#bytes / seconds)}/s`] : []),
      // An estimate from too little data would jump about.
      ...(done >= 5 && seconds >= 3 && total > done
        ? [`${duration((seconds * 1000 * (total - done)) / done)} left`]
        : []),
    ];
    const [waitingFor] = this.#underway;
    if (waitingFor !== undefined) parts.push(`waiting for ${this.#shown(waitingFor)}${this.#note}`);
    this.#messages.live(parts.join(" · "));
  }

  // Only the path for URLs on the website itself, because a line is short.
  #shown(url: string): string {
    return url.startsWith(this.#homepage) ? url.slice(this.#homepage.length - 1) : url;
  }
}

// In milliseconds.
const interval = 100;
