// Websites as the well-known systems make them, without a robots.txt: what the homepage tells, and where the sitemaps are.
import type { Route } from "./site.ts";
import { index, urlset } from "./site.ts";

export interface PlatformSite {
  readonly name: string;
  /** HTML of the homepage. */
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sitemaps: Readonly<Record<string, string>>;
}

const made = (name: string) => `<meta name="generator" content="${name}">`;
const page = urlset("a");

type Row = readonly [
  name: string,
  html: string,
  sitemaps: Readonly<Record<string, string>>,
  headers?: Readonly<Record<string, string>>,
];
const rows: readonly Row[] = [
  ["WordPress", made("WordPress 6.9"), { "/wp-sitemap.xml": index("wp-1.xml"), "/wp-1.xml": page }],
  [
    "WordPress with Yoast",
    '<script src="/wp-content/plugins/a.js"></script>',
    {
      ...{ "/sitemap_index.xml": index("post-sitemap.xml"), "/post-sitemap.xml": page },
      "/news-sitemap.xml": urlset("n"),
    },
  ],
  ["Shopify", '<link href="//cdn.shopify.com/s/a.css">', { "/sitemap.xml": page }],
  [
    "Wix",
    '<meta content="Wix.com Website Builder" name="generator">',
    {
      ...{ "/sitemap.xml": index("pages-sitemap.xml"), "/pages-sitemap.xml": page },
      "/blog-posts-sitemap.xml": urlset("b"),
    },
  ],
  ["Squarespace", "", { "/sitemap.xml": page }, { server: "Squarespace" }],
  ["Drupal", "", { "/sitemap.xml": page }, { "x-generator": "Drupal 11" }],
  ["Magento", '<script src="/static/version17/frontend/a.js"></script>', { "/media/sitemap.xml": page }],
  [
    "PrestaShop",
    made("PrestaShop"),
    { "/1_index_sitemap.xml": index("1_en_0_sitemap.xml"), "/1_en_0_sitemap.xml": page },
  ],
  ["BigCommerce", '<img src="https://cdn11.bigcommerce.com/a.png">', { "/xmlsitemap.php": page }],
  [
    "Next.js",
    '<script src="/_next/static/a.js"></script>',
    Object.fromEntries([0, 1, 2].map((number) => [`/sitemap/${number}.xml`, urlset(`${number}`)])),
  ],
  ["Astro", made("Astro v6"), { "/sitemap-index.xml": index("sitemap-0.xml"), "/sitemap-0.xml": page }],
  [
    "MediaWiki",
    made("MediaWiki 1.45"),
    { "/sitemap/sitemap-index.xml": index("/sitemap/a.xml"), "/sitemap/a.xml": page },
  ],
  ["Ghost", made("Ghost 6.2"), { "/sitemap.xml": index("sitemap-posts.xml"), "/sitemap-posts.xml": page }],
];

export const platformSites: readonly PlatformSite[] = rows.map(([name, html, sitemaps, headers = {}]) => {
  return { name, html, sitemaps, headers };
});

/** `isTold`: whether the homepage tells what made it. */
export function routesOf({ html, headers, sitemaps }: PlatformSite, isTold: boolean): Record<string, Route> {
  const page = {
    headers: { "content-type": "text/html", ...(isTold ? headers : {}) },
    body: `<html>${isTold ? html : ""}</html>`,
  };
  return { "/": page, ...sitemaps };
}
