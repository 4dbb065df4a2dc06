// A host that asks for a pause gets it, whoever was told.
import { describe, expect, test } from "vitest";
import type { Fault } from "../support/fault-server.ts";
import { pause, type TestFetcher, tenPages, testFetcher, testServer } from "../support/fetching.ts";

const paths = Array.from({ length: 200 }, (_, at) => `/${at}`);

async function startServer(fault: Fault) {
  return testServer(Object.fromEntries(paths.map((path) => [path, fault])));
}

async function readAll(fetcher: TestFetcher, origin: string, count = paths.length) {
  return Promise.all(paths.slice(0, count).map((path) => fetcher.read(origin + path)));
}

describe("a pause that is too long to wait for", () => {
  test.each([
    [429, "3600", "blocked"],
    [503, "3600", "failed"],
    [429, new Date(Date.now() + 3_600_000).toUTCString(), "blocked"],
    [500, "86400", "failed"],
    [429, "9".repeat(400), "blocked"],
    [503, "Fri, 31 Dec 2999 23:59:59 GMT", "failed"],
    [429, "61", "blocked"],
  ])("%i with Retry-After: %s ends all requests to the host", async (status, value, outcome) => {
    const server = await startServer((exchange) => exchange.respond(status, { "retry-after": value }));
    const reads = await readAll(testFetcher({ start: server.origin, retries: 3 }), server.origin);
    // Those that were under way at the same time.
    expect(server.requests.length).toBeLessThanOrEqual(4);
    expect(new Set(reads.map(({ result }) => result))).toEqual(new Set([`${outcome} rate-limited`]));
    const asked = reads.filter(({ fetched }) => fetched.attempts > 0);
    expect(asked).toHaveLength(server.requests.length);
    for (const { fetched } of reads) {
      const { reason } = fetched as { reason: { retryAfter: string } };
      expect(Date.parse(reason.retryAfter)).toBeGreaterThan(Date.now() + 55_000);
    }
  });

  test("other hosts go on", async () => {
    const busy = await startServer((exchange) => exchange.respond(429, { "retry-after": "3600" }));
    const other = await testServer({ "/a": tenPages }, { host: "127.0.0.2" });
    const fetcher = testFetcher({ network: "allow-private" });
    await readAll(fetcher, busy.origin, 10);
    expect((await fetcher.read(`${other.origin}/a`)).text).toBe(tenPages);
  });
});

test("a pause that can be waited for is kept by everybody, also where the document that was told is not tried again", async () => {
  const times: number[] = [];
  const server = await startServer((exchange) => {
    times.push(performance.now());
    if (times.length <= 4) exchange.respond(429, { "retry-after": "1" });
    else exchange.respond(200, {}, tenPages);
  });
  const reads = await readAll(testFetcher({ start: server.origin, retries: 0 }), server.origin, 20);
  expect(reads.filter(({ result }) => result === "found").length).toBeGreaterThanOrEqual(16);
  // Four go at a time, and all of them are told.
  expect((times[4] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(900);
});

test("after a pause one request goes first", async () => {
  let underWay = 0;
  const together: number[] = [];
  const server = await startServer(async (exchange) => {
    together.push(++underWay);
    await pause(30);
    underWay--;
    if (together.length <= 5) exchange.respond(429, { "retry-after": "0" });
    else exchange.respond(200, {}, tenPages);
  });
  const fetcher = testFetcher({ start: server.origin, retries: 5 }, { backoff: { base: 50 } });
  const reads = await readAll(fetcher, server.origin, 30);
  expect(reads.every(({ result }) => result === "found")).toBe(true);
  // Four were told; the fifth and the sixth came alone; then all go again.
  expect(together.slice(4, 6)).toEqual([1, 1]);
  expect(Math.max(...together.slice(6))).toBe(4);
});

test.each(["0", "Sat, 28 Feb 2015 12:00:00 GMT", ""])(
  "a host that asks again after each pause (%j) is given up",
  async (value) => {
    const server = await startServer((exchange) => exchange.respond(429, value === "" ? {} : { "retry-after": value }));
    const fetcher = testFetcher({ start: server.origin, retries: 1 }, { backoff: { base: 20 } });
    const reads = await readAll(fetcher, server.origin);
    expect(server.requests.length).toBeLessThanOrEqual(8);
    expect(reads.every(({ fetched }) => fetched.outcome === "blocked")).toBe(true);
    expect(reads.filter(({ result }) => result === "blocked rate-limited").length).toBeGreaterThan(190);
  },
);

test("`Retry-After: 0` is no invitation to come back at once", async () => {
  const times: number[] = [];
  const server = await testServer({
    "/0": (exchange) => {
      times.push(performance.now());
      exchange.respond(503, { "retry-after": "0" });
    },
  });
  const fetcher = testFetcher({ start: server.origin, retries: 3 }, { backoff: { base: 100 } });
  expect((await fetcher.read(`${server.origin}/0`)).result).toBe("failed http-503");
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  expect(gaps.map((gap, at) => gap >= 0.5 * 100 * 2 ** at - 5)).toEqual([true, true, true]);
});
