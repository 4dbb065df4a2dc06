// The flags that `fleet` and `fleet worker` share: what is written for each website, how fast websites are read, and the options of their crawls.
import { type Command, Option } from "commander";
import type { StreamOptions } from "../../model/options.ts";
import {
  addCrawlFlags,
  addFlags,
  byteCount,
  type CrawlFlags,
  crawlOptions,
  pageFilters,
  raised,
  wholeNumber,
} from "../flags.ts";

export const fleetFormats = ["ndjson", "csv", "parquet", "changes", "none"] as const;
export type FleetFormat = (typeof fleetFormats)[number];

/** The outcomes that --retry accepts. */
export const retryNames = ["failed", "unreachable", "blocked", "incomplete", "none", "quarantined"] as const;

/** The flags of both, by commander's names. */
export interface FleetFlags extends CrawlFlags {
  readonly from?: readonly string[] | undefined;
  readonly column?: string | undefined;
  readonly retry?: readonly string[] | undefined;
  readonly queue?: string | undefined;
  readonly run?: string | undefined;
  readonly shard?: string | undefined;
  readonly processes?: number | undefined;
  readonly out?: string | undefined;
  readonly format?: FleetFormat | undefined;
  readonly archives?: true | undefined;
  readonly check?: true | undefined;
  readonly dataset?: string | undefined;
  readonly previous?: string | undefined;
  /** In milliseconds. */
  readonly retryDeadAfter?: number | undefined;
  /** In percent. */
  readonly failAbove?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly perAddress?: number | undefined;
  readonly maxPages?: number | undefined;
  readonly maxTraffic?: number | undefined;
  readonly insecure?: true | undefined;
  readonly metrics?: string | undefined;
  readonly verbose?: number | true | undefined;
  readonly logFile?: string | undefined;
  readonly logFormat?: "text" | "json" | undefined;
  readonly progress: boolean;
  readonly color: boolean;
}

export function addOutputFlags(command: Command, folder: string): Command {
  command
    .optionsGroup("Output:")
    .option("--out <dir>", folder)
    .addOption(
      new Option("-f, --format <format>", "format of the page files, one per website (default: ndjson)").choices(
        fleetFormats,
      ),
    )
    .option("--archives", "save a WARC archive of each website")
    .option("--check", "check each website and write the findings")
    .option(
      "--dataset <dir>",
      "also write the rows of all websites to a few Parquet files in DIR or s3://BUCKET/PREFIX",
    );
  return command;
}

/** `perAddress`: whom its limit counts for. */
export function addReadingFlags(command: Command, perAddress: string): void {
  command
    .optionsGroup("Pace:")
    .option("--concurrency <n>", "websites read at a time (default: by memory and cores, 16 to 128)", wholeNumber(1))
    .option("--per-address <n>", `requests at a time to one IP address, ${perAddress} (default: 8)`, wholeNumber(1))
    .option("--max-pages <n>", "maximum pages of one website (default: none)", wholeNumber(0))
    .option("--max-traffic <n>", "maximum transferred bytes of one website: 64k, 50M (default: none)", byteCount);
  addCrawlFlags(command, "Limits");
  // Without a limit, one website would keep a whole fleet waiting.
  const time = command.options.find(({ long }) => long === "--max-time");
  if (time !== undefined) time.description = "maximum time for one website (default: 600)";
  addFlags(command, "Discovery", "Parsing");
  addCrawlFlags(command.optionsGroup("Filters:"), "Filters", filterFlags);
  addCrawlFlags(command.optionsGroup("Network:"), "Network", networkFlags);
  const logText = "these lines as text, or as JSON with the whole summary (default: text)";
  command
    .optionsGroup("Messages:")
    .option("-v, --verbose", "write a line for each website", raised)
    .option("-l, --log-file <file>", "append these lines to FILE")
    .addOption(new Option("--log-format <format>", logText).choices(["text", "json"]))
    .option("--metrics <address>", "serve Prometheus metrics at http://ADDRESS/metrics: 127.0.0.1:9464")
    .option("--no-progress", "no progress table or lines")
    .option("--no-color", "no colors on a terminal");
}

// Network flags that apply to every website. Without --concurrency, which counts websites here.
const networkFlags = [
  ...["--delay", "--crawl-delay", "--retries", "--timeout", "--allow-private", "--public-only", "--header"],
  ...["--user-agent", "--proxy", "--insecure", "--ca"],
];

const filterFlags = [
  ...["--include", "--exclude", "--since", "--undated", "--same-host", "--same-site", "--allowed-for", "--unique"],
  ...["--include-sitemap", "--exclude-sitemap", "--skip-old-sitemaps"],
];

/** The options of the crawls, without defaults. */
export function givenCrawl({ concurrency: _, previous: __, perAddress: ___, ...flags }: FleetFlags): StreamOptions {
  const { maxPages, maxTraffic, ...others } = flags;
  const { limits, ...options } = crawlOptions(others);
  const budgets = {
    ...(maxPages === undefined ? {} : { pages: maxPages }),
    ...(maxTraffic === undefined ? {} : { bytes: maxTraffic }),
    ...limits,
  };
  return { ...options, ...pageFilters(others), ...(Object.keys(budgets).length === 0 ? {} : { limits: budgets }) };
}

/** A website that takes longer must not hold up the fleet. */
export function withDefaults(crawl: StreamOptions): StreamOptions {
  return { ...crawl, limits: { time: 600_000, ...crawl.limits } };
}
