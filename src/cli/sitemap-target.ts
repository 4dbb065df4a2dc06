// What a URL on the command line leads to: the URL of a sitemap in place of a homepage is recognized by its content, and a
// website that was named without a scheme and has no https by its answer.
import type { OpenedDocument } from "../crawl/fetch-document.ts";
import type { FollowFailure } from "../crawl/follow.ts";
import { read } from "../crawl/read.ts";
import { type Options, resolveOptions } from "../model/options.ts";
import { lacksTls } from "../model/problems/fetching.ts";
import { homepageOf, isRobotsPath, parseUrl, withoutCredentials } from "../model/url.ts";
import type { Messages } from "./messages.ts";
import type { Target } from "./target.ts";

/** The URL of a sitemap where a homepage is expected means that sitemap, which is said. `doing`: "listing", "checking". */
export async function recognized(
  named: Target,
  options: Options,
  messages: Messages,
  doing: { readonly verb: string; readonly command: string },
): Promise<Target> {
  const target = await withScheme(named, options, messages);
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

// Without a scheme https is meant, and http if there is no TLS.
async function withScheme(target: Target, options: Options, messages: Messages): Promise<Target> {
  if (target.kind !== "website" || !target.isAssumed) return target;
  const { homepage } = target;
  const looked = await look(new URL("/robots.txt", homepage).href, options);
  if (looked.outcome === "found") await looked.close();
  // A port that was named and refuses connections refuses both.
  const isRefused = looked.outcome === "failed" && looked.reason.code === "connection-refused";
  if (looked.outcome !== "failed" || !(isRefused ? new URL(homepage).port === "" : lacksTls(looked.reason)))
    return target;
  const plain = homepage.replace(/^https:/, "http:");
  messages.say(
    `${withoutCredentials(homepage)}: ${looked.reason.message}; using ${withoutCredentials(plain)}`,
    "quiet",
  );
  return { ...target, homepage: plain };
}

// Asks only where the URL is more than the root of a website.
async function isSitemap(url: string, options: Options): Promise<boolean> {
  const parsed = parseUrl(url);
  if (parsed === null || (parsed.pathname === "/" && parsed.search === "")) return false;
  // robots.txt stands for its website.
  if (isRobotsPath(parsed.pathname)) return false;
  const opened = await look(url, options);
  if (opened.outcome !== "found") return false;
  const reading = read(opened.document, resolveOptions(withoutFiles(options)));
  try {
    const step = await reading.next();
    // Only a sitemap has entries; one without entries is recognized by its format.
    return step.done ? step.value.outcome.kind !== "invalid" : true;
  } finally {
    await opened.close();
    await reading.return(undefined as never);
  }
}

// The crawl requests it again, with the timeouts of the options.
async function look(url: string, options: Options): Promise<OpenedDocument | FollowFailure> {
  const rest = withoutFiles(options);
  const { timeout } = resolveOptions(rest);
  const brief = { ...timeout, firstByte: Math.min(timeout.firstByte, longestLook) };
  const { fetchDocument } = await import("../crawl/fetch-document.ts");
  return fetchDocument(url, { ...rest, retries: 0, timeout: brief });
}

function withoutFiles({ save: _, resume: __, previous: ___, ...rest }: Options): Options {
  return rest;
}

// In milliseconds. Whether a website is silent is for the crawl to find out; it must not take twice as long.
const longestLook = 12_000;
