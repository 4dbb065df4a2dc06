// Makes random websites: indexes, pages with fields, redirects, fragments, spellings of URLs, loops, failures, broken bodies, links on the
// homepage, and limits. And pairs of websites to compare.
import { gzipSync } from "node:zlib";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import type { AllLimits } from "../../src/model/options.ts";
import { entry, richUrlset } from "./documents.ts";
import type { Random } from "./random.ts";
import { home, index, type Route, robots } from "./site.ts";

export function randomWebsite(random: Random): { routes: Record<string, Route>; limits: Partial<AllLimits> } {
  const count = 3 + random.below(25);
  const sometimes = (odds: number) => random.below(odds) === 0;
  const any = () => spelled(`/${random.below(count)}.xml`, random);
  const some = (most: number) => Array.from({ length: random.below(most + 1) }, any);
  const routes: Record<string, Route> = {};
  for (let at = 0; at < count; at += 1) {
    const pages = Array.from({ length: 1 + random.below(4) }, (_, page) => `/${at}/${page}`);
    const kinds: (() => Route)[] = [
      () => index(...some(4)),
      () => index(...some(4)),
      () => sitemapOf(pages, random),
      () => sitemapOf(pages, random),
      () => sitemapOf(pages, random).slice(0, -20),
      () => gzipSync(sitemapOf(pages, random)),
      () => gzipSync(index(...some(3))).subarray(0, -9),
      () => pages.map((page) => `{home}${page.slice(1)}\n`).join(""),
      () => ({ to: any() }),
      () => ({ to: any() }),
      () => ({ to: sometimes(8) ? "/sitemap.xml" : any() }),
      () => ({ to: sometimes(4) ? "/robots.txt" : "/" }),
      () => ({ status: random.pick([404, 500, 403, 204]) }),
      () => ({ headers: { "content-encoding": random.pick(["x-own", "gzip"]) }, body: sitemapOf(pages, random) }),
    ];
    routes[`/${at}.xml`] = random.pick(kinds)();
  }
  routes["/robots.txt"] = sometimes(8) ? { to: any() } : robots(any(), ...some(2));
  if (sometimes(12)) routes["/robots.txt"] = { headers: { "content-encoding": "x-own" }, body: "\u0000\u0001\u0002" };
  if (sometimes(2)) routes["/sitemap.xml"] = routes["/0.xml"] as Route;
  if (sometimes(2)) routes["/sitemap_index.xml"] = { to: any() };
  if (sometimes(3)) routes["/sitemap.txt"] = { to: "/" };
  const links = [any(), any(), "/sitemap.xml", "/"].map((href) => `<link rel="sitemap" href="${href}">`);
  if (sometimes(2)) {
    const link = sometimes(2) ? { link: `<${any()}>; rel=sitemap` } : {};
    routes["/"] = { headers: { "content-type": "text/html", ...link }, body: links.join("") };
  }
  return {
    routes,
    limits: {
      ...(sometimes(4) ? { sitemaps: 1 + random.below(12) } : {}),
      ...(sometimes(4) ? { pages: random.below(8) } : {}),
      ...(sometimes(5) ? { depth: 1 + random.below(3) } : {}),
      ...(sometimes(6) ? { bytes: random.below(2000) } : {}),
      ...(sometimes(8) ? withFixedLimits({ redirects: 1 + random.below(2) }) : {}),
    },
  };
}

// Spells the URL of a document in one of many ways.
function spelled(path: string, random: Random): string {
  switch (random.below(9)) {
    case 0:
      return `${path}#${random.pick(["f", "g", ""])}`;
    case 1:
      return `https://EXAMPLE.org${path}`;
    case 2:
      return `https://example.org:443${path}`;
    case 3:
      return `https://example.org/%3${path.slice(1, 2)}${path.slice(2)}#h`;
    case 4:
      return `https://example.org/x/..${path}`;
    default:
      return path;
  }
}

function sitemapOf(paths: readonly string[], random: Random): string {
  const fields = [
    ["<lastmod>2024-05-01</lastmod>", "<lastmod>2024-05-31T12:00:00+02:00</lastmod>"],
    ["<changefreq>daily</changefreq>", ""],
    ["<priority>0.5</priority>", "<priority>0.8</priority>"],
    ["a.jpg", "b.jpg", ""].map((name) => name && `<image:image><image:loc>${home}${name}</image:loc></image:image>`),
  ];
  const details = () => fields.map((values) => random.pick([...values, ""])).join("");
  return richUrlset(...paths.map((path) => entry(path, details())));
}

/**
 * Two websites with an index of up to four sitemaps, which list pages of a small pool, so that pages are added, removed, changed, moved and
 * listed twice. The second website has some of the sitemaps of the first. With `faults`, sitemaps may be cut off or missing.
 */
export function pairOfWebsites(random: Random, faults: boolean): [Website, Website] {
  const documents = () =>
    new Map(names.filter(() => random.below(2) === 0).map((name) => [name, documentOf(random, faults)]));
  const [one, other] = [documents(), documents()];
  const kept = [...one].filter(() => random.below(2) === 0);
  return [websiteOf(one), websiteOf(new Map([...kept, ...other, ...kept]))];
}

export type Website = Record<string, Route>;

const names = ["/a.xml", "/b.xml", "/c.xml", "/d.xml"];

// Returns undefined if the document is missing.
function documentOf(random: Random, faults: boolean): string | undefined {
  const paths = Array.from({ length: random.below(9) }, () => `/page/${random.below(13)}`);
  // A text without a URL is not a sitemap, and a text that is cut off looks complete.
  if (random.below(3) === 0)
    return [...paths, ...(paths.length === 0 ? ["/only"] : [])].map((path) => `{home}${path.slice(1)}\n`).join("");
  const text = sitemapOf(paths, random);
  const fault = faults ? random.below(5) : 0;
  return fault === 4 ? undefined : fault === 3 ? text.replace("</urlset>", `<url><loc>${home}cu`) : text;
}

function websiteOf(documents: ReadonlyMap<string, string | undefined>): Website {
  const found = [...documents].filter((document): document is [string, string] => document[1] !== undefined);
  return {
    "/robots.txt": robots("/index.xml"),
    "/index.xml": index(...documents.keys()),
    ...Object.fromEntries(found),
  };
}
