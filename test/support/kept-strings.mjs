// Keeps one field of each page of many documents, and prints how much memory that takes: in a process of its own, where nothing else
// comes and goes. Needs `--expose-gc`.
import { parseSitemap, readSitemap } from "../../dist/index.js";

const filler = "Everything that an entry says besides, and that nobody keeps. ".repeat(12);
const list = (count, write) =>
  Array.from({ length: count }, (_, n) => write(n, `${n}-${(n * 7919) % 10_007}`)).join("\n");
const namespaces = ["news", "image"].map(
  (name) => `xmlns:${name}="http://www.google.com/schemas/sitemap-${name}/${name === "news" ? 0.9 : 1.1}"`,
);
const rich = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml" ${namespaces.join(" ")}>${list(
  600,
  (n, id) => `<url>
  <loc>https://www.example.org/articles/alder-and-birch-${id}${n % 2 ? "?a=1&amp;b=2&amp;c=3&amp;d=4" : ""}</loc>
  <lastmod>2024-05-06T07:08:${String(n % 60).padStart(2, "0")}+0${n % 10}:00</lastmod>
  <xhtml:link rel="alternate" hreflang="de" href="https://www.example.org/de/artikel/${id}?a=1&amp;b=2"/>
  <xhtml:link rel="alternate" hreflang="fr" href="https://www.example.org/fr/${n % 3 ? "é" : "e"}-${id}"/>
  <image:image>
    <image:loc>https://images.example.org/${id}.jpg</image:loc>
    <image:caption>${n % 3 ? "Caption" : "Подпись"} ${id}: ${filler}</image:caption>
    <image:title> Title of ${id} &lt;b&gt; &#38; ${n % 5 ? "more" : "&#xE9;"}\n</image:title>
  </image:image>
  <news:news><news:title><![CDATA[News & more of ${id}]]></news:title>
    <news:keywords>keyword of ${id}, another keyword of it, ${filler.slice(0, 40)} ${id}</news:keywords></news:news>
</url>`,
)}</urlset>`;
const text = list(12_000, (n) => `https://www.example.org/articles/${n}?${"x".repeat(100)}`);
const feed = `<rss version="2.0"><channel>${list(
  1200,
  (n) =>
    `<item><title>Title &amp; number ${n} of many</title><link>https://www.example.org/articles/${n}</link><description>${filler}</description></item>`,
)}</channel></rss>`;

const bytesOf = async (document) => (await readSitemap(Buffer.from(document))).pages;
// What is alive anyway would not count.
const textOf = (document) => parseSitemap(Buffer.from(document).toString()).pages;
// `strict` leaves everything to the scanner.
const scannedOf = (document) => parseSitemap(Buffer.from(document).toString(), { strict: true }).pages;
const junk = "# Comments, which are read the fastest.\n".repeat(25_000);
const problemsOf = (document) =>
  parseSitemap(Buffer.from(document).toString(), { url: "https://www.example.org/robots.txt" }).problems;

const url = (page) => page.url;
const title = (page) => page.images[0].title;
const cases = [
  ["url", rich, bytesOf, url],
  ["lastModified", rich, bytesOf, (page) => page.lastModified],
  ["an alternate", rich, bytesOf, (page) => page.alternates[1].url],
  ["an image", rich, bytesOf, (page) => page.images[0].url],
  ["a title", rich, bytesOf, title],
  ["a news title", rich, bytesOf, (page) => page.newsStory.title],
  ["the last keyword", rich, bytesOf, (page) => page.newsStory.keywords.at(-1)],
  ["url, of a text", rich, textOf, url],
  ["a title, of a text", rich, textOf, title],
  ["url, read by the scanner alone", rich, scannedOf, url],
  ["a title, read by the scanner alone", rich, scannedOf, title],
  ["each hundredth URL of a text sitemap", text, textOf, (page) => (/\/\d*00\?/.test(page.url) ? page.url : undefined)],
  ["url of a feed", feed, textOf, url],
  ["title of a feed", feed, textOf, (page) => page.newsStory.title],
  ["the value of a problem", `Sitemap: /relative/to/the/website.xml\n${junk}`, problemsOf, (problem) => problem.value],
];

function memoryInUse() {
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

// Nothing of it is given up between two measurements.
const kept = [];
for (const [name, document, read, field] of cases) {
  const keep = async () => (await read(document)).map(field).filter((value) => value !== undefined);
  // Once for what is made once.
  kept.push(await keep());
  const before = memoryInUse();
  for (let times = 0; times < 5; times++) kept.push(await keep());
  const grown = memoryInUse() - before;
  const characters = kept
    .slice(-5)
    .flat()
    .reduce((sum, value) => sum + value.length, 0);
  console.log(JSON.stringify({ name, grown, characters, documents: 5 * document.length }));
}
