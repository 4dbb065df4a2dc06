// Thousands of requests of every kind leave nothing behind: no socket, no timer, no file, no memory.
import { existsSync, readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Fetcher } from "../../src/fetch/fetcher.ts";
import { resolveOptions } from "../../src/model/options.ts";
import { selfSigned } from "../support/certificates.ts";
import { type Fault, type FaultServer, faultServer, faults, redirect, status, whole } from "../support/fault-server.ts";
import { pause, tenPages, until } from "../support/fetching.ts";
import { some } from "../support/long.ts";

// SITEGROVE_REQUESTS=10000 sends ten thousand.
const { SITEGROVE_REQUESTS: asked = some(2000, 600) } = process.env;
const count = Number(asked);
// Anything that each request kept would add up to more than this. The engine's own memory varies by half a megabyte.
const mostGrown = count * 800 + 500_000;

const paths: Record<string, Fault | string> = {
  "/whole": tenPages,
  "/again": tenPages,
  "/large": whole("x".repeat(300_000)),
  "/empty": "",
  "/gone": status(410),
  "/busy": status(503),
  "/forbidden": status(403),
  "/moved": redirect("/whole"),
  "/away": redirect("http://169.254.169.254/"),
  "/loop": redirect("/loop"),
  "/endless": faults["endless body"](tenPages),
  "/short": faults["length too long"](tenPages),
  "/reset": faults["reset before headers"](),
  "/reset-in-body": faults["reset in body"](tenPages),
  "/bad": faults["bad chunk size"](tenPages),
  "/not-http": faults["not http"](),
  "/flood": faults["flood of 103"](),
  "/silence": faults.silence(),
  "/stall": faults["stall in body"](tenPages),
  "/closing": ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${tenPages}`),
};

test(`${count} mixed requests leave nothing behind`, async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const server = await faultServer(paths);
  const secure = await faultServer(paths, { tls: selfSigned({ names: ["127.0.0.1"] }) });
  // The first round loads everything that is loaded once, and warms up the engine.
  await run(some(800, 300), server, secure);
  const before = await state();
  const outcomes = await run(count, server, secure);
  let after = await state();
  // On a busy machine something may be closed or collected seconds later, and something of the first round may still have been open.
  for (let round = 0; round < 100 && !isClean(); round++) after = await state();

  expect([...outcomes.keys()].sort()).toEqual(["aborted", "absent", "blocked", "failed", "found", "redirect"]);
  expect(before.resources).toEqual(expect.arrayContaining(after.resources));
  expect(after.resources.length).toBeLessThanOrEqual(before.resources.length);
  expect(after.files).toBeLessThanOrEqual(before.files);
  expect(after.heap - before.heap).toBeLessThan(mostGrown);
  await server.close();
  await secure.close();

  function isClean() {
    const isClosed = after.resources.every((name) => before.resources.includes(name));
    const isFewer = after.resources.length <= before.resources.length && after.files <= before.files;
    return isClosed && isFewer && after.heap - before.heap < mostGrown;
  }

  async function state() {
    // Sockets close, and what they held is collected, a little later.
    await until(() => server.open + secure.open === 0);
    for (const { requests } of [server, secure]) requests.length = 0;
    for (let round = 0; round < 3; round++) {
      await pause(20);
      collect();
    }
    const resources = process.getActiveResourcesInfo().filter((name) => /^T(CP|LS)|Timeout|FSReq|GetAddr/.test(name));
    const files = existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0;
    return { resources: resources.sort(), files, heap: process.memoryUsage().heapUsed };
  }
});

async function run(requests: number, server: FaultServer, secure: FaultServer): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>();
  const settings = resolveOptions({
    concurrency: 40,
    retries: 1,
    timeout: { connect: 5000, firstByte: 400, idle: 400, total: 5000 },
    limits: { documentBytes: 200_000 },
  });
  const fetcher = new Fetcher({ settings, start: [server.origin, secure.origin] }, { backoff: { base: 1 } });
  const names = Object.keys(paths);
  const one = async (at: number) => {
    // Faults that stall take time, so they get only every eighth turn.
    let path = names[at % names.length] ?? "";
    if (/silence|stall/.test(path) && at % (8 * names.length) >= names.length) path = "/whole";
    const { origin } = at % 23 === 0 ? secure : server;
    const controller = new AbortController();
    if (at % 17 === 0) setTimeout(() => controller.abort(), at % 5);
    try {
      const fetched = await fetcher.fetch({ url: origin + path, role: "sitemap", signal: controller.signal });
      if (fetched.outcome === "found") {
        for await (const _ of fetched.body) if (at % 3 === 0) break;
      }
      outcomes.set(fetched.outcome, (outcomes.get(fetched.outcome) ?? 0) + 1);
    } catch {
      outcomes.set("aborted", (outcomes.get("aborted") ?? 0) + 1);
    }
  };
  // A host that has responded once is not abandoned so soon.
  for (const { origin } of [server, secure]) {
    await Promise.all(Array.from({ length: 4 }, () => fetcher.fetch({ url: `${origin}/gone`, role: "sitemap" })));
  }
  let next = 0;
  const worker = async () => {
    while (next < requests) await one(next++);
  };
  await Promise.all(Array.from({ length: 60 }, worker));
  await fetcher.close();
  return outcomes;
}
