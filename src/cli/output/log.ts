// The log of -v, -vv and --log-file: one event per line, with time, type and URL.
import { closeSync, constants, openSync, statSync, writeSync } from "node:fs";
import type { CrawlEvent, ProblemEvent } from "../../model/event.ts";
import { counted, duration, size } from "../../model/figures.ts";
import { messageWithHint, type Problem } from "../../model/problem.ts";
import { isReadSitemap } from "../../model/sitemap.ts";
import { systemReason } from "../../model/system-reason.ts";
import { printable } from "../../write/printable.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { type Messages, withoutSecrets } from "./messages.ts";

/** 0: nothing. 1: sitemaps, problems, retries. 2: everything. */
export type Verbosity = 0 | 1 | 2;

export class Log {
  readonly #verbosity: Verbosity;
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  readonly #file: LogFile | undefined;
  // Of the current website.
  #read = 0;
  #lastProblem: ProblemEvent | undefined;

  /** Appends to the file, if one is named; otherwise writes to standard error. */
  constructor(verbosity: Verbosity, messages: Messages, { now }: Context, file?: string) {
    this.#now = now;
    this.#verbosity = file !== undefined && verbosity === 0 ? 1 : verbosity;
    if (file === undefined) {
      this.#write = (line) => messages.log(line);
      return;
    }
    const log = new LogFile(file, messages, "the listing");
    this.#file = log;
    this.#write = (line) => log.append(line);
  }

  see(event: CrawlEvent): void {
    if (event.type === "start" && event.depth === 0) this.#read = 0;
    if (event.type === "sitemap" && isReadSitemap(event.sitemap)) this.#read += 1;
    if (this.#verbosity === 0 || this.#wasSaid(event)) return;
    for (const line of lines(event, this.#verbosity, this.#read))
      this.#write(`${new Date(this.#now()).toISOString()} ${line}`);
  }

  // An invalid sitemap comes right after the problem that is its reason: that is not logged twice.
  #wasSaid(event: CrawlEvent): boolean {
    if (event.type === "problem") this.#lastProblem = event;
    if (event.type !== "sitemap" || event.sitemap.kind !== "invalid") return false;
    const { url, reason } = event.sitemap;
    return this.#lastProblem?.url === url && this.#lastProblem.problem.code === reason.code;
  }

  close(): void {
    this.#file?.close();
  }
}

function lines(event: CrawlEvent, verbosity: Verbosity, read: number): string[] {
  switch (event.type) {
    case "retry":
      return [
        `retry ${event.url} in ${duration(event.delay)} after attempt ${event.attempt}: ${inWords(event.reason)}`,
      ];
    case "problem":
      return [`problem ${event.url} ${inWords(event.problem)}`];
    case "sitemap": {
      const { sitemap, wireBytes } = event;
      if (sitemap.kind === "invalid") return [`sitemap ${sitemap.url} not read: ${inWords(sitemap.reason)}`];
      const holds =
        sitemap.kind === "index" ? counted(sitemap.children.length, "sitemap") : counted(sitemap.pageCount, "page");
      const state = sitemap.complete ? "complete" : "incomplete";
      return [`sitemap ${sitemap.url} ${sitemap.kind} ${sitemap.format} ${holds} ${size(wireBytes)} ${state}`];
    }
    case "finished": {
      const { pages, invalid, requests, duration: took } = event.totals;
      const state = event.complete ? "complete" : "incomplete";
      return [
        `finished ${state}: ${counted(pages, "page")}, ${counted(read, "sitemap")}, ${invalid} not read, ${counted(requests, "request")}, ${duration(took)}`,
      ];
    }
    default:
      return verbosity < 2 ? [] : [details(event)];
  }
}

function details(event: Extract<CrawlEvent, { type: "request" | "response" | "start" | "pages" }>): string {
  switch (event.type) {
    case "request":
      return `request ${event.url}${event.attempt > 1 ? ` attempt ${event.attempt}` : ""}`;
    case "response":
      return `response ${event.url} ${event.outcome}${event.status === undefined ? "" : ` ${event.status}`}`;
    case "start":
      return `start ${event.url} depth ${event.depth}`;
    case "pages":
      return `pages ${event.url} ${event.pages.length}`;
  }
}

function inWords(problem: Problem): string {
  const { code, line, count } = problem;
  const place = line === undefined ? "" : ` line ${line}`;
  return `${code}${place}${count === undefined ? "" : ` ×${count}`}: ${messageWithHint(problem)}`;
}

/** A file that lines are appended to. An error while writing does not end what it is about. */
export class LogFile {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #messages: Messages;
  readonly #what: string;
  #isBroken = false;

  /** Throws a `UsageError` if the file cannot be opened. */
  constructor(file: string, messages: Messages, what: string) {
    this.#file = file;
    this.#descriptor = openLog(file);
    this.#messages = messages;
    this.#what = what;
  }

  append(line: string): void {
    if (this.#isBroken) return;
    try {
      const bytes = Buffer.from(`${printable(withoutSecrets(line))}\n`);
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#descriptor, bytes, done);
    } catch (error) {
      this.#isBroken = true;
      const reason = systemReason(error);
      this.#messages.say(
        `the log file ${this.#file} cannot be written any more; ${this.#what} continues: ${reason}`,
        "warning",
      );
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function openLog(file: string): number {
  try {
    if (!statSync(file, { throwIfNoEntry: false })?.isFIFO()) return openSync(file, "a");
    // Opening a pipe without a reader would block: opened this way, it fails instead. Kept open meanwhile, so that its
    // reader stays.
    const probe = openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      return openSync(file, "a");
    } finally {
      closeSync(probe);
    }
  } catch (error) {
    throw new UsageError(`the log file ${file} cannot be opened: ${systemReason(error)}`);
  }
}
