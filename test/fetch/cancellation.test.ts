// A signal ends everything, in every phase, and leaves nothing behind.
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../src/model/client.ts";
import { type Fault, faults, status } from "../support/fault-server.ts";
import { type TestFetcher, tenPages, testFetcher, testServer, until } from "../support/fetching.ts";
import { fullBacklog } from "../support/full-backlog.ts";

const reason = new Error("enough");

interface Started {
  readonly fetcher: TestFetcher;
  readonly url: string;
  /** Whether the phase has begun, if that is later than the request. */
  readonly isReached?: () => boolean;
  readonly open?: () => number;
  readonly done?: () => Promise<void>;
}
type Phase = (signal?: AbortSignal) => Promise<Started>;

const serving =
  (fault: Fault | string, options: object = {}): Phase =>
  async (signal) => {
    const server = await testServer({ "/a": fault });
    const fetcher = testFetcher({ start: server.origin, ...options, signal });
    const isReached = () => server.requests.length > 0;
    return { fetcher, url: `${server.origin}/a`, isReached, open: () => server.open };
  };
/** With one request before the one that is ended. */
const second =
  (start: Phase, isRead: boolean): Phase =>
  async (signal) => {
    const { fetcher, url } = await start(signal);
    const first = isRead ? fetcher.read(url) : fetcher.fetch({ url, role: "sitemap" });
    if (isRead) await first;
    first.catch(() => {});
    return { fetcher, url };
  };

/** Its connection is kept for a while. */
const answered =
  (start: Phase): Phase =>
  async (signal) => {
    const started = await start(signal);
    const isReached = () => started.fetcher.events.some(({ type }) => type === "retry");
    return { ...started, isReached, open: () => 0 };
  };

const phases: Record<string, Phase> = {
  "while it waits for its turn": second(serving(faults.silence(), { concurrency: 1 }), false),
  "while it waits for the delay": second(serving(tenPages, { delay: 60_000 }), true),
  "while the name is looked up": async (signal) => {
    const fetcher = testFetcher({ signal }, { lookup: () => new Promise(() => {}) });
    return { fetcher, url: "http://website.test/" };
  },
  "while it connects": async (signal) => {
    const backlog = await fullBacklog();
    const url = `http://127.0.0.1:${backlog.port}/`;
    return { fetcher: testFetcher({ start: url, signal }), url, done: () => backlog.close() };
  },
  "in the TLS handshake": async (signal) => {
    const server = await testServer({});
    const url = `https://127.0.0.1:${server.port}/`;
    const open = () => server.open;
    return { fetcher: testFetcher({ start: url, signal }), url, isReached: () => open() > 0, open };
  },
  "before the first byte": serving(faults.silence()),
  "before the first byte of the body": serving(faults["stall before body"](tenPages)),
  "between two attempts": answered(serving(status(503, { "retry-after": "30" }), { retries: 3 })),
  "while a host is paused": answered(serving(status(429, { "retry-after": "30" }), { retries: 3 })),
  "with a client that does not listen": async (signal) => {
    const client: Client = { request: () => new Promise(() => {}) };
    return { fetcher: testFetcher({ client, signal }), url: "https://website.test/" };
  },
};

async function piecesOf(body: AsyncIterable<Uint8Array>, onPiece: () => void = () => {}): Promise<void> {
  for await (const _ of body) onPiece();
}

const closes = (open: () => number) => until(() => open() === 0);

describe.each(Object.entries(phases))("a request, %s,", (_, start) => {
  test.each(["the signal of the request", "the signal of the run", "close()"])("is ended by %s", async (what) => {
    const controller = new AbortController();
    const {
      fetcher,
      url,
      isReached = () => fetcher.events.some(({ type }) => type === "request"),
      open = () => 0,
      done,
    } = await start(what === "the signal of the run" ? controller.signal : undefined);
    const signal = what === "the signal of the request" ? controller.signal : undefined;
    const promise = fetcher.fetch({ url, role: "sitemap", signal });
    promise.catch(() => {});
    await until(isReached);
    if (what === "close()") await fetcher.close();
    else controller.abort(reason);
    await (what === "close()"
      ? expect(promise).rejects.toMatchObject({ name: "AbortError" })
      : expect(promise).rejects.toBe(reason));
    await closes(open);
    expect(fetcher.events.filter(({ type }) => type === "response").length).toBeLessThan(2);
    if (what === "the signal of the run") await expect(fetcher.fetch({ url, role: "sitemap" })).rejects.toBe(reason);
    await done?.();
  });
});

describe("a body", () => {
  test.each(["stall in body", "drip of body", "endless body"] as const)(
    "gives its reader the signal's reason (%s)",
    async (name) => {
      const server = await testServer({ "/a": faults[name](tenPages) });
      const controller = new AbortController();
      const fetcher = testFetcher({ start: server.origin });
      const { body } = await fetcher.open("/a", controller.signal);
      // While the reader waits for more.
      const stop = () => void setImmediate(() => controller.abort(reason));
      await expect(piecesOf(body, stop)).rejects.toBe(reason);
      await closes(() => server.open);
    },
  );

  test("also gives a late reader what was read ahead", async () => {
    const server = await testServer({ "/a": faults["endless body"](tenPages) });
    const controller = new AbortController();
    const fetcher = testFetcher({ start: server.origin });
    const { body } = await fetcher.open("/a", controller.signal);
    controller.abort(reason);
    await closes(() => server.open);
    let pieces = 0;
    await expect(piecesOf(body, () => pieces++)).rejects.toBe(reason);
    expect(pieces).toBeGreaterThan(0);
  });

  test("is ended by close(), whether it is being read or not", async () => {
    const server = await testServer({ "/a": faults["endless body"](tenPages) });
    const fetcher = testFetcher({ start: server.origin });
    const documents = await Promise.all([1, 2, 3].map(() => fetcher.open("/a")));
    await fetcher.close();
    await closes(() => server.open);
    for (const { body } of documents.slice(1))
      await expect(piecesOf(body)).rejects.toMatchObject({ name: "AbortError" });
  });

  test("is not affected by an abort after its end, and leaves no listener", async () => {
    const server = await testServer({ "/a": tenPages, "/moved": status(301), "/gone": status(410) });
    const controller = new AbortController();
    const fetcher = testFetcher({ start: server.origin });
    const read = (path: string) => fetcher.read(path, { signal: controller.signal });
    for (const path of ["/moved", "/gone", "/nothing"]) await read(path);
    const { text } = await read("/a");
    await closes(() => getEventListeners(controller.signal, "abort").length);
    controller.abort(reason);
    expect(text).toBe(tenPages);
  });
});

test("an already aborted signal prevents the request", async () => {
  const server = await testServer({ "/a": tenPages });
  const fetcher = testFetcher({ start: server.origin });
  await expect(fetcher.read("/a", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(server.connections).toBe(0);
});

test("an error thrown by the caller's onEvent is rethrown unchanged, and nothing stays open", async () => {
  const server = await testServer({ "/a": tenPages });
  const fetcher = testFetcher({ start: server.origin });
  fetcher.events.push = () => {
    throw reason;
  };
  await expect(fetcher.fetch({ url: `${server.origin}/a`, role: "sitemap" })).rejects.toBe(reason);
  await closes(() => server.open);
});

describe("many requests at a time", () => {
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
    await until(() => server.requests.length === 50);
    controller.abort(reason);
    const results = await Promise.allSettled(all);
    expect(results.every((result) => result.status === "rejected" && result.reason === reason)).toBe(true);
    expect(warnings).toEqual([]);
    await closes(() => server.open);
  });
});
