// Judges a sitemap as a document: its size, character set, response and, for feeds, its version.

import { header } from "../model/exchange.ts";
import { size } from "../model/figures.ts";
import { protocolBytes } from "../model/protocol-limits.ts";
import type { DocumentResponse } from "../model/response.ts";
import type { Sitemap } from "../model/sitemap.ts";
import { bounds } from "./bounds.ts";
import type { SitemapFindings } from "./findings.ts";
import type { CheckSettings } from "./options.ts";

/** `response` is undefined for a document that did not come from a server. */
export function judgeDocument(
  sitemap: Sitemap,
  response: DocumentResponse | undefined,
  findings: SitemapFindings,
  { slow }: Pick<CheckSettings, "slow">,
): void {
  const isSitemap = sitemap.kind === "pages" || (sitemap.kind === "index" && sitemap.format === "xml");
  if (!isSitemap || response === undefined) return;
  const { wireBytes, decodedBytes, charset, firstByte, headers } = response;
  const hasProblem = (prefix: string) => sitemap.problems.some(({ code }) => code.startsWith(prefix));
  if (decodedBytes > bounds.nearBytes && decodedBytes <= protocolBytes && !hasProblem("protocol-")) {
    findings.add("sitemap-near-limit", undefined, size(decodedBytes));
  }
  if (charset !== undefined && !/^utf-8$/i.test(charset) && !hasProblem("charset-")) {
    findings.add("sitemap-not-utf8", undefined, charset);
  }
  // The following rules are about the server: a file has none.
  if (headers.length === 0 && response.receivedAt === undefined) return;
  if (wireBytes > bounds.uncompressedBytes && wireBytes === decodedBytes) {
    findings.add("sitemap-not-compressed", undefined, size(wireBytes));
  }
  if (firstByte !== undefined && firstByte > slow) {
    findings.add("sitemap-slow", undefined, `${(firstByte / 1000).toFixed(1)} s`);
  }
  const isXml = sitemap.kind === "index" || sitemap.format !== "text";
  const type = header(headers, "content-type") ?? "";
  if (isXml && /^\s*text\/html\b/i.test(type)) findings.add("sitemap-served-as-html", undefined, type);
}

/** Judges the version of a feed by the beginning of its text. */
export async function judgeFeed(text: AsyncIterable<string>, findings: SitemapFindings): Promise<void> {
  let start = "";
  for await (const piece of text) {
    start += piece;
    if (start.length >= startLength) break;
  }
  const markup = start.slice(0, startLength).replaceAll(/<!--[\s\S]*?-->/g, "");
  const [root, name] = /<(?:[\w-]+:)?(rss|feed|rdf)(?:\s[^>]*)?>/i.exec(markup) ?? [];
  if (root === undefined || name === undefined) return;
  const version = /\sversion\s*=\s*["']([^"']*)["']/i.exec(root)?.[1];
  const isOld = { rss: /^0|^1/.test(version ?? ""), feed: /^0/.test(version ?? ""), rdf: true }[name.toLowerCase()];
  if (isOld) findings.add("feed-unsupported", undefined, `${name}${version === undefined ? "" : ` ${version}`}`);
}

// Comments and style sheets may come before the root.
const startLength = 8192;
