// Generated page sitemaps, the same bytes on every machine: the documents that are parsed, and the ones that the website serves.
// A plain entry has a location with one `&amp;`, a date, a frequency and a priority (about 220 bytes). A rich one also has an image,
// two alternate languages and a news story with CDATA (about 1,040 bytes).

/**
 * The text of a page sitemap, in pieces of some 64 KB. Documents with different numbers share no page. Editions other than 0
 * are later versions of the document: of 1,000 pages, 20 have another date, 5 are gone, and 5 are new.
 */
export function* urlset({ entries, rich = false, number = 0, edition = 0 }) {
  const random = randomNumbers(number + (rich ? 1e6 : 0));
  const chance = randomNumbers(number + 2e6 * edition);
  const pick = (list) => list[Math.floor(random() * list.length)];
  let piece = rich ? richHead : plainHead;
  for (let entry = 0; entry < entries; entry++) {
    const id = number * entries + entry + 1_000_000;
    const draw = edition === 0 ? 1 : chance();
    const path = `${pick(sections)}/${pick(words)}-${pick(words)}-${id}${draw < 0.005 ? "-new" : ""}`;
    const date = draw >= 0.005 && draw < 0.025 ? isoDate(random, edition) : isoDate(random);
    piece += `  <url>
    <loc>https://www.example.org/${path}?view=${id % 10}&amp;from=map</loc>
    <lastmod>${date}</lastmod>
    <changefreq>${pick(frequencies)}</changefreq>
    <priority>0.${1 + Math.floor(random() * 9)}</priority>
${rich ? extensions(path, date, id, pick) : ""}  </url>
`;
    if (piece.length >= pieceLength) {
      yield piece;
      piece = "";
    }
  }
  yield `${piece}</urlset>\n`;
}

function extensions(path, date, id, pick) {
  const title = `${pick(words)} & ${pick(words)}: ${pick(words)} ${pick(words)} of the ${pick(words)}`;
  return `    <xhtml:link rel="alternate" hreflang="de" href="https://www.example.org/de/${path}?view=${id % 10}&amp;from=map"/>
    <xhtml:link rel="alternate" hreflang="fr" href="https://www.example.org/fr/${path}?view=${id % 10}&amp;from=map"/>
    <image:image>
      <image:loc>https://images.example.org/${path}.jpg</image:loc>
      <image:title>${pick(words)} ${pick(words)}</image:title>
    </image:image>
    <news:news>
      <news:publication>
        <news:name>The Example Times</news:name>
        <news:language>en</news:language>
      </news:publication>
      <news:publication_date>${date}</news:publication_date>
      <news:title><![CDATA[${title}]]></news:title>
      <news:keywords>${pick(words)}, ${pick(words)}</news:keywords>
    </news:news>
`;
}

const pieceLength = 64 * 1024;

const plainHead = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
`;

const richHead = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
        xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
        xmlns:xhtml="http://www.w3.org/1999/xhtml">
`;

const frequencies = ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"];
const sections = ["articles", "products", "gardens", "recipes", "travel", "library", "workshop", "weather"];
const words = (
  "acorn alder amber apple aspen barley basil beech birch blossom bramble branch cedar cherry clover copper coral cypress " +
  "dahlia daisy elder elm fern fig forest garden ginger grove harvest hazel heather holly hornbeam iris ivy jasmine juniper " +
  "larch laurel lavender leaf lilac linden magnolia maple meadow mint moss mulberry myrtle nettle oak olive orchard orchid " +
  "pear pepper pine plane plum poplar quince reed river root rosemary rowan saffron sage seed sorrel spruce stone sycamore " +
  "tansy thistle thyme trunk tulip valley vine violet walnut willow winter yarrow yew"
).split(" ");

function isoDate(random, later = 0) {
  const time = Date.UTC(2024, 0, 1 + later) + Math.floor(random() * 63_072_000) * 1000;
  return `${new Date(time).toISOString().slice(0, 19)}+00:00`;
}

// Mulberry32, a small generator that gives the same numbers everywhere.
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
