// Documents with a few kinds of entries, in runs or alternating as in real sitemaps, with values of every kind: what one
// entry contains must not change how the next is read.
import type { AllLimits } from "../../src/model/options.ts";
import type { Random } from "./random.ts";

/** `most` bounds how many entries in a row are alike. */
export function repetitiveDocument(random: Random, most = 8): string {
  const format = random.pick(formats);
  // How often a value is odd, and how often the structure changes.
  const [odds, changes] = [random.pick([3, 6, 40, 1000]), random.pick([2, 4, most])];
  const makings = Array.from({ length: 1 + random.below(4) }, () => format.entry(random));
  const seams = random.below(3) === 0 ? [random.pick(oddSeams), "\n"] : [random.pick(["", "\n", "\n  ", "\r\n"])];
  let text = format.head;
  let making = makings[0]!;
  for (let number = 0, count = 1 + random.below(4 * most); number < count; number++) {
    if (random.below(changes) === 0) making = random.pick(makings);
    text += fill(making + random.pick(seams), random, number, odds);
  }
  text += format.tail;
  // After characters of more than one byte in UTF-8, positions in the text and in its bytes differ.
  return random.below(4) === 0 ? `<!-- ж語😀 -->${text}` : text;
}

/** AllLimits that such documents reach. */
export function smallLimits(random: Random): Partial<AllLimits> {
  const small: Partial<Record<keyof AllLimits, number>> = {};
  for (let count = 1 + random.below(2); count > 0; count--) {
    const [name, values] = random.pick(limits);
    small[name] = random.pick(values);
  }
  return small;
}

const limits: readonly (readonly [keyof AllLimits, readonly number[]])[] = [
  ["documentEntries", [0, 1, 2, 5]],
  ["urlLength", [0, 1, 25, 30, 40]],
  ["xmlDepth", [0, 1, 2, 3, 4]],
  ["xmlAttributes", [0, 1, 2, 3]],
  ["xmlNameLength", [0, 1, 3, 5, 10]],
  ["xmlTextLength", [0, 1, 5, 10, 25]],
  ["images", [0, 1]],
  ["videos", [0, 1]],
  ["alternates", [0, 1]],
];

interface Format {
  readonly head: string;
  readonly entry: (random: Random) => string;
  readonly tail: string;
}

// `§u`, `§d`, `§t` and `§a` are a URL, a date, a text and the value of an attribute; `§r`, `§l`, `§n` and `§b` a few words.
const fields = [
  ...["<lastmod>§d</lastmod>", "<changefreq>§t</changefreq>", "<changefreq>daily</changefreq>"],
  ...["<priority>0.3</priority>", "<priority>§t</priority>", "<lastmod/>", "<loc>§u</loc>"],
  '<xhtml:link rel="alternate" hreflang="de" href="§a"/>',
  "<xhtml:link rel='alternate' hreflang='§t' href='§a'></xhtml:link>",
  '<xhtml:link rel="alternate" hreflang="it" href="§a" xmlns:y="urn:y"/>',
  "<image:image><image:loc>§u</image:loc><image:caption>§t</image:caption></image:image>",
  "<image:image>\n<image:title><![CDATA[§t]]></image:title>\n<image:loc><![CDATA[§u]]></image:loc></image:image>",
  "<news:news><news:publication><news:name>§t</news:name></news:publication><news:publication_date>§d</news:publication_date><news:title>§t</news:title></news:news>",
  '<x:news xmlns:x="http://www.google.com/schemas/sitemap-news/0.9"><x:title>§t</x:title></x:news>',
  '<video:video><video:title>§t</video:title><video:price currency="§a">1.99</video:price><video:restriction relationship="§a">§t</video:restriction></video:video>',
  ...["<unknown a='§a'><loc>§u</loc></unknown>", "<unknown>§t</unknown>", "<!-- §t -->", "§t", "<?pi §t?>"],
  ...[
    "<url>",
    "</url>",
    "<url/>",
    "<urlset>",
    "</urlset>",
    "<image:image/>",
    "<image:loc>§u</image:loc>",
    "<loc>§a</loc>",
  ],
  '<xhtml:link href="§a" hreflang="§l" rel="§r" />',
  '<xhtml:link rel="§r" media="§t" href="§a"/>',
  "<image:image><image:title>§t</image:title></image:image>",
  "<news:news><news:title>§t</news:title><news:title>§t</news:title></news:news>",
  "<news:news><news:publication><news:name>N</news:name><news:language>§l</news:language></news:publication><news:publication_date>§d</news:publication_date><news:title>§t</news:title></news:news>",
  "<video:video><video:thumbnail_loc>§u</video:thumbnail_loc><video:title>T</video:title><video:description>§t</video:description><video:content_loc>§u</video:content_loc><video:duration>§n</video:duration><video:live>§b</video:live><video:tag>§t</video:tag></video:video>",
  "<image:image><image:loc>§u</image:loc><loc>§u</loc><lastmod>§d</lastmod><video:title>§t</video:title></image:image>",
  '<video:video><video:duration>§n</video:duration><video:live>§b</video:live><video:uploader info="§a">§t</video:uploader><video:content_segment_loc duration="§n">§u</video:content_segment_loc><video:tvshow><video:premier_date>§d</video:premier_date></video:tvshow></video:video>',
];
const frames: readonly (readonly [open: string, close: string])[] = [
  ...["<url>", "<url>", "<url>", '<url id="§l">', "<url >"].map((open) => [open, "</url>"] as const),
  ...([
    ["<URL>", "</URL>"],
    ["<x><url>", "</url></x>"],
    ["<sitemap>", "</sitemap>"],
    ["<url xmlns=''>", "</url>"],
  ] as const),
];
const locs = ["<loc>§u</loc>", "<loc>§u</loc>", "<loc>§u</loc>", "<loc><![CDATA[§u]]></loc>", "<loc> §u </loc>", ""];
const oddSeams = [
  ...["<lastmod>§d</lastmod>", "<loc>§u</loc>", "<x/>", "<x><lastmod>§d</lastmod></x>", "§t", "<!-- -->"],
  ...["<![CDATA[ ]]>", "<changefreq>§t</changefreq>", "</urlset><urlset>"],
];

const formats: readonly Format[] = [
  {
    head: `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
  xmlns:xhtml="http://www.w3.org/1999/xhtml">`,
    entry(random) {
      const space = random.pick(["", "\n", "\n    ", "\r\n\t"]);
      const some = Array.from({ length: random.below(5) }, () => random.pick(fields));
      const [open, close] = random.pick(frames);
      some.splice(random.below(3) > 0 ? 0 : random.below(some.length + 1), 0, random.pick(locs));
      return [open, ...some, close].join(space);
    },
    tail: "\n</urlset>\n",
  },
  {
    head: '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    entry: (random) => `<sitemap>\n<loc>§u</loc>${random.pick(["", "<lastmod>§d</lastmod>", "§t"])}</sitemap>`,
    tail: "</sitemapindex>",
  },
  {
    head: '<rss version="2.0"><channel><title>§t</title>',
    entry: () =>
      '<item><title>§t</title><link>§u</link><guid isPermaLink="§a">§u</guid><pubDate>§d</pubDate><description><![CDATA[§t]]></description></item>',
    tail: "</channel></rss>",
  },
  {
    head: '<feed xmlns="http://www.w3.org/2005/Atom"><title>§t</title>',
    entry: () => '<entry><title type="§a">§t</title><link rel="alternate" href="§a"/><updated>§d</updated></entry>',
    tail: "</feed>",
  },
];

function fill(entry: string, random: Random, number: number, odds: number): string {
  return entry.replaceAll(/§./g, (field) => {
    const isOdd = random.below(odds) === 0;
    const odd = () => random.pick(urls) + random.pick(texts);
    switch (field) {
      case "§u":
        // Sometimes repeats the previous value.
        return isOdd ? odd() : `https://example.org/${random.below(12) === 0 ? random.below(number + 1) : number}`;
      case "§d":
        return isOdd ? random.pick(dates) : `2024-05-${String(1 + (number % 28)).padStart(2, "0")}`;
      case "§a":
        return (isOdd ? odd() : `https://example.org/a${number}`).replaceAll(/["'<]/g, "");
      case "§t":
        return isOdd ? random.pick(texts) + random.pick(texts) : `text ${number}`;
      default: {
        const list = fewWords[field[1] as keyof typeof fewWords];
        return isOdd ? random.pick(list) : list[0]!;
      }
    }
  });
}

const fewWords = {
  r: ["alternate", "stylesheet", "canonical", "Alternate", "nofollow alternate", "", " "],
  l: ["de", "x-default", "en-US", "", " "],
  b: ["yes", "no", "allow", "deny", "maybe", ""],
  n: ["1", "1.5", "x", ""],
} as const;
const urls = [
  ...["", "/", "//x/", "https://example.org/", "https://www.example.org/a?b=1&amp;c=", "http://é.example/", "ftp://x/"],
  ...["https://example.org:99999/", "https://other.example/", "HTTPS://EXAMPLE.org/", "javascript:", "https://[::1"],
];
const dates = [
  ...["", "2024-02-30", "2024-02-29", "2024-05-06T07:08:09Z", "2024-05-06T07:08:09-00:00", "2024-05-06T07:08:09+01:00"],
  ...["Mon, 06 May 2024 07:08:09 GMT", "yesterday", "&#0;", "2024&#45;05-06", "2024-05-06T24:00:00Z", " 2024-05-06\n"],
];
const texts = [
  // Uses valid and invalid references, and some to code points that are not characters.
  ...["&amp;", "&lt;b&gt;", "&#65;", "&nbsp;", "&amp;amp;", "&amp;lt;", "&bogus;", "&", "&#", "&;", "a;b&amp;c"],
  ...["&#0;", "&#x1F;", "&#xD800;", "&#x110000;", "&#99999999999999999999;", "&#xFFFE;"],
  ...["", " ", "\n", "\r\n", "\r", "\t", "\0", "\u0001", "\u007f", "\u0085", "\u00a0", "\u200b", "\ufeff", "\ufffd"],
  ...["é", "я", "語", "😀", "\ud800", "\udc00", "]]>", "]", "]]", '"', "'", ">", "<", "< b", "<b>c</b>", "<!-- c -->"],
  ...["<![CDATA[d]]>", "<", "</", "<x", "x".repeat(40), "語".repeat(20), "</url>", "<url>", "</x>", "--", "?>"],
];
