#!/usr/bin/env node
// sitegrove: the command-line program.
//
//   sitegrove ls [WEBSITE|ARCHIVE…] [FLAGS]   list the sitemaps and pages of a website, or of a saved archive
//   sitegrove parse FILE|- [FLAGS]            read a local file or standard input
//   sitegrove diff OLD NEW [FLAGS]            show what changed between two archives, files or websites
//   sitegrove fleet [SITES…] --out DIR        read many websites, and continue after a stop
//   sitegrove completion bash|zsh|fish        print a shell completion script
//   sitegrove help [COMMAND] | version        `sitegrove help ls` describes every flag of it; so does `sitegrove ls --help`
//
// Standard output carries the result and nothing else; messages go to standard error. Exit codes: exit-codes.ts.
import { systemReason } from "../model/system-reason.ts";
import { CompiledCode } from "./compiled-code.ts";

// A pipe that is closed while the help is written is not an error.
process.stdout.on("error", () => {});
const code = new CompiledCode(import.meta.dirname);
try {
  // Loaded here, so that a system without free file handles gets a message instead of a stack trace.
  const { run } = code.load(`./${programScript}`) as typeof import("./program.ts");
  process.exitCode = await run(process.argv.slice(2));
  code.keep();
} catch (error) {
  process.stderr.write(`sitegrove: the program could not be loaded: ${systemReason(error)}\n`);
  process.exitCode = 1;
}
// All output was written. Open handles, such as standard input, must not keep the process alive.
setTimeout(() => process.exit(), 100).unref();

/** The built program.ts, beside this file; put here by the build. */
declare const programScript: string;
