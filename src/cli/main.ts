#!/usr/bin/env node
// sitegrove: the command-line program.
//
//   sitegrove ls [WEBSITE|ARCHIVE] [FLAGS]    the sitemaps and pages of a website, or of an archive that was saved
//   sitegrove parse FILE|- [FLAGS]            one sitemap that is at hand
//   sitegrove completion bash|zsh|fish        a script that completes commands and flags
//   sitegrove --help | --version              `sitegrove ls --help` describes every flag
//
// Standard output carries the result and nothing else; everything said to the person goes to standard error.
//
// Exit codes:
//   0    complete; also when the reader of the output went away early (`| head`)
//   1    something unexpected: the disk is full, or a fault in the program
//   2    the command line is wrong: an unknown flag, a bad value, a file that is missing or is in the way
//   3    finished, but something that was declared could not be fully read; standard error names it
//   4    no sitemap was found, or (parse) the file is none
//   130  stopped by Ctrl-C (143: by SIGTERM); what was written is valid up to there
import { systemReason } from "../system-reason.ts";

// A reader of the help that goes away is no fault either.
process.stdout.on("error", () => {});
try {
  // Loaded here, so that a machine with too few open files gets a sentence instead of a stack.
  const { run } = await import("./program.ts");
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`sitegrove: the program could not be loaded: ${systemReason(error)}\n`);
  process.exitCode = 1;
}
// Everything was written. Whatever might still be open, such as standard input, must not keep the program alive.
setTimeout(() => process.exit(), 100).unref();
