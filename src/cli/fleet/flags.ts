// The flags that `fleet` and `fleet worker` share: what is written for each website, how fast websites are read, and the options of their
// crawls.
import path from "node:path";
import { type Command, Option } from "commander";
import type { RunDefaults } from "../../fleet/run-settings.ts";
import { bucketAddress, isBucket } from "../../fleet/s3-bucket.ts";
import { type FleetFormat, fleetFormats } from "../../fleet/site-files.ts";
import { resolveStreamOptions, type StreamOptions } from "../../model/options.ts";
import { UsageError } from "../exit-codes.ts";
import type { CrawlFlags } from "../flags.ts";
import { addCrawlFlags, addFlags, byteCount, crawlOptions, pageFilters, raised, wholeNumber } from "../flags.ts";
import type { MessageFlags } from "../output/messages.ts";

/** The outcomes that --retry accepts. */
export const retryNames = ["failed", "unreachable", "blocked", "incomplete", "none", "quarantined"] as const;

type TextFlag = "column" | "queue" | "run" | "shard" | "out" | "previous" | "metrics";
// `failAbove` in percent.
type NumberFlag = "failAbove" | "concurrency" | "perAddress" | "maxPages" | "maxTraffic";

/** The flags of both commands, by commander's names. */
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

/** `folder`: what --out names. `perAddress`: what the limit counts. */
export function addFleetFlags(command: Command, folder: string, perAddress: string): Command {
  const format = new Option("-f, --format <format>", "format of the page files, one per website (default: ndjson)");
  command
    .optionsGroup("Output:")
    .option("--out <dir>", folder)
    .addOption(format.choices(fleetFormats))
    .option("--archives", "save a WARC archive of each website")
    .option("--check", "check each website and write the findings")
    .option("--previous <dir>", "results of an earlier run with --archives, to reuse unchanged documents")
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
  if (time !== undefined) time.description = "maximum time per website: 90s, 10m (default: 10m)";
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

// Flags that make sense only for one website. --concurrency counts websites here.
const otherFlags = ["--limit", "--concurrency", "--no-proxy"];

/** The crawl options that the flags set, without defaults. */
function givenCrawl({ concurrency: _, previous: __, perAddress: ___, ...flags }: FleetFlags): StreamOptions {
  const { maxPages: pages, maxTraffic: bytes, ...others } = flags;
  const { limits, ...options } = crawlOptions(others);
  const given = { ...(pages === undefined ? {} : { pages }), ...(bytes === undefined ? {} : { bytes }), ...limits };
  return { ...options, ...pageFilters(others), ...(Object.keys(given).length === 0 ? {} : { limits: given }) };
}

/** The outputs that the flags describe. Throws a `UsageError` if some flags do not go together. */
export function runDefaults(flags: FleetFlags): RunDefaults {
  const { out, format, archives, check } = flags;
  if (format === "changes" && !archives) throw new UsageError("-f changes needs --archives, for the next run");
  const crawl = givenCrawl(flags);
  resolveStreamOptions(crawl);
  if (isBucket(out)) bucketAddress(out);
  // An absolute path, because other processes work in other folders.
  return { out: out === undefined || isBucket(out) ? out : path.resolve(out), format, archives, check, crawl };
}
