// If the program is killed or stopped in the middle of a crawl, what it saved and printed can be used.

import path from "node:path";
import { parse as parseCsv } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sitemap } from "../../src/model/sitemap.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { defaultCsvColumns } from "../../src/write/csv.ts";
import { ended, launch, start } from "../cli/program.ts";
import { urlsOf } from "../support/collected.ts";
import { index, urlset } from "../support/documents.ts";
import { some } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { newFolder } from "../support/test-folder.ts";
import { type SlowSite, serveSlowly } from "./slow-site.ts";

const sitemapCount = 40;
const names = Array.from({ length: sitemapCount }, (_, at) => `s${at}.xml`);
const routes: Record<string, string> = {
  "/robots.txt": "Sitemap: {base}/index.xml\n",
  "/index.xml": index(...names.map((name) => `{base}/${name}`)),
};
for (const [at, name] of names.entries()) {
  const pages = Array.from({ length: 50 + some(20, 4) * at }, (_, page) => `{base}/${name}/${page}`);
  routes[`/${name}`] = urlset(...pages);
}

const folder = newFolder();
let site: SlowSite;
let whole: SitemapTree;
beforeAll(async () => {
  site = await serveSlowly(routes);
  whole = await sitemapTreeForHomepage(site.homepage);
  site.pace = () => 2;
});
afterAll(async () => {
  site.close();
  await whole.close();
});

/** Calls back after this number of requests. */
function afterRequests(requests: number, then: () => void): void {
  let asked = 0;
  site.onRequest = () => {
    asked += 1;
    if (asked === requests) then();
  };
}

describe("an archive of a crawl killed with -9 can be opened", () => {
  const random = new Random(4);
  const points = Array.from({ length: some(10, 1) }, (_, at) => ({
    requests: 2 + random.below(42),
    wait: random.below(12),
    name: at % 2 === 0 ? "site.warc" : "site.warc.gz",
  }));
  test.each(points)("$name, after $requests requests and $wait ms", async ({ requests, wait, name }) => {
    const archive = path.join(folder, `${requests}-${wait}-${name}`);
    const child = start(["ls", site.homepage, "--no-progress", "-f", "ndjson", "--save", archive]);
    afterRequests(requests, () => setTimeout(() => child.kill("SIGKILL"), wait));
    const { stdout, code } = await ended(child);
    expect(code).toBe("SIGKILL");

    await using opened = await openTree(archive);
    expect(opened.complete).toBe(false);
    const there = readable(opened);
    const expected = readable(whole);
    for (const [url, sitemap] of there) {
      expect(sitemap, url).toEqual(expected.get(url));
      if (sitemap.kind === "pages")
        expect(await urlsOf(opened.pages(sitemap))).toEqual(await urlsOf(whole.pages(expected.get(url))));
    }
    // A document is kept before the first of its pages is printed.
    for (const line of wholeLines(stdout)) expect([...there.keys()]).toContain(JSON.parse(line).sitemap);
  });
});

describe("after Ctrl-C", () => {
  // What a line of each format looks like. JSON is one document, which is closed.
  const isLine: Record<string, (line: string) => boolean> = {
    ndjson: (line) => "url" in JSON.parse(line),
    csv: (line) => parseCsv(line)[0]?.length === defaultCsvColumns.length,
    tabtree: (line) => /^\t*http/.test(line),
  };
  test.each([...Object.keys(isLine), "json", "pages-json"])(
    "%s output is valid up to its last line",
    async (format) => {
      const run = launch(["ls", site.homepage, "--no-progress", "-f", format]);
      afterRequests(20, () => run.kill("SIGINT"));
      const { stdout, code } = await run.end;
      expect(code).toBe(130);
      if (format === "pages-json") expect(JSON.parse(stdout)).toBeInstanceOf(Array);
      else if (format === "json") expect(stdout === "" || JSON.parse(stdout).interrupted).toBe(true);
      else expect(wholeLines(stdout).filter((line) => !isLine[format]?.(line))).toEqual([]);
    },
  );
});

function wholeLines(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

// Lists indexes without their children, because less is known about children that were not fetched yet.
function readable(tree: SitemapTree): Map<string, Sitemap> {
  const found = new Map<string, Sitemap>();
  for (const sitemap of tree.sitemaps()) {
    if (sitemap.kind === "invalid" || sitemap.url === tree.homepage) continue;
    found.set(sitemap.url, sitemap.kind === "index" ? { ...sitemap, children: [] } : sitemap);
  }
  return found;
}
