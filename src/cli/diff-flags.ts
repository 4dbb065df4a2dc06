// The flags about the result of a comparison, shared by `diff` and `fleet diff`.
import { type Command, Option } from "commander";
import { changeKinds, ignorable } from "../model/change.ts";
import { diffFormats } from "./diff-formats.ts";
import { collected } from "./flag-values.ts";
import { addPatternFlags } from "./page-flags.ts";

export function addDiffFlags(command: Command): Command {
  command
    .addOption(
      new Option("-f, --format <format>", "a summary, data, URLs, or a feed of new pages (rss)")
        .choices(diffFormats)
        .default("summary"),
    )
    .option("-o, --output <file>", "file to write the result to, whole or not at all; an existing one needs --force")
    .option("--force", "let --output replace a file")
    .option("--only <kinds>", `kinds of changes to show: ${changeKinds.join(", ")} (repeatable)`, collected)
    .option(
      "--ignore <fields>",
      `fields that do not count as a change: ${ignorable.join(", ")} (repeatable)`,
      collected,
    );
  return addPatternFlags(command).option("--exit-code", "exit with 6 if there are differences");
}
