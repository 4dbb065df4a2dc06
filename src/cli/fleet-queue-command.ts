// The flags of the commands of a fleet on several machines, in words. What they do is loaded when it is needed.
import { Command, Option } from "commander";
import { addCrawlFlags } from "./crawl-flags.ts";
import { exitCodeHelp } from "./exit-codes.ts";
import { byteCount, raised, seconds, wholeNumber } from "./flag-values.ts";
import { fleetFormats, networkFlags } from "./fleet-formats.ts";
import type { WorkerFlags } from "./fleet-worker.ts";

export const queueText =
  "queue of several machines: redis://HOST/0, rediss://HOST/0, postgres://HOST/DATABASE (experimental)";

export function workerCommand(done: (exitCode: number) => void): Command {
  const command = new Command("worker")
    .summary("read websites from a queue")
    .description(
      "Takes websites from a queue and reads them, until nothing is left. As many workers as you like, on as many machines.\n" +
        "What the run was filled with counts (outputs, limits); flags given here count more.",
    )
    .usage("--queue URL [options]");
  command
    .optionsGroup("Queue:")
    .requiredOption("--queue <url>", queueText)
    .option("--run <name>", "run to work on (default: all, in turn)")
    .addOption(
      new Option("--idle <seconds>", "time to wait for more when nothing is left").argParser(seconds).default(5),
    )
    .option("--stay", "wait for more without end")
    .addOption(
      new Option("--lease <seconds>", "time after which others get the websites of a worker that is silent")
        .argParser(seconds)
        .default(30),
    );
  command
    .optionsGroup("Output:")
    .option("--out <dir>", "folder for the outputs, or s3://BUCKET/PREFIX")
    .addOption(new Option("-f, --format <format>", "files of pages, one for each website").choices(fleetFormats))
    .option("--archives", "save everything that was received, one WARC archive for each website")
    .option("--check", "write what search engines would say about each website");
  command
    .optionsGroup("Pace:")
    .option("--concurrency <n>", "websites read at a time (default: by memory and cores, 16 to 128)", wholeNumber(1))
    .option(
      "--per-address <n>",
      "requests at a time to one IP address, of all workers together (default: 8)",
      wholeNumber(1),
    )
    .option("--max-pages <n>", "maximum number of pages of one website (default: none)", wholeNumber(0))
    .option(
      "--max-traffic <n>",
      "maximum number of bytes of one website, as transferred: 64k, 50M (default: none)",
      byteCount,
    );
  addCrawlFlags(command, "Limits");
  command.optionsGroup("Discovery:");
  addCrawlFlags(command, "Discovery");
  command.optionsGroup("Parsing:");
  addCrawlFlags(command, "Parsing");
  command.optionsGroup("Network:");
  addCrawlFlags(command, "Network", networkFlags);
  command
    .optionsGroup("Messages:")
    .option("-v, --verbose", "a line for each website", raised)
    .option("--no-progress", "no table on a terminal, and no line every ten seconds elsewhere")
    .option("--no-color", "no colors on a terminal")
    .action(async (flags: WorkerFlags) => {
      const { fleetWorker } = await import("./fleet-worker.ts");
      done(await fleetWorker(flags));
    });
  return command.addHelpText(
    "after",
    `
Ctrl-C and SIGTERM finish the websites that are being read; a second one stops at once. Passwords come from the environment:
SITEGROVE_QUEUE_PASSWORD.
${exitCodeHelp(["complete", "unexpected", "usage", "interrupted", "terminated"], {
  complete: "nothing is left, or asked to end and everything begun was finished",
  interrupted: "stopped by a second Ctrl-C: what was being read goes back",
  terminated: "stopped by a second SIGTERM",
})}`,
  );
}

export function resultsCommand(done: (exitCode: number) => void): Command {
  return new Command("results")
    .summary("print the summaries of a run on a queue")
    .description("Prints what became of each website that is done, one line of JSON each, in the order of the list.")
    .usage("--queue URL [options]")
    .requiredOption("--queue <url>", queueText)
    .option("--run <name>", "run to print", "default")
    .addOption(
      new Option("-f, --format <format>", "one line of JSON for each website").choices(["ndjson"]).default("ndjson"),
    )
    .action(async ({ queue, run }: { queue: string; run: string }) => {
      const { queueResults } = await import("./fleet-queue.ts");
      done(await queueResults(queue, run));
    });
}
