// Reads a website in one way, in a separate process. Prints the number of pages, the peak memory and the seconds of CPU time as JSON.
// Arguments: the name of the way in the table below, the origin of the website, and the path of an archive.
import { peakMemory } from "./child.mjs";
import { distModule } from "./setup.mjs";

const [name, origin, archive] = process.argv.slice(2);
let milliseconds;

const ways = {
  async stream() {
    const { streamPages } = await distModule("index.js");
    return count(streamPages(`${origin}/`));
  },

  async tree() {
    const { sitemapTreeForHomepage } = await distModule("index.js");
    const tree = await sitemapTreeForHomepage(`${origin}/`);
    const pages = await count(tree.pages());
    await tree.close();
    return pages;
  },

  async save() {
    const { sitemapTreeForHomepage } = await distModule("index.js");
    const tree = await sitemapTreeForHomepage(`${origin}/`, { save: archive });
    const pages = tree.pageCount;
    await tree.close();
    return pages;
  },

  async open() {
    const { openTree } = await distModule("index.js");
    const tree = await openTree(archive);
    const pages = await count(tree.pages());
    await tree.close();
    return pages;
  },

  async first() {
    const { openTree } = await distModule("index.js");
    const before = performance.now();
    const tree = await openTree(archive);
    for await (const _page of tree.pages()) break;
    milliseconds = performance.now() - before;
    await tree.close();
    return 1;
  },

  // Repeats a crawl of a website that has not changed.
  async again() {
    const { sitemapTreeForHomepage } = await distModule("index.js");
    const options = { previous: archive, knownPaths: "never", useHomepage: false };
    const tree = await sitemapTreeForHomepage(`${origin}/`, options);
    const pages = await count(tree.pages());
    await tree.close();
    return pages;
  },

  // The pages are on another host than the sitemaps, so crawlee would drop them without this strategy.
  async crawlee() {
    const { parseSitemap } = await import("@crawlee/utils");
    return count(parseSitemap([{ type: "url", url: `${origin}/index.xml` }], undefined, { enqueueStrategy: "all" }));
  },

  // Requests four fields, which the others return, too. The default timeout of 15 seconds per document is too short.
  async sitemapper() {
    const { default: Sitemapper } = await import("sitemapper");
    const fields = { loc: true, lastmod: true, changefreq: true, priority: true };
    const { sites, errors } = await new Sitemapper({ url: `${origin}/index.xml`, timeout: 600_000, fields }).fetch();
    if (errors.length > 0) throw new Error(JSON.stringify(errors[0]));
    return sites.length;
  },

  // The default limits end at 50,000 URLs. Retains nothing, so that the memory is only what sitemapd itself needs.
  async sitemapd() {
    const { createSitemapReader } = await import("sitemapd");
    const { createFetchDocumentLoader } = await import("sitemapd/fetch");
    const large = 1_000_000_000;
    const reader = createSitemapReader({
      loadDocument: createFetchDocumentLoader({ fetch }),
      authorizeTarget: () => ({ _tag: "allow" }),
      limits: { maxWireBytes: large, maxDecodedBytes: large, maxEntries: large, maxDocuments: large, maxUrls: large },
    });
    const result = await reader.walk(`${origin}/index.xml`, { retention: "none", concurrency: 4 });
    if (result.failures.length > 0) throw new Error(JSON.stringify(result.failures[0]));
    return result.urlsObserved;
  },
};

const pages = await ways[name]();
const { user, system } = process.cpuUsage();
process.stdout.write(JSON.stringify({ pages, peak: peakMemory(), cpu: (user + system) / 1e6, milliseconds }));

async function count(iterable) {
  let pages = 0;
  for await (const _page of iterable) pages++;
  return pages;
}
