// Websites for reports: small ones, one that fails, one in Chinese and Arabic, and one with attacks in its URLs, titles and dates.
import type { Client } from "../../src/model/client.ts";
import { some } from "../support/long.ts";
import { home, site } from "../support/site.ts";

/** Creates a website from documents by path; `{home}` stands for the homepage. Other paths have the status `missing`. */
function website(routes: Readonly<Record<string, string>>, missing: number = 404): Client {
  return site((path) => routes[path] ?? { status: missing }).client;
}

const open =
  '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">';

function entry(path: string, lastmod?: string, inside: string = ""): string {
  const date = lastmod === undefined ? "" : `<lastmod>${lastmod}</lastmod>`;
  return `<url><loc>{home}${path}</loc>${date}${inside}</url>`;
}

function alternate(language: string, path: string): string {
  return `<xhtml:link rel="alternate" hreflang="${language}" href="{home}${path}"/>`;
}

export function threePages(): Client {
  return website({
    "/robots.txt": "Sitemap: {home}sitemap.xml\n",
    "/sitemap.xml": `${open}${entry("", "2026-10-01")}${entry("about", "2026-09-12")}${entry("contact", "2024-02-03")}</urlset>`,
  });
}

export function everythingFails(): Client {
  return website({}, 503);
}

export function nothingThere(): Client {
  return website({});
}

/** Sections, some of them percent-encoded, that link to each other; half of the Arabic pages have no return links. */
export function chineseAndArabic(): Client {
  const chinese = ["产品", "新闻", "关于我们"].map(encodeURIComponent);
  const arabic = ["منتجات", "أخبار"];
  const day = (number: number) => new Date(Date.UTC(2026, 8, 1) - number * 86_400_000).toISOString().slice(0, 10);
  const entries = [
    ...chinese.flatMap((section, index) =>
      Array.from({ length: 30 - index * 9 }, (_, number) => {
        const own = `zh/${section}/${number}`;
        const others = index === 0 && number % 2 === 0 ? alternate("ar", `ar/${arabic[0]}/${number}`) : "";
        return entry(own, day(number * 11), alternate("zh-Hans", own) + others);
      }),
    ),
    ...arabic.flatMap((section, index) =>
      Array.from({ length: 30 - index * 9 }, (_, number) => {
        const own = `ar/${section}/${number}`;
        const others = index === 0 ? alternate("zh-Hans", `zh/${chinese[0]}/${number}`) : "";
        return entry(own, day(number * 23), alternate("ar", own) + others);
      }),
    ),
  ];
  return website({
    "/robots.txt": "Sitemap: {home}خريطة.xml\n",
    [`/${encodeURIComponent("خريطة")}.xml`]: `${open}${entries.join("")}</urlset>`,
  });
}

/** Texts that break out of badly escaped HTML. They set `window.pwned`. */
const attacks: readonly string[] = [
  "</script><script>pwned=1</script>",
  "</style><style>*{display:none}</style>",
  "<img src=x onerror=pwned=1>",
  '"onmouseover="pwned=1" autofocus onfocus="pwned=1',
  "'-(pwned=1)-'",
  "<iframe srcdoc='<script>parent.pwned=1</script>'>",
  "<svg onload=pwned=1>",
  "javascript:pwned=1",
  "data:text/html,<script>pwned=1</script>",
  "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
  "<base href='https://evil.example/'>",
  "<form action='https://evil.example/'><button>x</button></form>",
  "<!--",
  "]]>",
  "{{constructor.constructor('pwned=1')()}}",
  // Reverses the direction of what follows, also if percent-encoded.
  "\u202egnp.exe",
  "%E2%80%AEgnp.exe",
  "\u2066\u2069\u200f\u061c",
  "a\u2028b\u2029c",
  "%00%1b[2J",
  "\ufeff",
  "é".repeat(900),
  "x".repeat(100_000),
];

export function hostile(): Client {
  const escaped = (text: string) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  const entries = attacks.flatMap((attack, index) => {
    const text = escaped(attack);
    return [
      `<url><loc>{home}${text}/${text}/page</loc><lastmod>${text}</lastmod>${alternate(text.slice(0, 500), `x/${text}`)}<news:news><news:publication><news:name>${text}</news:name><news:language>${text}</news:language></news:publication><news:publication_date>${text}</news:publication_date><news:title>${text}</news:title></news:news></url>`,
      `<url><loc>https://h${index}.evil.example/${text}</loc><priority>${text}</priority><image:image><image:loc>${text}</image:loc></image:image></url>`,
      `<url><loc>${text}</loc></url>`,
    ];
  });
  const names = attacks.filter((attack) => attack.length < 3000).map((attack) => `Sitemap: {home}${attack}.xml`);
  return website({
    "/robots.txt": `Sitemap: {home}sitemap.xml\nSitemap: javascript:pwned=1\n${names.join("\n")}\n`,
    "/sitemap.xml": `${open}${entries.join("")}</urlset>`,
  });
}

/** Has so many sections, sitemaps and findings that every list of the report is full. A list of sitemaps has 200 rows. */
export const fullListSitemaps: number = some(400, 205);
export function everyListFull(): Client {
  const perSitemap = some(60, 6);
  const documents = new Map<string, string>();
  const children = Array.from(
    { length: fullListSitemaps },
    (_, number) => `sitemap-with-a-rather-long-name-${number}.xml`,
  );
  for (const [number, name] of children.entries()) {
    const entries = Array.from({ length: perSitemap }, (_, page) => {
      const place = number * perSitemap + page;
      const path = `section-with-a-long-name-${place % 31}/subsection-with-a-long-name-${place % 37}/page-${place} &lt;a&amp;b>#${place}`;
      const languages = ["en", "de", "fr", "xx", "english", "pt-BR"].map((each) => alternate(each, `${each}/${path}`));
      return entry(path, `20${String(10 + (place % 17)).padStart(2, "0")}-0${1 + (place % 9)}-11`, languages.join(""));
    });
    // Every second sitemap is cut off.
    documents.set(`/${name}`, `${open}${entries.join("")}${number % 2 === 0 ? "</urlset>" : "<url><loc>"}`);
  }
  const index = children.map((name) => `<sitemap><loc>{home}${name}</loc></sitemap>`).join("");
  documents.set("/robots.txt", "Disallow: /section\nSitemap: {home}index.xml\n");
  documents.set(
    "/index.xml",
    `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${index}</sitemapindex>`,
  );
  return site((path) => documents.get(path)).client;
}

export { home };
