// The live view: one line on a terminal that says how far the crawl is and what it waits for. Redrawn at most ten times a
// second, gone when the crawl is done.
import type { CrawlEvent } from "../event.ts";
import { counted, grouped, size } from "../figures.ts";
import type { Messages } from "./messages.ts";

export class Progress {
  readonly #messages: Messages;
  readonly #startedAt = Date.now();
  // In the order in which they were asked for.
  readonly #underway = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #found = 0;
  #read = 0;
  #failed = 0;
  #pages = 0;
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
        if (event.finalUrl !== undefined) this.#underway.delete(event.finalUrl);
        this.#note = "";
        if (event.outcome === "found") this.#found += 1;
        break;
      case "pages":
        this.#pages += event.pages.length;
        break;
      case "sitemap":
        if (event.depth === 0) break;
        if (event.sitemap.kind === "invalid") this.#failed += 1;
        else this.#read += 1;
        this.#bytes += event.wireBytes;
        break;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#messages.clearLive();
  }

  #draw(): void {
    const seconds = (Date.now() - this.#startedAt) / 1000;
    const parts = [
      `${grouped(this.#read)} of ${counted(Math.max(this.#found, this.#read), "sitemap")}`,
      ...(this.#failed > 0 ? [`${grouped(this.#failed)} failed`] : []),
      counted(this.#pages, "page"),
      ...(this.#bytes > 0 ? [size(this.#bytes), `${size(this.#bytes / seconds)}/s`] : []),
    ];
    const [waitingFor] = this.#underway;
    if (waitingFor !== undefined) parts.push(`waiting for ${this.#shown(waitingFor)}${this.#note}`);
    this.#messages.live(parts.join(" · "));
  }

  // On the website itself the path is enough: a line is short.
  #shown(url: string): string {
    return url.startsWith(this.#homepage) ? url.slice(this.#homepage.length - 1) : url;
  }
}

// In milliseconds.
const interval = 100;
