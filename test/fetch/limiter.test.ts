// Who may ask next. A model plays against the limits under a clock of the tests' own; then a server counts.
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HostLimiter, type Slot } from "../../src/fetch/limiter.ts";
import { defaultBackoff } from "../../src/fetch/retry.ts";
import { resolveOptions } from "../../src/model/options.ts";
import type { Fault } from "../support/fault-server.ts";
import { pause, tenPages, testFetcher, testServer } from "../support/fetching.ts";

const url = (name: string) => new URL(`http://${name}.test/`);

async function acquire(
  hosts: HostLimiter,
  name: string,
  signal = new AbortController().signal,
  first = false,
): Promise<Slot> {
  return (await hosts.acquire(url(name), signal, { isRetry: first })) as Slot;
}

const hostsWith = (given: { perHost?: number; total?: number; delay?: number; random?: () => number }): HostLimiter =>
  new HostLimiter(
    {
      ...resolveOptions({}),
      concurrency: { perHost: given.perHost ?? 2, total: given.total ?? 100 },
      delay: { milliseconds: given.delay ?? 0, random: given.random !== undefined },
    },
    { ...defaultBackoff, random: given.random ?? Math.random },
  );

describe("with a fake clock", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());
  const settle = () => vi.advanceTimersByTimeAsync(0);
  /** Expects the next request to start after this many milliseconds. */
  const expectStart = async (hosts: HostLimiter, after: number) => {
    let started = false;
    void acquire(hosts, "a").then(() => {
      started = true;
    });
    await vi.advanceTimersByTimeAsync(after - 1);
    expect(started).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(started).toBe(true);
  };

  test("hosts take turns, and the requests of each keep their order", async () => {
    const hosts = hostsWith({ total: 1 });
    const order: string[] = [];
    const slots: Slot[] = [];
    for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) {
      void acquire(hosts, name[0] ?? "").then((slot) => {
        order.push(name);
        slots.push(slot);
      });
    }
    for (let round = 0; round < 6; round++) {
      await settle();
      slots.shift()?.release();
    }
    // a2 was waiting before b1.
    expect(order).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
  });

  test("a random delay is between 0.5 and 1.5 times the setting", async () => {
    for (const drawn of [0, 0.5, 0.999]) {
      const hosts = hostsWith({ delay: 1000, random: () => drawn });
      (await acquire(hosts, "a")).release();
      await expectStart(hosts, 500 + 1000 * drawn);
      hosts.close();
    }
  });

  test("a host's minimum delay applies only to that host, and only if it is longer", async () => {
    const hosts = hostsWith({ delay: 100 });
    hosts.setLeastDelay(url("slow"), 1000);
    hosts.setLeastDelay(url("quick"), 10);
    const started: string[] = [];
    for (const host of ["slow", "quick"]) {
      for (let times = 0; times < 2; times++) void acquire(hosts, host).then(() => started.push(host));
    }
    await vi.advanceTimersByTimeAsync(99);
    expect(started).toEqual(["slow", "quick"]);
    await vi.advanceTimersByTimeAsync(1);
    expect(started).toEqual(["slow", "quick", "quick"]);
    await vi.advanceTimersByTimeAsync(900);
    expect(started).toEqual(["slow", "quick", "quick", "slow"]);
  });

  test("a delay that becomes known later is counted from the last request", async () => {
    const hosts = hostsWith({});
    (await acquire(hosts, "a")).release();
    await vi.advanceTimersByTimeAsync(300);
    hosts.setLeastDelay(url("a"), 1000);
    await expectStart(hosts, 700);
  });

  const time = fc.nat({ max: 150 });
  const types = "acquire acquire acquire acquire release release release abort pause wait wait wait".split(" ");
  const command = fc.record({
    type: fc.constantFrom(...types),
    host: fc.constantFrom("a", "b", "c"),
    first: fc.boolean(),
    at: fc.nat(),
    time,
  });

  test("under any load, no limit is exceeded, no request starves, and nothing leaks", async () => {
    const limits = fc.record({
      perHost: fc.integer({ min: 1, max: 3 }),
      total: fc.integer({ min: 1, max: 5 }),
      delay: time,
    });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(command, { maxLength: 60 }), async (given, commands) => {
        const hosts = hostsWith(given);
        const model = {
          running: [] as { host: string; slot: Slot }[],
          waiting: [] as Waiting[],
          notBefore: new Map<string, number>(),
        };
        interface Waiting {
          host: string;
          first: boolean;
          controller: AbortController;
        }
        const onStart = (waiter: Waiting, slot: Slot) => {
          const now = performance.now();
          model.running.push({ host: waiter.host, slot });
          expect(model.running.length).toBeLessThanOrEqual(given.total);
          expect(model.running.filter((each) => each.host === waiter.host).length).toBeLessThanOrEqual(given.perHost);
          expect(now).toBeGreaterThanOrEqual(model.notBefore.get(waiter.host) ?? 0);
          model.notBefore.set(waiter.host, now + given.delay);
          // Among the requests of its host, it was next: first those that continue, then new ones.
          const line = model.waiting.filter((each) => each.host === waiter.host);
          expect(waiter).toBe(line.find(({ first }) => first) ?? line[0]);
          model.waiting.splice(model.waiting.indexOf(waiter), 1);
        };
        for (const each of commands) {
          if (each.type === "acquire") {
            const waiter: Waiting = { host: each.host, first: each.first, controller: new AbortController() };
            model.waiting.push(waiter);
            acquire(hosts, each.host, waiter.controller.signal, each.first).then(
              (slot) => onStart(waiter, slot),
              () => {},
            );
          } else if (each.type === "release" && model.running.length > 0) {
            model.running.splice(each.at % model.running.length, 1)[0]?.slot.release();
          } else if (each.type === "abort" && model.waiting.length > 0) {
            model.waiting.splice(each.at % model.waiting.length, 1)[0]?.controller.abort();
          } else if (each.type === "pause") {
            hosts.pause(url(each.host), each.time);
            const until = performance.now() + each.time;
            model.notBefore.set(each.host, Math.max(model.notBefore.get(each.host) ?? 0, until));
          } else if (each.type === "wait") {
            await vi.advanceTimersByTimeAsync(each.time);
          }
          await settle();
          // No request waits that could start.
          const free = model.waiting.filter(
            (waiter) =>
              model.running.length < given.total &&
              model.running.filter(({ host }) => host === waiter.host).length < given.perHost &&
              performance.now() >= (model.notBefore.get(waiter.host) ?? 0),
          );
          expect(free).toEqual([]);
        }
        while (model.waiting.length + model.running.length > 0) {
          for (const { slot } of model.running.splice(0)) slot.release();
          await vi.advanceTimersByTimeAsync(200);
        }
        await vi.advanceTimersByTimeAsync(200);
        // Other tests of this process may have timers, too. `close` clears those that are left of this one.
        const timers = vi.getTimerCount();
        hosts.close();
        expect(vi.getTimerCount()).toBe(timers);
      }),
      { numRuns: 150 },
    );
  });
});

describe("with a real server", () => {
  const slowly: Fault = async (exchange) => {
    await pause(15);
    exchange.respond(200, {}, tenPages);
  };

  test("the limits per host and in total are never exceeded", async () => {
    let underWay = 0;
    let most = 0;
    const counted: Fault = async (exchange) => {
      most = Math.max(most, ++underWay);
      await slowly(exchange);
      underWay--;
    };
    const servers = await Promise.all(
      [1, 2, 3, 4].map((at) => testServer({ "/a": counted }, { host: `127.0.0.${at}` })),
    );
    const fetcher = testFetcher({ network: "allow-private", concurrency: { perHost: 2, total: 3 } });
    const reads = servers.flatMap(({ origin }) => [1, 2, 3, 4].map(() => fetcher.read(`${origin}/a`)));
    expect((await Promise.all(reads)).every(({ result }) => result === "found")).toBe(true);
    expect(most).toBe(3);
    expect(servers.every(({ mostAtOnce, connections }) => mostAtOnce <= 2 && connections <= 3)).toBe(true);
  });

  test("requests to one host are spaced by the delay", async () => {
    const server = await testServer({ "/a": tenPages });
    const fetcher = testFetcher({ start: server.origin, delay: 60, useCrawlDelay: true });
    // Times are recorded when requests leave, because they may catch up with each other on their way to the server.
    const times: number[] = [];
    const begun = performance.now();
    fetcher.events.push = ({ type }) => (type === "request" ? times.push(performance.now() - begun) : 0);
    await Promise.all([1, 2, 3].map(() => fetcher.read("/a")));
    fetcher.setCrawlDelay(`${server.origin}/robots.txt`, 150);
    await Promise.all([1, 2].map(() => fetcher.read("/a")));
    // A busy machine may report a request late, but never early. The delay of robots.txt counts from the request before.
    const earliest = [0, 60, 120, 270, 420];
    expect(times.map((time, at) => time >= earliest[at]! - 10)).toEqual(earliest.map(() => true));
  });

  test("Crawl-delay applies only with useCrawlDelay", async () => {
    const server = await testServer({ "/a": tenPages });
    const fetcher = testFetcher({ start: server.origin });
    fetcher.setCrawlDelay(server.origin, 60_000);
    await Promise.all([1, 2, 3].map(() => fetcher.read("/a")));
    expect(server.requests).toHaveLength(3);
  });
});
