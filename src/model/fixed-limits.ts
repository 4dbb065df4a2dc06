// Limits that users cannot set. They are above what sitemaps normally need, and keep a document from taking all memory or time.
import { robotsTxtBytes } from "./sitemap.ts";

/** The fixed limits. Exceeding one is reported as a problem. */
export const fixedLimits = {
  /** Maximum size of robots.txt, the same as Google's. @default 512_000 */
  robotsBytes: robotsTxtBytes as number,
  /** Entries in a document. The protocol allows 50,000. @default 1_000_000 */
  documentEntries: 1_000_000,
  /** Layers of compression. @default 3 */
  encodingLayers: 3,
  /** Characters in a URL. The protocol allows fewer than 2,048. @default 8_192 */
  urlLength: 8_192,
  /** Average characters per sitemap URL: all of them together may have `limits.sitemaps` (at least 50,000) times as many. @default 300 */
  sitemapUrlLength: 300,
  /** Characters in a line of robots.txt or a text sitemap. @default 16_384 */
  lineLength: 16_384,
  /** Nesting depth of XML elements. @default 256 */
  xmlDepth: 256,
  /** Attributes of an XML element. @default 1_000 */
  xmlAttributes: 1_000,
  /** Characters in an XML name. @default 1_024 */
  xmlNameLength: 1_024,
  /** Characters in an XML attribute value or text. @default 65_536 */
  xmlTextLength: 65_536,
  /** Images per page. @default 1_000 */
  images: 1_000,
  /** Videos per page. @default 100 */
  videos: 100,
  /** Alternates per page. @default 1_000 */
  alternates: 1_000,
  /** Redirects for robots.txt. @default 5 */
  robotsRedirects: 5,
  /** Redirects for any other document. @default 10 */
  redirects: 10,
  /** Longest `Retry-After` to wait for, in milliseconds. @default 60_000 */
  retryAfter: 60_000,
};

export type FixedLimits = Readonly<typeof fixedLimits>;

const changed: unique symbol = Symbol("changed limits");

/** Changes fixed limits, for our own code: `limits: { ...withFixedLimits({ redirects: 0 }) }`. */
export function withFixedLimits(limits: Partial<FixedLimits>): object {
  return { [changed]: limits };
}

/** Returns the fixed limits, with the changes that `withFixedLimits` made to the option `limits`. */
export function fixedLimitsOf(given: object = {}): FixedLimits {
  return { ...fixedLimits, ...(given as { readonly [changed]?: Partial<FixedLimits> })[changed] };
}
