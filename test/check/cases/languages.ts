import { type Case, entry, files, finds, home, links, many, site, sitemap, two } from "./case.ts";

const page = (path: string, languages: Readonly<Record<string, string>>) => entry(path, links(languages));
const pair = { en: "/en", de: "/de" };
const numbered = (number: number) => ({ en: `/en/${number}`, de: `/de/${number}` });
const each = (...codes: readonly string[]) => site(...codes.map((code, at) => page(`/${at}`, { [code]: `/${at}` })));

export const languageCases: readonly Case[] = [
  finds(
    ["hreflang-code", 6, `${home}0`],
    each("en_US", "es-419", "fil", "us", "zh-Hanx", "en-"),
    each("en-US", "zh-Hant", "ZH-hans-cn", "x-default", "uk", "en-uk"),
  ),
  finds(
    ["hreflang-region", 4, `${home}0`],
    each("en-UK", "en-EU", "en-UN", "de-XX"),
    each("en-GB", "uk", "sr-Latn-RS"),
  ),
  finds(
    ["hreflang-not-absolute", 1, "/de"],
    site(entry("/a", '<xhtml:link rel="alternate" hreflang="de" href="/de"/>')),
    site(page("/a", { de: "/de" }), "<url><loc>/relative</loc></url>"),
  ),
  finds(
    ["hreflang-incomplete", 2, "Skipped an alternate page without `rel`, language or URL"],
    site(
      entry("/a", '<xhtml:link rel="alternate" href="https://example.org/de"/>'),
      entry("/b", '<xhtml:link rel="alternate" hreflang="de"/>'),
    ),
    site(entry("/a", '<xhtml:link rel="alternate" media="handheld" href="https://m.example.org/"/>')),
  ),
  finds(
    ["hreflang-language-twice", 1, `${home}a`],
    site(entry("/a", links({ de: "/de" }) + links({ DE: "/de2", en: "/a" }))),
    site(entry("/a", links({ de: "/de" }) + links({ de: "/de", en: "/a", "x-default": "/a" }))),
  ),
  finds(["hreflang-no-self", 1, `${home}a`], site(page("/a", { de: "/de" }))),
  finds(
    ["hreflang-no-return", 1, `${home}en`],
    site(page("/en", pair), "/de"),
    site(page("/en", pair), page("/de", pair)),
    // A sitemap that could not be read may list the other page.
    files({ "/sitemap.xml": sitemap(page("/en", pair)) }, ["/sitemap.xml", "/gone.xml"]),
  ),
  finds(
    ["hreflang-no-return", 1, `${home}de`, { what: "unequal sets whose pairs point at each other" }],
    site(
      page("/en", { ...pair, fr: "/fr" }),
      page("/de", { ...pair, fr: "/fr" }),
      page("/fr", { en: "/en", fr: "/fr" }),
    ),
    site(page("/en", { ...pair, fr: "/fr" }), page("/de", pair), page("/fr", { en: "/en", fr: "/fr" })),
  ),
  finds(
    ["hreflang-no-return", 1, `${home}en`, { what: "across sitemaps" }],
    two([page("/en", pair)], [page("/de", { de: "/de", fr: "/fr" })]),
    two([page("/en", pair)], [page("/de", { de: "/de", en: "/en", fr: "/fr" })]),
  ),
  finds(
    ["hreflang-no-return", 1, `${home}en`, { what: "listed twice, once with the return link" }],
    two([page("/en", pair), "/de"], ["/de"]),
    two([page("/en", pair), "/de"], [page("/de", pair)]),
  ),
  finds(
    ["hreflang-return-differs", 1, `${home}en`],
    site(page("/en", { en: "/en", de: "/de" }), page("/de", { en: "/en", "de-AT": "/de" })),
    site(
      page("/en", { en: "/en", DE: "/de", "x-default": "/en" }),
      page("/de", { en: "/en", de: "/de" }),
      page("/at", { en: "/en", de: "/at", "de-AT": "/at" }),
      page("/ch", { "x-default": "/en", "de-CH": "/ch" }),
    ),
  ),
  finds(
    ["hreflang-target-unlisted", 1, `${home}en`],
    site(page("/en", pair)),
    site(page("/en", { en: "/en", de: "https://example.de/" }), page("/a", { en: "/a", "x-default": "/en" })),
  ),
  finds(
    ["hreflang-no-default", 1, `${home}en`],
    site(page("/en", pair), page("/de", pair)),
    site(page("/en", { ...pair, "x-default": "/en" }), page("/de", pair)),
  ),
  finds(
    ["hreflang-no-default", 1, `${home}en`, { what: "pages alone" }],
    site(page("/en", pair)),
    site(page("/en", { en: "/en" })),
  ),
  finds(
    ["hreflang-no-catchall", 1, `${home}a`],
    site(page("/a", { "en-US": "/a", "en-GB": "/b" })),
    site(page("/a", { "en-US": "/a", "en-GB": "/b", en: "/c" }), page("/b", { "en-US": "/b", "de-DE": "/d" })),
  ),
  finds(
    ["hreflang-no-return", 1, `${home}en/77`, { what: "one of many" }],
    site(
      ...many(300, (number) => page(`/en/${number}`, numbered(number))),
      ...many(300, (number) => page(`/de/${number}`, number === 77 ? { de: "/de/77" } : numbered(number))),
    ),
    site(...many(300, (number) => page(`/en/${number}`, numbered(number)) + page(`/de/${number}`, numbered(number)))),
  ),
];
