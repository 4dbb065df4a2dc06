// Makes sitemaps, indexes, feeds and robots.txt. Tests about the text of a document write it themselves.

/** The homepage of websites that exist only in memory. */
export const home = "https://example.org/";

/** Namespaces of sitemaps, as attributes. */
const namespaces = [
  'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"',
  'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"',
  'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"',
  'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"',
  'xmlns:xhtml="http://www.w3.org/1999/xhtml"',
];
const [plain = ""] = namespaces;

/** A page sitemap of locations, or of entries that `entry` makes. Locations that begin with `/` are on the homepage. */
export function urlset(...entries: readonly string[]): string {
  return `<?xml version="1.0"?><urlset ${plain}>${entries.map((each) => element(each, entry)).join("")}</urlset>`;
}

/** The same in all namespaces, with a line for each of them and each entry. */
export function richUrlset(...entries: readonly string[]): string {
  const lines = entries.map((each) => element(each, entry));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset ${namespaces.join("\n  ")}>\n${lines.join("\n")}\n</urlset>`;
}

/** An index of locations, or of `<sitemap>` elements. */
export function index(...children: readonly string[]): string {
  return `<?xml version="1.0"?><sitemapindex ${plain}>${children.map((each) => element(each, child)).join("")}</sitemapindex>`;
}

export function entry(location: string, rest = ""): string {
  return `<url><loc>${absolute(location)}</loc>${rest}</url>`;
}

/** An entry with the date of its last change. */
export function dated(location: string, date: string, rest = ""): string {
  return entry(location, `<lastmod>${date}</lastmod>${rest}`);
}

/** An entry of an index. */
export function child(location: string, rest = ""): string {
  return `<sitemap><loc>${absolute(location)}</loc>${rest}</sitemap>`;
}

/** A feed of locations, and of other elements. */
export function rss(...items: readonly string[]): string {
  const item = (location: string) => `<item><link>${absolute(location)}</link></item>`;
  return `<rss version="2.0"><channel>${items.map((each) => element(each, item)).join("")}</channel></rss>`;
}

export function atom(...entries: readonly string[]): string {
  const item = (location: string) => `<entry><link href="${absolute(location)}"/></entry>`;
  return `<feed xmlns="http://www.w3.org/2005/Atom">${entries.map((each) => element(each, item)).join("")}</feed>`;
}

/** Alternate pages: `links({ en: "/en", de: "/de" })`. */
export function links(languages: Readonly<Record<string, string>>): string {
  return Object.entries(languages)
    .map(([name, path]) => `<xhtml:link rel="alternate" hreflang="${name}" href="${absolute(path)}"/>`)
    .join("");
}

/** A robots.txt that names these sitemaps. */
export function robots(...locations: readonly string[]): string {
  return `User-agent: *\nDisallow: /private/\n${locations.map((location) => `Sitemap: ${absolute(location)}\n`).join("")}`;
}

function element(text: string, make: (location: string) => string): string {
  return text.startsWith("<") ? text : make(text);
}

function absolute(location: string): string {
  return location.startsWith("/") ? home + location.slice(1) : location;
}
