// Reads one document, away from the page: a sitemap of 50 MB takes a second, during which the page still answers.
import { type ParsedSitemap, parseSitemap, parseStream } from "../../../../src/parse/parse-sitemap.ts";
import { findingsOf } from "./findings.ts";
import type { Answer, Failure, Question } from "./messages.ts";

const mostEntries = 100;

self.onmessage = async ({ data }: MessageEvent<Question>) => {
  const { number, document } = data;
  const url = data.url ?? urlOf(document);
  const options = url === undefined ? {} : { url };
  try {
    const parsed =
      typeof document === "string" ? parseSitemap(document, options) : await parseStream(document.stream(), options);
    self.postMessage(answerTo(number, parsed, url));
  } catch (error) {
    self.postMessage({ number, error: `Could not read it: ${(error as Error).message}` } satisfies Failure);
  }
};

function answerTo(number: number, parsed: ParsedSitemap, url: string | undefined): Answer {
  const findings = findingsOf(parsed, url);
  if (parsed.kind === "invalid") {
    const { reason } = parsed;
    return {
      ...{ number, kind: "invalid", format: undefined, complete: false, count: 0, entries: [] },
      ...{ problems: [reason], findings },
    };
  }
  const { kind, format, complete, problems } = parsed;
  const all = kind === "pages" ? parsed.pages : parsed.sitemaps;
  const entries = all.slice(0, mostEntries);
  return { number, kind, format, complete, count: all.length, entries, problems, findings };
}

// A file that is called robots.txt is one.
function urlOf(document: string | File): string | undefined {
  return typeof document !== "string" && document.name === "robots.txt" ? "https://example.org/robots.txt" : undefined;
}
