// A signal ends everything, in every phase, and leaves nothing behind.
// Needs more than a second.
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../src/model/client.ts";
import { faults, status } from "../support/fault-server.ts";
import { pause, type TestFetcher, tenPages, testFetcher, testServer, until } from "../support/fetching.ts";
import { fullBacklog } from "../support/full-backlog.ts";

const reason = new Error("enough");

type Phase = (
  signal?: AbortSignal,
) => Promise<{ fetcher: TestFetcher; url: string; open: () => number; done?: () => Promise<void> }>;

const phases: Record<string, Phase> = {
  "while it waits for its turn": async (signal) => {
    const server = await testServer({ "/a": faults.silence() });
    const fetcher = testFetcher({ start: server.origin, concurrency: 1, signal });
    fetcher.fetch({ url: `${server.origin}/a`, role: "sitemap" }).catch(() => {});
    return { fetcher, url: `${server.origin}/a`, open: () => 0 };
  },
  "while it waits for the delay": async (signal) => {
    const server = await testServer({ "/a": tenPages });
    const fetcher = testFetcher({ start: server.origin, delay: 60_000, signal });
    await fetcher.read(`${server.origin}/a`);
    return { fetcher, url: `${server.origin}/a`, open: () => 0 };
  },
  "while the name is looked up": async (signal) => {
    const fetcher = testFetcher({ signal }, { lookup: () => new Promise(() => {}) });
    return { fetcher, url: "http://website.test/", open: () => 0 };
  },
  "while it connects": async (signal) => {
    const backlog = await fullBacklog();
    const url = `http://127.0.0.1:${backlog.port}/`;
    return { fetcher: testFetcher({ start: url, signal }), url, open: () => 0, done: () => backlog.close() };
  },
  "in the TLS handshake": async (signal) => {
    const server = await testServer({});
    const url = `https://127.0.0.1:${server.port}/`;
    return { fetcher: testFetcher({ start: url, signal }), url, open: () => server.open };
  },
  "before the first byte": async (signal) => {
    const server = await testServer({ "/a": faults.silence() });
    return {
      fetcher: testFetcher({ start: server.origin, signal }),
      url: `${server.origin}/a`,
      open: () => server.open,
    };
  },
  "before the first byte of the body": async (signal) => {
    const server = await testServer({ "/a": faults["stall before body"](tenPages) });
    return {
      fetcher: testFetcher({ start: server.origin, signal }),
      url: `${server.origin}/a`,
      open: () => server.open,
    };
  },
  "between two attempts": async (signal) => {
    const server = await testServer({ "/a": status(503, { "retry-after": "30" }) });
    const fetcher = testFetcher({ start: server.origin, retries: 3, signal });
    return { fetcher, url: `${server.origin}/a`, open: () => 0 };
  },
  "while a host is paused": async (signal) => {
    const server = await testServer({ "/a": status(429, { "retry-after": "30" }) });
    const fetcher = testFetcher({ start: server.origin, retries: 3, signal });
    return { fetcher, url: `${server.origin}/a`, open: () => 0 };
  },
  "with a client that does not listen": async (signal) => {
    const client: Client = { request: () => new Promise(() => {}) };
    return { fetcher: testFetcher({ client, signal }), url: "https://website.test/", open: () => 0 };
  },
};

// In milliseconds. Everything here would go on for thirty seconds.
const generous = 25_000;

const closes = (open: () => number) => until(() => open() === 0);

describe.each(Object.entries(phases))("%s", (_, start) => {
  test.each(["the signal of the request", "the signal of the run", "close()"])("%s ends it", async (what) => {
    const controller = new AbortController();
    const { fetcher, url, open, done } = await start(what === "the signal of the run" ? controller.signal : undefined);
    const signal = what === "the signal of the request" ? controller.signal : undefined;
    const promise = fetcher.fetch({ url, role: "sitemap", signal });
    promise.catch(() => {});
    await pause(60);
    const begun = performance.now();
    if (what === "close()") await fetcher.close();
    else controller.abort(reason);
    await (what === "close()"
      ? expect(promise).rejects.toMatchObject({ name: "AbortError" })
      : expect(promise).rejects.toBe(reason));
    expect(performance.now() - begun).toBeLessThan(generous);
    await closes(open);
    expect(fetcher.events.filter(({ type }) => type === "response").length).toBeLessThan(2);
    if (what === "the signal of the run") await expect(fetcher.fetch({ url, role: "sitemap" })).rejects.toBe(reason);
    await done?.();
  });
});

describe("in the body", () => {
  test.each(["stall in body", "drip of body", "endless body"] as const)(
    "the reader gets the reason (%s)",
    async (name) => {
      const server = await testServer({ "/a": faults[name](tenPages) });
      const controller = new AbortController();
      const fetcher = testFetcher({ start: server.origin });
      const fetched = await fetcher.fetch({ url: `${server.origin}/a`, role: "sitemap", signal: controller.signal });
      if (fetched.outcome !== "found") return expect.unreachable();
      setTimeout(() => controller.abort(reason), 60);
      const read = async () => {
        for await (const _ of fetched.body);
      };
      await expect(read()).rejects.toBe(reason);
      await closes(() => server.open);
    },
  );

  test("also a reader who comes later, after what was read ahead", async () => {
    const server = await testServer({ "/a": faults["endless body"](tenPages) });
    const controller = new AbortController();
    const fetcher = testFetcher({ start: server.origin });
    const fetched = await fetcher.fetch({ url: `${server.origin}/a`, role: "sitemap", signal: controller.signal });
    if (fetched.outcome !== "found") return expect.unreachable();
    await pause(100);
    controller.abort(reason);
    await closes(() => server.open);
    let pieces = 0;
    const read = async () => {
      for await (const _ of fetched.body) pieces++;
    };
    await expect(read()).rejects.toBe(reason);
    expect(pieces).toBeGreaterThan(0);
  });

  test("close() ends bodies, too, read or not", async () => {
    const server = await testServer({ "/a": faults["endless body"](tenPages) });
    const fetcher = testFetcher({ start: server.origin });
    const bodies = await Promise.all(
      [1, 2, 3].map(async () => {
        const fetched = await fetcher.fetch({ url: `${server.origin}/a`, role: "sitemap" });
        return fetched.outcome === "found" ? fetched.body : expect.unreachable();
      }),
    );
    await fetcher.close();
    await closes(() => server.open);
    for (const body of bodies.slice(1)) {
      const read = async () => {
        for await (const _ of body);
      };
      await expect(read()).rejects.toMatchObject({ name: "AbortError" });
    }
  });

  test("a signal after its end changes nothing, and nothing listens to it any more", async () => {
    const server = await testServer({ "/a": tenPages, "/moved": status(301), "/gone": status(410) });
    const controller = new AbortController();
    const fetcher = testFetcher({ start: server.origin });
    const read = (path: string) => fetcher.read(server.origin + path, { signal: controller.signal });
    for (const path of ["/moved", "/gone", "/nothing"]) await read(path);
    const { text } = await read("/a");
    await closes(() => getEventListeners(controller.signal, "abort").length);
    controller.abort(reason);
    expect(text).toBe(tenPages);
  });
});

test("a signal that was given before ends it before it begins", async () => {
  const server = await testServer({ "/a": tenPages });
  const fetcher = testFetcher({ start: server.origin });
  await expect(fetcher.read(`${server.origin}/a`, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(server.connections).toBe(0);
});

test("an error of the caller's own onEvent comes out as it is, and nothing stays open", async () => {
  const server = await testServer({ "/a": tenPages });
  const fetcher = testFetcher({ start: server.origin });
  fetcher.events.push = () => {
    throw reason;
  };
  await expect(fetcher.fetch({ url: `${server.origin}/a`, role: "sitemap" })).rejects.toBe(reason);
  await closes(() => server.open);
});

describe("many at a time", () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  beforeEach(() => void process.on("warning", onWarning));
  afterEach(() => void process.off("warning", onWarning));

  test("share a signal without a warning, and end together", async () => {
    const server = await testServer({ "/a": faults.silence() });
    const controller = new AbortController();
    const fetcher = testFetcher({ start: server.origin, concurrency: 50 });
    const url = `${server.origin}/a`;
    const all = Array.from({ length: 300 }, () => fetcher.fetch({ url, role: "sitemap", signal: controller.signal }));
    await pause(100);
    controller.abort(reason);
    const begun = performance.now();
    const results = await Promise.allSettled(all);
    expect(performance.now() - begun).toBeLessThan(generous);
    expect(results.every((result) => result.status === "rejected" && result.reason === reason)).toBe(true);
    expect(warnings).toEqual([]);
    await closes(() => server.open);
  });
});
