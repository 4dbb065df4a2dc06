// Generates sitemaps of many styles ("makings"), as different programs write them, the same on every machine. The parser was tuned on none
// of them.

/** Functions that return the text of each making, about two megabytes. */
export const makings = {
  plain: () =>
    urlset((n) => entry(n, [date(n), "<changefreq>weekly</changefreq>", `<priority>0.${n % 10}</priority>`])),
  rich: () => urlset((n) => entry(n, [date(n), links(n, 2), image(n), news(n)])),
  "only loc, no line breaks": () => urlset((n) => `<url><loc>${url(n)}</loc></url>`, 16_000, ""),
  "entities in every URL": () =>
    urlset((n) => entry(n, [date(n)], `${url(n)}?a=${n}&amp;b=${n % 7}&amp;c=&#39;${n % 3}&#39;`)),
  "other orders and fields in each entry": () => urlset((n) => entry(n, shuffled(n))),
  "long captions": () =>
    urlset((n) => entry(n, [image(n, `A caption of many words &quot;${"and some more ".repeat(n % 60)}&quot;`)]), 2500),
  "Cyrillic URLs": () =>
    urlset((n) => entry(n, [date(n)], `https://пример.example/статьи/раздел-${n % 50}/заметка-${n}`), 6000),
  "Chinese URLs": () => urlset((n) => entry(n, [date(n)], `https://example.org/新闻/${n % 50}/文章标题-${n}`), 7000),
  "Windows line endings": () => urlset((n) => entry(n, [date(n), image(n)])).replaceAll("\n", "\r\n"),
  // WordPress writes such references into titles.
  "numeric references": () =>
    urlset((n) =>
      entry(n, [date(n), image(n, `The day&#8217;s news &#8211; part &#x${(0x4e00 + (n % 999)).toString(16)};`)]),
    ),
  "a comment in each entry": () =>
    urlset((n) => entry(n, [date(n), `<!-- article ${n} -->`, "<changefreq>weekly</changefreq>", image(n)])),
  "a comment in each URL": () => urlset((n) => entry(n, [date(n)], `${url(n)}<!-- ${n} -->`)),
  "2,000 alternates": () => urlset((n) => entry(n, [links(n, 2000)]), 8),
};

function urlset(make, count = 6000, end = "\n") {
  const entries = Array.from({ length: count }, (_, n) => make(n));
  return `<?xml version="1.0" encoding="utf-8"?>${end}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">${end}${entries.join(end)}${end}</urlset>${end}`;
}

function entry(n, fields, loc = url(n)) {
  return `\t<url>\n\t\t<loc>${loc}</loc>\n${fields.map((field) => `\t\t${field}\n`).join("")}\t</url>`;
}

function url(n) {
  return `https://shop.example.net/catalog/${(n * 7919) % 97}/item-${n}-${(n * 31) % 1009}.html`;
}

function date(n) {
  return `<lastmod>2023-${two(1 + (n % 12))}-${two(1 + (n % 28))}T${two(n % 24)}:${two(n % 60)}:00Z</lastmod>`;
}

function links(n, count) {
  return Array.from(
    { length: count },
    (_, at) => `<xhtml:link rel="alternate" hreflang="l${at}" href="https://shop.example.net/l${at}/item-${n}"/>`,
  ).join("\n\t\t");
}

function image(n, caption = "") {
  const inner = caption === "" ? "" : `<image:caption>${caption}</image:caption>`;
  return `<image:image><image:loc>https://cdn.example.net/p/${n}.webp</image:loc>${inner}</image:image>`;
}

function news(n) {
  return `<news:news><news:publication><news:name>Daily ${n % 9}</news:name><news:language>en</news:language></news:publication><news:publication_date>2023-04-05</news:publication_date><news:title>What happened on day ${n} &amp; why</news:title></news:news>`;
}

// Returns some of the fields, and rotates them, so that any of them may come first.
function shuffled(n) {
  const fields = [
    date(n),
    `<priority>0.${n % 10}</priority>`,
    "<changefreq>daily</changefreq>",
    image(n),
    links(n, 1),
    news(n),
  ];
  const some = fields.filter((_, at) => (n * 2_654_435_761) & (1 << (at % 31)) || (n >> at) & 1);
  return [...some.slice(n % 3), ...some.slice(0, n % 3)];
}

function two(number) {
  return String(number).padStart(2, "0");
}
