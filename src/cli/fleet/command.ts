// The flags and help of `sitegrove fleet` and its commands. Their implementations are imported when they run.
import { Command, InvalidArgumentError, Option } from "commander";
import { addDiffFlags, type DiffFlags } from "../commands/diff.ts";
import type { Context, Done } from "../context.ts";
import { exitCodeHelp, UsageError } from "../exit-codes.ts";
import { collected, seconds, wholeNumber } from "../flags.ts";
import { addHelp } from "../help.ts";
import { addFleetFlags, type FleetFlags, retryNames } from "./flags.ts";
import type { QueueFlags, ScheduleFlags } from "./queue.ts";
import type { WorkerFlags } from "./worker.ts";

export function fleetCommand(context: Context, done: Done): Command {
  const again = `read websites with these outcomes again: ${retryNames.join(", ")} (repeatable)`;
  const dead =
    "give websites that were unreachable in the earlier run one request, and try in full after this time: 7d";
  const command = new Command("fleet")
    .summary("read many websites; run again, it continues where it stopped")
    .description(
      "Reads the sitemaps of many websites, many at a time. The journal sites.ndjson, in the output folder, records which\n" +
        "websites were started and their results: run again with the same folder, it continues where it stopped.",
    )
    .argument("[sites...]", "homepages")
    .optionsGroup("Websites:")
    .option("--from <file>", "list of homepages, one per line; - for standard input (repeatable)", collected)
    .option("--column <name>", "column of a CSV file with the homepages: name, or number from 1")
    .option("--retry <outcomes>", again, collected)
    .optionsGroup("Several machines:")
    .option("--queue <url>", `fill this ${queueText}`)
    .option("--run <name>", "name of the run, on the queue (default: default) or in the dataset (default: its time)")
    .option("--shard <part>", "only this part of the list: 2/8 is the second of eight")
    .option("--processes <n>", "number of processes (default: 1)", wholeNumber(1));
  const out = "folder for journal, outputs and summary; or s3://BUCKET/PREFIX for the outputs";
  addFleetFlags(command, out, "whatever its host names")
    .optionsGroup("Output:")
    .option("--previous <dir>", "folder of an earlier run with --archives, for unchanged documents")
    .option("--retry-dead-after <time>", dead, interval)
    .option("--fail-above <percent>", "exit with 6 if more websites are unreachable or failed: 20%", percent)
    .optionsGroup("Messages:")
    .action(async (sites: readonly string[], flags: FleetFlags) => {
      const { fleet } = await import("./fleet.ts");
      done(await fleet(sites, flags, context));
    });
  // What follows the name of a command of ours is for that command.
  command.enablePositionalOptions();
  for (const make of [statusCommand, diffCommand, workerCommand, resultsCommand, scheduleCommand, removeCommand])
    command.addCommand(make(context, done));
  // What `--processes` starts.
  const child = new Command("child").action(async () => done(await (await import("./processes.ts")).fleetChild()));
  command.addCommand(child, { hidden: true });
  return addHelp(command, { flags, examples, more });
}

const flags = "--from --retry --out --format --archives --check --concurrency --verbose";

const examples = `
Examples:
  sitegrove fleet --from sites.txt --out monday              pages, summary.json
  sitegrove fleet --from top.csv --column domain --out top   a column of a table
  sitegrove fleet --out monday --retry unreachable           those again
  sitegrove fleet --from sites.txt --out a --archives -f none
`;

const more = `  sitegrove fleet --from sites.txt --queue redis://queue.example/0
  sitegrove fleet --from sites.txt --shard 2/8 --out part2   one part of a list

Ctrl-C finishes the websites that are being read; a second Ctrl-C stops at once.
${exitCodeHelp(["complete", "unexpected", "usage", "incomplete", "findings", "interrupted"], {
  complete: "every website was read to its end, or has no sitemap",
  incomplete: "finished, but some websites could not be fully read, or some lines of the list name no website",
  findings: "--fail-above: too many websites are unreachable or failed",
  interrupted: "stopped by Ctrl-C: run it again to continue",
})}`;

const queueText = "queue of several machines: redis://HOST/0, rediss://HOST/0";
const noColor = ["--no-color", "no colors on a terminal"] as const;

/** With a queue, which is required. */
function queueCommand(name: string, summary: string, usage: string, description: string): Command {
  const command = new Command(name).summary(summary).description(description).usage(`--queue URL ${usage}`);
  return command.requiredOption("--queue <url>", queueText);
}

function statusCommand(context: Context, done: Done): Command {
  type StatusFlags = Pick<FleetFlags, "queue" | "run"> & { format: "text" | "json" | "ndjson"; json?: true };
  const formats = new Option("-f, --format <format>", "text, JSON, or a line of JSON for each run");
  return new Command("status")
    .summary("show the progress of a fleet")
    .description(
      "Shows what is done, running and waiting in the folder of a fleet or on a queue, while it runs or after.",
    )
    .usage("DIR [options]\n       sitegrove fleet status --queue URL [options]")
    .argument("[dir]", "folder of the outputs")
    .option("--queue <url>", queueText)
    .option("--run <name>", "run on the queue (default: all)")
    .addOption(formats.choices(["text", "json", "ndjson"]).default("text"))
    .option("--json", "same as -f json")
    .action(async (folder: string | undefined, { queue, run, json, ...flags }: StatusFlags) => {
      const format = json ? "json" : flags.format;
      if (queue !== undefined) {
        if (folder !== undefined) throw new UsageError("name a folder or --queue, not both");
        return done(await (await import("./queue.ts")).queueStatus(queue, run, format, context));
      }
      if (folder === undefined) throw new UsageError("name the folder of a fleet, or a queue with --queue");
      if (run !== undefined) throw new UsageError("--run needs --queue");
      done(await (await import("./totals.ts")).fleetStatus(folder, format !== "text", context));
    });
}

function diffCommand(context: Context, done: Done): Command {
  const command = new Command("diff")
    .summary("show what changed between two runs")
    .description(
      "Shows what changed between two runs of a fleet: pages and sitemaps of every website that both have read, websites that are\n" +
        "in one list only, and those with another outcome. If a website was not fully read, a page that is missing there is\n" +
        '"unknown", never "removed".',
    )
    .argument("<old>", "folder of the earlier run")
    .argument("<new>", "folder of the later run");
  return addDiffFlags(command)
    .option(...noColor)
    .action(async (before: string, after: string, flags: DiffFlags) => {
      done(await (await import("./diff.ts")).fleetDiff(before, after, { ...flags, progress: false }, context));
    });
}

function workerCommand(context: Context, done: Done): Command {
  const description =
    "Reads websites from a queue until nothing is left. Any number of workers can run at a time, on any number of machines.\n" +
    "A worker uses the outputs and limits of the run; flags given here override them.";
  const silent = "time after which the websites of a silent worker are given to others";
  const command = queueCommand("worker", "read websites from a queue", "[options]", description)
    .option("--run <name>", "run to work on (default: all, in turn)")
    .option("--idle <seconds>", "time to wait for more websites when nothing is left", seconds, 5)
    .option("--stay", "keep waiting for more websites")
    .option("--lease <seconds>", silent, seconds, 30);
  for (const option of command.options) option.helpGroup("Queue:");
  return addFleetFlags(command, "folder for the outputs, or s3://BUCKET/PREFIX", "of all workers together")
    .action(async (flags: WorkerFlags) => done(await (await import("./worker.ts")).fleetWorker(flags, context)))
    .addHelpText(
      "after",
      `
Ctrl-C and SIGTERM finish the websites that are being read; a second one stops at once. Passwords come from the environment:
SITEGROVE_QUEUE_PASSWORD.
${exitCodeHelp(["complete", "unexpected", "usage", "interrupted", "terminated"], {
  complete: "nothing is left, or it was stopped and finished what it had started",
  interrupted: "stopped by a second Ctrl-C: the websites being read go back to the queue",
  terminated: "stopped by a second SIGTERM",
})}`,
    );
}

function resultsCommand(context: Context, done: Done): Command {
  const description = "Prints the summary of each finished website, one line of JSON each, in the order of the list.";
  const formats = new Option("-f, --format <format>", "one line of JSON for each website");
  return queueCommand("results", "print the summaries of a run on a queue", "[options]", description)
    .option("--run <name>", "run to print", "default")
    .addOption(formats.choices(["ndjson"]).default("ndjson"))
    .action(async ({ queue, run }: QueueFlags) =>
      done(await (await import("./queue.ts")).queueResults(queue, run, context)),
    );
}

function scheduleCommand(context: Context, done: Done): Command {
  const description =
    "Repeats a run at the interval of --every, while workers are running. Each repetition is a run of its own, named after the first run and\n" +
    "the time; with --archives, it takes unchanged documents from the previous one. Without --every, shows what is scheduled.";
  const keep = "number of repetitions to keep on the queue; the outputs of older ones stay";
  return queueCommand("schedule", "repeat a run on a queue", "--run NAME --every 1d", description)
    .option("--run <name>", "run to repeat", "default")
    .option("--every <time>", "time between two runs: 90s, 30m, 12h, 1d, 1w", interval)
    .option("--keep <n>", keep, wholeNumber(1))
    .option("--stop", "end the schedule")
    .option(...noColor)
    .action(async (flags: ScheduleFlags) => {
      if (flags.stop && flags.every !== undefined) throw new UsageError("use either --every or --stop");
      if (flags.keep !== undefined && flags.every === undefined) throw new UsageError("--keep needs --every");
      done(await (await import("./queue.ts")).scheduleRun(flags, context));
    });
}

function removeCommand(context: Context, done: Done): Command {
  const description =
    "Removes a run from a queue, with its results and its schedule. Its outputs stay, unless --outputs is given.";
  return queueCommand("remove", "remove a run from a queue", "--run NAME [options]", description)
    .requiredOption("--run <name>", "run to remove")
    .option("--outputs", "also remove the files that its results name")
    .option(...noColor)
    .action(async (flags: QueueFlags & { outputs?: true }) =>
      done(await (await import("./queue.ts")).removeRun(flags, context)),
    );
}

function percent(text: string): number {
  const [, number] = /^(\d{1,3}(?:\.\d+)?)%?$/.exec(text) ?? [];
  if (number === undefined || Number(number) > 100) throw new InvalidArgumentError("Expected a share, such as 20%.");
  return Number(number);
}

function interval(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)([smhdw])$/.exec(text) ?? [];
  const time = Number(number) * (unitTimes[unit] ?? 0);
  if (time < 1000) throw new InvalidArgumentError("Expected a time, such as 90s, 30m, 12h, 1d or 1w.");
  return time;
}

const day = 86_400_000;
/** In milliseconds, the shortest first. */
export const unitTimes: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: day, w: 7 * day };
