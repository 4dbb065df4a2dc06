// One way through a website, in a process of its own; prints the number of pages, the peak of memory and the seconds of
// CPU time as JSON.
// Arguments: its name in the table below, the origin of the website, the path of an archive.
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

  // The second run over a website that did not change.
  async again() {
    const { sitemapTreeForHomepage } = await distModule("index.js");
    const options = { previous: archive, knownPaths: "never", useHomepage: false };
    const tree = await sitemapTreeForHomepage(`${origin}/`, options);
    const pages = await count(tree.pages());
    await tree.close();
    return pages;
  },

  // Pages are on another host than the server, which it would drop otherwise.
  async crawlee() {
    const { parseSitemap } = await import("@crawlee/utils");
    return count(parseSitemap([{ type: "url", url: `${origin}/index.xml` }], undefined, { enqueueStrategy: "all" }));
  },

  // Asked for the four fields, as the others give at least these; the timeout of 15 seconds for a document is too short for it.
  async sitemapper() {
    const { default: Sitemapper } = await import("sitemapper");
    const fields = { loc: true, lastmod: true, changefreq: true, priority: true };
    const { sites, errors } = await new Sitemapper({ url: `${origin}/index.xml`, timeout: 600_000, fields }).fetch();
    if (errors.length > 0) throw new Error(JSON.stringify(errors[0]));
    return sites.length;
  },

  // Its defaults end at 50,000 URLs; nothing is retained, so that memory is what it needs by itself.
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
