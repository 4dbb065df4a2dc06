// The websites of the examples. `https://example.org/` of the documentation stands for one of these, on loopback: real
// sockets, real documents, every format; `faulty.example` has a child that is gone and one that is cut off.
import { gzipSync } from "node:zlib";
import { serve, type Website } from "../cli/website.ts";
import { urlset } from "../support/documents.ts";

type Routes = Record<
  string,
  { type: string; body: string | Uint8Array; to?: (origins: ReadonlyMap<string, string>) => string }
>;

export interface Stand {
  /** From `https://example.org` to the origin that stands for it. */
  readonly origins: ReadonlyMap<string, string>;
  /** A text of the documentation with the stand-ins in place of its websites. */
  toLocal(text: string): string;
  /** Replaces the stand-ins in an output with the names in the documentation. */
  toDocumented(text: string): string;
  close(): void;
}

export async function startWebsites(): Promise<Stand> {
  const servers: Website[] = [];
  const origins = new Map<string, string>();
  for (const [name, routesFor] of Object.entries(websites)) {
    let routes: Routes = {};
    const server = await serve((request, response) => {
      const route = routes[new URL(request.url ?? "/", "http://any/").pathname];
      if (route?.to !== undefined) return void response.writeHead(301, { location: route.to(origins) }).end();
      const { type, body } = route ?? html("<!doctype html><title>Not found</title>");
      response.writeHead(route === undefined ? 404 : 200, { "content-type": type }).end(body);
    });
    servers.push(server);
    const origin = server.homepage.slice(0, -1);
    routes = routesFor(origin);
    origins.set(name, origin);
  }
  return {
    origins,
    toLocal: (text) =>
      [...origins].reduce(
        (local, [name, origin]) =>
          local
            .replaceAll(name, origin)
            // `sitegrove ls example.org`, as people type it.
            .replaceAll(new RegExp(`(?<=\\s)${new URL(name).host.replaceAll(".", "\\.")}(?=[\\s/]|$)`, "gm"), origin),
        text,
      ),
    toDocumented: (text) =>
      [...origins].reduce(
        (documented, [name, origin]) =>
          documented.replaceAll(origin, name).replaceAll(new URL(origin).host, new URL(name).host),
        text,
      ),
    close() {
      for (const server of servers) server.close();
    },
  };
}

const websites: Record<string, (origin: string) => Routes> = {
  "https://example.org": (origin) => ({
    "/": html("<!doctype html><title>Example</title>"),
    "/robots.txt": text(`User-agent: *\nDisallow: /private/\n\nSitemap: ${origin}/sitemap_index.xml\n`),
    "/sitemap_index.xml": xml(`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <sitemap><loc>${origin}/sitemap-pages.xml</loc><lastmod>2024-05-31</lastmod></sitemap>
  <sitemap><loc>${origin}/sitemap-news.xml.gz</loc></sitemap>
  <sitemap><loc>${origin}/feed</loc></sitemap>
</sitemapindex>`),
    "/sitemap-pages.xml": xml(pagesSitemap(origin)),
    "/sitemap-news.xml.gz": { type: "application/gzip", body: gzipSync(newsSitemap(origin)) },
    "/feed": xml(`<rss version="2.0"><channel><title>Blog</title><link>${origin}/blog/</link>
  <item><title>Hello</title><link>${origin}/blog/hello</link></item>
</channel></rss>`),
  }),
  "https://faulty.example": (origin) => ({
    "/": html("<!doctype html><title>Faulty</title>"),
    "/robots.txt": text(`Sitemap: ${origin}/gone.xml\nSitemap: ${origin}/cut-off.xml\nSitemap: ${origin}/urls.txt\n`),
    "/cut-off.xml": xml(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>${origin}/kept</loc></url>
  <url><loc>${origin}/lo`),
    "/urls.txt": text(`${origin}/a\n${origin}/b\n`),
  }),
  "https://old.example": (origin) => ({
    "/": html("<!doctype html><title>Shop</title>"),
    "/robots.txt": text(`Sitemap: ${origin}/sitemap.xml\n`),
    "/sitemap.xml": xml(urlset(...["hats/1", "hats/2", "jobs"].map((page) => `${origin}/${page}`))),
    "/hats/1": moved("https://new.example", "/headwear/1"),
    "/hats/2": moved("https://new.example", "/headwear/2"),
  }),
  "https://new.example": (origin) => ({
    "/": html("<!doctype html><title>New shop</title>"),
    "/robots.txt": text(`Sitemap: ${origin}/sitemap.xml\n`),
    "/sitemap.xml": xml(urlset(`${origin}/`, `${origin}/headwear/1`)),
    "/headwear/1": html("<!doctype html><title>Hat one</title>"),
    "/headwear/2": html("<!doctype html><title>Hat two</title>"),
  }),
  "https://empty.example": () => ({ "/": html("<!doctype html><title>Empty</title>") }),
};

function moved(name: string, path: string): Routes[string] {
  return { type: "text/plain", body: "", to: (origins) => `${origins.get(name)}${path}` };
}

/** The sitemap that also lies in the folder in which examples run, as sitemap.xml and sitemap.xml.gz. */
export function pagesSitemap(origin: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>${origin}/</loc><lastmod>2024-05-31</lastmod><priority>1.0</priority></url>
  <url><loc>${origin}/about</loc><lastmod>2024-05</lastmod><changefreq>monthly</changefreq></url>
  <url><loc>${origin}/contact</loc></url>
</urlset>`;
}

function newsSitemap(origin: string): string {
  const story = (path: string, title: string) => `<url><loc>${origin}${path}</loc><news:news>
    <news:publication><news:name>Example Times</news:name><news:language>en</news:language></news:publication>
    <news:publication_date>2024-05-31T12:00:00+02:00</news:publication_date><news:title>${title}</news:title>
  </news:news></url>`;
  return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
  ${story("/news/1", "A first story")}${story("/news/2", "A second story")}</urlset>`;
}

function xml(body: string) {
  return { type: "application/xml", body };
}

function text(body: string) {
  return { type: "text/plain; charset=utf-8", body };
}

function html(body: string) {
  return { type: "text/html; charset=utf-8", body };
}
