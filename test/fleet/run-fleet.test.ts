// The loop over a queue of websites: outcomes, stopping, large ones, faults that are not the website's.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import {
  defaultParallelSites,
  type FleetEvent,
  type FleetOptions,
  type SiteOutput,
  type SiteSink,
} from "../../src/fleet/fleet-options.ts";
import { JournalQueue } from "../../src/fleet/journal-queue.ts";
import { runFleet, until } from "../../src/fleet/run-fleet.ts";
import { siteFiles } from "../../src/fleet/site-files.ts";
import { type SiteJob, type SiteOutcome, type SiteSummary, siteJob, siteOutcomes } from "../../src/fleet/site-job.ts";
import { Store } from "../../src/fleet/store.ts";
import type { Client } from "../../src/model/client.ts";
import { SitemapError } from "../../src/model/errors.ts";
import { problem } from "../../src/model/problem.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { newFolder } from "../support/test-folder.ts";
import { manyWebsites } from "./many-websites.ts";
import { resultsOf } from "./queue-contract.ts";

const hosts = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind}-${at}.example`);
const crawl = { retries: 0, useHomepage: false };

/** Keeps the output in memory. */
function memorySink(): SiteSink & { readonly kept: Map<string, string[]>; readonly discarded: string[] } {
  const kept = new Map<string, string[]>();
  const discarded: string[] = [];
  return {
    kept,
    discarded,
    async open({ homepage }): Promise<SiteOutput> {
      const urls: string[] = [];
      return {
        pages(_, pages) {
          urls.push(...pages.map(({ url }) => url));
          return undefined;
        },
        async keep() {
          kept.set(homepage, urls);
          return { files: { pages: "memory" } };
        },
        async discard() {
          discarded.push(homepage);
        },
      };
    },
  };
}

async function run(folder: string, options: Omit<FleetOptions, "queue">) {
  const queue = await JournalQueue.open(folder);
  try {
    const { results, ...counts } = await runFleet({ ...options, queue });
    const list: SiteSummary[] = [];
    for await (const summary of results) list.push(summary);
    expect(list.length).toBe((await resultsOf(queue)).length);
    return { counts, results: list.sort((one, other) => (one.key < other.key ? -1 : 1)) };
  } finally {
    await queue.close();
  }
}

test("a website is incomplete if its check runs out of time", async () => {
  const { client } = manyWebsites();
  const store = new Store(newFolder());
  const files = siteFiles({ store, format: "none", check: true });
  const outcomeWith = async (more: { readonly time?: number }) => {
    const sink: SiteSink = {
      async open(job, attemptId) {
        const output = await files.open(job, attemptId);
        return { ...output, tree: async (tree, within) => output.tree?.(tree, { ...within, ...more }) };
      },
    };
    const { results } = await run(newFolder(), { sites: hosts("fine", 1), sink, ...crawl, client });
    return results.map(({ outcome, reasons }) => ({ outcome, reasons }));
  };
  const reason = { code: "limit-time", message: "The check did not finish in time", count: 1 };
  expect(await outcomeWith({ time: 0 })).toEqual([{ outcome: "incomplete", reasons: [reason] }]);
  expect(await outcomeWith({})).toEqual([{ outcome: "complete", reasons: [] }]);
});

test("if this machine has no socket left, the fleet ends, and no website has failed", async () => {
  const client: Client = {
    request: () => Promise.reject(Object.assign(new Error("connect EMFILE 127.0.0.1:80"), { code: "EMFILE" })),
  };
  const queue = await JournalQueue.open(newFolder());
  const running = runFleet({ queue, sites: hosts("fine", 3), ...crawl, client, parallelSites: 1 });
  await expect(running).rejects.toThrow("Too many open files");
  expect(await queue.counts()).toMatchObject({ done: 0, failed: 0 });
  await queue.close();
});

test("every website has one result, with an outcome and reasons", async () => {
  const { client, visits } = manyWebsites();
  const sink = memorySink();
  const sites = [
    ...hosts("fine", 20),
    ...hosts("gone", 3),
    ...hosts("dead", 3),
    ...hosts("shut", 2),
    ...hosts("part", 2),
  ].map((host) => `https://${host}`);
  const { counts, results } = await run(newFolder(), { sites, sink, ...crawl, client, parallelSites: 8 });
  expect(counts).toEqual({ waiting: 0, active: 0, done: 30, failed: 0 });
  const of = (outcome: SiteOutcome) => results.filter((result) => result.outcome === outcome);
  const counted = siteOutcomes.map((outcome) => [outcome, of(outcome).length]);
  expect(Object.fromEntries(counted)).toEqual({
    complete: 20,
    none: 3,
    unreachable: 3,
    blocked: 2,
    incomplete: 2,
    failed: 0,
    quarantined: 0,
  });
  expect(of("complete")[0]).toMatchObject({ pages: 3, sitemaps: 1, reasons: [], files: { pages: "memory" } });
  expect(of("unreachable")[0]?.reasons[0]).toMatchObject({ code: "connection-refused" });
  expect(of("blocked")[0]?.reasons[0]).toMatchObject({ code: "http-403" });
  expect(of("incomplete")[0]).toMatchObject({ pages: 3, reasons: [{ code: "xml-truncated", count: 1 }] });
  expect(new Set(visits.values())).toEqual(new Set([1]));
  expect(sink.kept.get("https://fine-0.example/")).toEqual([0, 1, 2].map((page) => `https://fine-0.example/${page}`));
});

test.each([
  ["never takes a page", () => new Promise<void>(() => {})],
  ["ends in an error of ours", () => Promise.reject(new TypeError("undefined is not a function"))],
])("an output that %s fails only its own website", async (_, pages) => {
  const { client } = manyWebsites();
  const sink = memorySink();
  const failing: SiteSink = {
    async open(job, attemptId) {
      const output = await sink.open(job, attemptId);
      return job.homepage.includes("fine-1.") ? { ...output, pages } : output;
    },
  };
  const options = { ...crawl, client, limits: { time: 500 } };
  const { results } = await run(newFolder(), { sites: hosts("fine", 3), sink: failing, ...options });
  expect(results.filter(({ outcome }) => outcome === "complete")).toHaveLength(2);
  expect(results.filter(({ outcome }) => outcome === "failed")).toMatchObject([
    { site: "https://fine-1.example/", reasons: [{ code: "internal" }] },
  ]);
});

test.each([
  ["opened", { open: true }],
  ["written", { pages: true }],
  ["kept", { keep: true }],
])("an output that cannot be %s is tried three times, then only its website fails", async (_, fails) => {
  const { client } = manyWebsites();
  for (const failures of [2, 3]) {
    const sink = memorySink();
    let left = failures;
    const fail = (is: boolean | undefined) => {
      if (is && left-- > 0) throw Object.assign(new Error("no luck"), { code: "storage-failed" });
    };
    const failing: SiteSink = {
      async open(job, attemptId) {
        const output = await sink.open(job, attemptId);
        if (!job.homepage.includes("fine-1.")) return output;
        fail("open" in fails);
        return {
          ...output,
          async pages(sitemap, pages) {
            fail("pages" in fails);
            await output.pages?.(sitemap, pages);
          },
          async keep(summary) {
            fail("keep" in fails);
            return output.keep(summary);
          },
        };
      },
    };
    const { results } = await run(newFolder(), {
      sites: hosts("fine", 3),
      sink: failing,
      ...crawl,
      client,
    });
    const outcomes = results.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["complete", failures === 3 ? "failed" : "complete", "complete"]);
    if (failures === 3) expect(results[1]?.reasons[0]).toMatchObject({ code: "internal", count: 3 });
    if (failures === 3) expect(results[1]?.reasons[0]?.message).toContain("no luck");
  }
});

test("if the earlier archive turns out to be damaged after some pages, no page is written twice", async () => {
  const { client } = manyWebsites();
  const previous = path.join(newFolder(), "earlier.warc.gz");
  const tree = await sitemapTreeForHomepage("https://fine-0.example/", { ...crawl, client, save: previous });
  await tree.close();
  const sink = memorySink();
  let isDamaged = true;
  const failing: SiteSink = {
    async open(job, attemptId) {
      const output = await sink.open(job, attemptId);
      return {
        ...output,
        options: { previous },
        async pages(sitemap, pages) {
          await output.pages?.(sitemap, pages);
          if (isDamaged) throw new SitemapError("invalid-archive", "it is damaged");
        },
        async discard() {
          isDamaged = false;
          await output.discard();
        },
      };
    },
  };
  const { results } = await run(newFolder(), { sites: hosts("fine", 1), sink: failing, ...crawl, client });
  expect(results).toMatchObject([{ outcome: "complete", pages: 3, previousError: "it is damaged" }]);
  expect(sink.kept.get("https://fine-0.example/")).toHaveLength(3);
});

test("an output's own `onEvent` gets the events of its website", async () => {
  const { client } = manyWebsites();
  const types = new Set<string>();
  const options = { onEvent: ({ type }: { type: string }) => void types.add(type) };
  const sink: SiteSink = { open: async () => ({ options, keep: async () => ({}), discard: async () => {} }) };
  await run(newFolder(), { sites: hosts("fine", 1), sink, ...crawl, client });
  expect([...types]).toEqual(expect.arrayContaining(["request", "response", "pages", "finished"]));
});

test("a full disk stops the fleet and fails no website", async () => {
  const { client } = manyWebsites();
  const sink: SiteSink = {
    open: () => Promise.reject(new Error("cannot write", { cause: Object.assign(new Error(), { code: "ENOSPC" }) })),
  };
  const folder = newFolder();
  await expect(run(folder, { sites: hosts("fine", 3), sink, ...crawl, client })).rejects.toThrow("cannot write");
  const queue = await JournalQueue.open(folder);
  expect(await queue.counts()).toMatchObject({ waiting: 3, done: 0 });
  await queue.close();
});

test("parallelSites limits how many websites are crawled at the same time", async () => {
  const { client, mostAtOnce } = manyWebsites({ latency: 20 });
  await run(newFolder(), { sites: hosts("fine", 60), ...crawl, client, parallelSites: 20 });
  expect(mostAtOnce()).toBeGreaterThan(10);
  expect(mostAtOnce()).toBeLessThanOrEqual(20);
});

test("a website that has responded keeps its place, even if its sitemap is slow", async () => {
  const { client, mostAtOnce } = manyWebsites();
  const settings = { ...crawl, client, knownPaths: "never", parallelSites: 1, timeout: 1500 } as const;
  const { counts } = await run(newFolder(), { sites: hosts("late", 2), ...settings });
  expect({ done: counts.done, most: mostAtOnce() }).toEqual({ done: 2, most: 1 });
});

test("aborting returns websites in progress to the queue, without counting a crash", async () => {
  const folder = newFolder();
  const { client } = manyWebsites();
  for (let round = 0; round < 4; round++) {
    const controller = new AbortController();
    const reason = new Error("enough");
    const sink = memorySink();
    let begun = 0;
    const onEvent = (event: FleetEvent) => {
      if (event.type === "site-start" && ++begun === 3) setTimeout(() => controller.abort(reason), 30);
    };
    const ending = run(folder, {
      sites: hosts("hang", 6),
      sink,
      ...crawl,
      client,
      parallelSites: 3,
      signal: controller.signal,
      onEvent,
    });
    await expect(ending).rejects.toBe(reason);
    expect(sink.discarded).toHaveLength(3);
  }
  const queue = await JournalQueue.open(folder);
  expect(await queue.counts()).toEqual({ waiting: 6, active: 0, done: 0, failed: 0 });
  await queue.close();
});

test("a website that does not respond makes room for others", async () => {
  const { client } = manyWebsites();
  const controller = new AbortController();
  const healthy = new Set(hosts("fine", 20));
  const onEvent = (event: FleetEvent) => {
    if (event.type === "site-done") healthy.delete(new URL(event.summary.site).host);
    if (healthy.size === 0) controller.abort(new Error("all healthy ones are done"));
  };
  const sites = [...hosts("hang", 4), ...healthy];
  const ending = run(newFolder(), {
    sites,
    ...{ ...crawl, client },
    timeout: { connect: 600_000, firstByte: 600_000, idle: 600_000, total: 600_000 },
    parallelSites: 2,
    signal: controller.signal,
    onEvent,
  });
  await expect(ending).rejects.toThrow("all healthy ones are done");
});

test("the queue stores homepages, URLs and lists of sitemaps", async () => {
  const { client, visits } = manyWebsites();
  const sitemaps = ["https://fine-2.example/sitemap.xml", new URL("https://fine-3.example/sitemap.xml")];
  const sites = [
    ...["fine-0.example", new URL("https://fine-1.example/")],
    ...[{ sitemaps }, { sitemaps: [...sitemaps].reverse() }, { homepage: "https://fine-0.example/" }],
  ];
  const folder = newFolder();
  const drain = AbortSignal.abort();
  const queue = await JournalQueue.open(folder);
  const jobs = sites.map((site) => siteJob(site)!);
  await queue.add(jobs);
  await queue.close();
  // The next process reads the same jobs.
  const { counts, results } = await run(folder, { ...crawl, client });
  expect(counts).toMatchObject({ done: 3, waiting: 0 });
  expect(results.map(({ site, pages, outcome }) => [site, pages, outcome])).toEqual([
    ["https://fine-0.example/", 3, "complete"],
    ["https://fine-1.example/", 3, "complete"],
    ["https://fine-2.example/", 6, "complete"],
  ]);
  expect(visits.get("fine-2.example")).toBeUndefined();
  expect((await run(folder, { sites, ...crawl, client, drain })).counts.done).toBe(3);
});

test("a website whose list of sitemaps was lost with a damaged line is not crawled from its homepage instead", async () => {
  const { client } = manyWebsites();
  const folder = newFolder();
  const { key } = siteJob({ sitemaps: ["https://fine-0.example/sitemap.xml"] })!;
  const line = { type: "back", site: "https://fine-0.example/", key, at: new Date().toISOString() };
  writeFileSync(path.join(folder, "sites.ndjson"), `${JSON.stringify(line)}\n`);
  const queue = await JournalQueue.open(folder);
  expect([queue.size, queue.damaged]).toEqual([0, 1]);
  await queue.close();
  expect((await run(folder, { ...crawl, client })).results).toEqual([]);
});

test("well-known paths are only tried if needed", async () => {
  const { client } = manyWebsites();
  const { results } = await run(newFolder(), {
    sites: ["fine-0.example", "gone-0.example"],
    ...crawl,
    client,
  });
  expect(results.find(({ site }) => site.includes("fine"))?.requests).toBe(2);
  expect(results.find(({ site }) => site.includes("gone"))?.requests).toBeGreaterThan(15);
});

test.each([false, true])(
  "a name without a scheme is crawled over http if https does not respond (with trees: %s)",
  async (withTrees) => {
    const asked: string[] = [];
    const client: Client = {
      async request({ url }) {
        asked.push(url);
        const { protocol, pathname } = new URL(url);
        if (protocol === "https:") return problem("connection-refused");
        const texts: Record<string, string> = {
          "/robots.txt": "Sitemap: http://plain.example/s.txt",
          "/s.txt": "http://plain.example/page",
        };
        const text = texts[pathname];
        return { status: text === undefined ? 404 : 200, headers: [], body: Readable.from([Buffer.from(text ?? "")]) };
      },
    };
    const sink = memorySink();
    const trees = {
      open: async (job: SiteJob, id: string) => ({ ...(await sink.open(job, id)), tree: async () => undefined }),
    };
    const options = { sink: withTrees ? { ...sink, ...trees } : sink, ...crawl, client };
    const named = await run(newFolder(), { ...options, sites: ["plain.example"] });
    expect(named.results).toMatchObject([{ site: "https://plain.example/", outcome: "complete", pages: 1 }]);
    expect([...sink.kept.values()]).toEqual([["http://plain.example/page"]]);
    const written = await run(newFolder(), { ...options, sites: ["https://plain.example"] });
    expect(written.results).toMatchObject([{ outcome: "unreachable", pages: 0 }]);
  },
);

test("the queue remembers that a website was named without a scheme", async () => {
  const folder = newFolder();
  for (const isNew of [true, false]) {
    const queue = await JournalQueue.open(folder);
    if (isNew) await queue.add([siteJob("plain.example") as SiteJob]);
    else expect((await queue.take(AbortSignal.timeout(60_000)))?.job).toMatchObject({ mayBePlain: true });
    await queue.close();
  }
});

test.each([
  ["example.org", "https://example.org/"],
  [" https://Example.ORG/a/b?c#d ", "https://example.org/"],
  ["http://example.org:80", "http://example.org/"],
  ["https://user:secret@example.org/", "https://example.org/"],
  ["localhost:8080", "http://localhost:8080/"],
  ["127.0.0.1:8080/a", "http://127.0.0.1:8080/"],
  ["münchen.example", "https://xn--mnchen-3ya.example/"],
])("%s means the website %s", (text, homepage) => {
  expect(siteJob(text)).toMatchObject({ key: homepage, homepage });
});

test.each([
  ...["", "   ", "two words", "ftp://example.org/", "word", "https://", "javascript:alert(1)", "a b.example"],
  ...["https://exa mple.org", "../../x", "https://../../x", ".example.org", ".", "4", "1.5", "0x7f", "0177.1.1.1"],
  ...["me@example.org", "mailto:me@example.org", "1,example.org", "1;example.org"],
])("%j is not a website", (text) => {
  expect(siteJob(text)).toBeUndefined();
});

test("with path: keep, each path is a separate website", () => {
  const paths = ["https://example.org/a/", "https://Example.org:443/a/#b", "https://example.org/c"];
  expect(paths.map((text) => siteJob(text, { path: "keep" })?.key)).toEqual([
    "https://example.org/a/",
    "https://example.org/a/",
    "https://example.org/c",
  ]);
});

test("the default of parallelSites depends on memory and CPU cores", () => {
  const gigabyte = 2 ** 30;
  expect(defaultParallelSites(64 * gigabyte, 32)).toBe(128);
  expect(defaultParallelSites(2 * gigabyte, 1)).toBe(64);
  expect(defaultParallelSites(gigabyte / 4, 8)).toBe(16);
});

test.each([
  [{ parallelSites: 0 }, "Expected `parallelSites`"],
  [{ retries: -1 }, "Expected `retries`"],
  [{ concurrency: { perhost: 1 } }, "did you mean `concurrency.perHost`?"],
  [{ save: "all.warc.gz" }, "Unknown option `save`"],
  [{ crawl: {} }, "Unknown option `crawl`"],
  [{ unknown: 1 }, "Unknown option `unknown`"],
])("%j is refused", async (options, message) => {
  await expect(runFleet({ queue: {} as never, ...options } as never)).rejects.toThrow(message);
});

test("stopping early ends the caller's list, so that its owner can clean up", async () => {
  const stop = new AbortController();
  let isEnded = false;
  async function* list() {
    try {
      yield "a";
      yield "b";
    } finally {
      isEnded = true;
    }
  }
  const read = async () => {
    for await (const _ of until(list(), stop.signal)) stop.abort(new Error("enough"));
  };
  // A list that ends early must not look like one that was read to its end.
  await expect(read()).rejects.toThrow("enough");
  await expect.poll(() => isEnded).toBe(true);
});
