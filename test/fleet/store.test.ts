// The files of a fleet in a folder: what others do there is noticed.
import { copyFileSync, mkdirSync, promises, rmSync, truncateSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { expect, test } from "vitest";
import { JournalQueue } from "../../src/fleet/journal-queue.ts";
import { linesIn, longestLine } from "../../src/fleet/lines.ts";
import { earlierRun, fileName, storedRun, summaryName } from "../../src/fleet/results.ts";
import { runFleet } from "../../src/fleet/run-fleet.ts";
import { siteFiles } from "../../src/fleet/site-files.ts";
import { attemptIdOf, siteJob, storedJob } from "../../src/fleet/site-job.ts";
import { DraftFile, Store } from "../../src/fleet/store.ts";
import { saidOfFleets as said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { job, summaryOf, taken } from "./queue-contract.ts";

const site = job("a");
const attempt = (starts = 1) => ({ job: site, attemptId: attemptIdOf(site.key, starts) });

/** Publishes the outputs of an attempt, as a worker does. */
async function published(store: Store, one = attempt()): Promise<void> {
  const output = await siteFiles({ store, run: "run" }).open(site, one.attemptId);
  await output.pages?.("https://a.example/sitemap.xml", [{ url: "https://a.example/1" }] as never);
  await output.keep(summaryOf(one));
}

test.each(["removed", "truncated"])("a draft that was %s while it was being written is not published", async (how) => {
  const store = new Store(newFolder());
  const file = new DraftFile(store, "pages/a.ndjson");
  await file.write("x".repeat(100_000));
  if (how === "removed") rmSync(store.draft("pages/a.ndjson"));
  else writeFileSync(store.draft("pages/a.ndjson"), "x");
  await file.write("the rest");
  await expect(file.publish()).rejects.toThrow("Another program has changed pages/a.ndjson");
});

test("an unreadable summary does not count as a missing one", async () => {
  const folder = newFolder();
  mkdirSync(path.join(folder, summaryName(site, "run")), { recursive: true });
  await expect(published(new Store(folder))).rejects.toThrow(/could not be read/);
});

test("a worker whose result comes too late keeps the files of its published summary, because others adopt it", async () => {
  const store = new Store(newFolder());
  const sink = siteFiles({ store, run: "run" });
  const one = attempt();
  const output = await sink.open(site, one.attemptId);
  await output.pages?.("https://a.example/sitemap.xml", [{ url: "https://a.example/1" }] as never);
  await output.keep(summaryOf(one));
  await output.discard();
  const { files = {} } = (await sink.published(site)) ?? {};
  expect(Object.keys(files)).toEqual(["pages", "sitemaps"]);
  for (const file of Object.values(files)) expect(await store.get(file)).toBeDefined();
});

test("a copy of a summary is not counted twice", async () => {
  const folder = newFolder();
  await published(new Store(folder));
  const name = path.join(folder, summaryName(site, "run"));
  copyFileSync(name, name.replace(".json", " (copy).json"));
  const stored = await storedRun(folder);
  let count = 0;
  for await (const { key } of stored.results) count += Number(key === site.key);
  expect({ count, unreadable: stored.unreadable }).toEqual({ count: 1, unreadable: 1 });
});

test("a result to be replaced is removed, but its files stay until there are newer ones; any other result is adopted", async () => {
  const store = new Store(newFolder());
  const first = attempt(3);
  await published(store, first);
  const sink = siteFiles({ store, run: "run" });
  expect(await sink.published(site, attempt(3).attemptId)).toMatchObject({ attemptId: first.attemptId });
  expect(await sink.published(site, first.attemptId)).toBeUndefined();
  expect(await store.list("summaries/")).toEqual([]);
  const [file = "", ...others] = await store.list("pages/");
  expect(others).toEqual([]);
  await published(store, attempt(4));
  expect(await store.list("pages/")).toEqual([expect.stringContaining("-4-")]);
  expect(await store.get(file)).toBeUndefined();
});

test("the journals of several machines never give two attempts the same name", async () => {
  const names = new Set<string>();
  for (let machine = 0; machine < 2; machine += 1) {
    const queue = await JournalQueue.open(newFolder());
    await queue.add([site]);
    names.add((await taken(queue)).attemptId);
    await queue.close();
  }
  expect(names.size).toBe(2);
});

test("a run keeps its name: another name is refused, unless the run has none yet", async () => {
  const store = new Store(newFolder());
  const folder = path.dirname(path.dirname(store.draft("a/b")));
  await published(store);
  await expect(storedRun(folder, "tuesday")).rejects.toThrow(`${folder} has no run tuesday: use --run with run`);
  expect((await storedRun(folder, "run")).run).toBe("run");
  const unnamed = newFolder();
  await new Store(unnamed).create(summaryName(site, undefined), JSON.stringify(summaryOf(attempt())));
  expect((await storedRun(unnamed, "tuesday")).run).toBe("tuesday");
});

test("one of several earlier runs is chosen by name, and a summary is read when its website is crawled", async () => {
  const folder = newFolder();
  const store = new Store(folder);
  for (const run of ["monday", "tuesday"]) {
    const summary = summaryOf(attempt());
    const archive = fileName("archives", run, site, summary.attemptId, "warc.gz");
    await store.replace(archive, run);
    await store.create(summaryName(site, run), JSON.stringify({ ...summary, files: { archive } }));
    // Whoever can write a summary could name the archive of another website.
    await store.create(
      summaryName(job("d"), run),
      JSON.stringify({ ...summaryOf({ ...attempt(), job: job("d") }), files: { archive } }),
    );
    await store.create(summaryName(job("b"), run), "not a summary");
  }
  await expect(earlierRun(folder)).rejects.toThrow(said.severalRuns("--previous-run"));
  const earlier = await earlierRun(folder, "monday");
  expect(await earlier(site)).toMatchObject({ file: expect.stringContaining(path.join(folder, "archives/monday/")) });
  expect(await earlier(job("d"))).toMatchObject({ error: expect.stringContaining("belongs to another website") });
  expect(await earlier(job("b"))).toMatchObject({ error: expect.stringContaining("is not a summary") });
  expect(await earlier(job("c"))).toBeUndefined();
});

test("results also have websites that failed or are quarantined, until those have a result", async () => {
  const folder = newFolder();
  const files = siteFiles({ store: new Store(folder), run: "run" });
  const broken = { ...files, open: () => Promise.reject(new Error("no output")) };
  const journal = newFolder();
  const lines = ["add", ...Array(5).fill("start")].map((type) =>
    JSON.stringify({ type, site: job("q").homepage, key: job("q").key, at: "", ...attempt() }),
  );
  writeFileSync(path.join(journal, "sites.ndjson"), `${lines.join("\n")}\n`);
  const queue = await JournalQueue.open(journal);
  await runFleet({ queue, sites: [site], sink: broken });
  await queue.close();
  const outcomes = async () => {
    const stored = await storedRun(folder);
    const found: Record<string, string> = {};
    for await (const { key, outcome, reasons } of stored.results)
      found[key] = `${outcome} ${reasons[0]?.message ?? ""}`;
    expect(stored.unreadable).toBe(0);
    return found;
  };
  const quarantined = "quarantined The process died 5 times while crawling this website";
  expect(await outcomes()).toEqual({
    [site.key]: expect.stringMatching(/^failed .*no output/),
    [job("q").key]: quarantined,
  });
  await published(new Store(folder));
  expect(await outcomes()).toEqual({ [site.key]: "complete ", [job("q").key]: quarantined });
});

test("a summary is published exactly once, even on a file system without hard links", async () => {
  const { link } = promises;
  try {
    promises.link = () => Promise.reject(Object.assign(new Error("operation not permitted"), { code: "EPERM" }));
    syncBuiltinESMExports();
    const store = new Store(newFolder());
    expect([await store.create("summaries/a.json", "1"), await store.create("summaries/a.json", "2")]).toEqual([
      "created",
      "exists",
    ]);
    expect(await store.get("summaries/a.json")).toBe("1");
  } finally {
    promises.link = link;
    syncBuiltinESMExports();
  }
});

test("a text longer than any summary is not read into memory", async () => {
  const folder = newFolder();
  writeFileSync(path.join(folder, "a.json"), "");
  truncateSync(path.join(folder, "a.json"), longestLine + 1);
  await expect(new Store(folder).get("a.json")).rejects.toThrow("a.json is too long");
});

test("lines end at line feeds, and a line that is too long is cut off", async () => {
  const file = path.join(newFolder(), "lines");
  writeFileSync(file, `{"a":"\u2028é"}\n\n${"x".repeat(300_000)}\r\n{"b":1}`);
  const lines = [];
  for await (const line of linesIn(file, 100_000)) lines.push(line);
  expect(lines).toEqual([
    { text: '{"a":"\u2028é"}', end: 14, isEnded: true },
    { text: "", end: 15, isEnded: true },
    { text: "x".repeat(100_000), end: 300_017, isEnded: true },
    { text: '{"b":1}', end: 300_024, isEnded: false },
  ]);
});

test("a folder that cannot be listed does not count as empty", async () => {
  const folder = newFolder();
  writeFileSync(path.join(folder, "pages"), "a file in its place");
  await expect(new Store(folder).list("pages/")).rejects.toThrow("pages could not be read");
  expect(await new Store(folder).list("sitemaps/")).toEqual([]);
});

test("a stored job is refused unless its key fits what it crawls", () => {
  const sitemaps = ["https://evil.example/b.xml", "https://evil.example/a.xml"];
  const own = [siteJob("a.example"), siteJob({ sitemaps }), siteJob("https://a.example/shop/?b", { path: "keep" })];
  for (const each of own) expect(storedJob({ ...each })).toEqual(each);
  expect(storedJob({ ...site, sitemaps })).toBeUndefined();
  expect(storedJob({ ...site, homepage: "https://evil.example/" })).toBeUndefined();
  expect(storedJob({ ...siteJob({ sitemaps }), homepage: site.homepage })).toBeUndefined();
});
