// The flags about standard error, the same for every command that crawls.
import type { Command } from "commander";
import { raised } from "./flag-values.ts";

export function addMessageFlags(command: Command): Command {
  return command
    .optionsGroup("Messages:")
    .option("-v, --verbose", "log sitemaps, problems and retries, one event per line; -vv logs everything", raised)
    .option("-l, --log-file <file>", "append the log to FILE")
    .option("--no-progress", "no progress line on a terminal")
    .option("--no-color", "no colors on a terminal");
}
