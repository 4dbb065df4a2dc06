// Generates a shop of 30,000 pages in eight sitemaps (a tenth of that in short runs), the same each time, and defects that are common in
// the field.
import type { RuleId } from "../../src/check/rules/rule-id.ts";
import { some } from "../support/long.ts";
import { home, type Route, robots } from "../support/site.ts";
import { entry, index, links, many, sitemap } from "./cases/case.ts";

const products = some(4500, 450);
const guides = some(750, 75);
/** How many pages a shop has, without defects. */
export const shopPages: number = 6 * products + 4 * guides + 1;

/** A defect, and the only rule that must report it. */
export interface Defect {
  readonly rule: RuleId;
  /** The URL or value of the occurrence. */
  readonly shown: string;
  /** The sitemap that it is in. */
  readonly file?: string;
  /** The entries that it adds. */
  readonly entries?: readonly string[];
  /** The documents that it adds, and what robots.txt and the index list. */
  readonly routes?: Readonly<Record<string, Route>>;
  readonly robots?: string;
  readonly child?: string;
}

// Every page has a different date, years before the check.
const date = (number: number) => new Date(Date.UTC(2024, 0, 1) + number * 1_234_567).toISOString();
const at = (path: string) => home + path;
const pair = (one: string, other: string) => links({ en: one, de: other, "x-default": one });
const page = (path: string, rest = "", changed = date(path.length * 997)) =>
  entry(path, `<lastmod>${changed}</lastmod>${rest}`);
const picture = (url: string) => `<image:image><image:loc>${url}</image:loc></image:image>`;
const product = (number: number) => page(`/p/${number}`, picture(at(`media/${number}.jpg`)), date(number));

function translated(number: number): string[] {
  const [en, de] = [`/en/guide-${number}`, `/de/ratgeber-${number}`];
  return [page(en, pair(en, de), date(number)), page(de, pair(en, de), date(number + 7))];
}

const fields =
  "<video:video><video:thumbnail_loc>https://example.org/t.jpg</video:thumbnail_loc><video:title>T</video:title><video:description>D</video:description>";

const one = (rule: RuleId, path: string, rest?: string, changed?: string): Defect => ({
  rule,
  shown: path.startsWith("/") ? at(path.slice(1)) : path,
  entries: [page(path, rest, changed)],
});

export const defects: readonly Defect[] = [
  one("url-fragment", "/x/size#m"),
  one("url-private-host", "http://localhost:3000/x/1"),
  one("url-other-host", "https://example.net/x/1"),
  one("url-www-mismatch", "https://www.example.org/x/www"),
  one("url-other-scheme", "http://example.org/x/http"),
  one("url-session-id", "/x/s?PHPSESSID=1a2b"),
  one("url-tracking-parameter", "/x/t?utm_source=mail"),
  one("url-facet", "/x/list?sort=price_asc"),
  one("url-utility", "/checkout/"),
  one("url-asset", "/x/catalog.json"),
  one("url-double-slash", "/x//double"),
  one("url-not-normal", "/x/../up"),
  one("url-percent-invalid", "/x/100%"),
  one("url-percent-twice", "/x/a%2520b"),
  one("url-not-escaped", "/x/a|b"),
  one("url-robots-disallowed", "/private/x"),
  one("lastmod-future", "/x/future", "", "2031-01-01T00:00:00Z"),
  one("lastmod-zero", "/x/zero", "", "1970-01-01T00:00:00Z"),
  { ...one("lastmod-form", "/x/form", "", "31.05.2024"), shown: "31.05.2024" },
  { ...one("lastmod-no-offset", "/x/offset", "", "2024-05-31T10:00:00"), shown: "2024-05-31T10:00:00" },
  { rule: "url-variants", shown: at("P/17"), file: "/x.xml", entries: [page("/P/17")] },
  { rule: "url-duplicate", shown: at("p/18"), entries: [page("/p/18", "", date(18))] },
  { rule: "url-missing", shown: "Skipped an entry without", entries: ["<url><lastmod>2024-01-01</lastmod></url>"] },
  { rule: "url-not-absolute", shown: "/x/relative", entries: ["<url><loc>/x/relative</loc></url>"] },
  one("image-private-host", "/x/i1", picture("https://staging.example.org/1.jpg")),
  one("image-not-escaped", "/x/i2", picture(at("media/a b.jpg"))),
  one("image-is-page", "/x/i3", picture(at("x/i3"))),
  one("image-other-host", "/x/i4", picture("https://img.example.net/4.jpg")),
  one(
    "video-expired",
    "/x/v",
    `${fields}<video:content_loc>https://example.org/v.mp4</video:content_loc><video:expiration_date>2024-01-01</video:expiration_date></video:video>`,
  ),
  { ...one("video-incomplete", "/x/w", `${fields}</video:video>`), shown: "content or player" },
  one("hreflang-code", "/x/h1", links({ en: "/x/h1", xx: "/x/h1", "x-default": "/x/h1" })),
  one("hreflang-region", "/x/h2", links({ "en-UK": "/x/h2", "x-default": "/x/h2" })),
  {
    rule: "hreflang-no-return",
    shown: at("x/h3"),
    entries: [page("/x/h3", pair("/x/h3", "/x/h4")), page("/x/h4", links({ de: "/x/h4", "x-default": "/x/h4" }))],
  },
  { rule: "sitemap-unreachable", shown: at("gone.xml"), child: "/gone.xml" },
  {
    rule: "sitemap-is-html",
    shown: at("page.xml"),
    child: "/page.xml",
    routes: {
      "/page.xml": { body: "<!doctype html><html><body>Sorry</body></html>", headers: { "content-type": "text/html" } },
    },
  },
  { rule: "sitemap-empty", shown: at("empty.xml"), child: "/empty.xml", routes: { "/empty.xml": sitemap() } },
];

/** The routes of the shop with these defects. */
export function shop(chosen: readonly Defect[]): Record<string, Route> {
  const names = many(6, (number) => `/products-${number + 1}.xml`);
  const extra = chosen.flatMap(({ entries = [] }) => entries);
  const children = [...names, "/guides-1.xml", "/guides-2.xml", ...(extra.length > 0 ? ["/x.xml"] : [])];
  const routes: Record<string, Route> = {
    "/robots.txt": `${robots("/sitemap.xml")}\nUser-agent: *\nDisallow: /private/\n${chosen.map((each) => each.robots ?? "").join("")}`,
    "/sitemap.xml": index(...children, ...chosen.flatMap(({ child = [] }) => child)),
    "/guides-1.xml": sitemap(page("/"), ...many(guides, (number) => translated(number).join("\n"))),
    "/guides-2.xml": sitemap(...many(guides, (number) => translated(guides + number).join("\n"))),
    ...(extra.length > 0 ? { "/x.xml": sitemap(...extra) } : {}),
  };
  for (const [number, name] of names.entries())
    routes[name] = sitemap(...many(products, (each) => product(number * products + each)));
  return Object.assign(routes, ...chosen.map((each) => each.routes ?? {}));
}
