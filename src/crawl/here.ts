// The option `here` is for a copy of a website, such as a preview, whose documents name the host of the original. URLs on that host are
// rewritten to the address that was given, both to fetch sitemaps and to list pages.
import { type Options, resolveOptions } from "../model/options.ts";
import { type Rewrite, rewrite } from "../model/rewrite.ts";
import { bareHost, isHttpUrl, parseUrl } from "../model/url.ts";
import { fetchDocument } from "./fetch-one.ts";
import type { Prepared } from "./prepare.ts";
import { read } from "./read.ts";

/** Adds rewrites to a crawl, from the host that its documents name to the address of its start. */
export async function withHere(prepared: Prepared, signal: AbortSignal): Promise<Prepared> {
  const { settings, start, options } = prepared;
  const pairs = await herePairs(start.homepage, start.sitemaps ?? [], { ...options, signal });
  return { ...prepared, settings: { ...settings, rewrite: [...settings.rewrite, ...pairs] } };
}

/** Finds the host that a website's documents name. Returns rewrites from there to the website's address, or none if both are the same. */
export async function herePairs(
  homepage: string,
  sitemaps: readonly string[],
  options: Options | undefined,
): Promise<Rewrite> {
  const { origin = "" } = parseUrl(homepage) ?? {};
  const ask = (url: string) => urlsIn(url, options);
  const declared = sitemaps.length > 0 ? sitemaps : await ask(`${origin}/robots.txt`);
  let host = foreignHost(declared, origin);
  // If robots.txt names this address or no sitemap at all, the first sitemap may still name the original host.
  const own = declared.filter((url) => parseUrl(url)?.origin === origin);
  for (const url of [...own.slice(0, 3), `${origin}/sitemap.xml`, `${origin}/sitemap_index.xml`])
    host ??= foreignHost(await ask(url), origin);
  if (host === undefined) return [];
  const bare = bareHost(host);
  // `www.` before an IP address is not a host.
  const names = ["https", "http"]
    .flatMap((scheme) => [`${scheme}://${bare}`, `${scheme}://www.${bare}`])
    .filter(isHttpUrl);
  return rewrite(
    "here",
    names.map((name) => [name, origin]),
  );
}

// Returns the most common host of the URLs, if it is not the origin's.
function foreignHost(urls: readonly string[], origin: string): string | undefined {
  const counts = new Map<string, number>();
  for (const url of urls) {
    const { host = "" } = parseUrl(url) ?? {};
    counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  const [[host = ""] = []] = [...counts].sort(([, one], [, other]) => other - one);
  return host === "" || bareHost(host) === bareHost(parseUrl(origin)?.host ?? "") ? undefined : host;
}

// Returns the first URLs that a document declares, which are enough to find out its host, or none if it cannot be read.
async function urlsIn(url: string, options: Options = {}): Promise<readonly string[]> {
  const { save: _, resume: __, previous: ___, onEvent: ____, ...rest } = options;
  const found = await fetchDocument(url, { ...rest, here: false, rewrite: [] });
  if (found.outcome !== "found") return [];
  const reading = read({ ...found.document, isRobots: url.endsWith("/robots.txt") }, resolveOptions(rest));
  try {
    const { done, value } = await reading.next();
    return done ? [] : [...value.sitemaps, ...value.pages].map((each) => each.url);
  } finally {
    await found.close();
    await reading.return(undefined as never);
  }
}
