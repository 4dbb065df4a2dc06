// The flags that `fleet` and `fleet worker` share: what is written for each website, how fast websites are read, and how they are crawled.
import { type Command, Option } from "commander";
import { expectUsable } from "../../fetch/fetcher.ts";
import { type FleetCrawlOptions, type FleetOptions, noSink } from "../../fleet/fleet-options.ts";
import { earlierRun } from "../../fleet/results.ts";
import { type FleetFormat, fleetFormats, siteFiles } from "../../fleet/site-files.ts";
import { Store } from "../../fleet/store.ts";
import { resolveStreamOptions } from "../../model/options.ts";
import { UsageError } from "../exit-codes.ts";
import type { CrawlFlags } from "../flags.ts";
import {
  addCrawlFlags,
  addFlags,
  byteCount,
  checkSince,
  crawlOptions,
  pageFilters,
  raised,
  wholeNumber,
} from "../flags.ts";
import type { MessageFlags } from "../output/messages.ts";

/** The outcomes that --retry accepts. */
export const retryNames = ["failed", "unreachable", "blocked", "incomplete", "none", "quarantined"] as const;

type TextFlag = "column" | "queue" | "run" | "shard" | "out" | "previous" | "previousRun";
// `failAbove` is a percentage.
type NumberFlag = "failAbove" | "concurrency" | "perAddress" | "maxPages" | "maxTraffic";

/** The flags of `fleet` and `fleet worker`, by commander's attribute names. */
export interface FleetFlags
  extends CrawlFlags,
    MessageFlags,
    Readonly<Partial<Record<TextFlag, string | undefined>>>,
    Readonly<Partial<Record<NumberFlag, number | undefined>>>,
    Readonly<Partial<Record<"from" | "retry", readonly string[] | undefined>>>,
    Readonly<Partial<Record<"archives" | "check" | "insecure", true | undefined>>> {
  readonly format?: FleetFormat | undefined;
  readonly logFormat?: "text" | "json" | undefined;
  readonly progress: boolean;
}

/** Adds the flags that both commands have. `outHelp` is the help of --out. */
export function addFleetFlags(command: Command, outHelp: string): Command {
  const format = new Option("-f, --format <format>", "format of the page files, one per website (default: ndjson)");
  command
    .optionsGroup("Output:")
    .option("--out <dir>", outHelp)
    .addOption(format.choices(fleetFormats))
    .option("--archives", "save a WARC archive of each website")
    .option("--check", "check each website and write the findings")
    .option("--previous <dir>", "results of an earlier run with --archives, to reuse unchanged documents")
    .option("--previous-run <name>", "run to use, if --previous has several")
    .optionsGroup("Concurrency and limits:")
    .option(
      "--concurrency <n>",
      "websites crawled in parallel (default: 16 to 128, depending on memory and cores)",
      wholeNumber(1),
    )
    .option(
      "--per-address <n>",
      "parallel requests per IP address, across all its host names (default: 8)",
      wholeNumber(1),
    )
    .option("--max-pages <n>", "maximum pages per website (default: none)", wholeNumber(0))
    .option(
      "--max-traffic <n>",
      "maximum bytes transferred per website, such as 64k or 50M (default: none)",
      byteCount,
    );
  addCrawlFlags(command, "Limits");
  // Without a limit, one website could keep a whole fleet waiting.
  const time = command.options.find(({ long }) => long === "--max-time");
  if (time !== undefined) time.description = "maximum time per website, such as 90s or 10m (default: 10m)";
  addFlags(command, "Discovery", "Parsing");
  for (const group of ["Filters", "Network"] as const)
    addCrawlFlags(command.optionsGroup(`${group}:`), group, undefined, singleSiteFlags);
  const logText = "format of log lines; json has the full summary (default: text)";
  return command
    .optionsGroup("Messages:")
    .option("-v, --verbose", "log a line for each website", raised)
    .option("-l, --log-file <file>", "append the log to FILE")
    .addOption(new Option("--log-format <format>", logText).choices(["text", "json"]))
    .option("--no-progress", "no progress table or lines")
    .option("--no-color", "no colors on a terminal");
}

// Flags of `ls` that a fleet does not have, or has with its own meaning: its --concurrency counts websites instead of requests.
const singleSiteFlags = ["--limit", "--concurrency", "--no-proxy"];

/** Returns the options for crawling each website. By default a website gets ten minutes, so that it cannot hold up the fleet. */
function fleetCrawl({ concurrency: _, previous: __, perAddress: ___, ...flags }: FleetFlags): FleetCrawlOptions {
  const { maxPages, maxTraffic, ...others } = flags;
  const { limits, ...options } = crawlOptions(others);
  const given = {
    ...(maxPages !== undefined && { pages: maxPages }),
    ...(maxTraffic !== undefined && { bytes: maxTraffic }),
  };
  return { ...options, ...pageFilters(others), limits: { time: 600_000, ...given, ...limits } };
}

/** Where the outputs go, if they are kept, and how to crawl. */
export interface FleetOutputs {
  readonly store: Store | undefined;
  readonly options: Omit<FleetOptions, "queue">;
}

/**
 * Opens the outputs that the flags name. A worker passes the name of its `run`. Throws a `UsageError` if flags conflict, and a
 * `SitemapError` if an output cannot be used.
 */
export async function openOutputs(flags: FleetFlags, run?: string): Promise<FleetOutputs> {
  const { out, format, archives, check, previous, previousRun, concurrency, perAddress } = flags;
  checkSince(flags);
  if (format === "changes" && !archives) throw new UsageError("-f changes needs --archives, for the next run");
  if (format === "changes" && previous === undefined) throw new UsageError("-f changes needs --previous");
  if (previousRun !== undefined && previous === undefined) throw new UsageError("--previous-run needs --previous");
  const [other] = Object.entries({ "-f": format, "--archives": archives, "--check": check, "--previous": previous })
    .filter(([, value]) => value !== undefined)
    .map(([flag]) => flag);
  if (!out && other !== undefined) throw new UsageError(`${other} needs --out`);
  const crawl = fleetCrawl(flags);
  expectUsable(resolveStreamOptions(crawl));
  const store = out === undefined ? undefined : await Store.openForOutput(out);
  const earlier = previous === undefined ? undefined : await earlierRun(previous, previousRun);
  const sink = store === undefined ? noSink : siteFiles({ store, format, archives, check, previous: earlier, run });
  return { store, options: { ...crawl, sink, parallelSites: concurrency, perAddress } };
}
