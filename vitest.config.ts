import os from "node:os";
import path from "node:path";
import { defineConfig } from "vitest/config";

const fastPath = path.join(import.meta.dirname, "src/parse/fast/create-fast-path.ts");
const noFastPath = path.join(import.meta.dirname, "test/support/no-fast-path.ts");

// What is tested is on loopback: the proxy of the machine that runs the tests has no part in it.
for (const name of ["http_proxy", "https_proxy", "no_proxy", "all_proxy"]) {
  delete process.env[name];
  delete process.env[name.toUpperCase()];
}

export default defineConfig({
  test: {
    // A line of dots and a summary; failures in full. `npm test -- --reporter=verbose` names every test.
    reporters: ["dot"],
    // For what never ends. A machine that does other things may take ten times as long as an idle one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Most tests wait: for sockets, timers and child processes. Twice as many workers as cores keep the cores busy.
    maxWorkers: 2 * os.availableParallelism(),
    // Real processes, sockets and signals on a machine that others use: where it decides what lands, a test may try again.
    retry: process.env["CI"] === undefined ? 0 : 2,
    // What runs concurrently waits for time limits, not for the machine.
    maxConcurrency: 20,
    projects: [
      { extends: true, test: { name: "all", include: ["test/**/*.test.ts"] } },
      {
        // Whatever the parser's tests hold must also hold where everything is read by the scanner.
        extends: true,
        test: {
          name: "no fast path",
          include: ["test/parse/**/*.test.ts"],
          // Two are about the fast path. The others read no XML, or measure what is in nobody's way here.
          exclude: [
            "test/parse/{fast-path,kept-strings}.test.ts",
            "test/parse/{date,entities,linear-time,robots,robots-rules,text,url-collector}.test.ts",
          ],
        },
        plugins: [
          {
            name: "no-fast-path",
            enforce: "pre",
            async resolveId(source, importer) {
              if (!source.endsWith("/create-fast-path.ts")) return null;
              const resolved = await this.resolve(source, importer, { skipSelf: true });
              return resolved?.id === fastPath ? noFastPath : resolved;
            },
          },
        ],
      },
    ],
  },
});
