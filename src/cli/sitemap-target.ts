// People paste the URL of a sitemap where a homepage is expected. Whether it is one is for its content to say.
import { read } from "../crawl/read.ts";
import { type Options, resolveOptions } from "../options.ts";
import { isRobotsPath, parseUrl } from "../url.ts";

/** Whether there is a sitemap at the URL itself. Asks only where the URL is more than the root of a website. */
export async function isSitemap(url: string, options: Options): Promise<boolean> {
  const parsed = parseUrl(url);
  if (parsed === null || (parsed.pathname === "/" && parsed.search === "")) return false;
  // It stands for the website, as its homepage does.
  if (isRobotsPath(parsed.pathname)) return false;
  const { save: _, resume: __, previous: ___, ...rest } = options;
  // Only a look: what is there is asked for again, with all the patience that was asked for.
  const { timeout } = resolveOptions(rest);
  const brief = { ...timeout, firstByte: Math.min(timeout.firstByte, longestLook) };
  const { fetchDocument } = await import("../crawl/fetch-document.ts");
  const opened = await fetchDocument(url, { ...rest, retries: 0, timeout: brief });
  if (opened.outcome !== "found") return false;
  const reading = read(opened.document, resolveOptions(rest));
  try {
    const step = await reading.next();
    // Nothing but a sitemap has entries; one without any is known by what it is.
    return step.done ? step.value.outcome.kind !== "invalid" : true;
  } finally {
    await opened.close();
    await reading.return(undefined as never);
  }
}

// In milliseconds. A website that is silent is found out by the crawl; it must not take twice as long.
const longestLook = 12_000;
