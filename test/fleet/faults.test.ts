// Many websites, of which some misbehave in one of the ways that fault-server.ts knows: what the healthy ones give is what each gives
// alone, byte for byte. SITEGROVE_FLEET_SITES=10000 for many more.
// Needs more than a second.

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { crawl as crawlEvents } from "../../src/crawl/crawl.ts";
import { JournalQueue } from "../../src/fleet/journal-queue.ts";
import { runFleet } from "../../src/fleet/run-fleet.ts";
import { siteFiles } from "../../src/fleet/site-files.ts";
import type { SiteSummary } from "../../src/fleet/site-job.ts";
import { Store } from "../../src/fleet/store.ts";
import type { Options } from "../../src/model/options.ts";
import { ndjsonWriter } from "../../src/write/pages.ts";
import { index } from "../support/documents.ts";
import { type Fault, faultServer, faults, redirect, status } from "../support/fault-server.ts";
import { some } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { newFolder } from "../support/test-folder.ts";

const count = Number(process.env["SITEGROVE_FLEET_SITES"] ?? some(200, 50));
// The share in percent. Small runs must still have every kind of fault.
const share = count < 100 ? 50 : 30;

// What hangs is what takes the time of this test. Where the machine is so busy that healthy websites run out of time, all of them get more.
const patience = [4000, 16_000, 64_000].slice(count > 1000 ? 1 : 0);
const optionsFor = (patience: number): Options => ({
  retries: 0,
  useHomepage: false,
  knownPaths: "if-needed",
  timeout: { total: 2 * patience, firstByte: patience, idle: patience },
  // What hangs does so in one document: the time limits of a request end it. Healthy websites on a busy machine may take longer.
  limits: { documentBytes: 200_000, time: 20 * patience },
});

const paths = ["/robots.txt", "/index.xml", "/a.xml", "/b.xml"] as const;
function documentOf(at: string, origin: string): string {
  const seed = origin.length + Number(origin.match(/\d+/g)?.join("").slice(-6));
  const urls = (from: number, length: number) =>
    Array.from({ length }, (_, page) => `<url><loc>${origin}/${from + page}?x=${seed}&amp;y=ü</loc></url>`).join("\n");
  switch (at) {
    case "/robots.txt":
      return `Sitemap: ${origin}/index.xml\n`;
    case "/index.xml":
      return index(`${origin}/a.xml`, `${origin}/b.xml`);
    default:
      return `<urlset>${urls(at === "/a.xml" ? 0 : 1000, 1 + (seed % 7))}</urlset>`;
  }
}

// Websites that send endlessly keep the machine busy, so there are fewer of them.
const busy = /endless|flood|extensions|bomb|drip/;
const more: Record<string, (document: string) => Fault> = {
  "status 500": () => status(500),
  "status 403": () => status(403),
  "a loop of redirects": () => redirect("/index.xml"),
  "an HTML page": () => status(200, { "content-type": "text/html" }, "<!doctype html><title>No</title>"),
};

test(`of ${count} websites, ${share}% with faults, the healthy ones give the same output as on their own`, {
  timeout: 600_000 + count * 400,
}, async () => {
  const random = new Random(20240531);
  const all = Object.entries({ ...faults, ...more }) as [string, (document: string) => Fault][];
  const [lively, calm] = [all.filter(([name]) => busy.test(name)), all.filter(([name]) => !busy.test(name))];
  const faulty = new Map<number, { readonly path: string; readonly fault: (document: string) => Fault }>();
  for (let number = 0; number < count; number++) {
    if (random.below(100) >= share) continue;
    // Faults are assigned in turn, so every kind occurs before one is repeated.
    const kinds = random.below(100) < 5 ? lively : calm;
    const [, fault] = kinds[faulty.size % kinds.length]!;
    faulty.set(number, { path: random.pick(paths), fault });
  }
  const answer: Fault = (exchange) => {
    const host = exchange.headers.get("host") ?? "";
    const document = documentOf(exchange.path, `http://${host}`);
    const [, high = 0, middle = 0, low = 0] = host.split(/[.:]/).map(Number);
    const own = faulty.get(((high - 1) * 256 + middle) * 250 + low - 1);
    if (own?.path === exchange.path) return own.fault(document)(exchange);
    return exchange.respond(200, {}, document);
  };
  const addresses = Array.from({ length: count }, (_, number) => {
    const [high, low] = [Math.floor(number / 250), (number % 250) + 1];
    return `127.${1 + Math.floor(high / 256)}.${high % 256}.${low}`;
  });
  const server = await faultServer(Object.fromEntries(paths.map((each) => [each, answer])), { addresses });
  const homepage = (number: number) => `http://${addresses[number]}:${server.port}/`;
  const compare = async (options: Omit<Options, "onEvent">): Promise<string[]> => {
    const out = newFolder();
    const queue = await JournalQueue.open(out);
    const results = new Map<string, SiteSummary>();
    const sites = Array.from({ length: count }, (_, number) => homepage(number));
    const sink = siteFiles({ store: new Store(out), format: "ndjson", archives: false });
    const { results: _, ...counts } = await runFleet({ queue, sites, sink, parallelSites: 96, ...options });
    expect(counts).toEqual({ waiting: 0, active: 0, done: count, failed: 0 });
    for await (const summary of queue.results()) results.set(summary.site, summary);
    expect(results.size).toBe(count);
    const different: string[] = [];
    const alone = async (number: number) => {
      const site = homepage(number);
      const summary = results.get(site);
      const writer = ndjsonWriter();
      let text = writer.header;
      for await (const event of crawlEvents(site, options))
        if (event.type === "pages") text += writer.write({ sitemap: event.url, pages: event.pages });
      const file = summary?.files["pages"];
      const written = file === undefined ? "" : readFileSync(path.join(out, file), "utf8");
      if (summary?.outcome !== "complete" || written !== text || text === "")
        different.push(`${site} ${summary?.outcome} ${JSON.stringify(summary?.reasons)}`);
    };
    const healthy = Array.from({ length: count }, (_, number) => number).filter((number) => !faulty.has(number));
    expect(healthy.length).toBeGreaterThan(count / 3);
    for (let from = 0; from < healthy.length; from += 16) await Promise.all(healthy.slice(from, from + 16).map(alone));
    await queue.close();
    return different;
  };
  try {
    let different: string[] = [];
    for (const time of patience) {
      different = await compare(optionsFor(time));
      if (different.length === 0) break;
    }
    expect(different).toEqual([]);
  } finally {
    await server.close();
  }
});
