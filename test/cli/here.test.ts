// A preview: a copy of a website whose documents name the host of the original.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { crawl, sitemapTreeForHomepage, streamPages } from "../../src/index.ts";
import { listOf } from "../support/collected.ts";
import { index, urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { ended, jsonLines, onTerminal, sitegrove, start } from "./program.ts";
import { serve, type Website } from "./website.ts";

// 127.0.0.1:1 refuses connections, so a request to the original host would fail.
const original = "http://127.0.0.1:1";
const pages = [`${original}/`, `${original}/a`, `${original}/b`];
const preview = await serve({
  "/robots.txt": `Sitemap: ${original}/sitemap.xml\n`,
  "/sitemap.xml": index(`${original}/pages.xml`),
  "/pages.xml": urlset(...pages),
});
const robotsOnly = await serve({ "/sitemap.xml": urlset(...pages) });

const few = { knownPaths: "never", retries: 0 } as const;
const here = (site: Website) => ["", "a", "b"].map((page) => site.homepage + page);

test("with `here`, sitemaps are read from the given address, and pages are listed under it", async () => {
  const urls = async (site: Website) =>
    (await listOf(streamPages(site.homepage, { retries: 0, here: true }))).map(({ url }) => url);
  expect(await urls(preview)).toEqual(here(preview));
  expect(await urls(robotsOnly)).toEqual(here(robotsOnly));
  await using tree = await sitemapTreeForHomepage(preview.homepage, { ...few, here: true });
  expect(tree.complete).toBe(true);
  expect([...tree.sitemaps()].every(({ url }) => url.startsWith(preview.homepage))).toBe(true);
});

test("with `here`, the requests that find out the original host are reported and counted like all others", async () => {
  const site = await serve({
    "/robots.txt": `Sitemap: ${original}/sitemap.xml\n`,
    "/sitemap.xml": urlset(...pages),
  });
  const events = await listOf(crawl(site.homepage, { ...few, here: true }));
  const requested = events.flatMap((event) => (event.type === "request" ? [new URL(event.url).pathname] : []));
  expect(requested.sort()).toEqual(site.requests.toSorted());
  expect(events.at(-1)).toMatchObject({ type: "finished", totals: { requests: site.requests.length } });
});

test("with `here`, a large sitemap that is only read at its beginning frees its connection", async () => {
  const many = Array.from({ length: 60_000 }, (_, index) => `${original}/page-${index}`);
  const site = await serve({ "/sitemap.xml": urlset(...many) });
  const stream = streamPages(site.homepage, { useRobots: false, here: true, concurrency: 1 });
  expect((await listOf(stream)).length).toBe(many.length);
  expect(await stream.finished).toMatchObject({ complete: true });
});

test("--here works in the program, and its archive remembers it", async () => {
  const archive = path.join(newFolder(), "preview.warc.gz");
  const words = ["ls", preview.homepage, "-f", "pages", "--no-known", "--here", "--save", archive];
  const lines = here(preview)
    .map((url) => `${url}\n`)
    .join("");
  expect(await sitegrove(words)).toEqual({ code: 0, stdout: lines, stderr: "" });
  expect((await sitegrove(["ls", archive, "-f", "pages"])).stdout).toBe(lines);
});

test("a resumed run with `here` and `rewrite` reads from the given address", async () => {
  const archive = path.join(newFolder(), "resumed.warc.gz");
  const options = { ...few, here: true, rewrite: [[`${original}/a`, `${preview.homepage}c`]] } as const;
  for await (const { type } of crawl(preview.homepage, { ...options, save: archive })) if (type === "pages") break;
  const urls = (await listOf(streamPages(preview.homepage, { ...options, resume: archive }))).map(({ url }) => url);
  expect(urls).toEqual(["", "c", "b"].map((page) => preview.homepage + page));
});

test("the program resumes a run with --here at the same address, whether --here is repeated or not", async () => {
  const save = path.join(newFolder(), "preview.warc");
  await listOf(streamPages(preview.homepage, { ...few, here: true, save }));
  for (const flags of [[], ["--here"]]) {
    const { stdout, code } = await sitegrove(["ls", preview.homepage, "-f", "pages", "--resume", save, ...flags]);
    expect([stdout, code]).toEqual([`${here(preview).join("\n")}\n`, 0]);
  }
});

test.each([[["-f", "pages"]], [[]], [["-f", "json", "-q"]]])(
  "without --here, a warning names the host of the pages and the flag: %j",
  async (flags) => {
    const { stdout, stderr, code } = await sitegrove(["ls", robotsOnly.homepage, ...flags]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${original}/a`);
    expect(stderr).toContain(said.pagesElsewhere(original, new URL(robotsOnly.homepage).origin));
  },
);

test("there is no warning if the pages are on the website's own host", async () => {
  const own = await serve({ "/sitemap.xml": urlset("{base}/a", `${original}/b`) });
  expect((await onTerminal(`ls ${own.homepage}`)).stdout).not.toContain("--here");
});

test("diff --here reports the requests that find out the original host, and respects --max-time and Ctrl-C meanwhile", async () => {
  const list = path.join(newFolder(), "list.txt");
  writeFileSync(list, `${here(preview).join("\n")}\n`);
  const site = await serve({ "/robots.txt": `Sitemap: ${original}/a.xml\n`, "/a.xml": urlset(...pages) });
  const { stderr } = await sitegrove(["diff", list, site.homepage, "--here", "--no-known", "-vv"]);
  expect(
    stderr
      .match(/ request http:\S+/g)
      ?.map((line) => line.split(site.homepage)[1])
      .sort(),
  ).toEqual(site.requests.map((name) => name.slice(1)).sort());
  const silent = await serve(() => {});
  const late = await sitegrove(["diff", list, silent.homepage, "--here", "--no-known", "--max-time", "50ms"]);
  expect(late.code).toBe(3);
  const asked = silent.asked("/robots.txt");
  const child = start(["diff", list, silent.homepage, "--here"]);
  await asked;
  child.kill("SIGINT");
  expect((await ended(child)).code).toBe(130);
});

test("diff --here compares a website with its preview", async () => {
  const live = await serve({ "/sitemap.xml": urlset("{base}/a", "{base}/old") });
  const copy = await serve({
    "/robots.txt": `Sitemap: ${live.homepage}sitemap.xml\n`,
    "/sitemap.xml": urlset(`${live.homepage}a`, `${live.homepage}new`),
  });
  const words = [
    "diff",
    live.homepage,
    copy.homepage,
    "--here",
    "-f",
    "ndjson",
    "--no-known",
    "--known-path",
    "sitemap.xml",
  ];
  const { stdout, code } = await sitegrove([...words, "--only", "added,removed,changed"]);
  const found = jsonLines(stdout).map(({ kind, page }) => [kind, page.url]);
  expect(found.sort()).toEqual([
    ["added", `${copy.homepage}new`],
    ["removed", `${copy.homepage}old`],
  ]);
  expect(code).toBe(0);
  expect(copy.requests).toContain("/sitemap.xml");
});
