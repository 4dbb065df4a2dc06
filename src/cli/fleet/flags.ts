// The flags that `fleet` and `fleet worker` share: what is written for each website, how fast websites are read, and the options of their
// crawls.
import { type Command, Option } from "commander";
import type { StreamOptions } from "../../model/options.ts";
import type { CrawlFlags } from "../flags.ts";
import { addCrawlFlags, addFlags, byteCount, crawlOptions, pageFilters, raised, wholeNumber } from "../flags.ts";
import type { MessageFlags } from "../output/messages.ts";

export const fleetFormats = ["ndjson", "csv", "parquet", "changes", "none"] as const;
export type FleetFormat = (typeof fleetFormats)[number];

/** The outcomes that --retry accepts. */
export const retryNames = ["failed", "unreachable", "blocked", "incomplete", "none", "quarantined"] as const;

type TextFlag = "column" | "queue" | "run" | "shard" | "out" | "dataset" | "previous" | "metrics";
// `retryDeadAfter` in milliseconds, `failAbove` in percent.
type NumberFlag =
  | ("processes" | "retryDeadAfter" | "failAbove")
  | ("concurrency" | "perAddress" | "maxPages" | "maxTraffic");

/** The flags of both, by commander's names. */
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

/** `folder`: what --out names. `perAddress`: whom this limit counts for. */
export function addFleetFlags(command: Command, folder: string, perAddress: string): Command {
  const format = new Option("-f, --format <format>", "format of the page files, one per website (default: ndjson)");
  const dataset = "also write all rows to a few Parquet files in DIR or s3://BUCKET/PREFIX";
  command
    .optionsGroup("Output:")
    .option("--out <dir>", folder)
    .addOption(format.choices(fleetFormats))
    .option("--archives", "save a WARC archive of each website")
    .option("--check", "check each website and write the findings")
    .option("--dataset <dir>", dataset)
    .optionsGroup("Concurrency and limits:")
    .option(
      "--concurrency <n>",
      "websites crawled in parallel (default: 16 to 128, by memory and cores)",
      wholeNumber(1),
    )
    .option("--per-address <n>", `parallel requests per IP address, ${perAddress} (default: 8)`, wholeNumber(1))
    .option("--max-pages <n>", "maximum pages per website (default: none)", wholeNumber(0))
    .option("--max-traffic <n>", "maximum bytes transferred per website: 64k, 50M (default: none)", byteCount);
  addCrawlFlags(command, "Limits");
  // Without a limit, one website would keep a whole fleet waiting.
  const time = command.options.find(({ long }) => long === "--max-time");
  if (time !== undefined) time.description = "maximum time per website (default: 600)";
  addFlags(command, "Discovery", "Parsing");
  for (const group of ["Filters", "Network"] as const)
    addCrawlFlags(command.optionsGroup(`${group}:`), group, undefined, otherFlags);
  const logText = "log lines as text, or as JSON with the full summary (default: text)";
  return command
    .optionsGroup("Messages:")
    .option("-v, --verbose", "log a line for each website", raised)
    .option("-l, --log-file <file>", "append the log to FILE")
    .addOption(new Option("--log-format <format>", logText).choices(["text", "json"]))
    .option("--metrics <address>", "serve Prometheus metrics at http://ADDRESS/metrics: 127.0.0.1:9464")
    .option("--no-progress", "no progress table or lines")
    .option("--no-color", "no colors on a terminal");
}

// Flags for one website. --concurrency counts websites here.
const otherFlags = ["--limit", "--concurrency", "--no-proxy"];

/** The options of the crawls, without defaults. */
export function givenCrawl({ concurrency: _, previous: __, perAddress: ___, ...flags }: FleetFlags): StreamOptions {
  const { maxPages: pages, maxTraffic: bytes, ...others } = flags;
  const { limits, ...options } = crawlOptions(others);
  const given = { ...(pages === undefined ? {} : { pages }), ...(bytes === undefined ? {} : { bytes }), ...limits };
  return { ...options, ...pageFilters(others), ...(Object.keys(given).length === 0 ? {} : { limits: given }) };
}

/** A website that takes longer must not hold up the fleet. */
export function withDefaults(crawl: StreamOptions): StreamOptions {
  return { ...crawl, limits: { time: 600_000, ...crawl.limits } };
}
