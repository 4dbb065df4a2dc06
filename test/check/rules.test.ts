// Every rule finds its cases and passes similar websites, with documents whole and in pieces.
import { describe, expect, test } from "vitest";
import { CheckTime } from "../../src/check/check-time.ts";
import { linesOf } from "../../src/check/findings/example-lines.ts";
import { checkRules } from "../../src/check/rules/rule-table.ts";
import { isLong } from "../support/long.ts";
import { aiCases } from "./cases/ai.ts";
import { type Case, dated, files, home, index, site, sitemap } from "./cases/case.ts";
import { dateCases } from "./cases/dates.ts";
import { documentCases } from "./cases/documents.ts";
import { fetchingCases } from "./cases/fetching.ts";
import { languageCases } from "./cases/languages.ts";
import { goodMedia, mediaCases } from "./cases/media.ts";
import { urlCases } from "./cases/urls.ts";
import { checked, checkedInPieces } from "./checked.ts";

const cases: readonly Case[] = [
  ...fetchingCases,
  ...aiCases,
  ...documentCases,
  ...urlCases,
  ...dateCases,
  ...mediaCases,
  ...languageCases,
];

test("every rule has a test case", () => {
  const covered = new Set(cases.map(({ rule }) => rule));
  // The rules about pages and files are tested in pages.test.ts and folder.test.ts.
  const others = checkRules.filter(({ id }) => !id.startsWith("page-") && id !== "address-wrong").map(({ id }) => id);
  expect(others.filter((id) => !covered.has(id))).toEqual([]);
});

test("no rule fires on a plain website, or on one with a sitemap index", async () => {
  const indexed = files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/") });
  for (const plain of [site("/a", "/b"), indexed, site(...goodMedia)]) {
    expect((await checkedInPieces(plain)).findings.map(({ rule }) => rule)).toEqual(["lastmod-missing"]);
  }
});

describe.each(
  cases.map((each, at) => ({ ...each, at, name: each.what === undefined ? each.rule : `${each.rule}: ${each.what}` })),
)("$name", ({ rule, fires, near, count, severity, example, at }) => {
  test("fires", async () => {
    // Some cases are enough to show that cuts change nothing.
    const { findings } = isLong || at % 6 === 0 ? await checkedInPieces(fires) : await checked(fires);
    const own = findings.filter((finding) => finding.rule === rule);
    const others = findings.map((finding) => `${finding.severity} ${finding.rule} ${finding.count}`);
    expect(own.length, `only ${others.join(", ")}`).toBeGreaterThan(0);
    expect(own.reduce((sum, finding) => sum + finding.count, 0)).toBe(count);
    if (severity !== undefined) expect(own[0]?.severity).toBe(severity);
    const [first] = own[0]?.examples ?? [];
    expect([first?.url, first?.value]).toContainEqual(
      example instanceof RegExp ? expect.stringMatching(example) : example,
    );
  });

  test.each(near)("does not fire on a near miss", async (website) => {
    // Only the long run also cuts the websites that must pass.
    const { findings } = isLong ? await checkedInPieces(website) : await checked(website);
    expect(findings.filter((finding) => finding.rule === rule)).toEqual([]);
  });
});

// Examples have lines in documents of every format, however their text is cut.
test("examples about pages, child sitemaps and alternate pages have the line of their entry", async () => {
  const { findings } = await checkedInPieces(
    files({
      "/sitemap.xml": index("/a.xml", "/nested.xml"),
      "/nested.xml": index("/b.txt"),
      "/b.txt": `${home}1\n\n${home}x#y\n`,
      "/a.xml": sitemap(
        `<url><loc>${home}en</loc><xhtml:link rel="alternate" hreflang="de" href="${home}de?a=1&amp;b=2#c"/></url>`,
        `<url>\n<loc>\n  ${home}de?a=1&amp;b=2#c\n</loc></url>`,
        `<url><loc><![CDATA[${home}with space]]></loc></url>`,
        `<url><loc>${home}it's</loc><image:image><image:loc>${home}p.jpg</image:loc></image:image></url>`,
        `<url><loc>${home}p.jpg</loc></url>`,
      ),
    }),
  );
  const line = (rule: string, name: string) =>
    findings.find((finding) => finding.rule === rule && finding.sitemap === home + name)?.examples[0]?.line;
  expect(line("url-fragment", "b.txt")).toBe(3);
  expect(line("url-fragment", "a.xml")).toBe(10);
  expect(line("url-not-escaped", "a.xml")).toBe(12);
  expect(line("url-asset", "a.xml")).toBe(14);
  expect(line("index-nested", "sitemap.xml")).toBe(1);
});

test("a problem that the parser reported several times counts once, and has an example with a line for each", async () => {
  const { findings } = await checkedInPieces(
    files({
      "/sitemap.xml": sitemap(
        dated(`${home}1?a=1&b=2`, "31.05.2024"),
        dated("/2", "30.05.2024"),
        dated(`${home}3?a=1&c=2`, "2024-05-31"),
        ...Array.from({ length: 30 }, (_, at) => dated(`${home}x${at}`, `${at}. Mai`)),
        dated(`${home}4`, "29.05.2024"),
      ),
    }),
  );
  const found = (rule: string) => findings.find((finding) => finding.rule === rule);
  const examples = (rule: string) => found(rule)?.examples.map(({ line, value }) => [line, value]);
  expect(examples("lastmod-form")).toEqual([
    [7, "31.05.2024"],
    [8, "30.05.2024"],
    [40, "29.05.2024"],
  ]);
  expect(found("lastmod-form")?.count).toBe(3);
  expect(examples("sitemap-not-well-formed")).toEqual([
    [7, "&b=2"],
    [9, "&c=2"],
  ]);
  expect(found("lastmod-invalid")).toMatchObject({ count: 30 });
  expect(examples("lastmod-invalid")).toHaveLength(20);
});

async function* pieces(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

/** Finds the lines of URLs in a text that comes in pieces. */
async function linesIn(text: string, length: number, ...urls: readonly string[]): Promise<(number | undefined)[]> {
  return urls.map(await linesOf(pieces(text, length), [], new CheckTime(1e9, undefined), new Set(urls)));
}

test.each([1, 7, 1000, 1_000_000])("URLs are found in a text in pieces of %d characters", async (length) => {
  const urls = Array.from({ length: 3000 }, (_, number) => `https://example.org/${number}?a=1&b='x' <y>`);
  const escaped = (url: string) => url.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const text = urls.map((url) => `<url><loc>${escaped(url)}</loc></url>\n`).join("");
  const wanted = [urls[0]!, urls[1500]!, urls[2999]!, "https://example.org/absent"];
  expect(await linesIn(text, length, ...wanted)).toEqual([1, 1501, 3000, undefined]);
});

test.each([
  ["without line ends or tags", "x"],
  ["of white space", " "],
])("URLs are found in a large document %s, in linear time", async (_, filling) => {
  const url = "https://example.org/z";
  expect(await linesIn(`${filling.repeat(2_000_000)} ${url}`, 10_000, url)).toEqual([1]);
});

test.each(["a<b>c", "a ", "a\n"])("a URL in a CDATA section ends with it or its line: %j", async (name) => {
  const text = `<loc><![CDATA[\n https://example.org/${name}]]></loc>`;
  expect(await linesIn(text, 1000, `https://example.org/${name.trim()}`)).toEqual([2]);
});
