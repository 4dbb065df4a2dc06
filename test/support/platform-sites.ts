// Websites as the well-known systems make them, without a robots.txt: what the homepage tells, and where the sitemaps are.
import type { Route } from "./site.ts";
import { index, urlset } from "./site.ts";

export interface PlatformSite {
  readonly name: string;
  /** HTML of the homepage. */
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sitemaps: Readonly<Record<string, string>>;
}

const made = (name: string) => `<meta name="generator" content="${name}">`;

export const platformSites: readonly PlatformSite[] = [
  {
    name: "WordPress",
    html: made("WordPress 6.9"),
    sitemaps: { "/wp-sitemap.xml": index("wp-1.xml"), "/wp-1.xml": urlset("a") },
  },
  {
    name: "WordPress with Yoast",
    html: '<script src="/wp-content/plugins/a.js"></script>',
    sitemaps: {
      "/sitemap_index.xml": index("post-sitemap.xml"),
      "/post-sitemap.xml": urlset("a"),
      "/news-sitemap.xml": urlset("n"),
    },
  },
  { name: "Shopify", html: '<link href="//cdn.shopify.com/s/a.css">', sitemaps: { "/sitemap.xml": urlset("a") } },
  {
    name: "Wix",
    html: '<meta content="Wix.com Website Builder" name="generator">',
    sitemaps: {
      "/sitemap.xml": index("pages-sitemap.xml"),
      "/pages-sitemap.xml": urlset("a"),
      "/blog-posts-sitemap.xml": urlset("b"),
    },
  },
  { name: "Squarespace", html: "", headers: { server: "Squarespace" }, sitemaps: { "/sitemap.xml": urlset("a") } },
  { name: "Drupal", html: "", headers: { "x-generator": "Drupal 11" }, sitemaps: { "/sitemap.xml": urlset("a") } },
  {
    name: "Magento",
    html: '<script src="/static/version17/frontend/a.js"></script>',
    sitemaps: { "/media/sitemap.xml": urlset("a") },
  },
  {
    name: "PrestaShop",
    html: made("PrestaShop"),
    sitemaps: { "/1_index_sitemap.xml": index("1_en_0_sitemap.xml"), "/1_en_0_sitemap.xml": urlset("a") },
  },
  {
    name: "BigCommerce",
    html: '<img src="https://cdn11.bigcommerce.com/a.png">',
    sitemaps: { "/xmlsitemap.php": urlset("a") },
  },
  {
    name: "Next.js",
    html: '<script src="/_next/static/a.js"></script>',
    sitemaps: Object.fromEntries([0, 1, 2].map((number) => [`/sitemap/${number}.xml`, urlset(`${number}`)])),
  },
  {
    name: "Astro",
    html: made("Astro v6"),
    sitemaps: { "/sitemap-index.xml": index("sitemap-0.xml"), "/sitemap-0.xml": urlset("a") },
  },
  {
    name: "MediaWiki",
    html: made("MediaWiki 1.45"),
    sitemaps: { "/sitemap/sitemap-index.xml": index("/sitemap/a.xml"), "/sitemap/a.xml": urlset("a") },
  },
  {
    name: "Ghost",
    html: made("Ghost 6.2"),
    sitemaps: { "/sitemap.xml": index("sitemap-posts.xml"), "/sitemap-posts.xml": urlset("a") },
  },
];

/** `isTold`: whether the homepage tells what made it. */
export function routesOf({ html, headers = {}, sitemaps }: PlatformSite, isTold: boolean): Record<string, Route> {
  const page = {
    headers: { "content-type": "text/html", ...(isTold ? headers : {}) },
    body: `<html>${isTold ? html : ""}</html>`,
  };
  return { "/": page, ...sitemaps };
}
