// Generates a shop in six languages, of any size, with the faults of large shops: pages that have the time of a deployment as their date,
// sections that robots.txt disallows, missing return links, and pages that are listed twice.
import type { Client } from "../../src/model/client.ts";
import { Random } from "../support/random.ts";
import { index as indexOf, site } from "../support/site.ts";

export const shopHome = "https://shop.example.org/";

const languages = ["en", "de", "fr", "it", "nl", "pl"];
const shares = [0.26, 0.215, 0.185, 0.175, 0.1, 0.065];
const sections: readonly (readonly [name: string, share: number, age: number])[] = [
  ["garden", 0.24, 0.15],
  ["kitchen", 0.19, 0.5],
  ["lighting", 0.16, 0.35],
  ["tools", 0.14, 0.9],
  ["bathroom", 0.09, 1.1],
  ["office", 0.05, 0.12],
  ["kids", 0.04, 0.6],
  ["outdoor", 0.035, 2.2],
  ["textiles", 0.03, 1.5],
  ["storage", 0.025, 3.1],
];
const deployed = "2026-03-14T02:00:07Z";

/** Creates a client that serves a shop of about this many pages. Dates are before `received`. */
export function shop(pages: number, received: string = "2026-10-05T06:12:00Z"): Client {
  const routes = new Map<string, () => string>();
  const children: string[] = [];
  const perSitemap = Math.max(200, Math.min(50_000, Math.ceil(pages / 40)));
  languages.forEach((language, index) => {
    const own = Math.round(pages * shares[index]!);
    for (let from = 0, number = 1; from < own; from += perSitemap, number++) {
      const path = `/sitemap-${language}-${number}.xml`;
      children.push(path);
      routes.set(path, () => sitemap(language, from, Math.min(own, from + perSitemap), pages, Date.parse(received)));
    }
  });
  children.push("/sitemap-it-search.xml", "/sitemap-news.xml");
  routes.set("/sitemap-it-search.xml", () => search(Math.round(pages * 0.027), received));
  routes.set("/sitemap-news.xml", () => news(received));
  routes.set("/feed", () => feed(received));
  routes.set("/robots.txt", () => `User-agent: *\nDisallow: /it/search/\n\nSitemap: ${shopHome}sitemap_index.xml\n`);
  routes.set("/sitemap_index.xml", () => indexOf(...children.map((path) => shopHome + path.slice(1))));
  routes.set("/", () => '<!doctype html><link rel="alternate" type="application/rss+xml" href="/feed"><h1>Shop</h1>');
  return site((url) => routes.get(new URL(url, shopHome).pathname)?.()).client;
}

const times = (count: number, make: (number: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at)).join("");

const open =
  '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">';

function sitemap(language: string, from: number, to: number, pages: number, received: number): string {
  const lots = new Random(from * 31 + language.charCodeAt(0) * 7 + language.charCodeAt(1));
  const random = () => lots.below(1e9) / 1e9;
  const entries: string[] = [open];
  // Only pages that exist in the smallest language have alternate pages.
  const everywhere = Math.round(pages * shares.at(-1)!);
  for (let number = from; number < to; number++) {
    const roll = random();
    if (number % 29 === 7) {
      const kind = ["brand", "blog", "magazine", "help"][number % 4]!;
      entries.push(
        `<url><loc>${shopHome}${language}/${kind}/${kind}-${number}</loc>${lastmod(random, 0.8, received, 0)}</url>`,
      );
      continue;
    }
    const [name, age] = pick((number * 7919) % 10_000);
    const path = (each: string) => `${shopHome}${each}/p/${name}/item-${number}`;
    const links =
      number < everywhere
        ? [...languages, "x-default"]
            // Some pages in German do not link to those in Polish.
            .filter((each) => !(language === "de" && each === "pl" && number % 7 < 2))
            .map((each) => [each, path(each === "x-default" ? "en" : each)])
            .map(([each, url]) => `<xhtml:link rel="alternate" hreflang="${each}" href="${url}"/>`)
        : [];
    const image = roll < 0.3 ? `<image:image><image:loc>${shopHome}i/${number}.jpg</image:loc></image:image>` : "";
    const share = name === "lighting" && language === "fr" ? 0.9 : 0.27;
    const spaced = name === "kitchen" && roll < 0.02 ? "?a=b c" : "";
    entries.push(
      `<url><loc>${path(language)}${spaced}</loc>${lastmod(random, age, received, share)}${links.join("")}${image}</url>`,
    );
    // Lists a page twice.
    if (number % 50 === 3 && language === "en")
      entries.push(`<url><loc>${shopHome}en/p/${name}/item-${number - 1}#top</loc></url>`);
  }
  return `${entries.join("")}</urlset>`;
}

function pick(place: number): readonly [string, number] {
  let sum = 0;
  for (const [name, share, age] of sections) if (place < (sum += share) * 10_000) return [name, age];
  return ["storage", 3.1];
}

// Returns a date. `years` is the average age of pages.
function lastmod(random: () => number, years: number, received: number, generated: number): string {
  if (random() < generated) return `<lastmod>${deployed}</lastmod>`;
  const age = -Math.log(1 - random() * 0.999) * years * 365;
  return `<lastmod>${new Date(received - age * 86_400_000).toISOString().slice(0, 19)}Z</lastmod>`;
}

function search(count: number, received: string): string {
  const day = received.slice(0, 10);
  const entry = (at: number) => `<url><loc>${shopHome}it/search/${at}?q=${at}</loc><lastmod>${day}</lastmod></url>`;
  return `${open}${times(count, entry)}</urlset>`;
}

function news(received: string): string {
  const publication =
    "<news:publication><news:name>Shop</news:name><news:language>en</news:language></news:publication>";
  const entries = times(40, (number) => {
    const date = new Date(Date.parse(received) - number * 43_200_000).toISOString().slice(0, 10);
    return `<url><loc>${shopHome}en/magazine/story-${number}</loc><news:news>${publication}<news:publication_date>${date}</news:publication_date><news:title>Story ${number}</news:title></news:news></url>`;
  });
  return `${open}${entries}</urlset>`;
}

function feed(received: string): string {
  const items = times(20, (number) => {
    const date = new Date(Date.parse(received) - number * 86_400_000).toUTCString();
    return `<item><title>Post ${number}</title><link>${shopHome}en/blog/post-${number}</link><pubDate>${date}</pubDate></item>`;
  });
  return `<rss version="2.0"><channel><title>Blog</title><link>${shopHome}</link><description>Blog</description>${items}</channel></rss>`;
}
