// The progress of a fleet: a table on a terminal, redrawn twice a second; elsewhere a line every ten seconds.

import type { FleetEvent } from "../../fleet/fleet-options.ts";
import { type SiteSummary, siteOutcomes } from "../../fleet/site-job.ts";
import { counted, duration, grouped } from "../../model/figures.ts";
import { printable } from "../../write/printable.ts";
import type { Stream } from "../context.ts";
import { fitting, type Messages, withoutSecrets } from "../output/messages.ts";

interface Running {
  readonly since: number;
  pages: number;
}

/** What the view does not learn from events. */
export interface FleetFigures {
  /** How many websites there are in all. */
  total(): number;
  /** How many wait to be read again because a process died. */
  suspects?(): number;
}

export class FleetView {
  readonly #messages: Messages;
  readonly #block: LiveBlock | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #begin = Date.now();
  readonly #running = new Map<string, Running>();
  readonly #outcomes = new Map<string, number>();
  readonly #reasons = new Map<string, number>();
  readonly #doneBefore: number;
  #done = 0;
  #pages = 0;
  /** How many were done at moments of the last while. */
  readonly #past: { readonly at: number; readonly done: number }[] = [];
  readonly #figures: FleetFigures;

  /** With a block, the table is drawn into it. */
  constructor(messages: Messages, block: LiveBlock | undefined, doneBefore: number, figures: FleetFigures) {
    this.#messages = messages;
    this.#block = block;
    this.#doneBefore = doneBefore;
    this.#figures = figures;
    this.#timer = setInterval(() => this.#show(), block === undefined ? lineTime : drawTime);
    this.#timer.unref();
  }

  see(event: FleetEvent): void {
    switch (event.type) {
      case "site-start":
        this.#running.set(event.job.homepage, { since: Date.now(), pages: 0 });
        return;
      case "site-pages": {
        const running = this.#running.get(event.job.homepage);
        if (running !== undefined) running.pages += event.pages;
        this.#pages += event.pages;
        return;
      }
      case "site-back":
        this.#running.delete(event.job.homepage);
        return;
      case "site-done":
        this.#running.delete(event.summary.site);
        if (event.accepted) this.#count(event.summary);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#block?.clear();
  }

  #count({ outcome, reasons }: SiteSummary): void {
    this.#done += 1;
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
    for (const { code } of reasons) this.#reasons.set(code, (this.#reasons.get(code) ?? 0) + 1);
  }

  #show(): void {
    if (this.#block === undefined) this.#messages.say(this.#headline());
    else this.#block.draw(this.#lines());
  }

  #headline(): string {
    const total = this.#figures.total();
    const suspects = this.#figures.suspects?.() ?? 0;
    const rate = this.#rate();
    const done = this.#doneBefore + this.#done;
    const left = Math.max(0, total - done);
    const parts = [
      `${grouped(done)} of ${counted(total, "website")}`,
      `${grouped(this.#running.size)} running`,
      ...(suspects > 0 ? [`${grouped(suspects)} to be read again in small groups`] : []),
      counted(this.#pages, "page"),
      `${rate < 10 ? rate.toFixed(1) : grouped(rate)}/s`,
      ...(rate > 0 && left > 0 ? [`${duration((left / rate) * 1000)} left`] : []),
    ];
    return parts.join(" · ");
  }

  // Of the last while: what comes last is often slower than what came first.
  #rate(): number {
    const now = { at: Date.now(), done: this.#done };
    this.#past.push(now);
    while (this.#past.length > 2 && now.at - (this.#past[1]?.at ?? now.at) >= rateTime) this.#past.shift();
    const [first = now] = this.#past;
    const since = now.at - first.at < rateTime ? { at: this.#begin, done: 0 } : first;
    return ((this.#done - since.done) * 1000) / Math.max(1, now.at - since.at);
  }

  #lines(): string[] {
    const outcomes = siteOutcomes.filter((outcome) => this.#outcomes.has(outcome));
    const reasons = [...this.#reasons].sort(([, one], [, other]) => other - one).slice(0, mostReasons);
    const slowest = [...this.#running].sort(([, one], [, other]) => one.since - other.since).slice(0, mostSlow);
    return [
      this.#headline(),
      ...(outcomes.length === 0
        ? []
        : [outcomes.map((outcome) => `${outcome} ${grouped(this.#outcomes.get(outcome) ?? 0)}`).join(" · ")]),
      ...(reasons.length === 0
        ? []
        : [`problems: ${reasons.map(([code, count]) => `${code} ${grouped(count)}`).join(" · ")}`]),
      ...slowest.map(
        ([site, { since, pages }]) =>
          `  ${duration(Date.now() - since).padStart(7)}  ${site}  ${counted(pages, "page")}`,
      ),
    ];
  }
}

// In milliseconds.
const lineTime = 10_000;
const drawTime = 500;
const rateTime = 60_000;
const mostReasons = 6;
const mostSlow = 5;

/** A few lines on a terminal that are redrawn in place. Whoever writes something else clears them first. */
export class LiveBlock {
  readonly #stream: Stream;
  #height = 0;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  draw(lines: readonly string[]): void {
    const columns = (this.#stream.columns || 80) - 1;
    // A line that wraps could not be cleared.
    const shown = lines.map((line) => fitting(printable(withoutSecrets(line)), columns));
    this.#stream.write(`${this.#up()}${shown.map((line) => `\u001b[2K${line}\n`).join("")}\u001b[J`);
    this.#height = shown.length;
  }

  clear(): void {
    if (this.#height === 0) return;
    this.#stream.write(`${this.#up()}\u001b[J`);
    this.#height = 0;
  }

  #up(): string {
    return this.#height === 0 ? "" : `\u001b[${this.#height}A\r`;
  }
}
