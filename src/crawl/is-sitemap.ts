// Finds out whether a URL is a sitemap, or a page of a website whose sitemaps are to be found.
import { type Options, resolveOptions } from "../model/options.ts";
import { isRobotsPath, parseUrl } from "../model/url.ts";

/** Whether a URL is a sitemap. Sends a request only if the path does not show it. A robots.txt stands for its website. */
export async function isSitemap(url: string, options: Options): Promise<boolean> {
  const { pathname = "/", search = "" } = parseUrl(url) ?? {};
  if (pathname + search === "/" || isRobotsPath(pathname)) return false;
  // Decides by the name: a sitemap that cannot be read today must not be taken for a website.
  if (/\.(?:xml|txt|rss|atom|rdf|gz)$/i.test(pathname)) return true;
  const { save: _, resume: __, previous: ___, ...rest } = options;
  const { timeout } = resolveOptions(rest);
  // Uses a shorter timeout, because the crawl requests the URL again, and a silent website must not take twice as long.
  const brief = { ...timeout, firstByte: Math.min(timeout.firstByte, 12_000) };
  const { fetchDocument } = await import("./fetch-one.ts");
  const opened = await fetchDocument(url, { ...rest, retries: 0, timeout: brief });
  if (opened.outcome !== "found") return false;
  const { read } = await import("./read.ts");
  const reading = read(opened.document, resolveOptions(rest));
  try {
    const step = await reading.next();
    // Only a sitemap has entries; one without entries is recognized by its format.
    return step.done ? step.value.outcome.kind !== "invalid" : true;
  } finally {
    await opened.close();
    await reading.return(undefined as never);
  }
}
