// Documents of one pattern, made up at random, that grow in one dimension: the number of entries, or the length of a value.
import type { Random } from "./random.ts";

export type PatternKind = "xml" | "text" | "robots" | "html";

export interface Pattern {
  readonly kind: PatternKind;
  /** A document of about so many characters. */
  readonly build: (length: number) => string;
  /** What it looks like. */
  readonly sample: string;
}

const atoms: readonly string[] = [
  "<",
  ">",
  "&",
  "&amp;",
  "&#65;",
  "&bogus;",
  '"',
  "'",
  "=",
  "/",
  " ",
  "\n",
  "\t",
  "\r",
  "\0",
  "\ufeff",
  "\u00a0",
  "é",
  "語",
  "😀",
  "a",
  "A",
  "1",
  "-",
  ".",
  ":",
  ";",
  "#",
  "%",
  "%41",
  "[",
  "]",
  "]]>",
  "@",
  "\\",
  "?",
  "!",
  "<!--",
  "-->",
  "<![CDATA[",
  "<?",
  "?>",
  "<a>",
  "</a>",
  "<a/>",
  "<a b='c'>",
  "<url>",
  "</url>",
  "<loc>",
  "</loc>",
  "<lastmod>",
  "</lastmod>",
  "<priority>",
  "</priority>",
  "<sitemap>",
  "</sitemap>",
  "<item>",
  "</item>",
  "<entry>",
  "<link>",
  "</link>",
  "<link rel=sitemap href=",
  "<link rel='alternate' href='x'/>",
  "<base href=",
  "http://",
  "https://",
  "https://example.org/",
  "www.",
  "//",
  "ftp:",
  "2024-05-06",
  "T07:08:09Z",
  "Mon, 06 May 2024",
  "GMT",
  "Sitemap: ",
  "User-agent: ",
  "Disallow: ",
  "Crawl-delay: ",
  "<news:news>",
  "</news:news>",
  "<image:image>",
  "<image:loc>",
  "xmlns:a='b'",
  "<x:y ",
  "xn--",
  "..",
  "../",
  "\u0301",
  "\u200d",
  "ß",
  "İ",
  "\ud800",
  "\u2028",
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

const frames: readonly Frame[] = [
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
