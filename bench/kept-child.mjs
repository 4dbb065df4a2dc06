// What stays alive where only the URLs of a website's pages are kept: rich entries, streamed. Prints the bytes for each URL, and their
// share of what is allowed, as JSON. Argument: the number of pages. Runs with `--expose-gc`, or turns that on.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { urlset } from "./documents.mjs";
import { distModule } from "./setup.mjs";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
const pages = Number(process.argv[2]);
const { streamPages } = await distModule("index.js");
const perSitemap = 20_000;
const names = Array.from(
  { length: Math.ceil(pages / perSitemap) },
  (_, number) => `https://www.example.org/${number}.xml`,
);
const client = {
  request: async ({ url }) => ({ status: 200, headers: [], body: bytes(Number(/(\d+)\.xml$/.exec(url)[1])) }),
};

async function* bytes(number) {
  for (const text of urlset({ entries: perSitemap, rich: true, number })) yield Buffer.from(text);
}

// Once without keeping anything, so that everything is loaded.
for await (const _page of streamPages({ sitemaps: names.slice(0, 1) }, { client }));
const before = heap();
const urls = [];
for await (const { url } of streamPages({ sitemaps: names }, { client })) urls.push(url);
const grown = heap() - before;
const characters = urls.reduce((sum, url) => sum + url.length, 0);
process.stdout.write(JSON.stringify({ each: grown / urls.length, share: grown / (3 * characters + 64 * urls.length) }));

function heap() {
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}
