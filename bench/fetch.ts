// Fetching beside bare undici: requests per second and CPU time for each request, against a server on this machine in a
// process of its own. A small document may take three times the CPU time of bare undici: its address is judged, its times
// are limited, its headers kept, and its connection watched. A large one may take a quarter more.
//   node --import tsx bench/fetch.ts [--requests N] [--rounds N]
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Agent } from "undici";
import { bundle } from "../scripts/bundle.mjs";

const concurrency = 16;
const { createFetcher, resolveOptions } = await built();

// Built as the package is: running the sources adds the cost of the tool that runs them. Below node_modules, where packages are found.
async function built() {
  const folder = mkdtempSync(path.join(import.meta.dirname, "../node_modules/.fetch-bench-"));
  try {
    await bundle(["fetch/fetcher", "model/options"], folder);
    const load = (name: string) => import(path.join(folder, `${name}.js`));
    const { createFetcher } = (await load("fetch/fetcher")) as typeof import("../src/fetch/fetcher.ts");
    const { resolveOptions } = (await load("model/options")) as typeof import("../src/model/options.ts");
    return { createFetcher, resolveOptions };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What one way of fetching takes. */
export interface FetchMeasure {
  readonly perSecond: number;
  /** Of this process, in microseconds for each request. */
  readonly cpu: number;
}

type Way = (url: string, requests: number) => Promise<FetchMeasure>;

const ways: Readonly<Record<string, Way>> = {
  async "bare undici"(url, requests) {
    const { origin, pathname } = new URL(url);
    const agent = new Agent({ connections: concurrency, pipelining: 1 });
    const headers = { "user-agent": "bench", accept: "*/*", "accept-encoding": "gzip, deflate, br" };
    const measured = await measure(requests, async () => {
      const { body } = await agent.request({ origin, path: pathname, method: "GET", headers });
      let bytes = 0;
      for await (const piece of body) bytes += (piece as Uint8Array).length;
      return bytes;
    });
    await agent.close();
    return measured;
  },
  async sitegrove(url, requests) {
    const settings = resolveOptions({ concurrency: { perHost: concurrency, total: concurrency } });
    const fetcher = createFetcher({ settings, start: [url], onEvent: () => {} });
    const measured = await measure(requests, async () => {
      const fetched = await fetcher.fetch({ url, role: "sitemap" });
      if (fetched.outcome !== "found") throw new Error(fetched.outcome);
      let bytes = 0;
      for await (const piece of fetched.body) bytes += piece.length;
      return bytes;
    });
    await fetcher.close();
    return measured;
  },
};

async function measure(requests: number, one: () => Promise<number>): Promise<FetchMeasure> {
  let left = 0;
  const run = async (count: number) => {
    left = count;
    const worker = async () => {
      while (left-- > 0) if ((await one()) === 0) throw new Error("empty");
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  };
  await run(Math.ceil(requests / 5));
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  await run(requests);
  const seconds = (performance.now() - before) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { perSecond: requests / seconds, cpu: (user + system) / requests };
}

function serve(): void {
  const small = Buffer.alloc(2_000, "x");
  const large = Buffer.alloc(1_000_000, "x");
  const server = createServer((request, response) => {
    const body = request.url === "/large" ? large : small;
    response.writeHead(200, { "content-type": "application/xml", "content-length": body.length }).end(body);
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
  process.once("disconnect", () => process.exit());
}

/** Measures and prints; tells whether the bar was met. */
export async function benchFetch({ requests = 10_000, rounds = 5 } = {}): Promise<boolean> {
  const server = fork(fileURLToPath(import.meta.url), ["serve"], { execArgv: ["--import", "tsx"] });
  const [port] = (await once(server, "message")) as [number];
  let isMet = true;
  console.log("\nFetching: requests to a server on this machine, sixteen at a time; the median of all rounds\n");
  for (const { name, share, most } of [
    { name: "small", share: 1, most: 3 },
    { name: "large", share: 0.1, most: 1.25 },
  ]) {
    const results = new Map(Object.keys(ways).map((way) => [way, [] as FetchMeasure[]]));
    for (let round = 0; round < rounds; round++) {
      for (const [way, run] of Object.entries(ways)) {
        results.get(way)?.push(await run(`http://127.0.0.1:${port}/${name}`, requests * share));
      }
    }
    const middle = (way: string, field: keyof FetchMeasure) =>
      median((results.get(way) ?? []).map((each) => each[field]));
    for (const way of results.keys()) {
      const [perSecond, cpu] = [middle(way, "perSecond"), middle(way, "cpu")];
      console.log(
        `${name} documents, ${way.padEnd(12)}${perSecond.toFixed(0).padStart(8)} a second${cpu.toFixed(1).padStart(9)} µs CPU each`,
      );
    }
    const ratio = middle("sitegrove", "cpu") / middle("bare undici", "cpu");
    isMet &&= ratio <= most;
    const verdict = ratio <= most ? "met" : "NOT MET";
    console.log(`${name} documents, CPU time beside bare undici: ${ratio.toFixed(2)} (at most ${most}: ${verdict})`);
  }
  server.disconnect();
  return isMet;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

if (process.argv[2] === "serve" && process.send !== undefined) {
  serve();
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { requests: { type: "string" }, rounds: { type: "string" } } });
  const { requests = "10000", rounds = "5" } = values;
  if (!(await benchFetch({ requests: Number(requests), rounds: Number(rounds) }))) process.exitCode = 1;
}
