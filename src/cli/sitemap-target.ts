// Recognizes the URL of a sitemap in place of a homepage, by its content.
import { read } from "../crawl/read.ts";
import { type Options, resolveOptions } from "../model/options.ts";
import { homepageOf, isRobotsPath, parseUrl, withoutCredentials } from "../model/url.ts";
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
  // robots.txt stands for its website.
  if (isRobotsPath(parsed.pathname)) return false;
  const { save: _, resume: __, previous: ___, ...rest } = options;
  // A quick look: the crawl requests it again, with the timeouts of the options.
  const { timeout } = resolveOptions(rest);
  const brief = { ...timeout, firstByte: Math.min(timeout.firstByte, longestLook) };
  const { fetchDocument } = await import("../crawl/fetch-document.ts");
  const opened = await fetchDocument(url, { ...rest, retries: 0, timeout: brief });
  if (opened.outcome !== "found") return false;
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

// In milliseconds. Whether a website is silent is for the crawl to find out; it must not take twice as long.
const longestLook = 12_000;
