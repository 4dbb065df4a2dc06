// Documents with undamaged entries between damaged ones. Damage affects only its own entry: every undamaged one has to be
// read, and nothing may be read that nobody wrote.
import type { Random } from "./random.ts";
import { words } from "./words.ts";

export interface DamagedDocument {
  readonly url: string;
  readonly text: string;
  /** What has to be read, as pages or as sitemaps. */
  readonly innocent: readonly string[];
  /** Whether this text occurs in the document. */
  readonly isDeclared: (url: string) => boolean;
}

const home = "https://example.org/";

interface Kind {
  readonly name: string;
  readonly head: string;
  readonly tail: string;
  readonly entry: (url: string, extra: string) => string;
  readonly extras: readonly string[];
  /** `§u` is the URL of the damaged entry. */
  readonly damage: readonly string[];
}

const references = words("&#0; &#xD800; &#x110000; &bogus; &#99999999999999999999; & &#; &#xFFFE; \u0001");

const xmlDamage = (open: string, close: string) => [
  `${open}<loc>§u</loc>`,
  `${open}<loc>§u</loc></misspelled>`,
  `${open}<loc>§u</loc><x>`,
  `${open}<loc>§u</loc><lastmod>2024`,
  `${open}<loc>§u`,
  `${open}<loc>§u</loc`,
  ...[`${open}<loc></loc>${close}`, `${open}${close}`],
  `<wrap>${open}<loc>§u</loc>${close}</wrap>`,
  `<wrap>${open}<loc>§u</loc>${close}`,
  `${open}<p><loc>§u</loc></p>${close}`,
  ...["<loc>§u</loc>", "<x:y>", "</x>", close, "<x", "<!-- comment --!>", "<!-- -- -->", "<?instruction a > b ?>"],
  ...["<?xml version='1.0'>", "<?xml-stylesheet href='x'>", "<![CDATA[text]]>", "words & more ]]> words"],
  `${open}<loc>§u</loc><lastmod>${references[0]}</lastmod>${close}`,
  ...references.map((reference) => `${open}<loc>§u</loc><x a="${reference}">${reference}</x>${close}`),
  ...references.map((reference) => `${open}<loc>§u${reference}</loc>${close}`),
  `${open}<loc>javascript:void(0)</loc>${close}`,
  `${open}<loc>https://example.org/d/<b>x</b>/y</loc>${close}`,
  `${open}<loc>§u]]></loc>${close}`,
  `${open}<loc>"§u"</loc>${close}`,
  `${open}<loc>§u §u</loc>${close}`,
  `${open}<loc>${"x".repeat(9000)}</loc>${close}`,
];

const fields = [
  "<lastmod>2024-05-06</lastmod>",
  "<priority>0.3</priority>",
  ...references.map((reference) => `<priority>${reference}</priority>`),
  ...references.map((reference) => `<news:news><news:title>T${reference}</news:title></news:news>`),
  ...references.map(
    (reference) => `<image:image><image:loc>/i</image:loc><image:caption>${reference}</image:caption></image:image>`,
  ),
  ...references.map((reference) => `<xhtml:link rel="alternate" hreflang="de" href="https://e.example/${reference}"/>`),
  ...references.map((reference) => `<video:video><video:description>${reference}</video:description></video:video>`),
  "<lastmod>Thu, 17\n Dec 2009 12:04 AEST</lastmod>",
  "<lastmod>never</lastmod>",
  "<changefreq>sometimes</changefreq>",
];

const namespaces =
  'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml"';

const feedDamage = (open: string, close: string, link: string) => [
  ...["<language>", "<title>News", "<x:category xmlns:x='urn:x'>", "<chanel>"],
  `${open}${link}`,
  `${open}${link}<title>T`,
  `${open}${link}</misspelled>`,
  `${open}${close}`,
  `<wrap>${open}${link}${close}`,
  ...references.map((reference) => `${open}${link}<title>${reference}</title>${close}`),
  ...references.map(
    (reference) => `${open}${link}<pubDate>${reference}</pubDate><updated>${reference}</updated>${close}`,
  ),
  "</x>",
  "words & more ]]> words",
  "<!-- comment --!>",
];

const kinds: readonly Kind[] = [
  {
    name: "sitemap.xml",
    head: `<?xml version="1.0"?><urlset ${namespaces}>`,
    tail: "</urlset>",
    entry: (url, extra) => `<url><loc>${url}</loc>${extra}</url>`,
    extras: fields,
    damage: xmlDamage("<url>", "</url>"),
  },
  {
    name: "index.xml",
    head: `<sitemapindex ${namespaces}>`,
    tail: "</sitemapindex>",
    entry: (url, extra) => `<sitemap><loc>${url}</loc>${extra}</sitemap>`,
    extras: ["<lastmod>2024-05-06</lastmod>", "<lastmod>&#0;</lastmod>", "<x>&bogus;</x>", "<x a='&#0;'/>"],
    damage: [...xmlDamage("<sitemap>", "</sitemap>"), ...xmlDamage("<url>", "</url>")],
  },
  {
    name: "feed.rss",
    head: '<rss version="2.0"><channel>',
    tail: "</channel></rss>",
    entry: (url, extra) => `<item><link>${url}</link>${extra}</item>`,
    extras: [
      "<title>T</title>",
      "<title>&#0;</title>",
      "<pubDate>6 May 2024 &bogus;</pubDate>",
      "<guid>x &#xD800;</guid>",
    ],
    damage: feedDamage("<item>", "</item>", "<link>§u</link>"),
  },
  {
    name: "feed.atom",
    head: '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.org/base/">',
    tail: "</feed>",
    entry: (url, extra) => `<entry><link href="${url}"/>${extra}</entry>`,
    extras: [
      "<title>T&#0;</title>",
      "<updated>2024-05-06T07:08:09Z</updated>",
      "<updated>&bogus;</updated>",
      '<link rel="enclosure" href="x&#0;"/>',
      '<content xml:base="/other/" type="xhtml"><div><a href="x">y</a></div></content>',
    ],
    damage: feedDamage("<entry>", "</entry>", '<link href="§u"/>'),
  },
  {
    name: "sitemap.txt",
    head: `${home}i/first\n`,
    tail: "",
    entry: (url) => `\n${url}\n`,
    extras: [""],
    damage: [
      ..."\u0000\u0001\ufeff\u00a0\t \r\ufffd",
      ...words(`
        "§u" §u]]> <§u> [§u www.example.org/d/1 https:/example.org/d/1 https:///d http://é[ words <b>bold</b> #comment % //
      `),
      ...["§u §u", "§u, §u", "§u\t2024-05-06", "<?php warning ?>", "x".repeat(20_000)],
    ],
  },
  {
    name: "robots.txt",
    head: "",
    tail: "",
    entry: (url) => `\nSitemap: ${url}\n`,
    extras: [""],
    damage: [
      ...[
        "\u0000",
        "\ufeff",
        "\u0001",
        "words",
        "<html>",
        "<?php ?>",
        "<!-- comment -->",
        "<b>Warning</b>: x in <b>y</b>",
      ],
      ...["Sitemap: https:///sitemap.xml", "Sitemap:", "Sitemap: words", "sitemap : §u", "Site-map: §u", "Sitemap §u"],
      ...[
        "Sitemap: §u §u",
        'Sitemap: "§u"',
        "Crawl-delay: 1e99",
        "User-agent",
        `Disallow: ${"/".repeat(20_000)}`,
        "%%%",
      ],
    ],
  },
];

export function damagedDocument(random: Random): DamagedDocument {
  const kind = random.pick(kinds);
  const innocent: string[] = [];
  let text = kind.head;
  for (let count = 2 + random.below(10); count > 0; count--) {
    if (random.below(2) === 0) {
      text += random
        .pick(random.below(12) === 0 && kind.tail !== "" ? [kind.tail, kind.tail + kind.head] : kind.damage)
        .replaceAll("§u", () => `${home}d/${random.below(9)}`);
      // Separate lines are separate entries.
      if (!kind.head.startsWith("<")) text += "\n";
    }
    const url = `${home}i/${innocent.length}`;
    innocent.push(url);
    text += kind.entry(url, random.below(2) === 0 ? random.pick(kind.extras) : "");
  }
  const written = text + kind.tail;
  return { url: `${home}${kind.name}`, text: written, innocent, isDeclared: (url) => isDeclared(url, written) };
}

// The URL is in the text, or is one of the few repairs that are certain.
function isDeclared(url: string, text: string): boolean {
  const plain = text.replaceAll(/<\/?b>|\]\]>|&[#\w]*;?|\u0001|\u0000/g, "");
  const path = url.slice(home.length);
  return text.includes(url) || (url.startsWith(home) && plain.includes(path)) || url.endsWith("www.example.org/d/1");
}
