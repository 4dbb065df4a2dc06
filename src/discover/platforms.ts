// Recognizes a website's CMS by its homepage, and knows where that CMS puts sitemaps, so that fewer well-known paths must be tried. A wrong
// guess, for example because of an image on another website, costs only time.
import type { HeaderList } from "../model/exchange.ts";
import type { Attributes } from "./html-tags.ts";

interface Platform {
  /** Matches a hint in the homepage: `generator NAME`, `header NAME: VALUE`, or `asset URL`. */
  readonly evidence: RegExp;
  /** Paths relative to the homepage, tried before the common ones. An index comes before its sitemaps. */
  readonly paths: readonly string[];
}

const platforms: readonly Platform[] = [
  // WordPress: core, Yoast and Rank Math, plugins for news.
  // https://make.wordpress.org/core/2020/07/22/new-xml-sitemaps-functionality-in-wordpress-5-5/
  {
    evidence: /^generator WordPress|^asset \S*\/wp-(?:content|includes)\/|^header link: .*api\.w\.org/i,
    paths: ["wp-sitemap.xml", "sitemap_index.xml", "news-sitemap.xml", "sitemap-news.xml"],
  },
  // Shopify: https://help.shopify.com/en/manual/promoting-marketing/seo/find-site-map
  { evidence: /^asset (?:https?:)?\/\/cdn\.shopify\.com\/|^header (?:x-shopid|x-shopify-stage):/i, paths: [] },
  // Wix: https://support.wix.com/en/article/understanding-your-sites-sitemap-file. The index may omit these.
  {
    evidence:
      /^generator Wix\.com|^asset (?:https?:)?\/\/static\.(?:wixstatic|parastorage)\.com\/|^header x-wix-request-id:/i,
    paths: ["sitemap.xml", "blog-posts-sitemap.xml", "store-products-sitemap.xml", "forum-posts-sitemap.xml"],
  },
  // Drupal: https://www.drupal.org/project/simple_sitemap
  { evidence: /^(?:generator|header x-generator:) Drupal|^asset \S*\/sites\/(?:default|all)\//i, paths: [] },
  // Magento: https://experienceleague.adobe.com/docs/commerce-cloud-service/user-guide/configure-store/robots-sitemap.html
  {
    evidence: /^asset \S*\/static\/version\d+\/frontend\/|^header x-magento-/i,
    paths: ["pub/sitemap.xml", "media/sitemap.xml"],
  },
  // PrestaShop: https://github.com/PrestaShop/gsitemap
  { evidence: /^generator PrestaShop|^header powered-by: PrestaShop/i, paths: ["1_index_sitemap.xml"] },
  // BigCommerce: https://support.bigcommerce.com/articles/Public/Sitemaps
  { evidence: /^asset (?:https?:)?\/\/cdn\d*\.bigcommerce\.com\//i, paths: ["xmlsitemap.php"] },
  // Next.js: https://nextjs.org/docs/app/api-reference/functions/generate-sitemaps
  // There is no index, so `sitemap/1.xml` and so on are requested while they exist.
  {
    evidence: /^generator Next\.js|^asset \S*\/_next\/static\/|^header x-powered-by: Next\.js/i,
    paths: ["sitemap.xml", "sitemap/0.xml", "server-sitemap.xml", "sitemap-0.xml"],
  },
  // Astro: https://docs.astro.build/en/guides/integrations-guide/sitemap/
  { evidence: /^generator Astro|^asset \S*\/_astro\//i, paths: ["sitemap-index.xml", "sitemap-0.xml"] },
  // MediaWiki: https://www.mediawiki.org/wiki/Manual:GenerateSitemap.php
  { evidence: /^generator MediaWiki/i, paths: ["sitemap/sitemap-index.xml", "sitemap/index.xml"] },
  // Squarespace, Webflow, Ghost, Blogger, Discourse, HubSpot: https://support.squarespace.com/hc/en-us/articles/206543547
  {
    evidence:
      /^generator (?:Squarespace|Webflow|Ghost|Blogger|Discourse|HubSpot)|^asset (?:https?:)?\/\/(?:static1?\.squarespace|cdn\.prod\.website-files)\.com\/|^header server: Squarespace/i,
    paths: [],
  },
];

/** Collects signs of the CMS in a homepage. */
export class PlatformHints {
  readonly #found = new Set<Platform>();

  constructor(headers: HeaderList) {
    for (const [name, value] of headers) this.#add(`header ${name}: ${value.slice(0, longestHint)}`);
  }

  /** Looks for signs in a tag of the HTML: `meta`, `link`, `script` or `img`. */
  addTag(tag: string, { name = "", content = "", href, src }: Attributes): void {
    if (tag === "meta" && /^generator$/i.test(name.trim()))
      this.#add(`generator ${content.trim().slice(0, longestHint)}`);
    const asset = src ?? (tag === "link" ? href : undefined);
    if (asset !== undefined) this.#add(`asset ${asset.trim().slice(0, longestHint)}`);
  }

  /** The paths of the recognized platforms, in the order of the table; undefined if none was recognized. */
  get paths(): readonly string[] | undefined {
    if (this.#found.size === 0) return undefined;
    return platforms.filter((platform) => this.#found.has(platform)).flatMap(({ paths }) => paths);
  }

  #add(hint: string): void {
    for (const platform of platforms)
      if (!this.#found.has(platform) && platform.evidence.test(hint)) this.#found.add(platform);
  }
}

const longestHint = 500;
