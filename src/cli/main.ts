#!/usr/bin/env node
// sitegrove: the command-line program. Standard output carries the result and nothing else; messages go to standard error.
import module from "node:module";
import { systemReason } from "../model/errors.ts";

// Compiling takes a third of the time of a small website. Node.js 22 and newer keep what one run compiled for the next.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();

// A pipe that is closed while the help is written is not an error.
process.stdout.on("error", () => {});
try {
  // Loaded here, so that a system without free file handles gets a message instead of a stack trace.
  const { run } = await import("./program.ts");
  const { discardUnfinished, processContext } = await import("./context.ts");
  const context = processContext();
  process.once("exit", () => discardUnfinished(context));
  process.exitCode = await run(process.argv.slice(2), context);
} catch (error) {
  process.stderr.write(`sitegrove: the program could not be loaded: ${systemReason(error)}\n`);
  process.exitCode = 1;
}
// All output was written. Open handles, such as standard input, must not keep the process alive.
setTimeout(() => process.exit(), 100).unref();
