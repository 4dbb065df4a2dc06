import os from "node:os";
import path from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { builtSources } from "./test/support/built-sources.ts";
import { SummaryReporter } from "./test/support/summary-reporter.ts";
import { useOwnTemporaryFolder } from "./test/support/temporary-folder.ts";

const fastPath = path.join(import.meta.dirname, "src/parse/fast/token-reader.ts");
const noFastPath = path.join(import.meta.dirname, "test/support/no-fast-path.ts");

// Tests talk to loopback only, so the machine's proxy plays no part.
for (const name of ["http_proxy", "https_proxy", "no_proxy", "all_proxy"]) {
  delete process.env[name];
  delete process.env[name.toUpperCase()];
}

useOwnTemporaryFolder();

// Tests that need more than Node.js and this clone, start the program as a process, or measure memory and sockets.
const system = [
  "test/{docs,end-to-end,package}/**/*.test.ts",
  "test/cli/{exit-codes,fleet-*,mcp,output-file,save,start,start-up,tables}.test.ts",
  "test/fleet/{bull-queue,s3-bucket}.test.ts",
  "test/{crawl/volume,fetch/leaks,open/limits,parse/kept-strings,parse/linear-time,report/page}.test.ts",
];

// Test files share a few processes, because loading the code again takes longer than most of them run. These measure their process, so they
// run first in it.
const measuring =
  /\/test\/(archive\/(archive|hostile)|crawl\/volume|fetch\/(address-policy|cancellation|leaks)|parse\/(kept-strings|linear-time|parse-sitemap|xml-hardening))\.test/;

// These wait for time limits, start processes, or try many cases. They begin early, so that none of them runs alone at the end.
const long =
  /\/test\/(check\/(folder|rules|sample)|cli|crawl\/(positions|sites|stopping)|docs\/examples|end-to-end|fetch\/(reachability|tls)|fleet|package|report)/;

// Watching needs Vitest's own modules, to see which tests a change concerns.
const plugins = process.argv.includes("run") && process.platform !== "win32" ? [builtSources()] : [];

// The two halves of the project `all`. They exist only if a project is asked for by name, so that `npx vitest run` runs no test twice.
const isProjectNamed = process.argv.some((word) => word.startsWith("--project"));
const parts = [
  { extends: true as const, plugins, test: { name: "unit", include: ["test/**/*.test.ts"], exclude: system } },
  { extends: true as const, plugins, test: { name: "system", include: system } },
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // A process continues with another file only if that is of the same project.
    const within = (file: string) => (measuring.test(file) ? 0 : long.test(file) ? 1 : 2);
    const rank = ({ project, moduleId }: TestSpecification) =>
      (project.name === "no fast path" ? 3 : 0) + within(moduleId);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

// Most tests end before optimized code is worth the time that it takes to compile. Newer engines wait longer by themselves.
const execArgv = process.versions.node.startsWith("20.") ? ["--interrupt-budget=1000000"] : [];

export default defineConfig({
  test: {
    // `npm test -- --reporter=verbose` names every test.
    reporters: [new SummaryReporter()],
    // For what never ends. A busy machine may take ten times as long as an idle one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Many tests wait for sockets, time limits and child processes. More workers than cores keep the cores busy.
    maxWorkers: 3 + os.availableParallelism(),
    // Tests that run concurrently wait for time limits, not for the machine.
    maxConcurrency: 20,
    isolate: false,
    execArgv,
    setupFiles: ["test/support/same-environment.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      // One project, because each has processes and modules of its own: loading the code twice takes as long as hundreds of tests.
      { extends: true, plugins, test: { name: "all", include: ["test/**/*.test.ts"] } },
      ...(isProjectNamed ? parts : []),
      {
        // Whatever the parser's tests prove must also hold if the scanner reads everything.
        extends: true,
        test: {
          name: "no fast path",
          include: ["test/parse/**/*.test.ts"],
          // Three test the fast path itself. The others read no XML, or measure what the fast path does not change.
          exclude: [
            "test/parse/{fast-path,kept-strings,urls-only}.test.ts",
            "test/parse/{date,entities,linear-time,robots,robots-rules,text}.test.ts",
          ],
        },
        plugins: [
          {
            name: "no-fast-path",
            enforce: "pre",
            async resolveId(source, importer) {
              if (!source.endsWith("/token-reader.ts")) return null;
              const resolved = await this.resolve(source, importer, { skipSelf: true });
              return resolved?.id === fastPath ? noFastPath : resolved;
            },
          },
        ],
      },
    ],
  },
});
