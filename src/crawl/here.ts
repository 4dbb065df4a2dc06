// The option `here` is for a copy of a website, such as a preview, whose documents name the host of the original. URLs on that host are
// rewritten to the address that was given, both to fetch sitemaps and to list pages.
import type { DocumentSource } from "../model/exchange.ts";
import { type Rewrite, rewrite } from "../model/rewrite.ts";
import { bareHost, isHttpUrl, parseUrl } from "../model/url.ts";
import type { Prepared } from "./prepare.ts";
import { read } from "./read.ts";
import { follow, followRules, Hop, hopsFrom } from "./redirects.ts";

/** Adds rewrites to a crawl, from the host that its documents name to the address that was given. Sends requests to `source`. */
export async function withHere(prepared: Prepared, source: DocumentSource, signal: AbortSignal): Promise<Prepared> {
  const { settings } = prepared;
  const host = await originalHost(prepared, source, signal);
  return { ...prepared, settings: { ...settings, rewrite: [...settings.rewrite, ...rewritesFrom(host, prepared)] } };
}

async function originalHost(
  prepared: Prepared,
  source: DocumentSource,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { homepage, sitemaps = [] } = prepared.start;
  const { origin = "" } = parseUrl(homepage) ?? {};
  const urlsAt = (url: string) => urlsIn(url, prepared, source, signal);
  const declared = sitemaps.length > 0 ? sitemaps : await urlsAt(`${origin}/robots.txt`);
  let host = foreignHost(declared, origin);
  // If robots.txt names this address or no sitemap at all, the first sitemaps may still name the original host.
  const own = declared.filter((url) => parseUrl(url)?.origin === origin);
  for (const url of [...own.slice(0, 3), `${origin}/sitemap.xml`, `${origin}/sitemap_index.xml`])
    host ??= foreignHost(await urlsAt(url), origin);
  return host;
}

function rewritesFrom(host: string | undefined, { start }: Prepared): Rewrite {
  if (host === undefined) return [];
  const { origin = "" } = parseUrl(start.homepage) ?? {};
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

// Returns the most common host of the URLs, if it is not the origin's, with or without `www.`.
function foreignHost(urls: readonly string[], origin: string): string | undefined {
  const counts = new Map<string, number>();
  for (const url of urls) {
    const { host = "" } = parseUrl(url) ?? {};
    counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  const [[host = ""] = []] = [...counts].sort(([, one], [, other]) => other - one);
  return host === "" || bareHost(host) === bareHost(parseUrl(origin)?.host ?? "") ? undefined : host;
}

// Returns the first URLs that a document declares, which are enough to find the host that it names, or none if it cannot be read.
async function urlsIn(
  url: string,
  { settings, startUrls }: Prepared,
  source: DocumentSource,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const isRobots = url.endsWith("/robots.txt");
  const rules = followRules(settings.limits, startUrls, source);
  const first = Hop.first(url, isRobots ? "robots" : "sitemap", rules);
  const found = await follow(first, hopsFrom(source, rules, signal));
  if (found.outcome !== "found") return [];
  const reading = read({ ...found.document, isRobots }, settings);
  const { done, value } = await reading.next();
  // `return` also ends the download.
  if (!done) await reading.return(undefined as never);
  return done ? [] : [...value.sitemaps, ...value.pages].map((each) => each.url);
}
