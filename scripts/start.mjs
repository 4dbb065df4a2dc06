// npm start -- ARGUMENTS: prepares the clone and runs the program, passing on its exit code and signals.
// `npm start` alone shows the program at work without a network, on a small website that this script serves on loopback.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { prepare } from "./prepare.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const words = process.argv.slice(2);

prepare();
if (words.length > 0) {
  await run(words);
} else {
  const { serveExample } = await import("./example-site.mjs");
  const { homepage, close } = await serveExample();
  process.stderr.write(
    `An example website, with errors as on real ones, is at ${homepage}. This lists it:\n` +
      `  sitegrove ls ${homepage}\n\n`,
  );
  const exitCode = await run(["ls", homepage], { NO_PROXY: "127.0.0.1" });
  const report = path.join(mkdtempSync(path.join(tmpdir(), "sitegrove-example-")), "report.html");
  process.stderr.write(
    `\nThe exit code was ${exitCode}, because one sitemap is cut off and one is missing.\n\n` +
      `This writes a report about it:\n  sitegrove report ${homepage} -o report.html\n\n`,
  );
  await run(["report", homepage, "-o", report], { NO_PROXY: "127.0.0.1" });
  process.stderr.write(
    `\nOpen the report in your browser: ${report}\n\n` +
      "Try it on your own website:  npm start --silent -- ls https://example.org/ --format pages\n" +
      "Everything it can do:        npm start --silent -- --help\n",
  );
  close();
  // The example website is broken on purpose, so exit code 3 (incomplete) is a success.
  if (exitCode === 3) process.exitCode = 0;
}

// Runs the program. Resolves to its exit code, and makes it our own.
function run(args, environment = {}) {
  const child = spawn(process.execPath, [path.join(root, "dist/cli/main.js"), ...args], {
    // Users write paths relative to the folder in which they called npm.
    cwd: process.env.INIT_CWD ?? process.cwd(),
    stdio: "inherit",
    env: { ...process.env, ...environment },
  });
  // A terminal sends Ctrl-C to the program, too, which decides how to end.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      process.exitCode = code ?? (signal === "SIGINT" ? 130 : 143);
      resolve(process.exitCode);
    });
  });
}
