// Reads a homepage for the sitemaps it names: a bounded part of it, as text, whatever its compression and character set.
import type { Candidate } from "../discover/candidates.ts";
import { linksInHtml, looksLikeHtml } from "../discover/homepage-links.ts";
import { type FetchedDocument, header } from "../exchange.ts";
import { openDocument } from "../open/open-document.ts";
import { ProblemLog } from "../problem.ts";

// The links stand in the head of a page; some pages have much before it.
const readLength = 1024 * 1024;

export async function linksInBody({ url, headers, body }: FetchedDocument): Promise<Candidate[]> {
  if (!looksLikeHtml(headers)) return [];
  const text = openDocument(body, {
    contentEncoding: header(headers, "content-encoding"),
    contentType: header(headers, "content-type"),
    maxBytes: readLength,
    encodingLayers: 3,
    // What is wrong with the homepage is not our subject.
    problems: new ProblemLog(),
  });
  let html = "";
  for await (const piece of text) html += piece;
  return linksInHtml(html, url);
}
