import os from "node:os";
import path from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { SummaryReporter } from "./test/support/summary-reporter.ts";
import { useOwnTemporaryFolder } from "./test/support/temporary-folder.ts";

const fastPath = path.join(import.meta.dirname, "src/parse/fast/token-reader.ts");
const noFastPath = path.join(import.meta.dirname, "test/support/no-fast-path.ts");

// What is tested is on loopback: the proxy of the machine that runs the tests has no part in it.
for (const name of ["http_proxy", "https_proxy", "no_proxy", "all_proxy"]) {
  delete process.env[name];
  delete process.env[name.toUpperCase()];
}

useOwnTemporaryFolder();

// Files share a few processes, because to load the code again takes longer than most of them run. These measure the memory, the time or
// the sockets of theirs: they are the first that it runs.
const measuring = [
  "crawl/volume",
  ...["address-policy", "cancellation", "leaks"].map((name) => `fetch/${name}`),
  ...["kept-strings", "linear-time", "parse-sitemap", "xml-hardening"].map((name) => `parse/${name}`),
  ...["archive", "hostile"].map((name) => `archive/${name}`),
];

// These start processes, wait for time limits, or try many cases: none of them is to run alone at the end.
const long =
  /\/test\/(check\/(folder|rules|sample)|cli|crawl\/(positions|sites|stopping)|docs\/examples|end-to-end|fetch\/(reachability|tls)|fleet|open\/limits|package|report)/;

// Functions are optimized later: most tests end before optimized code is worth the time that it takes to make.
// Later engines have no such flag, and optimize later by themselves.
const engineFlags = process.versions.node.startsWith("20.") ? ["--interrupt-budget=300000"] : [];

// What takes longest begins first. A process goes on with the next file only where that is of the same project.
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = ["all", "no fast path"];
    const within = (file: string) =>
      measuring.some((name) => file.endsWith(`/${name}.test.ts`)) ? 0 : long.test(file) ? 1 : 2;
    const rank = ({ project, moduleId }: TestSpecification) => 3 * projects.indexOf(project.name) + within(moduleId);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    // `npm test -- --reporter=verbose` names every test.
    reporters: [new SummaryReporter()],
    // For what never ends. A machine that does other things may take ten times as long as an idle one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Many tests wait: for sockets, time limits and child processes. More workers than cores keep the cores busy.
    maxWorkers: 2 + os.availableParallelism(),
    execArgv: engineFlags,
    // What runs concurrently waits for time limits, not for the machine.
    maxConcurrency: 20,
    setupFiles: ["test/support/same-environment.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "all", include: ["test/**/*.test.ts"], isolate: false } },
      {
        // Whatever the parser's tests hold must also hold where everything is read by the scanner.
        extends: true,
        test: {
          name: "no fast path",
          isolate: false,
          include: ["test/parse/**/*.test.ts"],
          // Three are about the fast path. The others read no XML, or measure what is in nobody's way here.
          exclude: [
            "test/parse/{fast-path,kept-strings,urls-only}.test.ts",
            "test/parse/{date,entities,linear-time,robots,robots-rules,text,url-collector}.test.ts",
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
