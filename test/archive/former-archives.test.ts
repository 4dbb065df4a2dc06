// Archives that version 0.1.0 wrote open as before: an exchange was a whole chain of redirects then, and some codes had other
// names. The files are of that version; the texts beside them are what it made of its own files, but for one fault that is
// mended: redirects that began inside a circle were said to lead to whatever had entered that circle first.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openTree } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";

const folder = path.join(import.meta.dirname, "../fixtures/archives-0.1.0");
const archives = readdirSync(folder).filter((name) => name.includes(".warc"));

test.each(archives)("%s opens, and gives the same tree, discovery and pages", async (name) => {
  await using tree = await openTree(path.join(folder, name));
  const expected = readFileSync(path.join(folder, name.replace(/\.warc.*/, ".txt")), "utf8");
  expect(await described(tree)).toEqual(expected.split("\n"));
});

test("an archive that was cut off is reported as such", async () => {
  await using tree = await openTree(path.join(folder, "killed.warc"));
  expect(tree.root.problems.map(({ code }) => code)).toContain("archive-truncated");
});

async function described(tree: SitemapTree): Promise<string[]> {
  const nodes: string[] = [];
  for await (const step of tree.walk()) {
    if (step.type !== "enter") continue;
    const { sitemap, depth } = step;
    const declared = sitemap.declaredUrl === undefined ? "" : ` declared as ${sitemap.declaredUrl}`;
    nodes.push(`${"  ".repeat(depth)}${kindOf(sitemap)} ${sitemap.url}${declared}`);
  }
  const tried = tree.discovery.filter(({ outcome }) => outcome !== "absent");
  const discovery = tried.map(({ url, by, outcome, status, finalUrl }) => {
    return `${by} ${outcome}${status === undefined ? "" : ` ${status}`} ${url}${finalUrl === undefined ? "" : ` at ${finalUrl}`}`;
  });
  const pages: string[] = [];
  for await (const { url } of tree.pages()) pages.push(url);
  return [...nodes, "", ...discovery, "", ...pages, ""];
}

function kindOf(sitemap: SitemapTree["root"]["children"][number]): string {
  switch (sitemap.kind) {
    case "index":
      return `index ${sitemap.format}`;
    case "pages":
      return `pages ${sitemap.format} ${sitemap.pageCount}`;
    case "invalid":
      return `invalid ${sitemap.reason.code}`;
  }
}
