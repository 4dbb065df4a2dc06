import { type Case, entry, files, finds, home, many, robots, site, sitemap } from "./case.ts";

const story = (path: string, fields: Readonly<Record<string, string>> = {}) => {
  const { name = "Example Times", language = "en", date = "2026-06-15T08:00:00Z", title = "Title", more = "" } = fields;
  return entry(
    path,
    `<news:news><news:publication>${name && `<news:name>${name}</news:name>`}<news:language>${language}</news:language></news:publication>` +
      `<news:publication_date>${date}</news:publication_date>${title && `<news:title>${title}</news:title>`}${more}</news:news>`,
  );
};

const image = (path: string, url: string, more = "") =>
  entry(path, `<image:image>${url && `<image:loc>${url}</image:loc>`}${more}</image:image>`);

const video = (path: string, fields: Readonly<Record<string, string>> = {}, more = "") => {
  const all: Record<string, string> = {
    thumbnail_loc: "https://example.org/t.jpg",
    title: "Title",
    description: "Description",
    content_loc: "https://example.org/v.mp4",
    ...fields,
  };
  const tags = Object.entries(all).map(([name, text]) => text && `<video:${name}>${text}</video:${name}>`);
  return entry(path, `<video:video>${tags.join("")}${more}</video:video>`);
};

const images = (count: number) =>
  many(count, (at) => `<image:image><image:loc>${home}${at}.jpg</image:loc></image:image>`).join("");

/** A sitemap of `www.shop.co.uk`. */
const ofShop = (picture: string) => {
  const start = "https://www.shop.co.uk/";
  const url = `${start}sitemap.xml`;
  return { routes: { [url]: sitemap(image(`${start}a`, picture)) }, sitemaps: [url] };
};

/** Entries that no rule about media reports. */
export const goodMedia: readonly string[] = [
  story("/a"),
  story("/b"),
  image("/c", "https://example.org/a.jpg"),
  video("/d"),
];

export const mediaCases: readonly Case[] = [
  finds(
    ["news-too-many", 1, "1001 stories"],
    site(...many(1001, (number) => story(`/${number}`))),
    site(...many(1000, (number) => story(`/${number}`))),
  ),
  finds(
    ["news-stale", 2, `${home}a`],
    site(story("/a", { date: "2026-06-13T11:59:59Z" }), story("/b", { date: "2026-06-12" })),
    site(story("/a", { date: "2026-06-13T12:00:00Z" }), story("/b", { date: "2026-06-13" })),
  ),
  finds(["news-incomplete", 2, "title"], site(story("/a", { title: "" }), story("/b", { name: "" }))),
  finds(
    ["news-date-form", 2, `${home}a`],
    site(story("/a", { date: "2026-06" }), story("/b", { date: "2026" })),
    site(story("/a", { date: "2026-06-15" }), story("/b", { date: "2026-06-15T08:00Z" })),
    site(story("/a", { date: "2026-06-15T08:00:00.5+02:00" })),
  ),
  finds(
    ["news-date-form", 1, "15 Jun 2026 08:00:00 +0000", { what: "a form that is not W3C's" }],
    site(story("/a", { date: "15 Jun 2026 08:00:00 +0000" })),
  ),
  finds(
    ["news-language", 3, `${home}a`],
    site(story("/a", { language: "english" }), story("/b", { language: "en-US" }), story("/c", { language: "xx" })),
    site(story("/a", { language: "en" }), story("/b", { language: "zh-cn" }), story("/c", { language: "fil" })),
  ),
  finds(
    ["news-repeated", 1, "Skipped a second news story for one URL"],
    site(story("/a").replace("</url>", "") + story("/b").replace(/^<url><loc>[^<]*<\/loc>/, "")),
  ),
  finds(
    ["news-deprecated", 2, `${home}a`],
    site(
      story("/a", { more: "<news:keywords>a</news:keywords>" }),
      story("/b", { more: "<news:genres>B</news:genres>" }),
    ),
  ),
  finds(
    ["image-too-many", 1, "A page has more than 1,000 images; the rest were skipped"],
    site(entry("/a", images(1001))),
    site(entry("/a", images(1000))),
  ),
  finds(
    ["image-incomplete", 1, "Skipped an image without a URL"],
    site(image("/a", "")),
    // Another rule reports this.
    site(image("/a", "http://[/a.jpg"), image("/b", "<b>x</b> y")),
  ),
  finds(
    ["url-invalid", 2, /http/, { what: "of an image" }],
    site(image("/a", "http://[/a.jpg"), image("/b", "http://a b/")),
  ),
  finds(
    ["image-deprecated", 1, `${home}a`],
    site(image("/a", "https://example.org/a.jpg", "<image:caption>A</image:caption>")),
  ),
  finds(
    ["video-incomplete", 2, "thumbnail"],
    site(video("/a", { thumbnail_loc: "" }), video("/b", { content_loc: "" })),
    site(video("/a", { content_loc: "", player_loc: "https://example.org/p" })),
    site(video("/a", { content_loc: "http://[/v.mp4" }), video("/b", { thumbnail_loc: "http://[/t.jpg" })),
  ),
  finds(
    ["video-is-page", 2, `${home}a`],
    site(video("/a", { content_loc: "https://example.org/a" }), video("/b", { player_loc: "https://example.org/b" })),
  ),
  finds(
    ["video-field", 6, `${home}a`],
    site(
      video("/a", { duration: "28801" }),
      video("/b", { duration: "0" }),
      video("/c", { description: "x".repeat(2049) }),
      video("/d", { uploader: "x".repeat(256) }),
      video("/e", {}, many(33, (number) => `<video:tag>t${number}</video:tag>`).join("")),
      video("/f", {}, "<video:restriction>DE AT</video:restriction>"),
    ),
    site(
      video("/a", { duration: "28800", rating: "5.0" }),
      video("/b", { duration: "1", rating: "0" }),
      video("/c", { description: "x".repeat(2048) }),
      video("/d", { uploader: "x".repeat(255) }),
      video("/e", {}, many(32, (number) => `<video:tag>t${number}</video:tag>`).join("")),
      video("/f", {}, '<video:restriction relationship="allow">DE AT</video:restriction>'),
    ),
  ),
  finds(
    ["video-expired", 2, `${home}a`],
    site(video("/a", { expiration_date: "2026-06-15T11:00:00Z" }), video("/b", { expiration_date: "2026-06-14" })),
    site(video("/a", { expiration_date: "2026-06-15T13:00:00Z" }), video("/b", { expiration_date: "2026-06-15" })),
  ),
  finds(
    ["video-deprecated", 4, `${home}a`],
    site(
      video("/a", { category: "Cooking" }),
      video("/b", {}, '<video:price currency="EUR">1.99</video:price>'),
      video("/c", { content_loc: "" }, '<video:player_loc allow_embed="yes">https://example.org/p</video:player_loc>'),
      video("/d", {}, "<video:tvshow><video:show_title>Soup</video:show_title></video:tvshow>"),
    ),
  ),
  finds(
    ["media-robots-disallowed", 2, `${home}a`],
    site(image("/a", `${home}private/a.jpg`), video("/b", { thumbnail_loc: `${home}private/t.jpg` })),
    site(image("/a", `${home}a.jpg`), image("/b", "https://cdn.example.net/private/a.jpg")),
    // Only another crawler is disallowed.
    files({
      "/robots.txt": `User-agent: YandexBot\nDisallow: /i/\n${robots("/sitemap.xml")}`,
      "/sitemap.xml": sitemap(image("/a", `${home}i/a.jpg`)),
    }),
  ),
  finds(
    ["image-private-host", 1, `${home}a`, { severity: "error" }],
    site(image("/a", "http://localhost/a.jpg")),
    site(image("/a", "https://cdn.example.org/a.jpg")),
  ),
  finds(
    ["image-private-host", 1, `${home}b`, { what: "a name of staging", severity: "warning" }],
    site(image("/b", "https://staging.example.org/b.jpg")),
    site(image("/b", "https://stagings.example.org/b.jpg")),
  ),
  finds(
    ["image-other-host", 1, `${home}a`],
    site(image("/a", "https://cdn.example.net/a.jpg"), image("/b", "https://cdn.example.net/b.jpg")),
    site(image("/a", "https://img.example.org/a.jpg")),
  ),
  finds(
    [
      "image-other-host",
      1,
      "https://www.shop.co.uk/a",
      { what: "under a public suffix of two labels", severity: "info" },
    ],
    ofShop("https://img.other.co.uk/a.jpg"),
    ofShop("https://img.shop.co.uk/a.jpg"),
  ),
  finds(
    ["image-not-escaped", 1, `${home}a`],
    site(image("/a", `${home}a b.jpg`)),
    site(image("/a", `${home}a%20b.jpg`)),
  ),
  finds(["image-is-page", 1, `${home}a`], site(image("/a", `${home}a`)), site(image("/a", `${home}a.jpg`))),
  finds(
    ["image-placeholder", 1, /^https:\/\/example.org\/none.png on 45 of 60 pages$/],
    site(...many(60, (at) => image(`/${at}`, at % 4 === 0 ? `${home}${at}.jpg` : `${home}none.png`))),
    site(...many(60, (at) => image(`/${at}`, at % 4 === 0 ? `${home}none.png` : `${home}${at}.jpg`))),
  ),
];
