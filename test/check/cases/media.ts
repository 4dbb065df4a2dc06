import { type Case, entry, files, home, many, robots, site, sitemap } from "./case.ts";

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

export const mediaCases: readonly Case[] = [
  {
    rule: "news-too-many",
    fires: site(...many(1001, (number) => story(`/${number}`))),
    near: site(...many(1000, (number) => story(`/${number}`))),
    count: 1,
    example: "1001 stories",
  },
  {
    rule: "news-stale",
    fires: site(story("/a", { date: "2026-06-13T11:59:59Z" }), story("/b", { date: "2026-06-12" })),
    near: site(story("/a", { date: "2026-06-13T12:00:00Z" }), story("/b", { date: "2026-06-13" })),
    count: 2,
    example: `${home}a`,
  },
  {
    rule: "news-incomplete",
    fires: site(story("/a", { title: "" }), story("/b", { name: "" })),
    near: site(story("/a")),
    count: 2,
    example: "title",
  },
  {
    rule: "news-date-form",
    fires: site(story("/a", { date: "2026-06" }), story("/b", { date: "2026" })),
    near: site(story("/a", { date: "2026-06-15" }), story("/b", { date: "2026-06-15T08:00Z" })),
    count: 2,
    example: `${home}a`,
  },
  {
    rule: "news-date-form",
    what: "a form that is not W3C's",
    fires: site(story("/a", { date: "15 Jun 2026 08:00:00 +0000" })),
    near: site(story("/a", { date: "2026-06-15T08:00:00.5+02:00" })),
    count: 1,
    example: "15 Jun 2026 08:00:00 +0000",
  },
  {
    rule: "news-language",
    fires: site(
      story("/a", { language: "english" }),
      story("/b", { language: "en-US" }),
      story("/c", { language: "xx" }),
    ),
    near: site(story("/a", { language: "en" }), story("/b", { language: "zh-cn" }), story("/c", { language: "fil" })),
    count: 3,
    example: `${home}a`,
  },
  {
    rule: "news-repeated",
    fires: site(story("/a").replace("</url>", "") + story("/b").replace(/^<url><loc>[^<]*<\/loc>/, "")),
    near: site(story("/a"), story("/b")),
    count: 1,
    example: "A second news story for one URL was skipped",
  },
  {
    rule: "news-deprecated",
    fires: site(
      story("/a", { more: "<news:keywords>a, b</news:keywords>" }),
      story("/b", { more: "<news:genres>Blog</news:genres>" }),
    ),
    near: site(story("/a")),
    count: 2,
    example: `${home}a`,
  },
  {
    rule: "image-too-many",
    fires: site(
      entry(
        "/a",
        many(
          1001,
          (number) => `<image:image><image:loc>https://example.org/${number}.jpg</image:loc></image:image>`,
        ).join(""),
      ),
    ),
    near: site(
      entry(
        "/a",
        many(
          1000,
          (number) => `<image:image><image:loc>https://example.org/${number}.jpg</image:loc></image:image>`,
        ).join(""),
      ),
    ),
    count: 1,
    example: "More than 1,000 images on a page; the rest was skipped",
  },
  {
    rule: "image-incomplete",
    fires: site(image("/a", "")),
    near: site(image("/a", "https://example.org/a.jpg")),
    count: 1,
    example: "Skipped an image without a URL",
  },
  {
    rule: "image-deprecated",
    fires: site(image("/a", "https://example.org/a.jpg", "<image:caption>A</image:caption>")),
    near: site(image("/a", "https://example.org/a.jpg")),
    count: 1,
    example: `${home}a`,
  },
  {
    rule: "video-incomplete",
    fires: site(video("/a", { thumbnail_loc: "" }), video("/b", { content_loc: "" })),
    near: site(video("/a", { content_loc: "", player_loc: "https://example.org/p" })),
    count: 2,
    example: "thumbnail",
  },
  {
    rule: "video-is-page",
    fires: site(
      video("/a", { content_loc: "https://example.org/a" }),
      video("/b", { player_loc: "https://example.org/b" }),
    ),
    near: site(video("/a", { content_loc: "https://example.org/a.mp4" })),
    count: 2,
    example: `${home}a`,
  },
  {
    rule: "video-field",
    fires: site(
      video("/a", { duration: "28801" }),
      video("/b", { duration: "0" }),
      video("/c", { description: "x".repeat(2049) }),
      video("/d", { uploader: "x".repeat(256) }),
      video("/e", {}, many(33, (number) => `<video:tag>t${number}</video:tag>`).join("")),
      video("/f", {}, "<video:restriction>DE AT</video:restriction>"),
    ),
    near: site(
      video("/a", { duration: "28800", rating: "5.0" }),
      video("/b", { duration: "1", rating: "0" }),
      video("/c", { description: "x".repeat(2048) }),
      video("/d", { uploader: "x".repeat(255) }),
      video("/e", {}, many(32, (number) => `<video:tag>t${number}</video:tag>`).join("")),
      video("/f", {}, '<video:restriction relationship="allow">DE AT</video:restriction>'),
    ),
    count: 6,
    example: `${home}a`,
  },
  {
    rule: "video-expired",
    fires: site(
      video("/a", { expiration_date: "2026-06-15T11:00:00Z" }),
      video("/b", { expiration_date: "2026-06-14" }),
    ),
    near: site(
      video("/a", { expiration_date: "2026-06-15T13:00:00Z" }),
      video("/b", { expiration_date: "2026-06-15" }),
    ),
    count: 2,
    example: `${home}a`,
  },
  {
    rule: "video-deprecated",
    fires: site(
      video("/a", { category: "Cooking" }),
      video("/b", {}, '<video:price currency="EUR">1.99</video:price>'),
      video("/c", { content_loc: "" }, '<video:player_loc allow_embed="yes">https://example.org/p</video:player_loc>'),
      video("/d", {}, "<video:tvshow><video:show_title>Soup</video:show_title></video:tvshow>"),
    ),
    near: site(video("/a")),
    count: 4,
    example: `${home}a`,
  },
  {
    rule: "media-robots-disallowed",
    fires: site(
      image("/a", "https://example.org/private/a.jpg"),
      video("/b", { thumbnail_loc: "https://example.org/private/t.jpg" }),
    ),
    near: site(image("/a", "https://example.org/a.jpg"), image("/b", "https://cdn.example.net/private/a.jpg")),
    count: 2,
    example: `${home}a`,
  },
  {
    rule: "media-robots-disallowed",
    what: "for another crawler alone",
    fires: files({
      "/robots.txt": "User-agent: *\nDisallow: /i/\nSitemap: https://example.org/sitemap.xml",
      "/sitemap.xml": sitemap(image("/a", "https://example.org/i/a.jpg")),
    }),
    near: files({
      "/robots.txt": `User-agent: YandexBot\nDisallow: /i/\n${robots("/sitemap.xml")}`,
      "/sitemap.xml": sitemap(image("/a", "https://example.org/i/a.jpg")),
    }),
    count: 1,
    example: `${home}a`,
  },
];
