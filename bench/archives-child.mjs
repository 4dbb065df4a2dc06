// Makes, reads or compares archives in a separate process. Prints what it counted, the peak memory and the seconds of CPU time as JSON.
//   make PATH PAGES EDITION N    writes an archive in which every Nth sitemap is of this edition
//   languages PATH PAGES         writes an archive whose pages have alternates in five languages
//   read PATH…, open PATH…, diff BEFORE AFTER
import { peakMemory } from "./child.mjs";
import { urlset } from "./documents.mjs";
import { distModule } from "./setup.mjs";

const [name, ...args] = process.argv.slice(2);
const { openTree, sitemapTreeForHomepage } = await distModule("index.js");
const pagesPerSitemap = 50_000;
const home = "https://www.example.org/";

const ways = {
  make: (path, pages, edition, oneOf) =>
    save(path, Number(pages), (number, entries) =>
      urlset({ entries, number, edition: number % oneOf === 0 ? Number(edition) : 0 }),
    ),

  languages: (path, pages) => save(path, Number(pages), inLanguages),

  // A diff cannot be faster than this, because it has to read every page of both archives.
  async read(...paths) {
    let count = 0;
    for (const path of paths) {
      const tree = await openTree(path);
      for await (const _page of tree.pages()) count++;
      await tree.close();
    }
    return count;
  },

  async open(...paths) {
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

async function save(path, pages, sitemap) {
  const names = Array.from({ length: Math.ceil(pages / pagesPerSitemap) }, (_, number) => `${number}.xml`);
  const answer = (name) => {
    if (name === "robots.txt") return names.map((each) => `Sitemap: ${home}${each}\n`);
    const number = names.indexOf(name);
    return number < 0 ? undefined : sitemap(number, Math.min(pagesPerSitemap, pages - number * pagesPerSitemap));
  };
  const client = {
    async request({ url }) {
      const texts = answer(url.slice(home.length));
      return { status: texts === undefined ? 404 : 200, headers: [], body: bytes(texts ?? []) };
    },
  };
  const options = { client, save: path, knownPaths: "never", useHomepage: false };
  const tree = await sitemapTreeForHomepage(home, options);
  await tree.close();
  return tree.pageCount;
}

async function* bytes(texts) {
  for (const text of texts) yield Buffer.from(text);
}

// Writes pages in five languages. Each lists all five as alternates.
function* inLanguages(number, entries) {
  const languages = ["en", "de", "fr", "pt-BR", "ja"];
  yield '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n';
  for (let page = number * pagesPerSitemap; page < number * pagesPerSitemap + entries; page++) {
    const product = Math.floor(page / languages.length);
    const urlIn = (language) => `${home}${language.toLowerCase()}/products/product-${product}`;
    const date = new Date(1_700_000_000_000 + page * 61_000).toISOString();
    const links = [...languages.map((each) => [each, urlIn(each)]), ["x-default", urlIn("en")]].map(
      ([language, url]) => `    <xhtml:link rel="alternate" hreflang="${language}" href="${url}"/>\n`,
    );
    const own = urlIn(languages[page % languages.length]);
    yield `  <url>\n    <loc>${own}</loc>\n    <lastmod>${date}</lastmod>\n${links.join("")}  </url>\n`;
  }
  yield "</urlset>\n";
}
