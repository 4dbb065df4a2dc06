// `--resume` continues a run that was killed, stopped or cut short: it requests only what is missing, and the tree is the one that an
// uninterrupted run would have made.

import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openArchive } from "../../src/archive/reader.ts";
import type { CrawlEvent } from "../../src/model/event.ts";
import type { Options } from "../../src/model/options.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { ended, launch, shell, sitegrove, start } from "../cli/program.ts";
import { urlsOf } from "../support/collected.ts";
import { index, urlset } from "../support/documents.ts";
import { isLong, some } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { newFolder } from "../support/test-folder.ts";
import { type Answer, type SlowSite, serveSlowly } from "./slow-site.ts";

const names = Array.from({ length: 12 }, (_, at) => `s${at}.xml${at % 5 === 0 ? ".gz" : ""}`);
const pages = (name: string, count: number) =>
  urlset(...Array.from({ length: count }, (_, page) => `{base}/${name}/${page}`));
const routes: Record<string, string | Answer> = {
  "/robots.txt": "Sitemap: {base}/index.xml\nSitemap: {base}/gone.xml\n",
  "/index.xml": index(...[...names, "old.xml"].map((name) => `{base}/${name}`)),
  "/old.xml": { status: 301, headers: { location: "/new.xml" } },
  "/new.xml": pages("new", 30),
};
for (const [at, name] of names.entries()) {
  const body = pages(name, 20 + 15 * at);
  routes[`/${name}`] = name.endsWith(".gz")
    ? { body: gzipSync(body.replaceAll("{base}", "http://pages.example")) }
    : body;
}

const folder = newFolder();
let site: SlowSite;
let whole: string;
let wholePages: string;
beforeAll(async () => {
  site = await serveSlowly(routes);
  await using tree = await sitemapTreeForHomepage(site.homepage, options);
  whole = JSON.stringify(tree);
  wholePages = await pagesOf(tree);
  expect(wholePages.split("\n").length).toBeGreaterThan(1000);
});
const asked: string[] = [];
beforeEach(() => {
  site.pace = () => 0;
  asked.length = 0;
  site.onRequest = (request) => asked.push(request);
});
afterEach(() => {
  site.onRequest = () => undefined;
});
afterAll(() => site.close());

const options: Options = { knownPaths: "never", extraKnownPaths: ["guess.xml"], retries: 0 };
const flags = ["--no-known", "--known-path", "guess.xml", "--retries", "0", "--no-progress"];
const inFolder = (name: string) => path.join(folder, name);

// Compares one text, because comparing so many values one by one takes longer than reading them.
async function pagesOf(tree: SitemapTree): Promise<string> {
  return (await urlsOf(tree.pages())).join("\n");
}

/** Saves an archive of a complete run. */
async function saved(file: string, more: Options = {}): Promise<SitemapTree> {
  const tree = await sitemapTreeForHomepage(site.homepage, { ...options, save: file, ...more });
  await tree.close();
  return tree;
}

/** Returns the paths that the archive holds now. */
async function keptIn(file: string): Promise<string[]> {
  const archive = await openArchive(file);
  await archive.close();
  return archive.urls.map((url) => url.slice(site.homepage.length - 1));
}

/**
 * Goes on, and expects nothing but what is missing to be asked for, and the same tree, now and from the archive. `isCut`: what came last
 * may be asked for again, because its checksum is cut off.
 */
async function goOn(file: string, more: Options = {}, isCut = false): Promise<CrawlEvent[]> {
  const kept = await keptIn(file);
  const before = isCut ? kept.slice(0, -1) : kept;
  const events: CrawlEvent[] = [];
  asked.length = 0;
  await using tree = await sitemapTreeForHomepage(site.homepage, {
    resume: file,
    retries: 0,
    onEvent: (event) => events.push(event),
    ...more,
  });
  expect(asked.filter((path) => before.includes(path))).toEqual([]);
  expect(JSON.stringify(tree)).toBe(whole);
  expect(await pagesOf(tree)).toBe(wholePages);
  await using again = await openTree(file);
  expect(JSON.stringify(again)).toBe(whole);
  expect(await pagesOf(again)).toBe(wholePages);
  expect(new Set([...kept, ...asked])).toEqual(new Set(await keptIn(file)));
  return events;
}

describe("a run that was killed can be resumed", () => {
  const count = Number(process.env["SITEGROVE_KILLS"] ?? some(12, 1));
  test(`at ${count} random moments, sometimes repeatedly`, { timeout: 1_200_000 }, async () => {
    const random = new Random(11);
    const kills = Array.from({ length: count }, (_, at) => ({
      file: inFolder(`killed-${at}.warc${at % 2 === 0 ? ".gz" : ""}`),
      requests: 1 + random.below(18),
      wait: random.below(20),
      again: at % 7 === 0,
    }));
    site.pace = () => 1;
    let gone = 0;
    for (const { file, requests, wait, again } of kills) {
      await killed(["--save", file], requests, wait);
      // It was killed before anything was written.
      if (!existsSync(file) || (await isUnreadable(file))) continue;
      if (again) await killed(["--resume", file], Math.max(1, requests >> 1), wait);
      await goOn(file);
      gone += 1;
      rmSync(file);
    }
    expect(gone).toBeGreaterThan(count / 3);
  });

  async function killed(words: string[], requests: number, wait: number): Promise<void> {
    const child = start(["ls", site.homepage, "-f", "pages", ...words, ...flags]);
    child.stdin?.end();
    let seen = 0;
    site.onRequest = () => {
      seen += 1;
      if (seen === requests) setTimeout(() => child.kill("SIGKILL"), wait);
    };
    await ended(child);
    site.onRequest = (request) => asked.push(request);
  }

  const isUnreadable = (file: string) =>
    openArchive(file).then(
      (archive) => archive.close().then(() => false),
      () => true,
    );
});

test.each(["site.warc", "site.warc.gz"])("%s can be resumed, wherever its last records are cut off", async (name) => {
  const file = inFolder(name);
  await saved(file);
  // A run with `previous` copies records.
  const built = inFolder(`built-${name}`);
  await saved(built, { previous: file });
  const size = statSync(file).size;
  const cut = inFolder(`cut-${name}`);
  const random = new Random(3);
  const rounds = some(12, 2);
  for (let round = 0; round < rounds; round += 1) {
    const from = round % 2 === 0 ? file : built;
    copyFileSync(from, cut);
    truncateSync(cut, statSync(from).size - 1 - random.below(round < rounds / 2 ? 2000 : size >> 1));
    await goOn(cut, {}, true);
  }
  // The cut is in the checksum of the last record, whose content is complete.
  for (const missing of isLong ? [1, 4, 8, 10] : [8]) {
    copyFileSync(file, cut);
    truncateSync(cut, size - missing);
    await goOn(cut, {}, true);
  }
  // A power failure can leave a file with its length, but without its bytes.
  copyFileSync(file, cut);
  const bytes = readFileSync(cut);
  writeFileSync(cut, bytes.fill(0, size - 5000));
  if (!name.endsWith(".gz")) await goOn(cut);
  rmSync(cut);
  rmSync(file);
});

test("after a document whose record was altered, a resumed run and its archive are complete", async () => {
  const file = inFolder("altered.warc");
  await saved(file);
  const bytes = readFileSync(file);
  const at = bytes.indexOf("\r\n\r\nHTTP/1.1 200", bytes.length >> 2);
  // The record no longer names its run, as if another tool had written it.
  const run = bytes.lastIndexOf("WARC-Warcinfo-ID: <urn:uuid:", at) + 30;
  bytes[run] = bytes[run] === 48 ? 49 : 48;
  writeFileSync(file, bytes.subarray(0, -5000));
  await using tree = await sitemapTreeForHomepage(site.homepage, { resume: file, retries: 0 });
  expect(await pagesOf(tree)).toBe(wholePages);
  await using again = await openTree(file);
  expect(JSON.stringify(again)).toBe(whole);
});

test("--resume after Ctrl-C fetches the rest, and the listing is complete", async () => {
  const whole = await sitegrove(["ls", site.homepage, ...flags]);
  for (const name of isLong ? ["stopped.warc", "stopped.warc.gz"] : ["stopped.warc.gz"]) {
    site.pace = () => 5;
    asked.length = 0;
    const stopped = launch(["ls", site.homepage, ...flags, "--save", inFolder(name)]);
    site.onRequest = (request) => {
      asked.push(request);
      if (asked.length === 9) stopped.kill("SIGINT");
    };
    expect((await stopped.end).code).toBe(130);
    site.onRequest = (request) => asked.push(request);
    const before = await keptIn(inFolder(name));
    asked.length = 0;
    // The settings are in the archive.
    expect(await sitegrove(["ls", site.homepage, "--resume", inFolder(name), "--retries", "0"])).toEqual(whole);
    expect(asked.filter((path) => before.includes(path))).toEqual([]);
    expect((await sitegrove(["ls", inFolder(name)])).stdout).toBe(whole.stdout);
    asked.length = 0;
    expect((await sitegrove(["ls", site.homepage, "--resume", inFolder(name), "-f", "pages"])).code).toBe(3);
    expect(asked).toEqual([]);
  }
});

describe("a run can be resumed that was cut short", () => {
  test("by a budget of time", async () => {
    site.pace = () => 15;
    const file = inFolder("time.warc");
    const cut = await saved(file, { limits: { time: 250 } });
    // The archive says which documents were not requested in time.
    expect(JSON.stringify(cut)).toContain("limit-time");
    site.pace = () => 0;
    await using tree = await sitemapTreeForHomepage(site.homepage, { resume: file, retries: 0 });
    expect(JSON.stringify(tree)).toBe(whole);
    await using again = await openTree(file);
    expect(JSON.stringify(again)).toBe(whole);
  });

  test.each([
    ["sitemaps", 6],
    ["bytes", 20_000],
    ["pages", 300],
    ["depth", 0],
  ])("by the limit %s, which applies until it is raised", async (name, limit) => {
    const file = inFolder(`${name}.warc.gz`);
    const cut = await saved(file, { limits: { [name]: limit } });
    expect(cut.complete).toBe(false);
    await using same = await sitemapTreeForHomepage(site.homepage, { resume: file });
    expect(JSON.stringify(same)).toBe(JSON.stringify(cut));
    await same.close();
    await goOn(file, { limits: { [name]: Number.POSITIVE_INFINITY, ...(name === "depth" ? { depth: 11 } : {}) } });
  });

  test("by the size limit of a document, which is requested again once the limit is larger", async () => {
    const file = inFolder("document.warc");
    const cut = await saved(file, { limits: { documentBytes: 5000 } });
    expect(cut.complete).toBe(false);
    asked.length = 0;
    await using same = await sitemapTreeForHomepage(site.homepage, { resume: file });
    expect(JSON.stringify(same)).toBe(JSON.stringify(cut));
    expect(asked).toEqual([]);
    await same.close();
    await using tree = await sitemapTreeForHomepage(site.homepage, { resume: file, limits: { documentBytes: 1e9 } });
    expect(JSON.stringify(tree)).toBe(whole);
    expect(asked).not.toContain("/robots.txt");
    await using again = await openTree(file, { limits: { documentBytes: 1e9 } });
    expect(JSON.stringify(again)).toBe(whole);
  });

  test.runIf(isLong).each(["full.warc", "full.warc.gz"])("by a full disk: %s", async (name) => {
    const file = inFolder(name);
    await saved(file);
    const blocks = statSync(file).size >> 11;
    rmSync(file);
    const full = `ulimit -f ${blocks}; eval "$SITEGROVE ls ${site.homepage} ${flags.join(" ")} --save ${file}"`;
    expect((await shell(full)).code).toBe(1);
    await goOn(file);
  });
});

test("for each document, the run reports and counts how it was obtained", async () => {
  const file = inFolder("told.warc");
  const stop = new AbortController();
  const saving = sitemapTreeForHomepage(site.homepage, {
    ...options,
    save: file,
    signal: stop.signal,
    onEvent: (event) => event.type === "pages" && event.url.endsWith("/s3.xml") && stop.abort(),
  });
  await expect(saving).rejects.toThrow();
  const before = await keptIn(file);
  const events = await goOn(file);
  const responses = events.filter((event) => event.type === "response");
  const obtained = new Map(responses.map(({ url, obtained }) => [url.slice(site.homepage.length - 1), obtained]));
  expect(new Set([...obtained.keys()])).toEqual(new Set(await keptIn(file)));
  for (const [url, how] of obtained) expect(how).toBe(before.includes(url) ? "resumed" : "fetched");
  expect(responses).toHaveLength(obtained.size);
  const { totals } = events.at(-1) as Extract<CrawlEvent, { type: "finished" }>;
  const found = responses.filter(({ outcome }) => outcome === "found");
  expect(totals.obtained.resumed).toBe(found.filter(({ obtained }) => obtained === "resumed").length);
  expect(totals.obtained.fetched).toBe(found.filter(({ obtained }) => obtained === "fetched").length);
  expect(totals.obtained.resumed).toBeGreaterThan(3);
  expect(totals.requests).toBe(asked.length);
});

test("resuming a run that had finished requests nothing", async () => {
  const file = inFolder("ended.warc.gz");
  await saved(file);
  await goOn(file);
  expect(asked).toEqual([]);
});

describe("--resume exits with 2 and a one-line error for", () => {
  const other = "http://other.example/";
  const line = (file: string) => new RegExp(`^sitegrove: ${file.replaceAll(".", "\\.")} [^\\n]+\\n$`);
  beforeAll(async () => {
    for (const name of ["good.warc", "good.warc.gz"]) await saved(inFolder(name));
    writeFileSync(inFolder("empty.warc"), "");
    writeFileSync(inFolder("text.warc"), "hello");
    const http = "HTTP/1.1 200 OK\r\n\r\n<urlset/>";
    writeFileSync(
      inFolder("foreign.warc"),
      `WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: ${other}\r\nContent-Length: ${http.length}\r\n\r\n${http}\r\n\r\n`,
    );
    const bytes = readFileSync(inFolder("good.warc"));
    writeFileSync(inFolder("one.warc.gz"), gzipSync(bytes));
    // These files lack their indexes.
    const garbled = bytes.toString("latin1").replace(/(s5\.xml.*?)WARC\/1\.1/s, "$1GARBAGE!");
    writeFileSync(inFolder("damaged.warc"), garbled.slice(0, -1000), "latin1");
    const compressed = readFileSync(inFolder("good.warc.gz"));
    const middle = compressed.length >> 1;
    writeFileSync(inFolder("damaged.warc.gz"), compressed.fill(0xff, middle, middle + 40).subarray(0, -1000));
  });

  test.each([
    ["another website", "good.warc", [other]],
    ["sitemaps instead of a website", "good.warc", ["--sitemap", `${other}a.xml`]],
    ["a file that is not there", "none.warc", [other]],
    ["a folder", ".", [other]],
    ["an empty file", "empty.warc", [other]],
    ["text", "text.warc", [other]],
    ["an archive of another tool", "foreign.warc", [other]],
    ["an archive that is damaged in its middle", "damaged.warc", ["site"]],
    ["a compressed archive that is damaged in its middle", "damaged.warc.gz", ["site"]],
    ["an archive that is compressed in one piece", "one.warc.gz", ["site"]],
  ])("%s", async (_, name, words) => {
    const file = inFolder(name);
    const before = existsSync(file) && statSync(file).isFile() ? readFileSync(file) : undefined;
    const named = words.map((word) => (word === "site" ? site.homepage : word));
    const run = await sitegrove(["ls", ...named, "--resume", file]);
    expect(run).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(line(file));
    if (before !== undefined) expect(before.equals(readFileSync(file))).toBe(true);
  });

  test("--save and --resume together, several websites, and an archive as the website", async () => {
    const file = inFolder("good.warc");
    for (const words of [["--save", inFolder("x.warc")], [other, "http://third.example/"], [file]]) {
      const run = await sitegrove(["ls", ...words, "--resume", file]);
      expect(run).toMatchObject({ code: 2, stdout: "" });
      expect(run.stderr).toMatch(/^sitegrove: [^\n]+\n$/);
    }
  });
});
