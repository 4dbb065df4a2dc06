// The flags and help of `sitegrove fleet` and its commands. Their implementations are imported when they run.
import { Command, InvalidArgumentError, Option } from "commander";
import type { Context, Done } from "../context.ts";
import { exitCodeHelp, UsageError } from "../exit-codes.ts";
import { collected, seconds } from "../flags.ts";
import { addHelp } from "../help.ts";
import { addFleetFlags, type FleetFlags, retryNames } from "./flags.ts";
import type { QueueFlags } from "./queue.ts";
import type { WorkerFlags } from "./worker.ts";

export function fleetCommand(context: Context, done: Done): Command {
  const again = `recrawl websites with these outcomes: ${retryNames.join(", ")} (repeatable)`;
  const command = new Command("fleet")
    .summary("crawl many websites; run it again to continue")
    .description(
      "Crawls many websites in parallel. The journal sites.ndjson, in the output folder, records which websites were\n" +
        "started and their results, so a run with the same folder continues where the last one stopped.",
    )
    .argument("[sites...]", "homepages")
    .optionsGroup("Websites:")
    .option("--from <file>", "list of homepages, one per line; - for standard input (repeatable)", collected)
    .option("--column <name>", "column of a CSV file with the homepages: its name, or its number, starting at 1")
    .option("--retry <outcomes>", again, collected)
    .optionsGroup("Several machines:")
    .option("--queue <url>", `add the websites to a ${queueText}`)
    .option("--run <name>", "name of the run on the queue (default: default)")
    .option("--shard <part>", "only this part of the list: 2/8 is the second of eight");
  addFleetFlags(command, "folder for journal, outputs and summary; or s3://BUCKET/PREFIX for the outputs")
    .optionsGroup("Output:")
    .option(
      "--fail-above <percent>",
      "exit with 6 if more than this share of websites, such as 20%, is unreachable, failed or quarantined",
      percent,
    )
    .optionsGroup("Messages:")
    .action(async (sites: readonly string[], flags: FleetFlags) => {
      const { queue } = flags;
      if (queue === undefined) return done(await (await import("./fleet.ts")).fleet(sites, flags, context));
      const isGiven = (option: Option) => command.getOptionValueSource(option.attributeName()) === "cli";
      const other = command.options.find((option) => isGiven(option) && !listFlags.includes(option.long ?? ""))?.long;
      if (other !== undefined)
        throw new UsageError(`${other} is for workers: sitegrove fleet worker --queue … ${other} …`);
      done(await (await import("./queue.ts")).fillQueue(sites, { ...flags, queue }, context));
    });
  // Flags after the name of a subcommand belong to that subcommand.
  command.enablePositionalOptions();
  for (const make of [statusCommand, datasetCommand, workerCommand, resultsCommand, removeCommand])
    command.addCommand(make(context, done));
  return addHelp(command, { flags, examples, more });
}

const flags = "--from --retry --out --format --archives --check --concurrency --verbose";

// The flags that `fleet --queue` accepts. A queue only names websites, so all other flags belong to workers.
const listFlags: readonly string[] = [
  ...["--from", "--column", "--retry", "--queue", "--run", "--shard", "--only-path", "--keep-path"],
  ...["--no-color", "--no-progress"],
];

const examples = `
Examples:
  sitegrove fleet --from sites.txt --out monday              pages, summary.json
  sitegrove fleet --from top.csv --column domain --out top   a column of a table
  sitegrove fleet --out monday --retry unreachable           recrawl these
  sitegrove fleet --from sites.txt --out a --archives -f none
`;

const more = `  sitegrove fleet --from sites.txt --queue redis://queue.example/0
  sitegrove fleet --from sites.txt --shard 2/8 --out part2   one part of a list

Ctrl-C finishes the websites in progress; a second Ctrl-C stops immediately.
${exitCodeHelp(["complete", "unexpected", "usage", "incomplete", "findings", "interrupted"], {
  complete: "every website was fully read or has no sitemap",
  incomplete: "incomplete: some websites could not be fully read, or some lines of the list or journal are invalid",
  findings: "--fail-above: too many websites are unreachable, failed or quarantined",
  interrupted: "stopped by Ctrl-C: run it again to continue",
})}`;

const queueText = "queue shared by several machines: redis://HOST/0, rediss://HOST/0";
const noColor = ["--no-color", "no colors on a terminal"] as const;

/** A command that requires a queue. */
function queueCommand(name: string, summary: string, usage: string, description: string): Command {
  const command = new Command(name).summary(summary).description(description).usage(`--queue URL ${usage}`);
  return command.requiredOption("--queue <url>", queueText);
}

function statusCommand(context: Context, done: Done): Command {
  type StatusFlags = Pick<FleetFlags, "queue" | "run"> & { format: "text" | "json" };
  const formats = new Option("-f, --format <format>", "output format");
  return new Command("status")
    .summary("show the progress of a fleet")
    .description("Shows how many websites of a fleet are done, active and waiting, during or after a run.")
    .usage("DIR [options]\n       sitegrove fleet status --queue URL [options]")
    .argument("[dir]", "output folder")
    .option("--queue <url>", queueText)
    .option("--run <name>", "run on the queue (default: default)")
    .addOption(formats.choices(["text", "json"]).default("text"))
    .action(async (folder: string | undefined, { format, ...flags }: StatusFlags) => {
      const asJson = format === "json";
      const place = placeOf(folder, flags);
      if ("queue" in place) done(await (await import("./queue.ts")).queueStatus(place, asJson, context));
      else done(await (await import("./status.ts")).folderStatus(place.folder, asJson, context));
    });
}

// Where a fleet is: in a folder, or on a queue.
function placeOf(
  folder: string | undefined,
  { queue, run }: Pick<FleetFlags, "queue" | "run">,
): { readonly folder: string } | Pick<QueueFlags, "queue" | "run" | "color"> {
  if (folder !== undefined && queue !== undefined) throw new UsageError("give either a folder or --queue, not both");
  if (queue !== undefined) return { queue, run, color: false };
  if (folder === undefined) throw new UsageError("give the folder of a fleet, or --queue");
  if (run !== undefined) throw new UsageError("--run needs --queue");
  return { folder };
}

function datasetCommand(context: Context, done: Done): Command {
  type DatasetFlags = { readonly out: string; readonly run?: string };
  const description =
    "Combines the results of a run into a few Parquet files: pages, sitemaps, problems, sites and changes. It requests\n" +
    "no website, and can be repeated: the files of a run replace its earlier ones.";
  return new Command("dataset")
    .summary("combine the results of a run into Parquet tables")
    .description(description)
    .usage("DIR --out SET [options]")
    .argument("<dir>", "output folder of the run, or s3://BUCKET/PREFIX")
    .requiredOption("--out <set>", "folder of the tables, or s3://BUCKET/PREFIX")
    .option("--run <name>", "name of the run (default: the folder's name, or the run's name on the queue)")
    .action(async (folder: string, flags: DatasetFlags) =>
      done(await (await import("./dataset.ts")).fleetDataset(folder, flags.out, flags.run, context)),
    );
}

function workerCommand(context: Context, done: Done): Command {
  const description =
    "Crawls the websites of a run until none is left. Any number of workers can run in parallel, on any number of machines.\n" +
    "The queue holds only website names: give outputs, limits and all other options here, the same for every worker.";
  const time = (flag: string, help: string) => new Option(flag, help).argParser(seconds);
  const silent = "time after which the websites of an unresponsive worker are given to others";
  const command = queueCommand("worker", "crawl websites from a queue", "[options]", description)
    .option("--run <name>", "run to work on (default: default)")
    .addOption(time("--idle <time>", "time to wait for more websites when none is left").default(5, "5s"))
    .option("--stay", "keep waiting for more websites")
    .addOption(time("--lease <time>", silent).default(30, "30s"));
  for (const option of command.options) option.helpGroup("Queue:");
  return addFleetFlags(command, "folder for the outputs, or s3://BUCKET/PREFIX")
    .action(async (flags: WorkerFlags) => done(await (await import("./worker.ts")).fleetWorker(flags, context)))
    .addHelpText(
      "after",
      `
Ctrl-C and SIGTERM finish the websites in progress; a second signal stops immediately. Set the queue's password in
SITEGROVE_QUEUE_PASSWORD.
${exitCodeHelp(["complete", "unexpected", "usage", "interrupted", "terminated"], {
  complete: "no website is left, or the worker was stopped and finished those in progress",
  interrupted: "stopped by a second Ctrl-C: the websites in progress return to the queue",
  terminated: "stopped by a second SIGTERM",
})}`,
    );
}

function resultsCommand(context: Context, done: Done): Command {
  return new Command("results")
    .summary("print the result of each website")
    .description("Prints the summary of each finished website as a line of JSON.")
    .usage("DIR\n       sitegrove fleet results --queue URL [options]")
    .argument("[dir]", "output folder")
    .option("--queue <url>", queueText)
    .option("--run <name>", "run on the queue (default: default)")
    .action(async (folder: string | undefined, flags: Pick<FleetFlags, "queue" | "run">) => {
      const place = placeOf(folder, flags);
      if ("queue" in place) done(await (await import("./queue.ts")).queueResults(place, context));
      else done(await (await import("./status.ts")).folderResults(place.folder, context));
    });
}

function removeCommand(context: Context, done: Done): Command {
  const description = "Removes a run from a queue, with its results. Output files are kept.";
  return queueCommand("remove", "remove a run from a queue", "--run NAME [options]", description)
    .requiredOption("--run <name>", "run to remove")
    .option(...noColor)
    .action(async (flags: QueueFlags) => done(await (await import("./queue.ts")).removeRun(flags, context)));
}

function percent(text: string): number {
  const [, number] = /^(\d{1,3}(?:\.\d+)?)%?$/.exec(text) ?? [];
  if (number === undefined || Number(number) > 100)
    throw new InvalidArgumentError("Expected a percentage, such as 20%.");
  return Number(number);
}
