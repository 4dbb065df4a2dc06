// The log of a fleet, for -v and --log-file: one line for each website, with its time, as text or as JSON.
import type { SiteSummary } from "../../fleet/site-job.ts";
import { counted, duration } from "../../model/figures.ts";
import { jsonOf } from "../../write/printable.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { LogFile } from "../output/log.ts";
import type { Messages } from "../output/messages.ts";
import type { FleetFlags } from "./flags.ts";

export class FleetLog {
  readonly #write: (line: string) => void = () => {};
  readonly #file: LogFile | undefined;
  readonly #isJson: boolean;
  readonly #now: () => number;

  /** Throws a `UsageError` if the file cannot be opened. */
  constructor({ verbose, logFile, logFormat }: FleetFlags, messages: Messages, { now }: Context) {
    if (logFormat !== undefined && verbose === undefined && logFile === undefined)
      throw new UsageError("--log-format needs -v or --log-file");
    const file = logFile === undefined ? undefined : new LogFile(logFile, messages, "the fleet");
    this.#file = file;
    this.#isJson = logFormat === "json";
    this.#now = now;
    if (file !== undefined) this.#write = (line) => file.append(line);
    else if (verbose !== undefined) this.#write = (line) => messages.log(line);
  }

  /** `remark`: what is to be known besides. */
  site(summary: SiteSummary, remark?: string): void {
    const text = remark === undefined ? siteLine(summary) : `${siteLine(summary)}; ${remark}`;
    this.#line(text, { ...summary, ...(remark === undefined ? {} : { remark }) });
  }

  /** Only for the file: on standard error, others say it. */
  message(text: string): void {
    if (this.#file !== undefined) this.#line(text, { message: text });
  }

  close(): void {
    this.#file?.close();
  }

  #line(text: string, value: object): void {
    const at = new Date(this.#now()).toISOString();
    this.#write(this.#isJson ? jsonOf({ at, ...value }) : `${at} ${text}`);
  }
}

function siteLine({ site, outcome, pages, duration: took, reasons, previousError }: SiteSummary): string {
  const why = reasons[0] === undefined ? "" : `: ${reasons[0].message}`;
  const earlier = previousError === undefined ? "" : `; earlier archive not used: ${previousError}`;
  return `${site} ${outcome} ${counted(pages, "page")} ${duration(took)}${why}${earlier}`;
}
