// The program must print the same for every random website, in whatever order documents arrive, however many at a time, and from the archive.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { streamPages } from "../../src/crawl/crawl.ts";
import type { Client } from "../../src/model/client.ts";
import { fixedLimits, fixedLimitsOf, withFixedLimits } from "../../src/model/fixed-limits.ts";
import type { AllLimits } from "../../src/model/options.ts";
import { isLossy } from "../../src/model/problem.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { wholeUrl } from "../../src/write/pages.ts";
import { writeJson, writeTabtree } from "../../src/write/trees.ts";
import { codesOf, urlsOf } from "./collected.ts";
import { expectEqual } from "./document-checks.ts";
import { Random } from "./random.ts";
import { randomWebsite } from "./random-website.ts";
import { home, type Route, site } from "./site.ts";

/** Throws if two ways to read the website with this number print different bytes. */
export async function checkWebsite(number: number): Promise<void> {
  const { routes, limits } = randomWebsite(new Random(number));
  const random = new Random(number);
  const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-any-order-"));
  try {
    const first = await crawled({ routes, limits, concurrency: 1, wait: () => 0, folder });
    expectEqual("from its archive", first.replayed, first.printed);
    const waits = new Map<string, number>();
    for (const [concurrency, wait] of [
      [16, () => random.below(6)],
      [2 + random.below(4), () => random.below(4)],
      // Each document always takes the same time.
      [8, (url: string) => waits.get(url) ?? waits.set(url, random.below(9)).get(url) ?? 0],
    ] as const) {
      const again = await crawled({ routes, limits, concurrency, wait, folder });
      expectEqual(`${concurrency} at a time`, again.printed, first.printed);
      expectEqual(`${concurrency} at a time, from its archive`, again.replayed, first.printed);
      // No document is requested twice, with three exceptions: the homepage may also be a sitemap, robots.txt may redirect to a sitemap, and
      // a document may be too many redirects away from one place and not from another.
      const documents = again.hits.filter((hit) => hit !== "/");
      if (typeof routes["/robots.txt"] === "string" && fixedLimitsOf(limits).redirects === fixedLimits.redirects) {
        expectEqual("asked for twice", documents.toSorted(), [...new Set(documents)].sort());
      }
    }
    const client = slowed(site(routes).client, () => random.below(3));
    const streamed = await urlsOf(streamPages(home, { client, retries: 0, limits, onUnreachable: "end" }));
    expectEqual("streamed", streamed, first.pagesOnce);
    // A tree is complete exactly if none of its problems loses something.
    expectEqual("complete", first.complete, !first.codes.some(isLossy));
  } catch (error) {
    throw new Error(`website ${number}: ${error instanceof Error ? error.message : error}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Crawl {
  readonly routes: Record<string, Route>;
  readonly limits: Partial<AllLimits>;
  readonly concurrency: number;
  readonly wait: (url: string) => number;
  readonly folder: string;
}

async function crawled({ routes, limits, concurrency, wait, folder }: Crawl) {
  const { client, hits } = site(routes);
  const options = { client: slowed(client, wait), retries: 0, concurrency, limits };
  await using tree = await sitemapTreeForHomepage(home, options);
  const archive = path.join(folder, "tree.warc");
  await tree.save(archive);
  // An archive holds the limits that users set. The others are the reader's own, so the reader needs the same ones.
  await using opened = await openTree(archive, { limits: withFixedLimits(fixedLimitsOf(limits)) });
  const replayed = await printed(opened);
  rmSync(archive);
  const pagesOnce: string[] = [];
  const seen = new Set<string>();
  for (const sitemap of tree.sitemaps()) {
    if (sitemap.kind !== "pages" || seen.has(sitemap.url)) continue;
    seen.add(sitemap.url);
    pagesOnce.push(...(await urlsOf(tree.pages(sitemap))));
  }
  return { hits, pagesOnce, replayed, codes: codesOf(tree), complete: tree.complete, printed: await printed(tree) };
}

/** What `sitegrove ls` prints. */
async function printed(tree: SitemapTree): Promise<string> {
  let text = "";
  for await (const piece of writeJson(tree, tree.walk())) text += piece;
  for await (const piece of writeTabtree(tree.walk(), wholeUrl)) text += piece;
  return text;
}

export function slowed(client: Client, wait: (url: string) => number): Client {
  return {
    async request(request) {
      const milliseconds = wait(request.url);
      if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
      // The server treats all spellings of a URL as the same.
      return client.request({ ...request, url: decodeURI(new URL(request.url).href) });
    },
  };
}
