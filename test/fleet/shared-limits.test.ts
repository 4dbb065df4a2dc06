// What the websites of a fleet share: limits by host and by address, and one resolver. Names lead to servers on loopback.
// Needs more than a second.

import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "vitest";
import type { FleetOptions } from "../../src/fleet/fleet-options.ts";
import { JournalQueue } from "../../src/fleet/journal-queue.ts";
import { runFleet } from "../../src/fleet/run-fleet.ts";
import { urlset } from "../support/documents.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { type NameServer, nameServer, type Zone } from "../support/name-server.ts";
import { newFolder } from "../support/test-folder.ts";

let names: NameServer | undefined;
let server: Server | undefined;
afterEach(async () => {
  server?.close();
  server?.closeAllConnections();
  await names?.close();
  names = undefined;
});

interface Asked {
  readonly host: string;
  readonly at: number;
}

const addresses = [
  ...["127.0.3.1", "127.0.3.2", "127.0.3.4", "127.0.3.9", "127.0.5.1", "127.0.6.1"],
  ...Array.from({ length: 12 }, (_, at) => `127.0.4.${at + 1}`),
];

/** Counts requests in progress, by host and by kind of host. */
async function serve(latency: number, answer: (host: string, url: string) => string | number | undefined) {
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const asked: Asked[] = [];
  server = createServer((request, response) => {
    const host = (request.headers.host ?? "").replace(/:\d+$/, "");
    asked.push({ host, at: performance.now() });
    const keys = new Set([host, host.replace(/-\d+\.example$/, "")]);
    for (const key of keys) {
      running.set(key, (running.get(key) ?? 0) + 1);
      most.set(key, Math.max(most.get(key) ?? 0, running.get(key) ?? 0));
    }
    const body = answer(host, request.url ?? "");
    if (body === undefined) return;
    setTimeout(() => {
      // Counts down before the response is sent, so that the next request cannot come first.
      for (const key of keys) running.set(key, (running.get(key) ?? 1) - 1);
      if (typeof body === "string") response.end(body);
      else response.writeHead(body, body === 429 ? { "retry-after": "1" } : {}).end();
    }, latency);
  });
  return { port: await listenOnLoopback(server, addresses), most, asked };
}

const small = (port: number) => (host: string, url: string) => {
  if (url === "/robots.txt") return `Sitemap: http://${host}:${port}/sitemap.xml\n`;
  return url === "/sitemap.xml" ? urlset(`http://${host}:${port}/1`) : 404;
};

async function run(sites: readonly string[], options: Omit<FleetOptions, "queue" | "sites"> = {}): Promise<string[]> {
  const queue = await JournalQueue.open(newFolder());
  const done: string[] = [];
  const crawl = { retries: 0, useHomepage: false, network: "allow-private" } as const;
  const onEvent: FleetOptions["onEvent"] = (event) => {
    if (event.type === "site-done") done.push(`${event.summary.outcome} ${new URL(event.summary.site).hostname}`);
    options.onEvent?.(event);
  };
  try {
    await runFleet({ parallelSites: 64, ...crawl, ...options, queue, sites, onEvent });
  } finally {
    await queue.close();
  }
  return done;
}

const hosts = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}.example`);
const zonesOf = (list: readonly string[], zone: Zone) => Object.fromEntries(list.map((name) => [name, zone]));

test("hosts at one IP address share its limit, in whatever order DNS lists the addresses", async () => {
  const [shops, others] = [hosts("shop", 30), hosts("other", 4)];
  names = await nameServer({
    ...zonesOf(shops, { addresses: ["127.0.3.1", "127.0.3.2"] }),
    ...zonesOf(shops.slice(15), { addresses: ["127.0.3.2", "127.0.3.1"] }),
    ...zonesOf(others, { addresses: ["127.0.3.9"] }),
  });
  let port = 0;
  const website = await serve(15, (host, url) => small(port)(host, url));
  port = website.port;
  const done = await run([...shops, ...others].map((host) => `http://${host}:${port}/`));
  expect(done).toHaveLength(34);
  expect(done.every((line) => line.startsWith("complete"))).toBe(true);
  // The default is eight.
  expect(website.most.get("shop")).toBeLessThanOrEqual(8);
  expect(website.most.get("shop")).toBeGreaterThan(4);
  // Each name is resolved once.
  expect(names.asked.filter((query) => query === "A shop-3.example")).toHaveLength(1);
});

test("the limit per IP address can be set", async () => {
  let port = 0;
  const website = await serve(10, (host, url) => small(port)(host, url));
  port = website.port;
  names = await nameServer(zonesOf(hosts("few", 12), { addresses: ["127.0.3.4"] }));
  await run(
    hosts("few", 12).map((host) => `http://${host}:${port}/`),
    { perAddress: 2 },
  );
  expect(website.most.get("few")).toBe(2);
});

test("a host used by many websites has one limit and one pause for all of them", async () => {
  const shops = hosts("blog", 12);
  names = await nameServer({
    ...Object.fromEntries(shops.map((shop, at) => [shop, { addresses: [`127.0.4.${at + 1}`] }])),
    "cdn.example": { addresses: ["127.0.5.1"] },
  });
  let port = 0;
  let refusals = 0;
  let refusedAt = 0;
  const website = await serve(15, (host, url) => {
    if (url === "/robots.txt") return `Sitemap: http://cdn.example:${port}/${host}.xml\n`;
    if (host !== "cdn.example") return 404;
    refusals += 1;
    if (refusals !== 6) return urlset(`http://${url.slice(1, -4)}/`);
    refusedAt = performance.now();
    return 429;
  });
  port = website.port;
  const done = await run(
    shops.map((host) => `http://${host}:${port}/`),
    { retries: 2, concurrency: { perHost: 2, total: 10 } },
  );
  expect(done.filter((line) => line.startsWith("complete"))).toHaveLength(12);
  expect(website.most.get("cdn.example")).toBe(2);
  // One or two requests that were already in progress may still arrive, but no new ones start.
  const during = website.asked.filter(
    ({ host, at }) => host === "cdn.example" && at > refusedAt && at < refusedAt + 900,
  );
  expect(during.length).toBeLessThanOrEqual(3);
});

const dead = Number(process.env["SITEGROVE_DEAD_NAMES"] ?? 20);
const silent = Number(process.env["SITEGROVE_SILENT_HOSTS"] ?? 10);
test(`${dead} dead names and ${silent} silent hosts in progress delay no healthy website`, async () => {
  const attempts = 4;
  const healthy = hosts("fine", 25);
  const deadNames = hosts("dead", dead * attempts);
  names = await nameServer({
    ...zonesOf(deadNames, { silent: true }),
    ...zonesOf(hosts("silent", silent), { addresses: ["127.0.6.1"] }),
    ...zonesOf(healthy, { addresses: ["127.0.6.2"] }),
  });
  let port = 0;
  const website = await serve(10, (host, url) => (host.startsWith("silent") ? undefined : small(port)(host, url)));
  port = website.port;
  /** The websites that have ended, in order. */
  const read = async (list: readonly string[]): Promise<string[]> => {
    const enough = new AbortController();
    const ended: string[] = [];
    const onEvent: FleetOptions["onEvent"] = (event) => {
      if (event.type === "site-done") ended.push(event.summary.site);
      if (ended.filter((site) => site.includes("fine-")).length === healthy.length) enough.abort(new Error("enough"));
    };
    const urls = list.map((host) => `http://${host}:${port}/`);
    const ending = run(urls, { parallelSites: dead + silent + 4, signal: enough.signal, onEvent });
    await expect(ending).rejects.toThrow("enough");
    return ended;
  };
  // A name that nobody answers for is given up after seven seconds, in which a machine that is busy may read no website. Waited for in turn,
  // they would be first every time.
  let ended: readonly string[] = [];
  for (let attempt = 0; attempt < attempts && ended[0]?.includes("fine-") !== true; attempt++) {
    const others = deadNames.slice(attempt * dead, (attempt + 1) * dead);
    ended = await read([...others, ...hosts("silent", silent), ...healthy]);
  }
  expect(ended[0]).toContain("fine-");
  expect(website.asked.filter(({ host }) => host.startsWith("silent")).length).toBeGreaterThan(0);
});
