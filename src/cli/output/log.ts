// The log of -v, -vv and --log-file: one event per line, with its time and type.
import { closeSync, constants, openSync, statSync, writeSync } from "node:fs";
import { systemReason } from "../../model/errors.ts";
import type { CrawlEvent } from "../../model/event.ts";
import { counted, duration, size } from "../../model/figures.ts";
import { messageWithHint, type Problem } from "../../model/problem.ts";
import { printable } from "../../write/printable.ts";
import { orUsageError } from "../exit-codes.ts";
import { type MessageFlags, type Messages, withoutSecrets } from "./messages.ts";

export class Log {
  // 0 logs nothing; 1 logs sitemaps, problems, retries and the end; 2 logs all events.
  readonly #verbosity: number;
  readonly #lines: LogLines;
  readonly #nameOf: (url: string) => string;

  /** Appends to the file, if one is given; otherwise writes to standard error. `nameOf` returns how a URL is shown. */
  constructor({ verbose = 0, logFile }: MessageFlags, messages: Messages, nameOf: (url: string) => string) {
    this.#nameOf = nameOf;
    this.#verbosity = Math.max(Number(verbose), logFile === undefined ? 0 : 1);
    this.#lines = new LogLines(logFile, messages, "the listing");
  }

  see(event: CrawlEvent): void {
    const text = this.#verbosity === 0 ? undefined : this.#textOf(event);
    if (text === undefined) return;
    const shown = text.split(" ").map((word) => (word.startsWith("https://") ? this.#nameOf(word) : word));
    this.#lines.append(`${new Date().toISOString()} ${shown.join(" ")}`);
  }

  #textOf(event: CrawlEvent): string | undefined {
    switch (event.type) {
      case "retry":
        return `retry ${event.url} in ${duration(event.delay)} after attempt ${event.attempt}: ${problemText(event.reason)}`;
      case "problem":
        return `problem ${event.url} ${problemText(event.problem)}`;
      case "sitemap": {
        const { sitemap, wireBytes } = event;
        const { url, kind } = sitemap;
        // The problem that makes a sitemap invalid was an event of its own.
        if (kind === "invalid") return undefined;
        const holds =
          kind === "index" ? counted(sitemap.children.length, "sitemap") : counted(sitemap.pageCount, "page");
        return `sitemap ${url} ${kind} ${sitemap.format} ${holds} ${size(wireBytes)} ${state(sitemap)}`;
      }
      case "finished": {
        const { pages, sitemaps, invalid, requests, duration: took } = event.totals;
        const found = `${counted(pages, "page")}, ${counted(sitemaps, "sitemap")}, ${invalid} not read`;
        return `finished ${state(event)}: ${found}, ${counted(requests, "request")}, ${duration(took)}`;
      }
    }
    if (this.#verbosity < 2) return undefined;
    switch (event.type) {
      case "request":
        return `request ${event.url}${event.attempt > 1 ? ` attempt ${event.attempt}` : ""}`;
      case "response":
        return `response ${event.url} ${event.outcome}${event.status === undefined ? "" : ` ${event.status}`}`;
      case "failure":
        return `failure ${event.url} ${problemText(event.reason)}`;
      case "start":
        return `start ${event.url} depth ${event.depth}`;
      case "pages":
        return `pages ${event.url} ${event.pages.length}`;
    }
  }

  close(): void {
    this.#lines.close();
  }
}

function state({ complete }: { readonly complete: boolean }): string {
  return complete ? "complete" : "incomplete";
}

function problemText(problem: Problem): string {
  const { code, line, count } = problem;
  const place = line === undefined ? "" : ` line ${line}`;
  return `${code}${place}${count === undefined ? "" : ` ×${count}`}: ${messageWithHint(problem)}`;
}

/**
 * Writes the lines of a log: to the end of a file, if one is given, or else to standard error. An error while writing does not end the run.
 */
export class LogLines {
  readonly #file: string | undefined;
  readonly #messages: Messages;
  readonly #what: string;
  readonly #descriptor: number | undefined;
  #isBroken = false;

  /** Opens the log. Throws a `UsageError` if the file cannot be opened. */
  constructor(file: string | undefined, messages: Messages, what: string) {
    this.#file = file;
    this.#messages = messages;
    this.#what = what;
    if (file === undefined) return;
    this.#descriptor = orUsageError(`the log file ${file} cannot be opened`, () => {
      if (!statSync(file, { throwIfNoEntry: false })?.isFIFO()) return openSync(file, "a");
      // Opening a pipe without a reader would block; with O_NONBLOCK, it fails instead. The probe stays open until the log is open, so that
      // the reader does not leave.
      const probe = openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
      const descriptor = openSync(file, "a");
      closeSync(probe);
      return descriptor;
    });
  }

  append(line: string): void {
    if (this.#descriptor === undefined) this.#messages.log(line);
    if (this.#descriptor === undefined || this.#isBroken) return;
    try {
      const bytes = Buffer.from(`${printable(withoutSecrets(line))}\n`);
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done);
    } catch (error) {
      this.#isBroken = true;
      const what = `the log file ${this.#file} can no longer be written; ${this.#what} continues`;
      this.#messages.say(`${what}: ${systemReason(error)}`, "warning");
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}
