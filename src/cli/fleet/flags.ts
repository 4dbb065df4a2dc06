// The flags that `fleet` and `fleet worker` share: how fast websites are read, and the options of their crawls.
import type { Command } from "commander";
import { addCrawlFlagGroups, addCrawlFlags, byteCount, wholeNumber } from "../flags.ts";
import { networkFlags } from "./formats.ts";

export function addConcurrencyFlag(command: Command): Command {
  return command
    .optionsGroup("Pace:")
    .option("--concurrency <n>", "websites read at a time (default: by memory and cores, 16 to 128)", wholeNumber(1));
}

export function addSiteLimitFlags(command: Command): void {
  command
    .option("--max-pages <n>", "maximum number of pages of one website (default: none)", wholeNumber(0))
    .option(
      "--max-traffic <n>",
      "maximum number of bytes of one website, as transferred: 64k, 50M (default: none)",
      byteCount,
    );
  addCrawlFlags(command, "Limits");
}

export function addSiteCrawlFlags(command: Command): void {
  addCrawlFlagGroups(command, "Discovery", "Parsing");
  command.optionsGroup("Network:");
  addCrawlFlags(command, "Network", networkFlags);
}
