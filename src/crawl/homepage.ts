// Reads a homepage for the sitemaps it names: in its headers, and in a limited part of its text, with any compression
// and character set. Reading only a part of it is a problem.
import type { Candidate } from "../discover/candidates.ts";
import { HomepageLinks } from "../discover/homepage-links.ts";
import { HtmlLinks, looksLikeHtml } from "../discover/html-links.ts";
import { addLinksInHeaders } from "../discover/link-header.ts";
import { header } from "../model/exchange.ts";
import { isLossy, ProblemLog } from "../model/problem.ts";
import { openDocument } from "../open/open-document.ts";
import { pauseWhenDue } from "./event-loop.ts";
import type { Document } from "./read.ts";

// In bytes, decoded. Hardly any homepage has more, and most links are at its beginning.
const readLength = 10 * 1024 * 1024;
// In characters.
const startLength = 4096;
const pageStart = /^\s*(?:<!doctype\s+html[^>]*>\s*)?<html[\s>]/i;

export interface HomepageContent {
  /** The sitemaps that it names. */
  readonly candidates: readonly Candidate[];
  /** Whether it is an HTML page without doubt, and so no sitemap. */
  readonly isPage: boolean;
}

/** Adds to `problems` what was not read or not used. */
export async function readHomepage(
  { headers, body, isCut }: Document,
  url: string,
  problems: ProblemLog,
): Promise<HomepageContent> {
  const links = new HomepageLinks(problems);
  addLinksInHeaders(headers, url, links);
  if (!looksLikeHtml(headers)) return { candidates: links.candidates, isPage: false };
  // Problems of the homepage itself do not matter here, unless they hide links.
  const wrong = new ProblemLog();
  const text = openDocument(body, {
    contentEncoding: header(headers, "content-encoding"),
    contentType: header(headers, "content-type"),
    maxBytes: readLength,
    encodingLayers: 3,
    problems: wrong,
  });
  const html = new HtmlLinks(url, links);
  let start = "";
  for await (const piece of text) {
    html.write(piece.toString());
    if (start.length < startLength) start += piece.toString().slice(0, startLength);
    await pauseWhenDue();
    if (isCut?.()) break;
  }
  const why = text.refusal ?? body.problem ?? wrong.toArray().find(({ code }) => isLossy(code));
  html.end(why !== undefined);
  if (why !== undefined) problems.add("homepage-cut", { value: why.message });
  return { candidates: links.candidates, isPage: pageStart.test(start) };
}
