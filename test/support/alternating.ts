// Documents of a few makings of entries that take turns, with few words in each field: what was learned from one entry is tried on
// all others, in every combination.
import type { Random } from "./random.ts";

export function alternatingDocument(random: Random): string {
  // How often a value is an odd one.
  const odds = random.pick([3, 8, 40, 1000]);
  const usual = new Map(
    Object.entries(values).map(([key, list]) => [key, list.slice(0, 1 + random.below(3)).concat(random.pick(list))]),
  );
  let number = 0;
  const fill = (text: string) =>
    text.replaceAll(/§./g, (field) => {
      const key = field[1]!;
      if (key !== "U") return random.pick(random.below(odds) === 0 ? values[key]! : usual.get(key)!);
      number++;
      const origin = random.below(odds) === 0 ? random.pick(origins) : origins[0];
      return `${origin}${random.below(12) === 0 ? random.below(number) : number}${random.below(9) === 0 ? "?a&amp;b" : ""}`;
    });
  const makings = Array.from({ length: 1 + random.below(4) }, () => makingOf(random));
  const seams = Array.from({ length: 1 + random.below(2) }, () =>
    random.pick(random.below(2) === 0 ? seamsAll : ["\n"]),
  );
  const entries: string[] = [];
  let making = makings[0]!;
  for (let count = 5 + random.below(100); count > 0; count--) {
    if (random.below(4) === 0) making = random.pick(makings);
    entries.push(fill(making + random.pick(seams)));
  }
  return `${head}${entries.join("")}</urlset>`;
}

function makingOf(random: Random): string {
  const [open, close] = random.below(3) > 0 ? ["<url>", "</url>"] : random.pick(frames);
  const inside = Array.from({ length: random.below(4) }, () => random.pick(fields));
  const at = random.below(3) > 0 ? 0 : random.below(inside.length + 1);
  inside.splice(at, 0, random.below(15) === 0 ? "" : random.pick(locs));
  return [open, ...inside, close].join(random.pick(["", "", "\n", "\n  "]));
}

const head = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"
  xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
  xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">`;

const frames = [
  ...[['<url id="§l">', "</url>"] as const, ["<url >", "</url>"] as const, ["<URL>", "</URL>"] as const],
  ...[["<sm:url>", "</sm:url>"] as const, ["<x><url>", "</url></x>"] as const, ["<sitemap>", "</sitemap>"] as const],
  ["<url xmlns=''>", "</url>"] as const,
];
const locs = ["<loc>§U</loc>", "<loc>§U</loc>", "<loc>§U</loc>", "<loc><![CDATA[§U]]></loc>", "<loc> §U </loc>"];
const seamsAll = [
  ...["", "\r\n  ", "<lastmod>§d</lastmod>", "<loc>§h</loc>", "<x/>", "<x><lastmod>§d</lastmod></x>", "§t", "<!-- -->"],
  ...["<changefreq>§c</changefreq>", "<![CDATA[ ]]>", "</urlset><urlset>"],
];

const fields = [
  ...[
    "<lastmod>§d</lastmod>",
    "<changefreq>§c</changefreq>",
    "<priority>§p</priority>",
    "<lastmod/>",
    "<priority></priority>",
  ],
  ...[
    "<x><lastmod>§d</lastmod></x>",
    "<x><loc>§h</loc></x>",
    "<x>§t</x>",
    '<x a="§t"/>',
    "<loc>§h</loc>",
    "<loc>§U</loc>",
  ],
  ...[
    "§t",
    "<!-- §c -->",
    "<?p §c?>",
    "<url>",
    "</url>",
    "<url/>",
    "<urlset>",
    "</urlset>",
    "<image:loc>§h</image:loc>",
  ],
  ...['<xhtml:link rel="§r" hreflang="§l" href="§h"/>', '<xhtml:link rel="§r" href="§h"/>', "<image:image/>"],
  ...['<xhtml:link rel="§r" media="§t" href="§h"/>', '<xhtml:link href="§h" hreflang="§l" rel="§r" />'],
  ...['<link rel="§r" hreflang="§l" href="§h"/>', "<xhtml:link rel='§r' hreflang='§l' href='§h'></xhtml:link>"],
  "<image:image><image:loc>§h</image:loc><image:title>§t</image:title></image:image>",
  "<image:image><image:title>§t</image:title></image:image>",
  "<news:news><news:publication><news:name>§t</news:name><news:language>§l</news:language></news:publication><news:publication_date>§d</news:publication_date><news:title>§t</news:title></news:news>",
  "<news:news><news:title>§t</news:title><news:title>§t</news:title></news:news>",
  "<video:video><video:thumbnail_loc>§h</video:thumbnail_loc><video:title>§t</video:title><video:description>§t</video:description><video:content_loc>§h</video:content_loc></video:video>",
  '<video:video><video:duration>§n</video:duration><video:live>§b</video:live><video:restriction relationship="§b">§l</video:restriction></video:video>',
  '<video:video><video:uploader info="§h">§t</video:uploader><video:price currency="§l">§n</video:price><video:content_segment_loc duration="§n">§h</video:content_segment_loc><video:tvshow><video:premier_date>§d</video:premier_date></video:tvshow></video:video>',
];

const origins = [
  "https://example.org/",
  "https://example.org/é",
  "/",
  "http://a.b/",
  "https://EXAMPLE.org/",
  "http://a.b/ａ",
];

// The most usual ones first.
const values: Readonly<Record<string, readonly string[]>> = {
  d: ["2024-05-06", "2024", "2024-02-29", "never", "2024-02-30", "0000-00-00", " 2024-05-06 ", "", "6 May 2024"],
  c: ["daily", "weekly", "Daily", "sometimes", "", " daily"],
  p: ["0.5", "1.0", "1", "9", "-1", "", "x", "0,5"],
  r: ["alternate", "stylesheet", "canonical", "Alternate", "nofollow alternate", "", " "],
  l: ["de", "x-default", "en-US", "", " "],
  h: [
    ...[
      "https://example.org/a",
      "https://example.org/é",
      "/rel",
      "https://o.example/x",
      "",
      "nowhere:/",
      "javascript:x",
    ],
    ...["https://example.org/a?b&amp;c", "http://a.b/ａ", "https://example.org/]]>", " https://example.org/q "],
  ],
  t: [
    ...["title", "t", "", " ", "a &amp; b", "&lt;", "é", "\u00a0", "&amp;nbsp;", "&amp;nbsp", "&bogus;", "]]>"],
    ...["\u0001", "ａ", "\ufffd", "x".repeat(30)],
  ],
  b: ["yes", "no", "allow", "deny", "maybe", ""],
  n: ["1", "1.5", "x", ""],
};
