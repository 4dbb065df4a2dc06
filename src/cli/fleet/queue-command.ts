// The flags and help of the commands for fleets on several machines. Their implementations are imported when they run.
import { Command, InvalidArgumentError, Option } from "commander";
import type { Context, Done } from "../context.ts";
import { exitCodeHelp, UsageError } from "../exit-codes.ts";
import { seconds, wholeNumber } from "../flags.ts";
import { Messages } from "../output/messages.ts";
import { addConcurrencyFlag, addSiteCrawlFlags, addSiteLimitFlags } from "./flags.ts";
import { fleetFormats } from "./formats.ts";
import { addFleetLogFlags } from "./log.ts";
import type { WorkerFlags } from "./worker.ts";

export const queueText = "queue of several machines: redis://HOST/0, rediss://HOST/0";

export function workerCommand(context: Context, done: Done): Command {
  const command = new Command("worker")
    .summary("read websites from a queue")
    .description(
      "Reads websites from a queue until nothing is left. Any number of workers can run at a time, on any number of machines.\n" +
        "A worker uses the outputs and limits of the run; flags given here override them.",
    )
    .usage("--queue URL [options]");
  command
    .optionsGroup("Queue:")
    .requiredOption("--queue <url>", queueText)
    .option("--run <name>", "run to work on (default: all, in turn)")
    .addOption(
      new Option("--idle <seconds>", "time to wait for more websites when nothing is left")
        .argParser(seconds)
        .default(5),
    )
    .option("--stay", "keep waiting for more websites")
    .addOption(
      new Option("--lease <seconds>", "time after which the websites of a silent worker are given to others")
        .argParser(seconds)
        .default(30),
    );
  command
    .optionsGroup("Output:")
    .option("--out <dir>", "folder for the outputs, or s3://BUCKET/PREFIX")
    .addOption(
      new Option("-f, --format <format>", "format of the files of pages, one file for each website").choices(
        fleetFormats,
      ),
    )
    .option("--archives", "save everything that was received, one WARC archive for each website")
    .option("--check", "write what search engines would say about each website");
  addConcurrencyFlag(command).option(
    "--per-address <n>",
    "requests at a time to one IP address, of all workers together (default: 8)",
    wholeNumber(1),
  );
  addSiteLimitFlags(command);
  addSiteCrawlFlags(command);
  command.optionsGroup("Messages:");
  addFleetLogFlags(command)
    .option("--no-progress", "no table on a terminal, and no line every ten seconds elsewhere")
    .option("--no-color", "no colors on a terminal")
    .action(async (flags: WorkerFlags) => {
      const { fleetWorker } = await import("./worker.ts");
      done(await fleetWorker(flags, context));
    });
  return command.addHelpText(
    "after",
    `
Ctrl-C and SIGTERM finish the websites that are being read; a second one stops at once. Passwords come from the environment:
SITEGROVE_QUEUE_PASSWORD.
${exitCodeHelp(["complete", "unexpected", "usage", "interrupted", "terminated"], {
  complete: "nothing is left, or it was asked to stop and finished what it had started",
  interrupted: "stopped by a second Ctrl-C: the websites being read go back to the queue",
  terminated: "stopped by a second SIGTERM",
})}`,
  );
}

export function resultsCommand(context: Context, done: Done): Command {
  return new Command("results")
    .summary("print the summaries of a run on a queue")
    .description("Prints the summary of each finished website, one line of JSON each, in the order of the list.")
    .usage("--queue URL [options]")
    .requiredOption("--queue <url>", queueText)
    .option("--run <name>", "run to print", "default")
    .addOption(
      new Option("-f, --format <format>", "one line of JSON for each website").choices(["ndjson"]).default("ndjson"),
    )
    .action(async ({ queue, run }: { queue: string; run: string }) => {
      const { queueResults } = await import("./queue.ts");
      done(await queueResults(queue, run, context));
    });
}

export function scheduleCommand(context: Context, done: Done): Command {
  return new Command("schedule")
    .summary("repeat a run on a queue")
    .description(
      "Repeats a run as often as --every says, while workers are running. Each repetition is a run of its own, named after the first run and\n" +
        "the time; with --archives, it takes unchanged documents from the previous one. Without --every, shows what is scheduled.",
    )
    .usage("--queue URL --run NAME --every 1d")
    .requiredOption("--queue <url>", queueText)
    .option("--run <name>", "run to repeat", "default")
    .option("--every <time>", "time between two runs: 90s, 30m, 12h, 1d, 1w", interval)
    .option(
      "--keep <n>",
      "keep so many repetitions on the queue; older ones are removed, their outputs stay",
      wholeNumber(1),
    )
    .option("--stop", "end the schedule")
    .option("--no-color", "no colors on a terminal")
    .action(async (flags: ScheduleFlags) => {
      if (flags.stop && flags.every !== undefined) throw new UsageError("--every or --stop, not both");
      if (flags.keep !== undefined && flags.every === undefined) throw new UsageError("--keep needs --every");
      const { scheduleRun } = await import("./queue.ts");
      const { queue: url, run, every, keep, stop = false } = flags;
      done(await scheduleRun({ url, run, every, keep, stop }, new Messages(flags, context), context));
    });
}

interface ScheduleFlags {
  readonly queue: string;
  readonly run: string;
  readonly every?: number;
  readonly keep?: number;
  readonly stop?: true;
  readonly color: boolean;
}

export function removeCommand(context: Context, done: Done): Command {
  return new Command("remove")
    .summary("remove a run from a queue")
    .description(
      "Removes a run from a queue, with its results and its schedule. Its outputs stay, unless --outputs is given.",
    )
    .usage("--queue URL --run NAME [options]")
    .requiredOption("--queue <url>", queueText)
    .requiredOption("--run <name>", "run to remove")
    .option("--outputs", "also remove the files that its results name")
    .option("--no-color", "no colors on a terminal")
    .action(async (flags: { queue: string; run: string; outputs?: true; color: boolean }) => {
      const { removeRun } = await import("./queue.ts");
      const { queue: url, run, outputs = false } = flags;
      done(await removeRun(url, run, outputs, new Messages(flags, context)));
    });
}

function interval(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)([smhdw])$/.exec(text) ?? [];
  const time = Number(number) * (unitTimes[unit] ?? 0);
  if (time < 1000) throw new InvalidArgumentError("Expected a time, such as 90s, 30m, 12h, 1d or 1w.");
  return time;
}

/** In milliseconds, the shortest first. */
export const unitTimes: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
