// Hosts that do not answer are asked a few times, not for everything; a host that asks for a pause gets it, whoever was told.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { FetcherParts } from "../../src/fetch/fetcher.ts";
import { HostLimiter, type Slot } from "../../src/fetch/limiter.ts";
import { defaultBackoff, mayRetry } from "../../src/fetch/retry.ts";
import { type CrawlEvent, sitemapTreeForHomepage } from "../../src/index.ts";
import { type Options, resolveOptions } from "../../src/model/options.ts";
import { type ProblemCode, problem } from "../../src/model/problem.ts";
import { type Fault, faults } from "../support/fault-server.ts";
import { pause, type TestFetcher, tenPages, testFetcher, testServer } from "../support/fetching.ts";

const paths = Array.from({ length: 200 }, (_, at) => `/${at}`);
const brief = { firstByte: 150 };

const startServer = (fault: Fault) => testServer(Object.fromEntries(paths.map((path) => [path, fault])));

/** A server with the same fault everywhere, and a fetcher that starts there. */
async function fetching(fault: Fault, options: Options = {}, parts: FetcherParts = {}) {
  const server = await startServer(fault);
  return { server, fetcher: testFetcher({ start: server.origin, ...options }, parts) };
}

describe("a host that has never responded", () => {
  test("gets one retry in total, and is abandoned after the second document", async () => {
    const { server, fetcher } = await fetching(faults.silence(), { retries: 3, timeout: brief });
    const attempts: number[] = [];
    for (const path of paths.slice(0, 10)) {
      const { result, fetched } = await fetcher.read(path);
      expect(result).toBe("failed timeout-first-byte");
      attempts.push(fetched.attempts);
    }
    expect(attempts).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(server.requests).toHaveLength(3);
  });

  test("gets only a few requests even if a hundred documents are wanted at once", async () => {
    const { server, fetcher } = await fetching(faults.silence(), { retries: 3, timeout: brief });
    const reads = await Promise.all(paths.slice(0, 100).map((path) => fetcher.read(path)));
    expect(new Set(reads.map(({ result }) => result))).toEqual(new Set(["failed timeout-first-byte"]));
    expect(server.requests.length).toBeLessThanOrEqual(5);
  });

  test("gets requests for one document at a time after the first failure, and for all once it responds", async () => {
    let underWay = 0;
    const together: number[] = [];
    const server = await startServer(async (exchange) => {
      together.push(++underWay);
      await pause(20);
      underWay--;
      if (exchange.path === "/0") exchange.socket.destroy();
      else exchange.respond(200, {}, tenPages);
    });
    const fetcher = testFetcher({ start: server.origin, retries: 0 });
    expect((await fetcher.read("/0")).result).toBe("failed connection-reset");
    together.length = 0;
    const reads = await Promise.all(paths.slice(1, 20).map((path) => fetcher.read(path)));
    expect(reads.every(({ result }) => result === "found")).toBe(true);
    expect(together[0]).toBe(1);
    expect(Math.max(...together)).toBe(4);
  });

  test("does not affect another port of the same address", async () => {
    const dead = await startServer(faults.silence());
    const alive = await testServer({ "/a": tenPages });
    const fetcher = testFetcher({ start: [dead.origin, alive.origin], retries: 0, timeout: brief });
    for (const path of paths.slice(0, 5)) await fetcher.read(dead.origin + path);
    expect((await fetcher.read(`${alive.origin}/a`)).text).toBe(tenPages);
  });

  test("counts as reachable after a response with any status", async () => {
    const server = await testServer({
      "/a": faults["reset before headers"](),
      "/b": (exchange) => exchange.respond(500),
    });
    const fetcher = testFetcher({ start: server.origin, retries: 3 });
    await fetcher.read("/b");
    for (let times = 0; times < 2; times++) {
      expect((await fetcher.read("/a")).fetched.attempts).toBe(4);
    }
  });
});

describe("a host that has responded before", () => {
  const target = new URL("http://website.test/");
  const none = new AbortController().signal;
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  test("with only server errors gets no retries after six responses, until another response arrives", async () => {
    const hosts = new HostLimiter(resolveOptions({}), defaultBackoff);
    const ask = async (status: number) => {
      const slot = (await hosts.acquire(target, none)) as Slot;
      slot.answered(status, []);
      slot.release();
      return mayRetry(problem("http-500"), 1, 3, slot.origin);
    };
    const retried: boolean[] = [];
    for (const status of [500, 500, 502, 500, 500, 500, 500, 404, 500]) retried.push(await ask(status));
    expect(retried).toEqual([true, true, true, true, true, false, false, true, true]);
  });

  /** Creates a host that responded once, then failed this many times in a row, each after this many milliseconds. */
  async function failing(times: number, code: ProblemCode, elapsed: number) {
    const hosts = new HostLimiter(resolveOptions({}), defaultBackoff);
    const ask = async () => (await hosts.acquire(target, none)) as Slot;
    const first = await ask();
    first.answered(200, []);
    first.release();
    const retried: boolean[] = [];
    for (let count = 0; count < times; count++) {
      const slot = await ask();
      if ("code" in slot) break;
      vi.advanceTimersByTime(elapsed);
      retried.push(mayRetry(problem(code), 1, 3, slot.origin));
      slot.failed(problem(code), retried.at(-1) as boolean);
      slot.release();
    }
    return { hosts, ask, retried };
  }

  test("is retried until eight requests in a row failed, and abandoned after a minute of failures", async () => {
    const { retried, ask } = await failing(20, "timeout-first-byte", 7_000);
    // Eight times seven seconds are less than a minute.
    expect(retried).toEqual([true, true, true, true, true, true, true, false, false]);
    expect(await ask()).toEqual(problem("timeout-first-byte"));
  });

  test("still gets requests for one document at a time if failures are quick", async () => {
    const { hosts, ask, retried } = await failing(1000, "connection-reset", 5);
    expect(retried).toHaveLength(1000);
    const probe = await ask();
    expect(hosts.hasRoomFor(target)).toBe(false);
    probe.answered(500, []);
    expect(hosts.hasRoomFor(target)).toBe(true);
    expect(mayRetry(problem("timeout-first-byte"), 1, 3, probe.origin)).toBe(true);
  });

  test("is not abandoned because of errors that come with a response", async () => {
    expect((await failing(100, "client-failed", 60_000)).retried).toHaveLength(100);
  });
});

test("a host that goes down in the middle of a crawl gets a few more requests", async () => {
  let answers = true;
  const answer: Fault = (exchange) => void (answers && exchange.respond(200, {}, tenPages));
  const { server, fetcher } = await fetching(answer, { retries: 3, timeout: brief });
  await fetcher.read("/0");
  answers = false;
  const reads = await Promise.all(paths.slice(1, 21).map((path) => fetcher.read(path)));
  expect(reads.every(({ result }) => result === "failed timeout-first-byte")).toBe(true);
  // Without an end to retries, there would be eighty; a request on a broken kept connection is sent again.
  expect(server.requests.length).toBeLessThan(45);
});

async function readAll(fetcher: TestFetcher, origin: string, count = paths.length) {
  return Promise.all(paths.slice(0, count).map((path) => fetcher.read(origin + path)));
}

describe("a requested pause that is too long", () => {
  test.each([
    [429, "3600", "blocked"],
    [503, "3600", "failed"],
    [429, new Date(Date.now() + 3_600_000).toUTCString(), "blocked"],
    [500, "86400", "failed"],
    [429, "9".repeat(400), "blocked"],
    [503, "Fri, 31 Dec 2999 23:59:59 GMT", "failed"],
    [429, "61", "blocked"],
  ])("as in %i with Retry-After: %s ends all requests to the host", async (status, value, outcome) => {
    const answer: Fault = (exchange) => exchange.respond(status, { "retry-after": value });
    const { server, fetcher } = await fetching(answer, { retries: 3 });
    const reads = await readAll(fetcher, server.origin);
    // These were in progress at the same time.
    expect(server.requests.length).toBeLessThanOrEqual(4);
    expect(new Set(reads.map(({ result }) => result))).toEqual(new Set([`${outcome} rate-limited`]));
    const asked = reads.filter(({ fetched }) => fetched.attempts > 0);
    expect(asked).toHaveLength(server.requests.length);
    for (const { fetched } of reads) {
      const { reason } = fetched as { reason: { retryAfter: string } };
      expect(Date.parse(reason.retryAfter)).toBeGreaterThan(Date.now() + 55_000);
    }
  });

  test("does not affect other hosts", async () => {
    const busy = await startServer((exchange) => exchange.respond(429, { "retry-after": "3600" }));
    const other = await testServer({ "/a": tenPages }, { host: "127.0.0.2" });
    const fetcher = testFetcher({ network: "allow-private" });
    await readAll(fetcher, busy.origin, 10);
    expect((await fetcher.read(`${other.origin}/a`)).text).toBe(tenPages);
  });
});

test("a short pause applies to all requests, even if the document that caused it is not retried", async () => {
  const times: number[] = [];
  const server = await startServer((exchange) => {
    times.push(performance.now());
    if (times.length <= 4) exchange.respond(429, { "retry-after": "1" });
    else exchange.respond(200, {}, tenPages);
  });
  const reads = await readAll(testFetcher({ start: server.origin, retries: 0 }), server.origin, 20);
  expect(reads.filter(({ result }) => result === "found").length).toBeGreaterThanOrEqual(16);
  // Four run at a time, and all of them learn about the pause.
  expect((times[4] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(900);
});

test("after a pause, a single request is sent first", async () => {
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
  // Four learned about the pause; the fifth and the sixth ran alone; then all run again.
  expect(together.slice(4, 6)).toEqual([1, 1]);
  expect(Math.max(...together.slice(6))).toBe(4);
});

test.each(["0", "Sat, 28 Feb 2015 12:00:00 GMT", ""])(
  "a host that requests another pause after each one (%j) is abandoned",
  async (value) => {
    const answer: Fault = (exchange) => exchange.respond(429, value === "" ? {} : { "retry-after": value });
    const { server, fetcher } = await fetching(answer, { retries: 1 }, { backoff: { base: 20 } });
    const reads = await readAll(fetcher, server.origin);
    expect(server.requests.length).toBeLessThanOrEqual(8);
    expect(reads.every(({ fetched }) => fetched.outcome === "blocked")).toBe(true);
    expect(reads.filter(({ result }) => result === "blocked rate-limited").length).toBeGreaterThan(190);
  },
);

test("`Retry-After: 0` does not cause an immediate retry", async () => {
  const times: number[] = [];
  const server = await testServer({
    "/0": (exchange) => {
      times.push(performance.now());
      exchange.respond(503, { "retry-after": "0" });
    },
  });
  const fetcher = testFetcher({ start: server.origin, retries: 3 }, { backoff: { base: 100 } });
  expect((await fetcher.read("/0")).result).toBe("failed http-503");
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  expect(gaps.map((gap, at) => gap >= 0.5 * 100 * 2 ** at - 5)).toEqual([true, true, true]);
});

test("for a website that is down, no response and no time to the first byte are reported", async () => {
  const server = await testServer({});
  await server.close();
  const events: CrawlEvent[] = [];
  await using tree = await sitemapTreeForHomepage(server.origin, {
    retries: 1,
    onEvent: (event) => events.push(event),
  });
  const count = (type: CrawlEvent["type"]) => events.filter((event) => event.type === type).length;
  expect(tree.unreachable?.reason.code).toBe("connection-refused");
  expect([count("request"), count("retry"), count("response"), count("failure")]).toEqual([3, 1, 0, 2]);
  const [robots] = tree.root.children;
  expect(robots && (await tree.response(robots))?.firstByte).toBeUndefined();
});
