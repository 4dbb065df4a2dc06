// Code that `fleet` and `fleet worker` share: progress (two lines on a terminal, redrawn twice a second; elsewhere a line every ten seconds),
// a line for each website in the log, Ctrl-C, and the totals.
import type { FleetEvent } from "../../fleet/fleet-options.ts";
import { type SiteSummary, siteOutcomes } from "../../fleet/site-job.ts";
import { FleetCounter, type FleetTotals } from "../../fleet/totals.ts";
import { counted, duration, grouped } from "../../model/figures.ts";
import { jsonOf } from "../../write/printable.ts";
import { type Context, onStop } from "../context.ts";
import { type ExitCode, exitCodes, Stopped, UsageError } from "../exit-codes.ts";
import { LogLines } from "../output/log.ts";
import { insecureWarning, Messages } from "../output/messages.ts";
import type { FleetFlags } from "./flags.ts";
import { fleetTable } from "./status.ts";

/** Figures that the events do not contain: how many websites there are, and how many were done before this run. */
export interface FleetFigures {
  total(): number;
  readonly before: number;
}

type Signals = Readonly<Record<"drain" | "signal", AbortSignal>>;

export class FleetWatch {
  readonly messages: Messages;
  /** The totals of this run. */
  readonly own: FleetCounter = new FleetCounter();
  readonly #context: Context;
  readonly #flags: FleetFlags;
  readonly #logLines: LogLines;
  readonly #drain = new AbortController();
  readonly #stop = new AbortController();
  readonly #startedAt = Date.now();
  /** The websites in progress, and when they were started. */
  readonly #running = new Map<string, number>();
  #lastDone = 0;
  #figures: FleetFigures = { total: () => 0, before: 0 };
  #pages = 0;

  /** Throws a `UsageError` if the log file cannot be opened, or if --log-format is given without a log. */
  constructor(flags: FleetFlags, context: Context) {
    const { verbose, logFile, logFormat } = flags;
    if (logFormat !== undefined && verbose === undefined && logFile === undefined)
      throw new UsageError("--log-format needs -v or --log-file");
    this.#context = context;
    this.#flags = flags;
    this.messages = new Messages(flags, context);
    if (flags.insecure) this.messages.say(insecureWarning, "bad");
    this.#logLines = new LogLines(logFile, this.messages, "the fleet");
  }

  /**
   * Runs `work` with abort signals, and reports its events as progress and log lines. The first Ctrl-C or SIGTERM lets websites in
   * progress finish; the second, or an urgent signal, stops them.
   */
  async run(
    figures: FleetFigures,
    urgent: readonly "SIGTERM"[],
    work: (options: Signals & { onEvent(event: FleetEvent): void }) => Promise<unknown>,
  ): Promise<void> {
    this.#figures = figures;
    const drain = (stopped: Stopped) => {
      const again = stopped.exitCode === exitCodes.interrupted ? "Ctrl-C again" : "a second SIGTERM";
      this.messages.say(`finishing the websites in progress; ${again} stops immediately`, "warning");
      this.#drain.abort(stopped);
    };
    const unlisten = onStop(this.#context, [drain, (stopped) => this.#stop.abort(stopped)], { urgent });
    const { isTerminal } = this.messages;
    const show = () => (isTerminal ? this.messages.live(...this.#lines()) : this.messages.say(this.#headline()));
    const timer = this.#flags.progress
      ? setInterval(show, isTerminal ? drawInterval : lineInterval).unref()
      : undefined;
    try {
      await work({ drain: this.#drain.signal, signal: this.#stop.signal, onEvent: (event) => this.#see(event) });
    } catch (error) {
      if (!(this.#stop.signal.reason instanceof Stopped)) throw error;
    } finally {
      unlisten();
      clearInterval(timer);
      this.messages.clearLive();
      this.#logLines.close();
    }
  }

  #see(event: FleetEvent): void {
    if (event.type === "site-start") this.#running.set(event.job.homepage, Date.now());
    if (event.type === "site-pages") this.#pages += event.pages;
    if (event.type === "site-back") this.#running.delete(event.job.homepage);
    if (event.type !== "site-done") return;
    const { summary, accepted } = event;
    this.#running.delete(summary.site);
    this.#lastDone = Date.now();
    if (accepted) this.own.see(summary);
    const remark = accepted ? {} : { remark: "not counted: another worker's result is used" };
    if (this.#flags.verbose !== undefined || this.#flags.logFile !== undefined)
      this.#log([siteLine(summary), ...Object.values(remark)].join("; "), { ...summary, ...remark });
  }

  /** Writes a line only to the log file. Standard error gets its own messages. */
  note(message: string): void {
    if (this.#flags.logFile !== undefined) this.#log(message, { message });
  }

  #log(text: string, value: object): void {
    const at = new Date().toISOString();
    this.#logLines.append(this.#flags.logFormat === "json" ? jsonOf({ at, ...value }) : `${at} ${text}`);
  }

  /** Returns the exit code if the user stopped the run immediately or, with `orDrained`, asked it to finish. */
  stopped(orDrained: boolean): ExitCode | undefined {
    const reason: unknown = this.#stop.signal.reason ?? (orDrained ? this.#drain.signal.reason : undefined);
    return reason instanceof Stopped ? reason.exitCode : undefined;
  }

  /** Prints the final table. The totals may include earlier runs. */
  print(all: FleetTotals = this.own.totals()): void {
    const { websites, requests } = this.own.totals();
    const took = duration(Date.now() - this.#startedAt);
    const total = counted(all.websites, "website");
    const run = `${counted(websites, "website")} in ${took}, ${counted(requests, "request")}`;
    const headline = this.#figures.before === 0 ? `${total} in ${took}` : `${run}; with earlier runs, ${total}`;
    this.#context.stdout.write(fleetTable(all, headline));
  }

  #headline(): string {
    const now = Date.now();
    const { total, before } = this.#figures;
    const { websites } = this.own.totals();
    const waiting = Math.max(0, total() - before - websites - this.#running.size);
    const rate = (websites * 1000) / Math.max(1, now - this.#startedAt);
    // If websites hang, the rate does not tell when they will finish.
    const isMoving = waiting > 0 && now - this.#lastDone < stillTime;
    // Sites are in the order of their starts.
    const [[site, since] = ["", now]] = this.#running;
    return [
      `${grouped(before + websites)} of ${counted(total(), "website")}`,
      `${grouped(this.#running.size)} running`,
      counted(this.#pages, "page"),
      `${rate < 10 ? rate.toFixed(1) : grouped(rate)}/s`,
      ...(isMoving ? [`${duration((waiting / rate) * 1000)} left`] : []),
      ...(!isMoving && site !== "" ? [`the oldest for ${duration(now - since)}: ${site}`] : []),
    ].join(" · ");
  }

  #lines(): string[] {
    const { outcomes } = this.own.totals();
    const ended = siteOutcomes.filter((outcome) => outcomes[outcome] > 0);
    return [this.#headline(), ended.map((outcome) => `${outcome} ${grouped(outcomes[outcome])}`).join(" · ")];
  }
}

// All times are in milliseconds.
const lineInterval = 10_000;
const drawInterval = 500;
// If no website is finished for this long, the fleet is waiting for slow ones.
const stillTime = 5000;

function siteLine({ site, outcome, pages, duration: took, reasons, previousError }: SiteSummary): string {
  const why = reasons[0] === undefined ? "" : `: ${reasons[0].message}`;
  const earlier = previousError === undefined ? "" : `; earlier archive not used: ${previousError}`;
  return `${site} ${outcome} ${counted(pages, "page")} ${duration(took)}${why}${earlier}`;
}
