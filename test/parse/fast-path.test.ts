// The tokenizer reads ordinary XML. The result must be the same as without the fast path. Random entries are in test/fuzz.test.ts and
// urls-only.test.ts.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compile, compiler, origin } from "../../scripts/tokenizer.ts";
import { createTokenizer } from "../../src/parse/fast/tokenizer.ts";
import { inPieces } from "../support/cuts.ts";
import { entry, richUrlset as urlset } from "../support/documents.ts";
import { expectSame } from "../support/expect-same.ts";
import { isLong, some } from "../support/long.ts";
import { noFastPath } from "../support/no-fast-path.ts";
import { type Parsed, parsed, parsePieces } from "../support/parsed.ts";
import { expectSameUrls, inBytes } from "../support/same-urls.ts";
import { words } from "../support/words.ts";

/** Expects the same with and without the fast path, in pieces of these lengths: as text, and as bytes if only URLs are needed. */
function expectSameBothWays(document: string, ...sizes: number[]): void {
  for (const size of sizes) {
    expectSame(parsePieces(inPieces(document, size)), parseWithout(inPieces(document, size)), `pieces of ${size}`);
    expectSameUrls(inBytes(document, size));
  }
}

/** Expects this result, in pieces of these lengths: as text, and as bytes. */
function expectInPieces(document: string, expected: Parsed, sizes: readonly number[]): void {
  for (const size of sizes) {
    expectSame(parsePieces(inPieces(document, size)), expected, `pieces of ${size}`);
    expectSame(parsePieces(inBytes(document, size)), expected, `bytes, ${size} at a time`);
  }
}

const parseWithout: typeof parsePieces = (pieces, options) => parsePieces(pieces, { ...options, fastPath: noFastPath });

test("the compiled tokenizer exists, and was built from tokenizer.as.ts", async () => {
  expect(createTokenizer()).toBeDefined();
  const code = readFileSync(new URL("../../src/parse/fast/tokenizer-code.ts", import.meta.url), "utf8");
  expect(code.split("\n", 1)[0]).toBe(origin());
  if (isLong && existsSync(compiler)) expect(code).toBe(await compile());
});

test("a value that is valid in one field is still reported in another, also with `urlsOnly`", () => {
  const entries = (frequency: string, priority: string, count: number, from: number) => {
    const fields = `<changefreq>${frequency}</changefreq><priority>${priority}</priority>`;
    return Array.from({ length: count }, (_, n) => entry(`https://example.org/${from + n}`, fields));
  };
  const text = urlset(
    ...entries("daily", "0.5", 9, 0),
    ...entries("0.5", "daily", 2, 9),
    ...entries("daily", "0.5", 9, 5),
    ...entries("weekly", "0.5", 9, 40),
  );
  expectSameUrls([text]);
  expectSameUrls(inPieces(text, 200));
  expect(parsePieces(inPieces(text, 200), { urlsOnly: true }).problems).toMatchObject([
    { code: "change-frequency-invalid", count: 2 },
    { code: "priority-invalid", count: 2 },
    { code: "url-repeated", count: 6 },
  ]);
});

test("entries with only a URL are read the same with and without the fast path, among entries of other kinds", () => {
  const bare = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => `<url>\n<loc>https://example.org/${from + n}</loc>\n</url>`);
  const text = urlset(
    ...bare(0, 20),
    // The next entry ends this one, which has no element of its own.
    "<loc>https://example.org/1</loc>\n\n",
    ...bare(15, 10),
    "<url><loc>https://example.org/3</loc><lastmod>2024-01-01</lastmod></url>",
    "<url><loc>https://example.org/4</loc><image:image><image:loc>https://example.org/a.png</image:loc></image:image></url>",
    "<url id='a'><loc>https://example.org/30</loc></url>",
    "<url><loc>/31</loc></url><url><loc> https://example.org/32 </loc></url><url><loc>http://[</loc></url>",
    "<sitemap><loc>https://example.org/sitemap.xml</loc></sitemap>",
    ...bare(40, 5),
  );
  for (const pieces of [[text], inPieces(text, 100), inPieces(text, 333), inBytes(text, 200)]) {
    const [heard, unheard]: (string | undefined)[][] = [[], []];
    const into = (urls: (string | undefined)[] = []) => ({
      entries: { onEnd: () => void urls.push("end"), onPage: (url: string | undefined) => void urls.push(url) },
    });
    const result = parsePieces(pieces, into(heard));
    expect(result).toEqual(parseWithout(pieces, into(unheard)));
    expect(heard).toEqual(unheard);
    expect(result.pages).toHaveLength(33);
    expect(result.problems).toContainEqual(expect.objectContaining({ code: "url-repeated", count: 8 }));
  }
});

test("all days and times of day, possible or not, are read the same with and without the fast path", () => {
  const two = (number: number) => String(number).padStart(2, "0");
  const upTo = (last: number) => Array.from({ length: last + 1 }, (_, number) => two(number));
  const days = ["0000", "2023", "2024"].flatMap((year) =>
    upTo(13).flatMap((month) => upTo(32).map((day) => `${year}-${month}-${day}`)),
  );
  const times = [
    ...upTo(25).map((hour) => `${hour}:00:00Z`),
    ...upTo(61).flatMap((number) => [
      `00:${number}:00Z`,
      `00:00:${number}Z`,
      `00:00:00+00:${number}`,
      `00:00:00-${number}:00`,
    ]),
    ...words("00:00:00 00:00:00+0000 00:00:00+00 00:00:00z 00:00:00.1Z 0:00:00Z 00.00:00Z 00:00.00Z"),
    "00:00:00 Z",
  ].map((time) => `2024-05-06T${time}`);
  // A wrong character at each position, such as the neighbors of the digits in ASCII.
  const others = ["2024-05-06", "2024-05-06T07:08:09Z", "2024-05-06T07:08:09+10:00"].flatMap((date) =>
    Array.from(date).flatMap((_, at) => [..."/:-Ta "].map((other) => date.slice(0, at) + other + date.slice(at + 1))),
  );
  const dates = [...days, ...times, ...others];
  const document = urlset(...dates.map((date, n) => entry(`https://example.org/${n}`, `<lastmod>${date}</lastmod>`)));
  const expected = parseWithout([document]);
  expect(expected.pages).toHaveLength(dates.length);
  expectSame(parsePieces([document]), expected);
});

test("an illegal reference in an attribute does not spoil the text of another entry", () => {
  const link = (href: string) => `<xhtml:link rel="alternate" hreflang="de" href="${href}"/>`;
  const document = urlset(
    ...Array.from({ length: 9 }, (_, n) =>
      entry(`https://example.org/${n}?a&amp;b`, link(n === 5 ? "https://example.org/&#0;" : "https://example.org/de")),
    ),
    entry("https://example.org/last?a&lt;b"),
  );
  const result = parsePieces([document]);
  expect(result.pages).toHaveLength(10);
  expect(result).toEqual(parseWithout([document]));
});

test("nothing is read or reported after the last allowed entry", () => {
  const list = Array.from({ length: 6 }, (_, n) => entry(`https://example.org/${n}`));
  const document = `<sitemapindex>${list.join("")}<url></url><url></url></sitemapindex>`;
  for (let documentEntries = 0; documentEntries < 8; documentEntries++) {
    const limits = { documentEntries };
    const expected = parsePieces([document], { limits, fastPath: noFastPath });
    expectSame(parsePieces([document], { limits }), expected);
  }
});

test("a CDATA section between tags with attributes is not read as a tag", () => {
  const map = (n: number) => `<sitemap a="b"><![CDATA[x]]><loc>https://example.org/${n}</loc></sitemap>`;
  for (const root of ["sitemapindex", "SITEMAPINDEX"]) {
    const maps = Array.from({ length: 6 }, (_, n) => `<![CDATA[text]]>${map(n)}`).join("");
    const document = `<${root} version="${"#".repeat(700)}">${maps}</${root}>`;
    expect(parsePieces([document])).toEqual(parseWithout([document]));
  }
});

test("a tag with a space and no attributes has none, whatever tag came before it", () => {
  const video = (space: string) =>
    `<video:video><video:id type="tms:series">a</video:id>${space}<video:price >1.99</video:price></video:video>`;
  const document = urlset(...Array.from({ length: 9 }, (_, n) => entry(`https://example.org/${n}`, video("\n"))));
  const { pages } = parsePieces([document]);
  expect(pages.map(({ videos }) => videos)).toEqual(
    Array(9).fill([{ ids: [{ type: "tms:series", value: "a" }], prices: [{ amount: 1.99 }] }]),
  );
  expect(parseWithout([document]).pages).toEqual(pages);
});

test("a split surrogate pair does not change the text after it", () => {
  const lines = Array.from({ length: 400 }, (_, n) =>
    entry(
      `https://example.org/${n}`,
      `<note>${"\u{1f332}".repeat(40 + (n % 7))}</note><priority>0.${n % 10}</priority>`,
    ),
  );
  const document = urlset(...lines);
  const expected = parseWithout([document]);
  expect(expected.pages).toHaveLength(400);
  for (let size = 4096; size < 4400; size += isLong ? 7 : 23) {
    expectSame(parsePieces(inPieces(document, size)), expected, `pieces of ${size}`);
  }
});

test("long documents that keep changing their structure are read the same with and without the fast path", () => {
  const count = some(6000, 1000);
  const lines = Array.from({ length: count }, (_, n) => {
    const images = "<image:image><image:loc>https://images.example.org/i</image:loc></image:image>\n".repeat(
      (n * 7) % 5,
    );
    const links = `<xhtml:link rel="alternate" hreflang="${n % 3 ? "de" : "fr"}" href="https://example.org/a?b&amp;c=${n}"/>`;
    const title = n % 2 ? `<![CDATA[${n} ]] & ü]]>` : `title ${n} \u{1f332}`;
    const news = n % 4 ? "" : `<news:news><news:title>${title}</news:title></news:news>`;
    const comment = n % 101 ? "" : "<!-- half time -->";
    // Each problem is reported with its line.
    const flaw = new Map([
      [count / 4, "<lastmod>never</lastmod>"],
      [(count * 9) / 20, "<priority>9</priority>"],
      [(count * 7) / 10, "<loc>nowhere:/</loc>"],
      [(count * 23) / 25, "<changefreq>sometimes</changefreq>"],
    ]).get(n);
    return entry(
      `https://example.org/${n}`,
      `\n${images}${n % 3 ? links : ""}${flaw ?? ""}${comment}${n % 7 ? links : ""}${news}`,
    );
  });
  const document = urlset(...lines);
  const expected = parseWithout([document]);
  expect(expected.pages).toHaveLength(count);
  expect(expected.problems.filter(({ line }) => line !== undefined).length).toBeGreaterThan(3);
  expectInPieces(
    document,
    expected,
    isLong ? [document.length, 32_768, 10_007, 5000, 4096, 700] : [document.length, 700],
  );
});

test("more tokens and text than fit into memory at once are read the same with and without the fast path", () => {
  const caption = (n: number) =>
    ['"', "\\", "\u0001\n\r\n", "語", "plain ", "a&amp;b", "&lt;b&gt;"][n % 7]!.repeat(1 + ((n * 37) % 900));
  const long = Array.from({ length: some(700, 300) }, (_, n) =>
    entry(
      `../${n}`,
      `<image:image><image:loc>/i</image:loc><image:caption>${caption(n)}</image:caption></image:image>`,
    ),
  );
  const short = Array.from({ length: some(12_000, 5000) }, (_, n) =>
    entry(`../s/${n % 4000}`, "<priority>0.1</priority>"),
  );
  const both = urlset(...long, ...short);
  for (const document of isLong ? [urlset(...long), urlset(...short), both] : [both]) {
    const expected = parseWithout([document]);
    expectInPieces(document, expected, isLong ? [document.length * 3, 200_000, 65_536] : [document.length * 3, 65_536]);
  }
});

test("recurring strings are not confused, even after a document that was not read to its end", () => {
  const word = (n: number) => `w${(n * 7919) % 1999}`;
  const document = urlset(
    ...Array.from({ length: 3000 }, (_, n) =>
      entry(`../${n}`, `<news:news><news:title>${word(n)}</news:title></news:news>`),
    ),
  );
  const expected = parseWithout([document]);
  for (const documentEntries of [2999, 700, 3]) {
    parsePieces([document], { limits: { documentEntries } });
    expectSame(parsePieces([document]), expected);
  }
});

test("lone surrogates are kept, however the document is split", () => {
  const lines = Array.from({ length: 60 }, (_, n) =>
    entry(`../${n}`, `<news:news><news:title>a${n % 7 === 3 ? "\ud83c" : "\u{1f332}"}b</news:title></news:news>`),
  );
  const document = urlset(...lines);
  const expected = parseWithout([document]);
  for (const size of [1, 2, 50, 51, 300, document.length]) {
    expectSame(parsePieces(inPieces(document, size)), expected, `pieces of ${size}`);
  }
});

test("an empty element that declares its own namespace keeps its meaning", () => {
  const link =
    '<xhtml:link xmlns:xhtml="http://www.w3.org/1999/xhtml" rel="alternate" hreflang="de" href="https://example.org/de"/>';
  const entries = ["1", "2"].map((name) => `<url><loc>https://example.org/${name}</loc>${link}</url>`);
  const { codes } = parsed(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join("")}</urlset>`);
  expect(codes).toEqual([]);
});

test("entries inside other entries, or left open before them, are read the same by both engines, also for URLs only", () => {
  const rich = "<lastmod>2024-05-06</lastmod><image:image><image:loc>https://example.org/i</image:loc></image:image>";
  const loc = (n: number) => `<loc>https://example.org/${n}</loc>`;
  const makings: readonly ((n: number) => string)[] = [
    (n) => `<url>${loc(n)}<url>${loc(n + 0.5)}${rich}</url></url>`,
    (n) => `<url><url>${loc(n)}${rich}</url>${rich}</url>`,
    (n) => `<url>${loc(n)}${rich}<url/><lastmod>no date</lastmod></url>`,
    (n) => `<url>${loc(n)}${rich}`,
    (n) => `<url>${loc(n)}<image:image><image:loc>https://example.org/i</image:loc>`,
    (n) => `<url>${loc(n)}<image:image>${loc(n + 0.5)}<url>${loc(n + 0.7)}</url></image:image></url>`,
    (n) => `<url>${loc(n)}<sitemap>${loc(n + 0.5)}</sitemap>${rich}</url>`,
    (n) => `<url>${loc(n)}<urlset><url>${loc(n + 0.5)}${rich}</url></urlset></url>`,
    (n) => `<x><url>${loc(n)}${rich}</url></x><url>${loc(n + 0.5)}<x>${rich}${loc(n + 0.6)}</x></url>`,
  ];
  const usual = (n: number) => `<url>${loc(n)}${rich}</url>`;
  for (const making of makings) {
    const entries = Array.from({ length: 60 }, (_, n) => (n % 20 < 15 ? usual : making)(n)).join("\n");
    const document = urlset(entries, ...Array.from({ length: 20 }, (_, n) => making(100 + n)), usual(200));
    expectSameBothWays(document, 100, 700, 5000, 100_000);
  }
});

test("a field that first occurs outside its parent is still checked inside it", () => {
  const strange = "<z><priority>9</priority><lastmod>no</lastmod><changefreq>no</changefreq><loc>x</loc></z>";
  const entries = (from: number, priority: string) =>
    Array.from({ length: 9 }, (_, n) => entry(`https://example.org/${from + n}`, `<priority>${priority}</priority>`));
  for (const first of [strange, `<url>${strange}</url>`]) {
    const document = urlset(first, ...entries(0, "0.5"), ...entries(20, "9"), ...entries(40, "0.5"));
    for (const size of [300, 5000]) {
      expectSameUrls(inPieces(document, size));
      expect(parsePieces(inPieces(document, size), { urlsOnly: true }).problems).toContainEqual(
        expect.objectContaining({ code: "priority-invalid", count: 9 }),
      );
    }
  }
});

test("a numeric reference to any character, in text, a URL or an attribute, is read the same with and without the fast path", () => {
  const edges = [0x0, 0x20, 0x26, 0x3b, 0x7f, 0x80, 0xa0, 0x100, 0x7ff, 0x800, 0x1680, 0x2019, 0x2028, 0x200b, 0x3000];
  const last = [0xd7ff, 0xd800, 0xdfff, 0xe000, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x10000, 0x1f600, 0x10ffff, 0x110000];
  const codes = [...edges, ...last].flatMap((code) => [code - 1, code, code + 1]).filter((code) => code >= 0);
  const references = codes.flatMap((code) => [
    ...[`&#${code};`, `&#x${code.toString(16)};`, `&#X${code.toString(16)};`, `&#x${code.toString(16).toUpperCase()};`],
    ...[`&#0${code};`, `&#000000${code};`, `&#x0000000${code.toString(16)};`, `&#${code}`],
  ]);
  const url = "https://example.org/";
  const link = (href: string, language: string) =>
    `<xhtml:link rel="alternate" hreflang="${language}" href="${href}"/>`;
  const titled = (title: string) =>
    `<image:image><image:loc>${url}i</image:loc><image:title>${title}</image:title></image:image>`;
  const entries = references.flatMap((reference, n) => [
    entry(`${url}${n}${reference}${n}`, titled(`a${reference}b`) + link(`${url}${reference}a`, `d${reference}`)),
    // A text that needs more bytes than its neighbors, and one that is trimmed.
    entry(`${url}${n}/\ufffd`, titled(`${reference}語${reference}`) + link(`${url}a`, `${reference}de`)),
    `<url><loc a="${reference}">${url}é${n}</loc><lastmod a="é">2024-05-06</lastmod></url>`,
  ]);
  const document = urlset(...entries);
  expectSame(parsePieces([document]), parseWithout([document]));
  expectSameUrls(inBytes(document, 5000));
});

test("comments anywhere in an entry, even inside text, are skipped the same with and without the fast path", () => {
  const comments = [
    "<!-- c -->",
    "<!---->",
    "<!-- <url> & &amp; -- ж -->",
    "<!-- a --!>",
    "<!--a--><!--\n-->",
    "<!-->-->",
  ];
  const title = "<image:title>a &amp; b</image:title><image:caption><![CDATA[c]]></image:caption>";
  const making = `<url>|<loc>|https://example.org/§|?a&amp;b|c|</loc>|<lastmod>|2024|-05-06|</lastmod>|<image:image>|<image:loc>|https://example.org/|i|</image:loc>|${title.replaceAll(/(?=[<b;\]])/g, "|")}|</image:image>|</url>|`;
  const parts = making.split("|");
  const entries = comments.flatMap((comment, kind) =>
    parts.map((_, at) => [...parts.slice(0, at), comment, ...parts.slice(at)].join("").replace("§", `${kind}/${at}`)),
  );
  const usual = Array.from({ length: 9 }, (_, n) => parts.join("").replace("§", `usual/${n}`));
  expectSameBothWays(urlset(...usual, ...entries), 150, 5000);
  expectSameBothWays(urlset(...entries.flatMap((one) => [one, one, one])), 150, 5000);
});

test("the name of an entry whose prefix is declared only by an element inside is read the same with and without the fast path", () => {
  const sitemap = 'xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"';
  const text = urlset(`<sm:sitemap><url><other ${sitemap}>\n<sm:sitemap><sm:loc>https://example.org/1</sm:loc>`);
  expect(parsePieces([text])).toEqual(parseWithout([text]));
});
