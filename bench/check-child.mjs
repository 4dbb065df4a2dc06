// Makes the archive for check.mjs: pages in five languages, each with all of them as alternates. Arguments: its path, the number of pages.
import { gzipSync } from "node:zlib";
import { peakMemory } from "./child.mjs";
import { distModule } from "./setup.mjs";

const [file, count] = process.argv.slice(2);
const pages = Number(count);
const pagesPerSitemap = 50_000;
const languages = ["en", "de", "fr", "pt-BR", "ja"];
const home = "https://www.example.org/";
const { sitemapTreeForHomepage } = await distModule("index.js");
const names = Array.from({ length: Math.ceil(pages / pagesPerSitemap) }, (_, number) => `${number}.xml.gz`);

function answer(url) {
  const name = url.slice(home.length);
  if (name === "robots.txt") return names.map((each) => `Sitemap: ${home}${each}\n`).join("");
  return names.includes(name) ? gzipSync(sitemap(Number.parseInt(name, 10)), { level: 1 }) : undefined;
}

function sitemap(number) {
  const entries = [];
  const end = Math.min((number + 1) * pagesPerSitemap, pages);
  for (let page = number * pagesPerSitemap; page < end; page++) entries.push(entry(page));
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
${entries.join("")}</urlset>\n`;
}

function entry(page) {
  const product = Math.floor(page / languages.length);
  const urlIn = (language) => `${home}${language.toLowerCase()}/products/product-${product}`;
  const date = new Date(1_700_000_000_000 + page * 61_000).toISOString();
  const links = [...languages, "x-default"].map(
    (language) =>
      `    <xhtml:link rel="alternate" hreflang="${language}" href="${urlIn(language === "x-default" ? "en" : language)}"/>\n`,
  );
  const own = urlIn(languages[page % languages.length]);
  return `  <url>\n    <loc>${own}</loc>\n    <lastmod>${date}</lastmod>\n${links.join("")}  </url>\n`;
}

const client = {
  async request({ url }) {
    const body = answer(url);
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    return {
      status: bytes === undefined ? 404 : 200,
      headers: [],
      body: (async function* () {
        if (bytes !== undefined) yield bytes;
      })(),
    };
  },
};
const options = { client, save: file, useKnownPaths: false, useHomepage: false, concurrency: 1 };
const tree = await sitemapTreeForHomepage(home, options);
await tree.close();
console.log(JSON.stringify({ found: tree.pageCount, peak: peakMemory(), cpu: process.cpuUsage().user / 1e6 }));
