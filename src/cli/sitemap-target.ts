// People paste the URL of a sitemap where a homepage is expected. Whether it is one is for its content to say.
import { read } from "../crawl/read.ts";
import { type Options, resolveOptions } from "../options.ts";
import { homepageOf, isRobotsPath, parseUrl, withoutCredentials } from "../url.ts";
import type { Messages } from "./messages.ts";
import type { Target } from "./target.ts";

/** The URL of a sitemap where a homepage is expected means that sitemap, which is said. `doing`: "listing", "checking". */
export async function recognized(
  target: Target,
  options: Options,
  messages: Messages,
  doing: { readonly verb: string; readonly command: string },
): Promise<Target> {
  if (target.kind !== "website" || options.normalizeHomepageUrl === false) return target;
  const { homepage } = target;
  if (!(await isSitemap(homepage, options))) return target;
  const whole = `${doing.command} ${homepageOf(homepage)}`.trim();
  messages.say(
    `${withoutCredentials(homepage)} is a sitemap, ${doing.verb} it alone; the whole website: ${whole}`,
    "quiet",
  );
  return { kind: "sitemaps", urls: [homepage] };
}

// Asks only where the URL is more than the root of a website.
async function isSitemap(url: string, options: Options): Promise<boolean> {
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
