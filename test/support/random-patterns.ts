// Documents of one pattern, made up at random, that grow in one dimension: the number of entries, or the length of a value.
import { tokens, values } from "./mutate.ts";
import type { Random } from "./random.ts";
import { words } from "./words.ts";

export type PatternKind = "xml" | "text" | "robots" | "html";

export interface Pattern {
  readonly kind: PatternKind;
  /** A document of about so many characters. */
  readonly build: (length: number) => string;
  /** What it looks like. */
  readonly sample: string;
}

// What breaks documents, and what the readers of values look for.
const atoms: readonly string[] = [
  ...[...tokens, ...values].filter((each) => each !== "" && each.length < 60),
  ...words(`
    &bogus; &quot; &nbsp; &lt;b&gt; <lastmod> </lastmod> <priority> </priority> <sitemap> </sitemap> </item> <link> </link> <base
    <news:news> </news:news> <image:image> <image:loc> <x:y xmlns:a='b' xmlns='c' xml:base='d' xml:lang='e' hreflang='x' <b>x</b>
    <![CDATA[x]]> --!> https:/e/ https:\\\\ https:e.org //e.org www.e.org/ ftp: ../ %41 %2e%2e/ [::1] 127.1 :99999 xn-- 日本.jp
    2024-05-06 T07:08:09Z 06/05/2024 2024-W19-1 20240506T070809+0200 +02:00 -0000 24:00:00 1714979289 GMT AEST (CEST)
    ß İ \u0301 \u200d \u3002 \u00ad \u05d0 😀 { | ^ * $ , . a A 1 1.5 daily en-US USD
  `),
  ...["<a b='c'>", "<link rel=sitemap href=", "<link rel='alternate' href='x'/>", "<?xml-stylesheet >", "<?x y?>"],
  ...["Disallow: ", "Mon, 06 May 2024", "6 May 2024", "May 6, 2024 7:08 PM", "<!-- x -->", "# x"],
];

interface Frame {
  readonly kind: PatternKind;
  readonly head: string;
  readonly wrap: (value: string, at: number) => string;
}

const page = (inside: (value: string) => string): Frame => ({
  kind: "xml",
  head: "<urlset>",
  wrap: (value, at) => `<url><loc>https://example.org/${at}</loc>${inside(value)}</url>`,
});

const element = (name: string) => (value: string) => `<${name}>${value}</${name}>`;

// Every element that is read, in its place.
const elements: readonly ((inside: string) => string)[] = [
  ...["loc", "lastmod", "changefreq", "priority", "expires", "unknown", "LOC", "x:y"].map(element),
  ...["name", "language"].map(
    (name) => (value: string) => element("news:news")(element("news:publication")(element(`news:${name}`)(value))),
  ),
  ...["title", "publication_date", "access", "genres", "keywords", "stock_tickers"].map(
    (name) => (value: string) => element("news:news")(element(`news:${name}`)(value)),
  ),
  ...["loc", "caption", "geo_location", "title", "license"].map(
    (name) => (value: string) => element("image:image")(element(`image:${name}`)(value)),
  ),
  ...[
    ...["thumbnail_loc", "title", "description", "content_loc", "player_loc", "duration", "expiration_date", "rating"],
    ...["view_count", "publication_date", "family_friendly", "restriction", "platform", "price", "uploader", "live"],
    ...["requires_subscription", "tag", "category", "gallery_loc", "content_segment_loc", "tvshow", "id"],
  ].map((name) => (value: string) => element("video:video")(element(`video:${name}`)(value))),
];

const attributes: readonly ((value: string) => string)[] = [
  (value) => `<xhtml:link rel="${value}" hreflang="de" href="https://example.org/de"/>`,
  (value) => `<xhtml:link rel='alternate' hreflang='de' media='${value}' href='${value}' />`,
  (value) => `<link rel="alternate" hreflang="${value}" href="/de"/>`,
  ...["allow_embed", "autoplay", "relationship", "type", "currency", "resolution", "info", "title", "duration"].map(
    (name) => (value: string) =>
      element("video:video")(
        ["player_loc", "restriction", "price", "uploader", "gallery_loc", "content_segment_loc", "id"]
          .map((owner) => `<video:${owner} ${name}="${value}">1</video:${owner}>`)
          .join(""),
      ),
  ),
];

const feedParts: readonly ((value: string) => string)[] = [
  ...["link", "guid", "pubDate", "dc:date", "dcterms:modified", "title", "atom:updated"].map(element),
  (value) => `<guid isPermaLink="${value}">${value}</guid>`,
  (value) => `<atom:link rel="${value}" href="${value}"/>`,
  (value) => `<link rel="alternate" type="${value}" href="${value}" xml:base="${value}"/>`,
  (value) => `<updated>${value}</updated><id>${value}</id>`,
];

const robotsKeys = ["Sitemap", "sitemaps", "Site-map", "User-agent", "Allow", "Disallow", "Crawl-delay", "Host", "x"];

const frames: readonly Frame[] = [
  ...elements.map((inside) => page(inside)),
  ...attributes.map((inside) => page(inside)),
  ...elements.slice(0, 3).map((inside): Frame => ({ kind: "xml", head: "<urlset>", wrap: (value) => inside(value) })),
  ...feedParts.flatMap((inside): Frame[] => [
    { kind: "xml", head: "<rss><channel>", wrap: (value) => element("item")(inside(value)) },
    {
      kind: "xml",
      head: "<feed xmlns='http://www.w3.org/2005/Atom'>",
      wrap: (value) => element("entry")(inside(value)),
    },
    { kind: "xml", head: "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>", wrap: inside },
  ]),
  ...robotsKeys.map((key): Frame => ({ kind: "robots", head: "", wrap: (value) => `${key}: ${value}\n` })),
  ...robotsKeys.map((key): Frame => ({ kind: "robots", head: "", wrap: (value) => `${key} ${value}\n` })),
  ...["https://example.org/", "http://", "https:", "HTTPS://", '"https://a', "www.", "//", "https://a.b/\t"].map(
    (before): Frame => ({ kind: "text", head: "https://example.org/\n", wrap: (value) => `${before}${value}\n` }),
  ),
  ...["<a ", "<base ", "<script>", "<!--", "<style ", "<template>", "<LINK REL=sitemap "].map(
    (before): Frame => ({ kind: "html", head: "", wrap: (value) => `${before}href=${value}>` }),
  ),
  { kind: "html", head: "", wrap: (value) => `<link rel="${value} sitemap" href='${value}'>` },
  { kind: "xml", head: "<urlset>", wrap: (value) => value },
  { kind: "xml", head: "<urlset>", wrap: (value) => `<url><loc>${value}</loc></url>` },
  { kind: "xml", head: "<urlset>", wrap: (value) => `<a ${value}="1"/>` },
  { kind: "xml", head: "<urlset>", wrap: (value) => `<${value}/>` },
  page((value) => `<lastmod>${value}</lastmod><priority>${value}</priority>`),
  page((value) => `<xhtml:link rel="alternate" hreflang="${value}" href="${value}"/>`),
  page((value) => `<news:news><news:publication_date>${value}</news:publication_date></news:news>`),
  page((value) => `<image:image><image:loc>${value}</image:loc><image:title>${value}</image:title></image:image>`),
  page((value) => `<video:video><video:price currency="${value}">${value}</video:price></video:video>`),
  {
    kind: "xml",
    head: "<sitemapindex>",
    wrap: (value) => `<sitemap><loc>${value}</loc><lastmod>${value}</lastmod></sitemap>`,
  },
  {
    kind: "xml",
    head: "<rss><channel>",
    wrap: (value) => `<item><link>${value}</link><pubDate>${value}</pubDate><guid>${value}</guid></item>`,
  },
  {
    kind: "xml",
    head: "<feed xmlns='http://www.w3.org/2005/Atom'>",
    wrap: (value) => `<entry xml:base="${value}"><link href="${value}"/><updated>${value}</updated></entry>`,
  },
  { kind: "text", head: "https://example.org/\n", wrap: (value) => `${value}\n` },
  { kind: "text", head: "https://example.org/\n", wrap: (value) => `https://${value}\n` },
  { kind: "robots", head: "", wrap: (value) => `Sitemap: ${value}\n` },
  { kind: "robots", head: "", wrap: (value) => `User-agent: ${value}\nDisallow: ${value}\nCrawl-delay: ${value}\n` },
  { kind: "html", head: "", wrap: (value) => `<link rel="sitemap" href="${value}">` },
  { kind: "html", head: "", wrap: (value) => `<link ${value}>` },
  { kind: "html", head: "", wrap: (value) => value },
];

export function randomPattern(random: Random): Pattern {
  const { kind, head, wrap } = random.pick(frames);
  const unit = Array.from({ length: random.pick([1, 1, 2, 3, 6]) }, () => random.pick(atoms)).join("");
  // Each entry like the others, each with a number, or one long value.
  const growth = random.pick(["alike", "numbered", "long"] as const);
  const build = (length: number) => {
    if (growth === "long") return head + wrap(unit.repeat(Math.ceil(length / unit.length)), 0);
    const entries: string[] = [];
    for (let size = 0; size < length; size += entries.at(-1)?.length ?? 1) {
      entries.push(wrap(growth === "numbered" ? unit + entries.length : unit, entries.length));
    }
    return head + entries.join("");
  };
  return { kind, build, sample: build(60).slice(0, 200) };
}
