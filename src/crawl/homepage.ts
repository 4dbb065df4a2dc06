// Reads the homepage for discovery: its links to sitemaps and feeds, and which CMS made it.
import type { Candidate } from "../discover/candidates.ts";
import { HomepageLinks } from "../discover/homepage-links.ts";
import { PlatformHints } from "../discover/platforms.ts";
import { header } from "../model/exchange.ts";
import { isLossy, ProblemLog } from "../model/problem.ts";
import { notSitemap } from "../model/problem-log.ts";
import { OpenedDocument } from "../open/open-document.ts";
import { isBinary } from "../parse/document.ts";
import { type Document, pauseWhenDue } from "./read.ts";

// How many decoded bytes are read. Hardly any homepage has more, and most links are at its beginning.
const homepageLength = 10 * 1024 * 1024;

// At least this many characters are searched for the first tag. Comments and an XML declaration may come before it.
const startLength = 2048;
const htmlStart = /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:[^-]|-(?!->))*-->\s*)*<(?:!doctype\s+html|html)[\s>]/i;

const sitemapStart =
  /^\ufeff?\s*(?:<\?[^>]*>\s*|<!--(?:[^-]|-(?!->))*-->\s*)*<(?:[a-z][\w-]{0,30}:)?(?:urlset|sitemapindex)[\s>]/i;

/** What the homepage says about sitemaps. */
export interface HomepageContent {
  readonly links: readonly Candidate[];
  /** The well-known paths of its CMS, if that was recognized. */
  readonly paths: readonly string[] | undefined;
  /** Whether it begins like an HTML page, so that it is neither a sitemap nor a robots.txt. */
  readonly isHtml: boolean;
  /** Whether it begins like a sitemap. */
  readonly isSitemap: boolean;
}

/** Reads the homepage. Adds to `problems` what could not be read or used. */
export async function readHomepage(
  { headers, body, isCut }: Document,
  url: string,
  problems: ProblemLog,
  useFeeds: boolean,
): Promise<HomepageContent> {
  const links = new HomepageLinks(url, problems);
  const hints = new PlatformHints(headers);
  links.addHeaders(headers);
  let start = "";
  const type = header(headers, "content-type") ?? "";
  // Problems of the homepage itself do not matter here, unless they hide links.
  const wrong = new ProblemLog();
  const text = new OpenedDocument(body, { headers, maxBytes: homepageLength, encodingLayers: 3, problems: wrong });
  if (/html|^$/i.test(type)) {
    const html = links.html(hints, useFeeds);
    for await (const piece of text) {
      const chunk = piece.toString();
      if (start.length < startLength) start += chunk.slice(0, startLength);
      html.write(chunk);
      await pauseWhenDue();
      if (isCut?.()) break;
    }
    // Binary data, or text that was announced as compressed data, may be a damaged page.
    const isDamaged = (isBinary(start) || wrong.has("coding-mismatch")) && !htmlStart.test(start);
    const binary = isDamaged ? notSitemap("binary") : undefined;
    const why = text.refusal ?? body.end?.problem ?? wrong.toArray().find(({ code }) => isLossy(code)) ?? binary;
    html.end(why !== undefined);
    if (why !== undefined) problems.add("homepage-cut", { value: why.message });
  } else if (/xml|text/i.test(type)) {
    for await (const piece of text) if ((start += piece).length >= startLength) break;
  }
  return {
    links: links.candidates,
    paths: hints.paths,
    isHtml: htmlStart.test(start),
    isSitemap: sitemapStart.test(start),
  };
}
