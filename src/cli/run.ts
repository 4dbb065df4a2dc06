// A run of a command on websites or files: checks that inputs and outputs differ, opens the outputs, prints messages, the progress line
// and the log, handles Ctrl-C and closed pipes, and keeps or discards the results at the end.

import type { SiteFilesOptions } from "../check/folder/site-files.ts";
import type { CheckOptions } from "../check/options.ts";
import { timeLeft } from "../crawl/time-budget.ts";
import type { CrawlEvent } from "../model/event.ts";
import { counted, duration, grouped } from "../model/figures.ts";
import { type Options, type RecurseContext, resolveOptions } from "../model/options.ts";
import type { Problem } from "../model/problem.ts";
import type { SitemapTree } from "../tree/tree.ts";
import { type Context, onStop, type Unfinished } from "./context.ts";
import { type ExitCode, exitCodes, Stopped, UsageError } from "./exit-codes.ts";
import { crawlOptions, type Flags, givenFlags } from "./flags.ts";
import {
  crawlTarget,
  expectDistinct,
  probeTarget,
  reportScheme,
  type Target,
  type TreeTarget,
} from "./input/target.ts";
import { CrawlEnding } from "./output/ending.ts";
import { OutputFile, SaveFile } from "./output/file.ts";
import { Log } from "./output/log.ts";
import { insecureWarning, Messages } from "./output/messages.ts";
import { Progress } from "./output/progress.ts";
import { Output, OutputClosed } from "./output/stdout.ts";

/** The messages and the exit code at the end of a run. */
export type Ending = Pick<CrawlEnding, "isComplete" | "readNothing" | "exitCode" | "print"> &
  Partial<Pick<CrawlEnding, "see" | "reportsFailures" | "given" | "nameOf" | "readsFeeds">>;

interface Outcome {
  /** How many pages, or other units, were listed. */
  readonly listed: number;
  readonly unit?: string;
  /** Whether the output is a single document, so an item count is meaningless. */
  readonly isSingleDocument?: boolean;
  readonly notes?: readonly string[];
}

export class Run {
  readonly context: Context;
  readonly #startedAt = performance.now();
  /** The options for every crawl of this run. */
  readonly options: Options;
  readonly messages: Messages;
  readonly signal: AbortSignal;
  /** Whether the result itself goes to a terminal. */
  readonly isShown: boolean;
  /** Whether the result may have colors. */
  readonly hasColor: boolean;
  // Set until the crawl has chosen a scheme for a website that was given without one: its homepage, and why https failed.
  #assumed: { readonly homepage: string; failure?: Problem } | undefined;
  readonly #log: Log;
  // The ending of the current website, and those of the websites before it.
  #ending: Ending;
  readonly #earlier: Ending[] = [];
  readonly #progress: Progress | undefined;
  readonly #output: Output;
  readonly #file: OutputFile | undefined;
  #hasWritten = false;

  constructor(
    { context, flags, ending = new CrawlEnding() }: Beginning,
    options: Options,
    archive: SaveFile | undefined,
  ) {
    this.context = context;
    // Opens the output first, so that a path that cannot be written is reported before anything is fetched.
    this.#file = flags.output === undefined ? undefined : this.owns(new OutputFile(flags.output, flags.force));
    const { TERM, NO_COLOR } = context.environment;
    this.isShown = this.#file === undefined && context.stdout.isTTY === true && TERM !== "dumb";
    this.hasColor = this.isShown && flags.color && !NO_COLOR;
    this.messages = new Messages(flags, context);
    this.#log = new Log(flags, this.messages, (url) => ending.nameOf?.(url) ?? url);
    this.#ending = ending;
    // A log on the same terminal replaces the progress line.
    const isWatched = flags.progress && this.messages.isTerminal && !this.messages.hasLog;
    this.#progress = isWatched ? new Progress(this.messages) : undefined;
    this.#output = new Output(context.stdout);
    const controller = new AbortController();
    this.signal = controller.signal;
    const save = archive && this.owns(archive).path;
    this.options = { ...options, save, signal: this.signal, recurse: (_, place) => this.declare(place) };
    const exit = (code: number) => {
      this.endProgress();
      this.messages.say("stopped before everything was written", "warning");
      context.exit(code);
    };
    // SIGHUP means that the terminal was closed. Node.js exits on it even under nohup; handling it lets us delete temporary files.
    const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
    // Waits up to two seconds after a signal, so that a reader of the output gets the rest of it.
    onStop({ signals: context.signals, exit }, [(stopped) => controller.abort(stopped)], { names, patience: 2000 });
  }

  /** Finds out what a target is, and tells the user. With `isCrawled`, may leave the scheme to a crawl that reports its events to `see`. */
  async probe(target: TreeTarget, more?: Options, isCrawled = false): Promise<TreeTarget> {
    const found = await probeTarget(target, { ...this.options, ...more }, this.messages, isCrawled);
    this.#assumed = found.kind === "website" && found.isAssumed ? { homepage: found.homepage } : undefined;
    if (found.kind === "website" && !more?.client && !this.options.client) this.#ending.given = found.homepage;
    this.#ending.readsFeeds = this.options.useFeeds === true;
    return found;
  }

  /** Builds the tree of a target. The caller closes it. For an archive, only `limits`, `rewrite`, `signal` and `onEvent` apply. */
  async tree(target: TreeTarget, more?: Options): Promise<SitemapTree> {
    const { buildTreeWhile, openTreeWhile } = await import("../tree/build.ts");
    const found = await this.probe(target, more, true);
    const options = { onEvent: (event: CrawlEvent) => this.see(event), ...this.options, ...more };
    const { limits, rewrite, signal, onEvent } = options;
    const tree =
      found.kind === "archive"
        ? await openTreeWhile(found.path, { limits, rewrite, signal, onEvent }, { urlsOnly: true })
        : await buildTreeWhile(crawlTarget(found), options, { urlsOnly: true });
    this.endProgress();
    return tree;
  }

  /**
   * Returns options for a check after a crawl: the time that is left, and callbacks that show on a terminal how far the check is.
   */
  whileChecking(files: SiteFilesOptions | undefined): Pick<CheckOptions, "time" | "files" | "onPage"> {
    let [count, drawnAt, firstAt] = [0, 0, 0];
    // Redraws the line at most ten times a second.
    const draw = (text: () => string) => {
      if (this.#progress === undefined || performance.now() < drawnAt + 100) return;
      drawnAt = performance.now();
      this.messages.live(text());
    };
    const onFile = () => {
      count += 1;
      draw(() => `${counted(count, "file")} read`);
    };
    const onPage = (done: number, total: number) => {
      if (firstAt === 0) firstAt = performance.now();
      draw(
        () => `${grouped(done)} of ${counted(total, "page")}${leftInWords(performance.now() - firstAt, done, total)}`,
      );
    };
    const time = timeLeft(this.options.limits?.time ?? Number.POSITIVE_INFINITY, this.#startedAt);
    return { time, files: files && { ...files, onFile }, onPage };
  }

  /** Registers a result, which is kept or discarded when the run ends. */
  owns<T extends Unfinished>(result: T): T {
    this.context.unfinished.add(result);
    return result;
  }

  /** Tells the progress line that a declared sitemap will be read. Returns true. */
  declare(place: RecurseContext): boolean {
    this.#progress?.declare(place);
    return true;
  }

  see(event: CrawlEvent): void {
    this.#seeScheme(event);
    this.#log.see(event);
    this.#ending.see?.(event);
    this.#progress?.see(event);
  }

  // The crawl tries https first. Its `start` event has the scheme that it chose.
  #seeScheme(event: CrawlEvent): void {
    if (this.#assumed === undefined) return;
    if (event.type === "failure" && event.url.startsWith("https:")) this.#assumed.failure = event.reason;
    if (event.type !== "start") return;
    const { homepage, failure } = this.#assumed;
    this.#assumed = undefined;
    reportScheme(homepage, homepage.replace(/^https:/, new URL(event.url).protocol), failure, this.messages);
  }

  /** How many columns a line of the result may have. */
  get width(): number {
    return this.isShown ? this.context.stdout.columns || 80 : Number.POSITIVE_INFINITY;
  }

  /** Whether everything so far was read completely. */
  get isComplete(): boolean {
    return this.#endings.every(({ isComplete }) => isComplete);
  }

  get #endings(): readonly Ending[] {
    return [...this.#earlier, this.#ending];
  }

  /** Reports the end of one website, and begins the next one, which has its own ending. */
  nextSite(listed: number, next: Ending): void {
    this.#ending.print(this.messages, listed, []);
    this.#earlier.push(this.#ending);
    this.#ending = next;
  }

  /** Stops the progress line, and clears it. */
  endProgress(): void {
    this.#progress?.stop();
    this.messages.clearLive();
  }

  /** Writes the result to standard output or to `-o`, and reports the end. Unless it ends early, returns the websites' highest exit code. */
  async write(pieces: AsyncIterable<string | Uint8Array>, outcome: () => Outcome): Promise<ExitCode> {
    try {
      for await (const piece of pieces) {
        if (this.#file !== undefined) this.#file.write(piece);
        else {
          this.#hasWritten ||= piece.length > 0;
          if (this.context.stdout.isTTY) this.messages.clearLive();
          await this.#output.write(piece);
        }
      }
      await this.#output.flush();
      this.endProgress();
      this.#settle();
      const { listed, notes = [], unit } = outcome();
      this.#ending.print(this.messages, listed, notes, unit);
      return Math.max(...this.#endings.map(({ exitCode }) => exitCode)) as ExitCode;
    } catch (error) {
      this.endProgress();
      if (error instanceof OutputClosed) {
        const left = this.#leftovers(this.#file);
        if (left.length > 0) this.messages.say(`the output was closed early; ${left.join("; ")}`, "warning");
        return exitCodes.complete;
      }
      const reason: unknown = this.signal.reason;
      if (!(reason instanceof Stopped)) throw error;
      await this.#output.flush().catch(() => undefined);
      this.messages.say(`stopped: ${this.#leftBehind(outcome())}`, "warning");
      return reason.exitCode;
    } finally {
      this.#log.close();
    }
  }

  // Keeps the results. If nothing could be read, keeps only those that report this, so that other old files stay.
  #settle(): void {
    const readNothing = this.#endings.every((ending) => ending.readNothing);
    for (const result of this.context.unfinished) {
      const isWanted = this.#ending.reportsFailures === true && !(result instanceof SaveFile);
      if (!readNothing || isWanted) result.keep();
      else if (result.replaces !== undefined) this.messages.say(`${result.replaces} was not changed`, "warning");
    }
  }

  // Returns what to tell the user about the results, except for one of them, if the run ends early.
  #leftovers(except?: Unfinished): string[] {
    return [...this.context.unfinished].flatMap((each) => (each === except ? [] : (each.ifStopped ?? [])));
  }

  // Describes what a stopped run has written.
  #leftBehind({ listed, unit = "page", isSingleDocument = false }: Outcome): string {
    const shown = isSingleDocument ? "incomplete" : `${counted(listed, unit)} listed, incomplete`;
    return [...(this.#hasWritten ? [shown] : []), ...this.#leftovers()].join("; ") || "nothing was written";
  }
}

// An estimate from too little data would jump around.
function leftInWords(elapsed: number, done: number, total: number): string {
  return done < 20 || elapsed < 3000 ? "" : ` · ${duration((elapsed * (total - done)) / done)} left`;
}

interface Beginning {
  readonly context: Context;
  readonly flags: Flags;
  /** What the command reads. A target may have its own options. */
  readonly targets: readonly {
    readonly target: Target;
    readonly options?: Options;
    readonly path?: string | undefined;
    /** What to tell the user about the target. */
    readonly note?: string | undefined;
  }[];
  /** Further sentences to print before the run begins. */
  readonly notes?: readonly (string | undefined)[];
  /** Further files and folders that are read. */
  readonly inputs?: readonly (string | undefined)[];
  /** Archives of earlier runs: --save may replace them, other outputs may not. */
  readonly renewed?: readonly (string | undefined)[];
  /** Further files that are written. The keys are the flags that name them. */
  readonly outputs?: Readonly<Record<string, string | undefined>>;
  /** Whether something is fetched, even if all targets are files. */
  readonly isOnline?: boolean | undefined;
  /** Options that also apply if nothing is fetched; all others are rejected then. */
  readonly offline: readonly string[];
  readonly ending?: Ending | undefined;
}

/** Begins a run. Creates no file before all settings have been checked. */
export async function beginRun(beginning: Beginning): Promise<Run> {
  const { targets, notes = [], inputs = [], renewed = [], outputs, offline } = beginning;
  // As in other programs, - means standard output.
  const output = beginning.flags.output === "-" ? undefined : beginning.flags.output;
  const flags = { ...beginning.flags, output };
  const { logFile, save } = flags;
  const given = crawlOptions(flags);
  const pairs = [given, ...targets.map(({ options = {} }) => options)].flatMap(({ rewrite = [] }) => [...rewrite]);
  // An empty list would replace the rewrites of a run that is resumed.
  const rewrite = pairs.length === 0 ? undefined : pairs;
  const options: Options = Object.assign(given, ...targets.map((target) => target.options), { rewrite });
  const settings = resolveOptions(options);
  const isFetched = ({ target, options }: Beginning["targets"][number]) =>
    !options?.client && (target.kind === "website" || target.kind === "sitemaps");
  const isOnline = beginning.isOnline === true || targets.some(isFetched);
  const [useless] = isOnline ? [] : givenFlags(flags, offline);
  if (useless !== undefined) throw new UsageError(`${useless} has no effect on files: nothing is fetched`);
  const read = [...targets.map(({ target, path }) => path ?? ("path" in target ? target.path : undefined)), ...inputs];
  const written = { "--output": output, "--log-file": logFile, ...outputs };
  expectDistinct(read, { "--save": save, ...written });
  expectDistinct(renewed, written);
  if (isOnline) (await import("../fetch/fetcher.ts")).expectUsable(settings);
  const archive =
    save === undefined ? undefined : new SaveFile(save, flags.force, outputs !== undefined && "--resume" in outputs);
  const run = new Run({ ...beginning, flags }, options, archive);
  for (const { note } of targets) if (note !== undefined) run.messages.say(note, "quiet");
  if (flags.insecure) run.messages.say(insecureWarning, "bad");
  for (const note of notes) if (note !== undefined) run.messages.say(note, "quiet");
  return run;
}
