// The simplest diff that there can be, to compare with.
import { comparedFields, type PageField, type TreeChange } from "../../src/model/change.ts";
import type { Client } from "../../src/model/client.ts";
import type { Options } from "../../src/model/options.ts";
import type { SitemapPage } from "../../src/model/page.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import type { Website } from "../support/random-website.ts";
import { home, site } from "../support/site.ts";

export function clientOf(website: Website, chunk: number = Number.POSITIVE_INFINITY): Client {
  const { client } = site(website);
  if (chunk === Number.POSITIVE_INFINITY) return client;
  return {
    async request(request) {
      const response = await client.request(request);
      if (!("body" in response)) return response;
      return { ...response, body: inChunks(response.body as AsyncIterable<Uint8Array>, chunk) };
    },
  };
}

export const crawlOptions: Options = { knownPaths: "never", useHomepage: false };

export function treeOf(website: Website, options: Options = {}): Promise<SitemapTree> {
  return sitemapTreeForHomepage(home, { ...crawlOptions, client: clientOf(website), ...options });
}

async function* inChunks(bytes: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    for (let from = 0; from < piece.length; from += length) yield piece.slice(from, from + length);
  }
}

interface Declared {
  readonly page: SitemapPage;
  readonly sitemap: string;
}

/** What a tree declares: each URL once, by its first declaration. */
async function declaredBy(tree: SitemapTree): Promise<Map<string, Declared>> {
  const declared = new Map<string, Declared>();
  for await (const step of tree.walk()) {
    if (step.type !== "pages") continue;
    for (const page of step.pages) {
      if (!declared.has(page.url)) declared.set(page.url, { page, sitemap: step.sitemap.url });
    }
  }
  return declared;
}

/** The changes of pages, with everything held in memory. */
export async function plainDiff(before: SitemapTree, after: SitemapTree): Promise<TreeChange[]> {
  const was = await declaredBy(before);
  const is = await declaredBy(after);
  const changes: TreeChange[] = [];
  for (const [url, declared] of was) {
    if (is.has(url)) continue;
    changes.push(
      isWhole(after, before) ? { kind: "removed", ...declared } : { kind: "unknown", ...declared, missing: "after" },
    );
  }
  for (const [url, { page, sitemap }] of is) {
    const old = was.get(url);
    const added = isWhole(before, after)
      ? { kind: "added" as const }
      : { kind: "unknown" as const, missing: "before" as const };
    if (old === undefined) {
      changes.push({ ...added, page, sitemap });
      continue;
    }
    const fields = comparedFields.filter((field) => differs(old.page, page, field));
    const from = old.sitemap === sitemap ? {} : { from: old.sitemap };
    if (fields.length > 0) changes.push({ kind: "changed", page, sitemap, fields, before: old.page, ...from });
    else if (old.sitemap !== sitemap) changes.push({ kind: "moved", page, sitemap, from: old.sitemap });
  }
  return changes;
}

// Ignores sitemaps that exist on neither side.
function isWhole(tree: SitemapTree, other: SitemapTree): boolean {
  const incomplete = (each: SitemapTree) =>
    Array.from(each.sitemaps()).filter((sitemap) => sitemap.kind === "invalid" || !sitemap.complete);
  const gone = incomplete(other).flatMap((sitemap) => (sitemap.kind === "invalid" ? [sitemap.url] : []));
  return incomplete(tree).every((sitemap) => sitemap.kind === "invalid" && gone.includes(sitemap.url));
}

function differs(before: SitemapPage, after: SitemapPage, field: PageField): boolean {
  const written = (page: SitemapPage) => JSON.stringify(field === "priority" ? (page.priority ?? 0.5) : page[field]);
  return written(before) !== written(after);
}
