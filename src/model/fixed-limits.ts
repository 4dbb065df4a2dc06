// Limits that users cannot set. They are above what sitemaps normally need, and keep a document from taking all memory or time.
import { robotsTxtBytes } from "./sitemap.ts";

/** The fixed limits. Exceeding one is reported as a problem. */
export interface FixedLimits {
  /** Maximum size of robots.txt, the same as Google's. @default 512_000 */
  readonly robotsBytes: number;
  /** Entries in a document. The protocol allows 50,000. @default 1_000_000 */
  readonly documentEntries: number;
  /** Layers of compression. @default 3 */
  readonly encodingLayers: number;
  /** Characters in a URL. The protocol allows fewer than 2,048. @default 8_192 */
  readonly urlLength: number;
  /** Average characters per sitemap URL: all of them together may have `limits.sitemaps` (at least 50,000) times as many. @default 300 */
  readonly sitemapUrlLength: number;
  /** Characters in a line of robots.txt or a text sitemap. @default 16_384 */
  readonly lineLength: number;
  /** Nesting depth of XML elements. @default 256 */
  readonly xmlDepth: number;
  /** Attributes of an XML element. @default 1_000 */
  readonly xmlAttributes: number;
  /** Characters in an XML name. @default 1_024 */
  readonly xmlNameLength: number;
  /** Characters in an XML attribute value or text. @default 65_536 */
  readonly xmlTextLength: number;
  /** Images per page. @default 1_000 */
  readonly images: number;
  /** Videos per page. @default 100 */
  readonly videos: number;
  /** Alternates per page. @default 1_000 */
  readonly alternates: number;
  /** Redirects for robots.txt. @default 5 */
  readonly robotsRedirects: number;
  /** Redirects for any other document. @default 10 */
  readonly redirects: number;
  /** Longest `Retry-After` to wait for, in milliseconds. @default 60_000 */
  readonly retryAfter: number;
}

export const fixedLimits: FixedLimits = {
  robotsBytes: robotsTxtBytes,
  documentEntries: 1_000_000,
  encodingLayers: 3,
  urlLength: 8_192,
  sitemapUrlLength: 300,
  lineLength: 16_384,
  xmlDepth: 256,
  xmlAttributes: 1_000,
  xmlNameLength: 1_024,
  xmlTextLength: 65_536,
  images: 1_000,
  videos: 100,
  alternates: 1_000,
  robotsRedirects: 5,
  redirects: 10,
  retryAfter: 60_000,
};

const changed: unique symbol = Symbol("changed limits");

/** Changes fixed limits, for our own code: `limits: { ...withFixedLimits({ redirects: 0 }) }`. */
export function withFixedLimits(limits: Partial<FixedLimits>): object {
  return { [changed]: limits };
}

/** Returns the fixed limits, with the changes that `withFixedLimits` made to the option `limits`. */
export function fixedLimitsOf(given: object = {}): FixedLimits {
  return { ...fixedLimits, ...(given as { readonly [changed]?: Partial<FixedLimits> })[changed] };
}
