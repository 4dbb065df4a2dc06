// A small website on loopback that has a bit of everything: every format, a gzipped index, a redirect, news, images, videos,
// languages, and errors that real websites have.
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";

/** Serves the website. Resolves to its homepage and a function that stops the server. */
export async function serveExample() {
  const server = createServer((request, response) => {
    const base = `http://${request.headers.host}`;
    const route = routes[request.url];
    if (route === undefined) {
      response.writeHead(404, { "content-type": "text/html" }).end("<!doctype html><title>Not found</title>");
    } else if (route.location !== undefined) {
      response.writeHead(301, { location: base + route.location }).end();
    } else {
      const text = route.body.replaceAll("{base}", base);
      response.writeHead(200, { "content-type": route.type });
      response.end(route.gzip ? gzipSync(text) : text);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { homepage: `http://127.0.0.1:${server.address().port}/`, close };
}

const xml = (body) => ({ type: "application/xml", body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}` });
const namespaces = [
  'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"',
  'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"',
  'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"',
  'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"',
  'xmlns:xhtml="http://www.w3.org/1999/xhtml"',
].join(" ");
const urlset = (...entries) => xml(`<urlset ${namespaces}>\n${entries.join("\n")}\n</urlset>\n`);
const entry = (path, inside = "") => `<url><loc>{base}${path}</loc>${inside}</url>`;
const index = (...paths) =>
  xml(
    `<sitemapindex ${namespaces}>\n${paths
      .map((path) => `<sitemap><loc>{base}${path}</loc><lastmod>2026-05-01</lastmod></sitemap>`)
      .join("\n")}\n</sitemapindex>\n`,
  );

const routes = {
  "/": {
    type: "text/html",
    body: '<!doctype html><title>The Grove</title><link rel="sitemap" href="/journal.atom"><h1>The Grove</h1>',
  },
  "/robots.txt": {
    type: "text/plain",
    body: "User-agent: *\nDisallow: /private/\n\nSitemap: {base}/sitemap_index.xml.gz\nSitemap: {base}/old-shop.xml\n",
  },
  "/sitemap_index.xml.gz": {
    ...index(
      "/trees.xml",
      "/news.xml",
      "/gallery.xml",
      "/languages.xml",
      "/journal.rss",
      "/paths.txt",
      "/broken.xml",
      "/gone.xml",
    ),
    gzip: true,
  },
  "/trees.xml": urlset(
    entry("/", "<lastmod>2026-05-04</lastmod><changefreq>daily</changefreq><priority>1.0</priority>"),
    entry("/trees/oak", "<lastmod>2026-04-30T18:20:00+02:00</lastmod><priority>0.8</priority>"),
    entry("/trees/lime?sort=age&amp;page=2", "<lastmod>2026-04</lastmod>"),
  ),
  "/news.xml": urlset(
    entry(
      "/news/storm",
      "<news:news><news:publication><news:name>The Grove Gazette</news:name><news:language>en</news:language>" +
        "</news:publication><news:publication_date>2026-05-03</news:publication_date>" +
        "<news:title>Storm spares the old oak</news:title><news:keywords>oak, weather</news:keywords></news:news>",
    ),
  ),
  "/gallery.xml": urlset(
    entry(
      "/gallery/spring",
      "<image:image><image:loc>{base}/images/bud.jpg</image:loc></image:image>" +
        "<image:image><image:loc>{base}/images/leaf.jpg</image:loc></image:image>" +
        "<video:video><video:thumbnail_loc>{base}/images/film.jpg</video:thumbnail_loc><video:title>A year in a minute</video:title>" +
        "<video:description>Four seasons</video:description><video:content_loc>{base}/film.mp4</video:content_loc>" +
        "<video:duration>60</video:duration></video:video>",
    ),
  ),
  "/languages.xml": urlset(
    entry(
      "/en/visit",
      '<xhtml:link rel="alternate" hreflang="de" href="{base}/de/besuch"/>' +
        '<xhtml:link rel="alternate" hreflang="fr" href="{base}/fr/visite"/>',
    ),
  ),
  "/journal.rss": xml(
    '<rss version="2.0"><channel><title>Journal</title><link>{base}/</link><description>Notes</description>' +
      "<item><title>First leaves</title><link>{base}/journal/first-leaves</link>" +
      "<pubDate>Mon, 04 May 2026 08:00:00 +0200</pubDate></item></channel></rss>\n",
  ),
  "/journal.atom": xml(
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>Journal</title><id>{base}/</id><updated>2026-05-04T08:00:00Z</updated>' +
      '<entry><title>Last frost</title><id>{base}/journal/last-frost</id><link href="{base}/journal/last-frost"/>' +
      "<updated>2026-05-04T08:00:00Z</updated></entry></feed>\n",
  ),
  "/paths.txt": { type: "text/plain", body: "{base}/paths/north\n{base}/paths/south\n" },
  // This sitemap is cut off inside its second page: the first page is kept, and the loss is reported.
  "/broken.xml": xml(`<urlset ${namespaces}>\n${entry("/broken/kept")}\n<url><loc>{base}/broken/lo`),
  "/old-shop.xml": { location: "/shop.xml" },
  "/shop.xml": urlset(entry("/shop/saplings"), entry("/shop/compost")),
};
