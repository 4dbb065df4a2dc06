#!/usr/bin/env node
// sitegrove: the command-line program. Standard output carries the result and nothing else; messages go to standard error.
import module from "node:module";
import { setFlagsFromString } from "node:v8";
import { systemReason } from "../model/errors.ts";

// WebAssembly is compiled for speed once it has run for long. undici's HTTP parser would be compiled immediately, which takes 30 MB and
// 80 ms for a few bytes of each response; with this budget, only large websites trigger it, where it is worth it for our XML parser.
setFlagsFromString("--wasm-tiering-budget=1000000000");
// If a collection happens during the first pages, V8 takes all of them for long-lived, and lets 50 MB of them pile up.
setFlagsFromString("--no-allocation-site-pretenuring");
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
