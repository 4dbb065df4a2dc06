// The flags that choose pages and their columns, shared by several commands.
import { type Command, Option } from "commander";
import { explodedLists } from "../write/csv.ts";
import { collected, separator, wholeNumber } from "./flag-values.ts";
import { explodeInWords } from "./formats.ts";

export function addPatternFlags(command: Command): Command {
  return command
    .option("--include <pattern>", "only pages whose URL matches (repeatable)", collected)
    .option("--exclude <pattern>", "no pages whose URL matches (repeatable)", collected);
}

/** `unique`: what --unique does. */
export function addPageFlags(command: Command, unique: string): Command {
  return addPatternFlags(command)
    .option("--since <date>", "only pages modified since then: 2024-05-31, 36h, 7d, 2w")
    .option("--unique", unique)
    .option("--limit <n>", "stop after this many pages", wholeNumber(0))
    .option("--columns <names>", "columns of the table, such as url,news.title, or all of them: all (csv)")
    .addOption(new Option("--explode <list>", explodeInWords).choices(explodedLists))
    .option("--separator <character>", "between cells: a comma, ';' or tab (csv)", separator)
    .option("--excel", "start with a byte order mark, which Excel needs to recognize UTF-8 (csv)");
}
