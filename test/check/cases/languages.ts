import { type Case, entry, files, home, links, many, site, sitemap } from "./case.ts";

const page = (path: string, languages: Readonly<Record<string, string>>) => entry(path, links(languages));
const pair = { en: "/en", de: "/de" };

export const languageCases: readonly Case[] = [
  {
    rule: "hreflang-code",
    fires: site(
      page("/a", { en_US: "/a" }),
      page("/b", { "es-419": "/b" }),
      page("/c", { fil: "/c" }),
      page("/d", { us: "/d" }),
      page("/e", { "zh-Hanx": "/e" }),
      page("/f", { "en-": "/f" }),
    ),
    near: site(
      page("/a", { "en-US": "/a" }),
      page("/b", { "zh-Hant": "/b" }),
      page("/c", { "ZH-hans-cn": "/c" }),
      page("/d", { "x-default": "/d", uk: "/d" }),
      page("/e", { "en-uk": "/e" }),
    ),
    count: 6,
    example: `${home}a`,
  },
  {
    rule: "hreflang-region",
    fires: site(
      page("/a", { "en-UK": "/a" }),
      page("/b", { "en-EU": "/b" }),
      page("/c", { "en-UN": "/c" }),
      page("/d", { "de-XX": "/d" }),
    ),
    near: site(page("/a", { "en-GB": "/a" }), page("/b", { uk: "/b" }), page("/c", { "sr-Latn-RS": "/c" })),
    count: 4,
    example: `${home}a`,
  },
  {
    rule: "hreflang-not-absolute",
    fires: site(entry("/a", '<xhtml:link rel="alternate" hreflang="de" href="/de"/>')),
    near: site(page("/a", { de: "/de" }), "<url><loc>/relative</loc></url>"),
    count: 1,
    example: "/de",
  },
  {
    rule: "hreflang-incomplete",
    fires: site(
      entry("/a", '<xhtml:link rel="alternate" href="https://example.org/de"/>'),
      entry("/b", '<xhtml:link rel="alternate" hreflang="de"/>'),
    ),
    near: site(entry("/a", '<xhtml:link rel="alternate" media="handheld" href="https://m.example.org/"/>')),
    count: 2,
    example: "Skipped an alternate page without language or URL",
  },
  {
    rule: "hreflang-language-twice",
    fires: site(entry("/a", links({ de: "/de" }) + links({ DE: "/de2", en: "/a" }))),
    near: site(entry("/a", links({ de: "/de" }) + links({ de: "/de", en: "/a", "x-default": "/a" }))),
    count: 1,
    example: `${home}a`,
  },
  {
    rule: "hreflang-no-self",
    fires: site(page("/a", { de: "/de" })),
    near: site(page("/a", { de: "/de", en: "/a" })),
    count: 1,
    example: `${home}a`,
  },
  {
    rule: "hreflang-no-return",
    fires: site(page("/en", pair), "/de"),
    near: site(page("/en", pair), page("/de", pair)),
    count: 1,
    example: `${home}en`,
  },
  {
    rule: "hreflang-no-return",
    what: "unequal sets whose pairs point at each other",
    fires: site(
      page("/en", { en: "/en", de: "/de", fr: "/fr" }),
      page("/de", { en: "/en", de: "/de", fr: "/fr" }),
      page("/fr", { en: "/en", fr: "/fr" }),
    ),
    near: site(
      page("/en", { en: "/en", de: "/de", fr: "/fr" }),
      page("/de", { en: "/en", de: "/de" }),
      page("/fr", { en: "/en", fr: "/fr" }),
    ),
    count: 1,
    example: `${home}de`,
  },
  {
    rule: "hreflang-no-return",
    what: "across sitemaps",
    fires: files(
      { "/a.xml": sitemap("/", page("/en", pair)), "/b.xml": sitemap(page("/de", { de: "/de", fr: "/fr" })) },
      ["/a.xml", "/b.xml"],
    ),
    near: files(
      {
        "/a.xml": sitemap("/", page("/en", pair)),
        "/b.xml": sitemap(page("/de", { de: "/de", en: "/en", fr: "/fr" })),
      },
      ["/a.xml", "/b.xml"],
    ),
    count: 1,
    example: `${home}en`,
  },
  {
    rule: "hreflang-no-return",
    what: "listed twice, once with the return link",
    fires: files({ "/a.xml": sitemap("/", page("/en", pair), "/de"), "/b.xml": sitemap("/de") }, ["/a.xml", "/b.xml"]),
    near: files({ "/a.xml": sitemap("/", page("/en", pair), "/de"), "/b.xml": sitemap(page("/de", pair)) }, [
      "/a.xml",
      "/b.xml",
    ]),
    count: 1,
    example: `${home}en`,
  },
  {
    rule: "hreflang-no-return",
    what: "an incomplete tree is not judged",
    fires: site(page("/en", pair), "/de"),
    near: files({ "/sitemap.xml": sitemap(page("/en", pair), "/de") }, ["/sitemap.xml", "/gone.xml"]),
    count: 1,
    example: `${home}en`,
  },
  {
    rule: "hreflang-return-differs",
    fires: site(page("/en", { en: "/en", de: "/de" }), page("/de", { en: "/en", "de-AT": "/de" })),
    near: site(
      page("/en", { en: "/en", DE: "/de", "x-default": "/en" }),
      page("/de", { en: "/en", de: "/de" }),
      page("/at", { en: "/en", de: "/at", "de-AT": "/at" }),
      page("/ch", { "x-default": "/en", "de-CH": "/ch" }),
    ),
    count: 1,
    example: `${home}en`,
  },
  {
    rule: "hreflang-target-unlisted",
    fires: site(page("/en", pair)),
    near: site(page("/en", { en: "/en", de: "https://example.de/" }), page("/a", { en: "/a", "x-default": "/en" })),
    count: 1,
    example: `${home}en`,
  },
  {
    rule: "hreflang-no-default",
    fires: site(page("/en", pair), page("/de", pair)),
    near: site(page("/en", { ...pair, "x-default": "/en" }), page("/de", pair)),
    count: 2,
    example: `${home}en`,
  },
  {
    rule: "hreflang-no-default",
    what: "pages alone",
    fires: site(page("/en", pair)),
    near: site(page("/en", { en: "/en" })),
    count: 1,
    example: `${home}en`,
  },
  {
    rule: "hreflang-no-catchall",
    fires: site(page("/a", { "en-US": "/a", "en-GB": "/b" })),
    near: site(page("/a", { "en-US": "/a", "en-GB": "/b", en: "/c" }), page("/b", { "en-US": "/b", "de-DE": "/d" })),
    count: 1,
    example: `${home}a`,
  },
  {
    rule: "hreflang-no-return",
    what: "one of many",
    fires: site(
      ...many(300, (number) => page(`/en/${number}`, { en: `/en/${number}`, de: `/de/${number}` })),
      ...many(300, (number) =>
        page(`/de/${number}`, number === 77 ? { de: "/de/77" } : { en: `/en/${number}`, de: `/de/${number}` }),
      ),
    ),
    near: site(
      ...many(300, (number) => page(`/en/${number}`, { en: `/en/${number}`, de: `/de/${number}` })),
      ...many(300, (number) => page(`/de/${number}`, { de: `/de/${number}`, en: `/en/${number}` })),
    ),
    count: 1,
    example: `${home}en/77`,
  },
];
