// Small websites, each with the tree it must give: test/fixtures/sites. A new case is a new file.
// Needs more than a second.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { streamPages } from "../../src/crawl/crawl.ts";
import type { SitemapPage } from "../../src/model/page.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { isLong } from "../support/long.ts";
import { home, outline, site } from "../support/site.ts";
import { parseSiteFile } from "../support/site-file.ts";

const folder = path.join(import.meta.dirname, "../fixtures/sites");
const temporary = mkdtempSync(path.join(tmpdir(), "sitegrove-sites-test-"));
afterAll(() => rmSync(temporary, { recursive: true }));

const cases = readdirSync(folder).map((file) => ({
  file,
  ...parseSiteFile(readFileSync(path.join(folder, file), "utf8")),
}));

describe.each(cases.map((each, at) => ({ ...each, at })))(
  "$file: $title",
  ({ file, routes, options, at, ...expected }) => {
    const crawlOptions = () => ({ client: site(routes).client, retries: 0, ...options });

    test("the tree is the one that is written down, the archive gives it again, and the stream its pages once", async () => {
      await using tree = await sitemapTreeForHomepage(home, crawlOptions());
      expect(await outline(tree)).toEqual(expected.tree);
      expect(problemsOf(tree)).toEqual(expected.problems);
      expect(tree.complete).toBe(expected.complete);
      if (expected.discovery !== undefined) expect(discoveryOf(tree)).toEqual(expected.discovery);
      const pages = await pagesOf(tree);
      for (const page of expected.pages) expect(pages.filter(({ url }) => url === page.url)).toContainEqual(page);
      // Half of the websites show that the archive gives the same, the others that the stream does.
      if (isLong || at % 2 === 0) await expectArchived(tree, pages);
      if (isLong || at % 2 === 1) await expectStreamed(tree);
    });

    async function expectArchived(tree: SitemapTree, pages: readonly SitemapPage[]): Promise<void> {
      const archive = path.join(temporary, `${file}.warc`);
      await tree.save(archive);
      await using opened = await openTree(archive);
      expect(opened.toJSON()).toEqual(tree.toJSON());
      expect(await pagesOf(opened)).toEqual(pages);
    }

    async function expectStreamed(tree: SitemapTree): Promise<void> {
      const streamed: SitemapPage[] = [];
      for await (const page of streamPages(home, crawlOptions())) streamed.push(page);
      const seen = new Set<string>();
      const once: SitemapPage[] = [];
      for (const sitemap of tree.sitemaps()) {
        if (sitemap.kind !== "pages" || seen.has(sitemap.url)) continue;
        seen.add(sitemap.url);
        for await (const page of tree.pages(sitemap)) once.push(page);
      }
      expect(streamed).toEqual(once);
    }
  },
);

async function pagesOf(tree: SitemapTree): Promise<SitemapPage[]> {
  const pages: SitemapPage[] = [];
  for await (const page of tree.pages()) pages.push(page);
  return pages;
}

/** `/sitemap.xml:3 url-relative ×2 about.html`: where, what, how often, the first text. */
function problemsOf(tree: SitemapTree): string[] {
  return [...tree.problems()].map(({ url, problem: { code, line, count, value } }) =>
    [
      `${short(url)}${line === undefined ? "" : `:${line}`} ${code}`,
      ...(count === undefined ? [] : [`×${count}`]),
      ...(value === undefined ? [] : [value]),
    ].join(" "),
  );
}

function discoveryOf(tree: SitemapTree): string[] {
  return tree.discovery
    .filter(({ outcome }) => outcome !== "absent")
    .map(
      ({ url, by, outcome, reason, sameAs }) =>
        `${by} ${short(url)} ${outcome}${reason ? ` ${reason.code}` : ""}${sameAs ? ` same as ${short(sameAs)}` : ""}`,
    );
}

function short(url: string): string {
  return url.startsWith(home) ? url.slice(home.length - 1) : url;
}
