// Websites for comparisons, made up at random: a few sitemaps that declare pages from a small pool, so that pages are added, removed,
// changed, moved and declared twice. And the plainest diff that there can be, to compare with.
import fc from "fast-check";
import { comparedFields, type PageField, type TreeChange } from "../../src/model/change.ts";
import type { Client } from "../../src/model/client.ts";
import type { Options } from "../../src/model/options.ts";
import type { SitemapPage } from "../../src/model/page.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { entry as entryAt, richUrlset, robots } from "../support/documents.ts";
import { home, index, type Route, site } from "../support/site.ts";

interface Entry {
  readonly path: string;
  readonly lastModified: string | undefined;
  readonly priority: string | undefined;
  readonly changeFrequency: string | undefined;
  readonly image: string | undefined;
}

interface Document {
  readonly name: string;
  readonly entries: readonly Entry[];
  readonly fault: "none" | "cut" | "gone";
  readonly format: "xml" | "text";
}

export type Website = readonly Document[];

const entry: fc.Arbitrary<Entry> = fc.record({
  path: fc.integer({ min: 0, max: 12 }).map((number) => `/page/${number}`),
  lastModified: fc.constantFrom(undefined, "2024-05-01", "2024-05-31T12:00:00+02:00"),
  priority: fc.constantFrom(undefined, "0.5", "0.8"),
  changeFrequency: fc.constantFrom(undefined, "daily"),
  image: fc.constantFrom(undefined, undefined, "/a.jpg", "/b.jpg"),
});

/** `faults`: whether sitemaps may be cut off or gone. */
function website(faults: boolean): fc.Arbitrary<Website> {
  const document = fc.record({
    name: fc.constantFrom("/a.xml", "/b.xml", "/c.xml", "/d.xml"),
    entries: fc.array(entry, { maxLength: 8 }),
    fault: faults ? fc.constantFrom("none", "none", "none", "cut", "gone") : fc.constant("none" as const),
    format: fc.constantFrom("xml", "xml", "text"),
  });
  return fc.uniqueArray(document as fc.Arbitrary<Document>, { maxLength: 4, selector: ({ name }) => name });
}

/** Two websites that have much in common: the second is the first with some sitemaps replaced. */
export function pairOfWebsites(faults: boolean): fc.Arbitrary<[Website, Website]> {
  return fc
    .tuple(website(faults), website(faults), fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }))
    .map(([one, other, keeps]) => {
      const kept = one.filter((_, at) => keeps[at]);
      const names = new Set(kept.map(({ name }) => name));
      return [one, [...kept, ...other.filter(({ name }) => !names.has(name))]];
    });
}

export function clientOf(website: Website, chunk: number = Number.POSITIVE_INFINITY): Client {
  const routes: Record<string, Route> = { "/robots.txt": robots("/index.xml") };
  routes["/index.xml"] = index(...website.map(({ name }) => name));
  for (const document of website) if (document.fault !== "gone") routes[document.name] = textOf(document);
  const { client } = site(routes);
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

function textOf({ entries, fault, format }: Document): string {
  if (format === "text") {
    const lines = entries.map(({ path }) => `${home}${path.slice(1)}\n`).join("");
    // A text without a URL is not a sitemap, and a text that is cut off looks complete.
    return lines === "" ? `${home}only\n` : lines;
  }
  const element = (name: string, value: string | undefined) =>
    value === undefined ? "" : `<${name}>${value}</${name}>`;
  const urls = entries.map(({ path, lastModified, priority, changeFrequency, image }) =>
    entryAt(
      path,
      element("lastmod", lastModified) +
        element("changefreq", changeFrequency) +
        element("priority", priority) +
        (image === undefined ? "" : `<image:image>${element("image:loc", home + image.slice(1))}</image:image>`),
    ),
  );
  return fault === "cut" ? richUrlset(...urls).replace("</urlset>", `<url><loc>${home}cu`) : richUrlset(...urls);
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
