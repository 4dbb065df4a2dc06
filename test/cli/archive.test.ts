// A website kept in an archive is listed again without a network, with the same output.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sitegrove } from "./program.ts";
import { serve, sitemapIndex, urlset, type Website } from "./website.ts";

let site: Website;
const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-archive-test-"));
const archive = path.join(folder, "site.warc.gz");
beforeAll(async () => {
  site = await serve({
    "/robots.txt": "Sitemap: {base}/index.xml\n",
    // The same sitemap twice: a tree shows it twice, a list of pages holds its pages once.
    "/index.xml": sitemapIndex("{base}/a.xml", "{base}/gone.xml", "{base}/again.xml"),
    "/again.xml": sitemapIndex("{base}/a.xml", "{base}/b.xml"),
    "/a.xml": urlset("{base}/a/1", "{base}/a/2"),
    "/b.xml": urlset("{base}/b/1"),
  });
});
afterAll(() => site.close());

test("every format prints the same from the archive as from the website", async () => {
  const saved = await sitegrove(["ls", site.homepage, "-f", "pages", "--save", archive]);
  expect(saved.code).toBe(3);
  const asked = site.requests.length;
  for (const format of ["tabtree", "pages", "json", "ndjson", "csv"]) {
    const offline = await sitegrove(["ls", archive, "-f", format]);
    expect(site.requests.length).toBe(asked);
    if (format === "pages") expect(offline).toEqual(saved);
    else expect(await sitegrove(["ls", site.homepage, "-f", format])).toEqual(offline);
    site.requests.length = asked;
  }
  const copy = path.join(folder, "copy.warc");
  await sitegrove(["ls", archive, "--save", copy]);
  expect((await sitegrove(["ls", copy])).stdout).toBe((await sitegrove(["ls", archive])).stdout);
});

test("filters work offline; what is meant for a network is refused", async () => {
  const { stdout } = await sitegrove(`ls ${archive} -f pages -u --exclude-sitemap again --limit 1`);
  expect(stdout).toBe("/a/1\n");
  const refused = await sitegrove(["ls", archive, "--retries", "1"]);
  expect(refused).toMatchObject({
    code: 2,
    stderr: "sitegrove: --retries has no effect on files: nothing is fetched\n",
  });
});
