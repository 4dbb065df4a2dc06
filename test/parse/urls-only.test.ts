// With `urlsOnly`, pages have no details, but the same problems are reported.
import { expect, test } from "vitest";
import { inPieces } from "../support/cuts.ts";
import { richUrlset as urlset } from "../support/documents.ts";
import { some } from "../support/long.ts";
import { parsePieces } from "../support/parsed.ts";
import { Random } from "../support/random.ts";
import { repetitiveDocument } from "../support/repetitive.ts";
import { expectSameUrls, inBytes } from "../support/same-urls.ts";

const loc = (n: number | string) => `<loc>https://example.org/${n}</loc>`;
const several = (from: number, rest: string, before = "") =>
  Array.from({ length: 9 }, (_, n) => `<url>${before}${loc(from + n)}${rest}</url>`);

// What the fast path learns from one piece, it uses in the next.
function expectSameInPieces(text: string): void {
  for (const size of [300, 1000, 5000]) expectSameUrls(inPieces(text, size));
}

test("alternating entries with few distinct values give the same result with and without `urlsOnly`", () => {
  const random = new Random(40);
  for (let round = 0; round < some(6000, 25); round++) {
    const limits = random.below(8) === 0 ? { documentEntries: random.below(60) } : {};
    expectSameUrls(inBytes(repetitiveDocument(random, 30), random.pick([100, 300, 1000, 5000, 100_000])), { limits });
  }
});

test("a misplaced field between two entries loses neither of them", () => {
  const entries = Array.from(
    { length: 60 },
    (_, n) => `<url>${loc(n)}<priority>0.5</priority></url>${n % 2 ? "<lastmod>2024</lastmod>" : ""}`,
  );
  expect(parsePieces(inPieces(urlset(...entries), 300), { urlsOnly: true }).pages).toHaveLength(60);
  expectSameInPieces(urlset(...entries));
});

test("the URL of an entry may be a short repeated word that is not ASCII", () => {
  const short = (letter: string) => `<url><loc>http://a.b/${letter}</loc><priority>0.5</priority></url>`;
  const usual = several(0, "<priority>0.5</priority>");
  // The word is known from another field, or from another document.
  const link = '<xhtml:link rel="alternate" hreflang="http://a.b/ａ" href="https://example.org/a"/>';
  const text = urlset(...several(20, link), ...several(40, link), ...usual, ...Array(40).fill(short("ａ")), ...usual);
  for (let times = 0; times < 2; times++) expectSameInPieces(text);
});

const image = "<image:image><image:loc>https://example.org/i</image:loc></image:image>";
const news = (name: string, rest = "<news:title>T</news:title>") =>
  `<news:news><news:publication>${name}<news:language>en</news:language></news:publication><news:publication_date>2024-01-02</news:publication_date>${rest}</news:news>`;
const story = news("<news:name>N</news:name>");
const video = (rest: string) =>
  `<video:video><video:thumbnail_loc>https://example.org/t</video:thumbnail_loc><video:title>T</video:title><video:description>D</video:description>${rest}</video:video>`;
const content = "<video:content_loc>https://example.org/v</video:content_loc>";
const link = '<xhtml:link rel="alternate" hreflang="de" href="https://example.org/de"/>';
const details: readonly (readonly [code: string, rest: string])[] = [
  ["nothing", image + story + video(content) + link],
  ["xml-namespace", "<image:image><loc>https://example.org/x</loc></image:image>"],
  ["image-incomplete", "<image:image><image:loc></image:loc></image:image>"],
  ["image-incomplete", `<image:image>${story}</image:image>`],
  ["limit-images", image + image],
  ["limit-videos", video(content) + video(content)],
  ["limit-alternates", link + link],
  ["news-repeated", story + story],
  ["news-incomplete", news("")],
  ["news-incomplete", news("<news:title>N</news:title>")],
  ["news-incomplete", news("<news:name>N</news:name>", "<news:name>T</news:name>")],
  ["video-incomplete", video("")],
  ["url-relative", video(content.replace("https://example.org/", ""))],
  ["video-invalid", video(`${content}<video:duration>1m</video:duration>`)],
  ["video-invalid", video(`${content}<video:live>on</video:live>`)],
  ["date-invalid", video(`${content}<video:publication_date>now</video:publication_date>`)],
  ["limit-video-values", video(content + "<video:tag>T</video:tag>".repeat(1001))],
  ["alternate-incomplete", link.replace('"de"', '""')],
  ["nothing", link.replace("alternate", "canonical")],
  ["url-scheme", link.replace("https:", "ftp:")],
  ["xml-namespace", link.replace("xhtml:", "")],
  ["nothing", `<wrap xmlns:image="urn:other">${image}</wrap>`],
  ["xml-namespace", `</url><wrap xmlns:image="urn:other"><url>${loc("other")}${image}</url></wrap><url>${loc("more")}`],
];

test.each(details)("the same is reported for fields that are not needed: %s", (code, rest) => {
  // Repeats entries until all names and origins are known.
  const text = urlset(...several(0, details[0]![1]), ...several(20, rest), ...several(40, details[0]![1]));
  const limits = /^limit-(images|videos|alternates)$/.test(code) ? { images: 1, videos: 1, alternates: 1 } : {};
  expectSameUrls(inPieces(text, 5000), { limits });
  const { codes } = parsePieces([text], { urlsOnly: true, limits });
  if (code === "nothing") expect(codes).toEqual([]);
  else expect(codes).toContain(code);
});

test("a value may be valid or not depending on another one", () => {
  const link = (attributes: string) => `<xhtml:link ${attributes} href="https://example.org/a"/>`;
  // A link to a style sheet needs no language.
  const links = [link('rel="stylesheet"'), link('rel="alternate" hreflang="de"'), link('rel="alternate"')];
  expectSameInPieces(urlset(...links.flatMap((one, n) => several(20 * n, one))));
  // A date in an unknown element is not read after the URL.
  const wrapped = (date: string) => `<x><lastmod>${date}</lastmod></x>`;
  const dates = [several(0, "", wrapped("2024")), several(20, wrapped("never")), several(40, "", wrapped("never"))];
  expectSameInPieces(urlset(...dates.flat()));
});

test("URLs seen in other documents of the process do not make an invalid URL valid", () => {
  const text = (...urls: string[]) => urlset(...urls.map((url) => `<url><loc>${url}</loc></url>`));
  const mistakes = ["http://https//example.org/a", "http://https://example.org/a", "HTTP://http://example.org/a"];
  const hosts = ["http://https/a", "http://https:/a", "HTTP://http:/a"];
  const repaired = ["https://example.org/a", "http://example.org/a"];
  const urlsOf = (...urls: string[]) => parsePieces([text(...urls)]).pages.map(({ url }) => url);
  expect(urlsOf(...hosts, ...mistakes)).toEqual([...hosts, ...repaired]);
  expect(urlsOf("https://example.org/1", "https://example.org/2", ...mistakes).slice(2)).toEqual(repaired);
});
