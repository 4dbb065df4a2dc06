// Archives to compare, and ways through them, in a process of its own; prints what it found, the peak of memory and the seconds of
// CPU time as JSON.
// Arguments: its name in the table below, two paths of archives; for `make` the path, the number of pages, the edition, and of how
// many sitemaps one is of this edition.
import { peakMemory } from "./child.mjs";
import { urlset } from "./documents.mjs";
import { distModule } from "./setup.mjs";

const [name, ...args] = process.argv.slice(2);
const pagesPerSitemap = 50_000;

const ways = {
  async make(path, pages, edition, oneOf) {
    const { sitemapTreeForHomepage } = await distModule("index.js");
    const names = Array.from({ length: Math.ceil(pages / pagesPerSitemap) }, (_, number) => `${number}.xml`);
    const client = { request: async ({ url }) => answer(new URL(url).pathname, names, pages, edition, oneOf) };
    const options = { client, save: path, useKnownPaths: false, useHomepage: false };
    const tree = await sitemapTreeForHomepage("https://www.example.org/", options);
    await tree.close();
    return tree.pageCount;
  },

  // What a diff cannot do without: every page of both.
  async read(...paths) {
    const { openTree } = await distModule("index.js");
    let count = 0;
    for (const path of paths) {
      const tree = await openTree(path);
      for await (const _page of tree.pages()) count++;
      await tree.close();
    }
    return count;
  },

  async open(...paths) {
    const { openTree } = await distModule("index.js");
    let count = 0;
    for (const path of paths) {
      const tree = await openTree(path);
      count += tree.pageCount;
      await tree.close();
    }
    return count;
  },

  async diff(before, after) {
    const { diffTrees } = await distModule("diff.js");
    let count = 0;
    for await (const _change of diffTrees(before, after)) count++;
    return count;
  },
};

const found = await ways[name](...args);
const { user, system } = process.cpuUsage();
process.stdout.write(JSON.stringify({ found, peak: peakMemory(), cpu: (user + system) / 1e6 }));

function answer(pathname, names, pages, edition, oneOf) {
  const found = (body) => ({ status: 200, headers: [["content-type", "application/xml"]], body });
  if (pathname === "/robots.txt") return found(bytes(["Sitemap: https://www.example.org/index.xml\n"]));
  if (pathname === "/index.xml") {
    const entries = names.map((file) => `<sitemap><loc>https://www.example.org/${file}</loc></sitemap>\n`);
    return found(bytes(["<sitemapindex>", ...entries, "</sitemapindex>"]));
  }
  const number = names.indexOf(pathname.slice(1));
  if (number === -1) return { status: 404, headers: [], body: bytes([]) };
  const entries = Math.min(pagesPerSitemap, pages - number * pagesPerSitemap);
  return found(bytes(urlset({ entries, number, edition: number % oneOf === 0 ? Number(edition) : 0 })));
}

async function* bytes(texts) {
  for (const text of texts) yield Buffer.from(text);
}
