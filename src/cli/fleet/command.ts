// The flags and help of `sitegrove fleet`. Their implementation is in fleet.ts, which is imported when the command
// runs.
import { Command, Option } from "commander";
import { addDiffFlags } from "../commands/diff.ts";
import type { Context, Done } from "../context.ts";
import { exitCodeHelp, UsageError } from "../exit-codes.ts";
import { collected, wholeNumber } from "../flags.ts";
import type { FleetDiffFlags } from "./diff.ts";
import { addConcurrencyFlag, addSiteCrawlFlags, addSiteLimitFlags } from "./flags.ts";
import type { FleetFlags } from "./fleet.ts";
import { fleetFormats, retryNames } from "./formats.ts";
import { addFleetLogFlags } from "./log.ts";
import { queueText, removeCommand, resultsCommand, scheduleCommand, workerCommand } from "./queue-command.ts";

export function fleetCommand(context: Context, done: Done): Command {
  const command = new Command("fleet")
    .summary("read many websites; run again, it continues where it stopped")
    .description(
      "Reads the sitemaps of many websites, many at a time. The journal sites.ndjson, in the folder of the outputs, records which\n" +
        "websites were started and their results: run again with the same folder, it continues where it stopped.",
    )
    .usage("[options] [sites...]\n       sitegrove fleet status|diff|worker|results|schedule|remove …")
    .argument(
      "[sites...]",
      "homepages; `fleet status`, `diff`, `worker`, `results`, `schedule` and `remove` are commands of their own",
    );

  command
    .optionsGroup("Websites:")
    .option("--from <file>", "list of homepages, one per line; - for standard input (repeatable)", collected)
    .option("--column <name>", "column of a CSV file that holds the homepages: its name, or its number from 1")
    .option(
      "--retry <outcomes>",
      `read websites again that ended with these outcomes: ${retryNames.join(", ")} (repeatable)`,
      collected,
    );

  command
    .optionsGroup("Several machines:")
    .option("--queue <url>", `fill this ${queueText}`)
    .option("--run <name>", "name of the run on the queue", "default")
    .option("--shard <part>", "only this part of the list, by registrable domain: 2/8 is the second of eight");

  command
    .optionsGroup("Output:")
    .option("--out <dir>", "folder for the journal, the outputs and the summary; or s3://BUCKET/PREFIX for the outputs")
    .addOption(
      new Option("-f, --format <format>", "format of the files of pages, one file for each website")
        .choices(fleetFormats)
        .default("ndjson"),
    )
    .option("--archives", "save everything that was received, one WARC archive for each website")
    .option("--previous <dir>", "folder of an earlier run with --archives: unchanged documents are taken from it")
    .option("--check", "write what search engines would say about each website");

  addConcurrencyFlag(command)
    .option(
      "--processes <n>",
      "processes that read websites, for machines with several cores (default: 1)",
      wholeNumber(1),
    )
    .option(
      "--per-address <n>",
      "requests at a time to one IP address, whatever its host names (default: 8)",
      wholeNumber(1),
    );
  addSiteLimitFlags(command);
  // Without a limit, one website would keep a whole fleet waiting.
  const time = command.options.find(({ long }) => long === "--max-time");
  if (time !== undefined) time.description = "maximum time for one website (default: 600)";

  addSiteCrawlFlags(command);

  command.optionsGroup("Messages:");
  addFleetLogFlags(command)
    .option("--no-progress", "no table on a terminal, and no line every ten seconds elsewhere")
    .option("--no-color", "no colors on a terminal")
    .action(async (sites: readonly string[], flags: FleetFlags) => {
      const { fleet } = await import("./fleet.ts");
      done(await fleet(sites, flags, context));
    });
  // What follows the name of a command of ours is for that command.
  command.enablePositionalOptions();
  for (const make of [statusCommand, diffCommand, workerCommand, resultsCommand, scheduleCommand, removeCommand])
    command.addCommand(make(context, done));
  command.addCommand(childCommand(done), { hidden: true });
  return command.addHelpText("after", examples + exitCodeHelp(exitCodeNames, exitCodeWords));
}

function diffCommand(context: Context, done: Done): Command {
  const command = new Command("diff")
    .summary("show what changed between two runs")
    .description(
      "Shows what changed between two runs of a fleet: pages and sitemaps of every website that both have read, websites that are\n" +
        "in one list only, and those with another outcome. Where a website was not fully read, a page that is missing there is\n" +
        '"unknown", never "removed".',
    )
    .argument("<old>", "folder of the earlier run")
    .argument("<new>", "folder of the later run");
  return addDiffFlags(command)
    .option("--no-color", "no colors on a terminal")
    .action(async (before: string, after: string, flags: FleetDiffFlags) => {
      const { fleetDiff } = await import("./diff.ts");
      done(await fleetDiff(before, after, { ...flags, progress: false }, context));
    });
}

// What `--processes` starts.
function childCommand(done: Done): Command {
  return new Command("child").action(async () => {
    const { fleetChild } = await import("./child.ts");
    done(await fleetChild());
  });
}

function statusCommand(context: Context, done: Done): Command {
  return new Command("status")
    .summary("show the progress of a fleet")
    .description(
      "Shows what is done, running and waiting in the folder of a fleet or on a queue, while it runs or after.",
    )
    .usage("DIR [options]\n       sitegrove fleet status --queue URL [options]")
    .argument("[dir]", "folder of the outputs")
    .option("--queue <url>", queueText)
    .option("--run <name>", "run on the queue (default: all)")
    .addOption(
      new Option("-f, --format <format>", "text, JSON, or a line of JSON for each run")
        .choices(["text", "json", "ndjson"])
        .default("text"),
    )
    .option("--json", "same as -f json")
    .action(async (folder: string | undefined, flags: StatusFlags) => {
      const format = flags.json ? "json" : flags.format;
      if (flags.queue !== undefined) {
        if (folder !== undefined) throw new UsageError("name a folder or --queue, not both");
        const { queueStatus } = await import("./queue.ts");
        return done(await queueStatus(flags.queue, flags.run, format, context));
      }
      if (folder === undefined) throw new UsageError("name the folder of a fleet, or a queue with --queue");
      if (flags.run !== undefined) throw new UsageError("--run needs --queue");
      const { fleetStatus } = await import("./status.ts");
      done(await fleetStatus(folder, format !== "text", context));
    });
}

interface StatusFlags {
  readonly queue?: string;
  readonly run?: string;
  readonly format: "text" | "json" | "ndjson";
  readonly json?: true;
}

const exitCodeNames = ["complete", "unexpected", "usage", "incomplete", "interrupted"] as const;
const exitCodeWords = {
  complete: "every website was read to its end, or has no sitemap",
  incomplete: "finished, but some websites could not be fully read, or some lines of the list name no website",
  interrupted: "stopped by Ctrl-C: run it again to continue",
};

const examples = `
Ctrl-C finishes the websites that are being read; a second Ctrl-C stops at once.

Examples:
  sitegrove fleet --from sites.txt --out monday               pages of each website, and summary.json
  sitegrove fleet --from top.csv --column domain --out top    from a column of a CSV file
  sitegrove fleet --out monday --retry unreachable            those again that could not be reached
  sitegrove fleet --from sites.txt --out a --archives -f none archives, without files of pages
  sitegrove fleet status monday                               how far it is
  sitegrove fleet diff monday tuesday                         what changed in between
  sitegrove fleet --from sites.txt --queue redis://queue.example/0 fills a queue for workers on several machines
  sitegrove fleet --from sites.txt --shard 2/8 --out part2    the second of eight parts of a list
`;
