// Documents of one pattern, made up at random, that grow in one dimension: the number of entries, or the length of a value.
import { tokens, values } from "./mutate.ts";
import type { Random } from "./random.ts";
import { words } from "./words.ts";

export type PatternKind = "xml" | "text" | "robots" | "html";

export interface Pattern {
  readonly kind: PatternKind;
  /** Builds a document of about this many characters. */
  readonly build: (length: number) => string;
  /** Shows what it looks like. */
  readonly sample: string;
}

// Pieces that break documents, and pieces that the readers of values look for.
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

// Every element that is read, in its place: `§` is the value.
const within = (...path: string[]) =>
  path.reduceRight((inside, name) => `<${name}>${inside}</${name.split(" ")[0]}>`, "§");
const fields = [
  ...words("loc lastmod changefreq priority expires unknown LOC x:y").map((name) => within(name)),
  ...words("name language").map((name) => within("news:news", "news:publication", `news:${name}`)),
  ...words("title publication_date access genres keywords stock_tickers").map((name) =>
    within("news:news", `news:${name}`),
  ),
  ...words("loc caption geo_location title license").map((name) => within("image:image", `image:${name}`)),
  ...words(`
    thumbnail_loc title description content_loc player_loc duration expiration_date rating view_count publication_date family_friendly
    restriction platform price uploader live requires_subscription tag category gallery_loc content_segment_loc tvshow id
  `).map((name) => within("video:video", `video:${name}`)),
  ...words("allow_embed autoplay relationship type currency resolution info title duration").map((name) =>
    within("video:video", `video:${name} ${name}="§"`),
  ),
  '<xhtml:link rel="§" hreflang="de" href="https://example.org/de"/>',
  "<xhtml:link rel='alternate' hreflang='§' media='§' href='§' />",
];
const feedFields = [
  ...words("link guid pubDate dc:date dcterms:modified title atom:updated").map((name) => within(name)),
  '<guid isPermaLink="§">§</guid>',
  '<atom:link rel="§" href="§"/>',
  '<link rel="alternate" type="§" href="§" xml:base="§"/>',
  "<updated>§</updated><id>§</id>",
];
const robotsKeys = ["Sitemap", "sitemaps", "Site-map", "User-agent", "Allow", "Disallow", "Crawl-delay", "Host", "x"];

/** The head of a document, and its entries: `§` is the value, `§n` the number of the entry. */
const frames: readonly (readonly [kind: PatternKind, head: string, entries: readonly string[]])[] = [
  ["xml", "<urlset>", fields.map((field) => `<url><loc>https://example.org/§n</loc>${field}</url>`)],
  ["xml", "<urlset>", ["§", "<url><loc>§</loc></url>", '<a §="1"/>', "<§/>", ...fields.slice(0, 3)]],
  ["xml", "<sitemapindex>", ["<sitemap><loc>§</loc><lastmod>§</lastmod></sitemap>"]],
  ["xml", "<rss><channel>", feedFields.map((field) => `<item>${field}</item>`)],
  ["xml", "<feed xmlns='http://www.w3.org/2005/Atom'>", feedFields.map((field) => `<entry>${field}</entry>`)],
  ["xml", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>", feedFields],
  ["robots", "", robotsKeys.flatMap((key) => [`${key}: §\n`, `${key} §\n`])],
  [
    "text",
    "https://example.org/\n",
    ["", "https://", "http://", "https:", '"https://a', "www.", "//"].map((at) => `${at}§\n`),
  ],
  ["html", "", ["§", "<link §>", '<link rel="sitemap" href="§">', `<link rel="§ sitemap" href='§'>`]],
  ["html", "", ["a", "base", "style", "LINK REL=sitemap"].map((tag) => `<${tag} href=§>`)],
  ["html", "", ["<script>§>", "<!--§>", "<template>§>"]],
];

export function randomPattern(random: Random): Pattern {
  const [kind, head, entry] = random.pick(
    frames.flatMap(([kind, head, entries]) => entries.map((entry) => [kind, head, entry] as const)),
  );
  const wrap = (value: string, at: number) => entry.replaceAll("§n", `${at}`).replaceAll("§", () => value);
  const unit = Array.from({ length: random.pick([1, 1, 2, 3, 6]) }, () => random.pick(atoms)).join("");
  // Makes all entries alike, numbers them, or makes one long value.
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
