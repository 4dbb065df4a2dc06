#!/usr/bin/env node
// sitegrove: the command-line program. Standard output carries the result and nothing else; messages go to standard error.
import module from "node:module";
import { systemReason } from "../model/errors.ts";

// Compiling our code takes a third of the time that a small website needs. Node.js 22.1 and newer can keep compiled code for the next run.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();

// A reader may close the pipe while the help is written. That is not an error.
process.stdout.on("error", () => {});
try {
  // Imports inside the `try`, so that a system without free file handles gets a message instead of a stack trace.
  const { run } = await import("./program.ts");
  const { discardUnfinished, processContext } = await import("./context.ts");
  const context = processContext();
  process.once("exit", () => discardUnfinished(context));
  process.exitCode = await run(process.argv.slice(2), context);
} catch (error) {
  process.stderr.write(`sitegrove: the program could not be loaded: ${systemReason(error)}\n`);
  process.exitCode = 1;
}
// The program is done, so open handles, such as standard input, must not keep the process alive.
setTimeout(() => process.exit(), 100).unref();
