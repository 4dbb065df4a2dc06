// Entries in unexpected places: after an unclosed element, in unknown elements, outside entries, in the wrong root. They are read as what
// their root lists, pages or sitemaps, and reported.
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../../src/model/parse-options.ts";
import { entry, index, richUrlset as urlset } from "../support/documents.ts";
import { parsed, parsePieces, summary, urlsOf } from "../support/parsed.ts";

const namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const one = "https://example.org/1";
const two = "https://example.org/2";
const three = "https://example.org/3";

describe("an entry's start tag closes everything that was left open", () => {
  test.each([
    ["an entry", `<url><loc>${one}</loc>`],
    ["an entry with a misspelled end tag", `<url><loc>${one}</loc></ulr>`],
    ["a field that nobody knows", `<url><loc>${one}</loc><x>`],
    ["a field", `<url><loc>${one}</loc><lastmod>2024`],
    ["an image", `<url><loc>${one}</loc><image:image><image:loc>https://example.org/i</image:loc>`],
    ["a title deep inside", `<url><loc>${one}</loc><news:news><news:publication><news:name>N`],
    ["an attribute's element", `<url><loc>${one}</loc><video:video><video:price currency="EUR">`],
  ])("lenient: such as %s", (_, open) => {
    const result = parsed(urlset(open, entry(two), entry(three)));
    expect(urlsOf(result)).toEqual([one, two, three]);
    expect(result.codes).toContain("xml-mismatched-tag");
    expect(result.complete).toBe(false);
  });

  test.each(["<url></url>", "<url/>", "<url> </url>"])(
    "fields after %s in an entry belong to the next entry",
    (empty) => {
      const video = "<video:video><video:title>of two</video:title></video:video>";
      const result = parsed(urlset(`<url><loc>${one}</loc>${empty}<loc>${two}</loc>${video}</url>`, entry(three)));
      expect(result.pages).toMatchObject([{ url: one }, { url: two, videos: [{ title: "of two" }] }, { url: three }]);
      expect(result.pages[0]?.videos).toBeUndefined();
      expect(result.codes).toContain("xml-misplaced");
    },
  );

  test("but if the URL itself was not closed, only that entry is lost", () => {
    expect(summary(urlset(`<url><loc>${one}`, entry(two), entry(three))).urls).toEqual([two, three]);
  });

  test.each([
    ["an unclosed sitemap", `<sitemap><loc>${one}</loc>`],
    ["a misspelled end tag", `<sitemap><loc>${one}</loc></sitemp>`],
    ["an unclosed field", `<sitemap><loc>${one}</loc><lastmod>2024`],
  ])("lenient: in an index, %s is still a sitemap", (_, open) => {
    const sitemaps = [{ url: one }, { url: two, lastModified: "2024" }];
    const result = parsed(index(open, `<sitemap><loc>${two}</loc><lastmod>2024</lastmod></sitemap>`));
    expect(result).toMatchObject({ sitemaps, pages: [], codes: ["xml-mismatched-tag"] });
  });

  const item = (url: string) => `<item><link>${url}</link></item>`;
  test.each([
    ["<channel><language>", "</channel>"],
    ["<channel><title>News", "</channel>"],
    ["<channel><x:category xmlns:x='urn:x'>", "</channel>"],
    ["<chanel>", "</chanel>"],
    ["<channel><image><url>https://example.org/i</url>", "</channel>"],
  ])("lenient: the items of a feed are read after %s", (before, after) => {
    const result = parsed(`<rss version="2.0">${before}${item(one)}${item(two)}${after}</rss>`);
    expect(urlsOf(result)).toEqual([one, two]);
    expect(result.problems).toContainEqual(expect.objectContaining({ code: "xml-misplaced", count: 2 }));
  });

  test("lenient: items and entries that were not closed are read", () => {
    const rss = parsed(`<rss><channel><item><link>${one}</link><title>T<item><link>${two}</link></channel></rss>`);
    expect(urlsOf(rss)).toEqual([one, two]);
    const open = (url: string) => `<entry><link href="${url}"/><title>T`;
    const atom = parsed(`<feed xmlns="http://www.w3.org/2005/Atom"><author>${open(one)}${open(two)}</feed>`);
    expect(urlsOf(atom)).toEqual([one, two]);
  });

  test("any number of entries may be left open", () => {
    // More than elements may be nested.
    for (const making of ["§", "<x>§", "<x:y>§</url>", "§<image:image>", "<x><y>§<lastmod>2024<x:y>"]) {
      const entries = Array.from({ length: 400 }, (_, n) =>
        making.replace("§", `<url><loc>https://example.org/${n}</loc>`),
      );
      const result = parsePieces([urlset(...entries)]);
      expect(urlsOf(result)).toHaveLength(400);
      expect(result.codes).not.toContain("limit-xml-depth");
    }
  });

  test("an element named like an entry that holds text is not an entry", () => {
    const image =
      "<image:image><image:loc>https://example.org/i</image:loc><url>https://example.org/j</url></image:image>";
    const list = Array.from({ length: 5 }, (_, n) =>
      entry(`https://example.org/${n}`, `${image}<url></url><url/><data><url>x</url></data><lastmod>2024</lastmod>`),
    );
    const result = parsed(urlset(...list, `<url><loc>${one}9</loc>${image.slice(0, -14)}`, entry(two)));
    expect(urlsOf(result)).toEqual([0, 1, 2, 3, 4].map((n) => `https://example.org/${n}`).concat(`${one}9`));
    expect(result.pages[4]).toEqual({
      ...{ url: "https://example.org/4", lastModified: "2024" },
      images: [{ url: "https://example.org/i" }],
    });
    expect(result.problems).toMatchObject([{ code: "xml-mismatched-tag" }, { code: "url-repeated" }]);
  });
});

describe("entries in unexpected places", () => {
  test.each([
    ["in elements that nobody knows", `<urls>${entry(one)}<more>${entry(two)}</more></urls>`, "<url>", 2],
    ["in foreign elements", `<x:list xmlns:x="urn:x">${entry(one)}</x:list>${entry(two)}`, "<url>", 1],
    ["with the URL in an element of its own", `<url><p><loc>${one}</loc></p></url>${entry(two)}`, "<loc>", 1],
    ["without an element", `<loc>${one}</loc><lastmod>2024</lastmod><loc>${two}</loc>`, "<loc>", 2],
    ["in misspelled elements", `<ulr><loc>${one}</loc></ulr><ulr><loc>${two}</loc></ulr>`, "<loc>", 2],
  ])("lenient: pages %s are read", (_, content, value, count) => {
    const result = parsed(`<urlset ${namespace}>${content}</urlset>`);
    expect(urlsOf(result)).toEqual([one, two]);
    const problems = [{ code: "xml-misplaced", value, ...(count > 1 ? { count } : {}) }];
    expect(result).toMatchObject({ outcome: { kind: "pages", format: "xml" }, problems, complete: true });
  });

  test.each([
    ["in elements that nobody knows", `<maps><sitemap><loc>${one}</loc></sitemap></maps>`],
    ["without an element", `<loc>${one}</loc>`],
    ["written as pages", `<url><loc>${one}</loc></url>`],
    ["written as pages, in elements that nobody knows", `<x><url><loc>${one}</loc></url></x>`],
    ["with the URL in an element of its own", `<sitemap><p><loc>${one}</loc></p></sitemap>`],
    ["after the end of the index", `</sitemapindex><sitemap><loc>${one}</loc></sitemap><sitemapindex>`],
    ["written as pages, after the end of the index", `</sitemapindex><url><loc>${one}</loc></url><sitemapindex>`],
  ])("lenient: sitemaps %s are read", (_, content) => {
    const result = parsed(index(content));
    const outcome = { kind: "index", format: "xml" };
    expect(result).toMatchObject({ outcome, sitemaps: [{ url: one }], pages: [], complete: true });
    expect(result.codes.some((code) => code === "xml-misplaced" || code === "xml-junk-after-root")).toBe(true);
  });

  const escaped = (text: string) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  test.each([
    ["pages", `<urlset>${escaped(entry(one))}${entry(two)}</urlset>`],
    [
      "pages on lines of their own",
      `<urlset>${entry(two)}\n${escaped(`<url>\n <loc>\n${one} </loc>\n</url>`)}</urlset>`,
    ],
    [
      "sitemaps",
      `<sitemapindex>&#x3C;sitemap>&#60;loc>${one}&#60;/loc><sitemap><loc>${two}</loc></sitemap></sitemapindex>`,
    ],
    [
      "Atom entries",
      `<feed>${escaped(`<entry><link href="${one}"/></entry>`)}<entry><link href="${two}"/></entry></feed>`,
    ],
  ])("%s with escaped tags are reported as a loss", (_, document) => {
    const result = parsed(document);
    expect([...urlsOf(result), ...(result.sitemaps ?? []).map(({ url }) => url)]).toContain(two);
    expect(result.codes).toContain("xml-entry-skipped");
    expect(result.complete).toBe(false);
  });

  test("fields next to a URL outside of an entry belong to that URL", () => {
    const result = parsed(`<urlset ${namespace}><loc>${one}</loc><lastmod>2024</lastmod><loc>${two}</loc></urlset>`);
    expect(result.pages).toEqual([{ url: one, lastModified: "2024" }, { url: two }]);
  });

  test("the URL of an entry wins over one in an unknown element, which may be another entry, so that it is reported as a loss", () => {
    const text = urlset(`<url><related><loc>${two}</loc></related><loc>${one}</loc></url>`);
    expect(summary(text)).toEqual({ urls: [one], codes: ["xml-entry-skipped"], complete: false });
  });

  test.each([
    `<image><loc>${two}</loc></image>`,
    `<image:image><loc>${two}</loc></image:image>`,
    `<image><image:loc>${two}</image:loc></image>`,
  ])("lenient: an extension without its prefix is read: %s", (image) => {
    const entries = Array.from({ length: 20 }, (_, n) => `<url><loc>${one}${n}</loc>${image}</url>`).join("");
    const result = parsed(
      `<urlset ${namespace} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">${entries}</urlset>`,
    );
    expect(result.pages).toEqual(Array.from({ length: 20 }, (_, n) => ({ url: one + n, images: [{ url: two }] })));
    expect(result.codes).toEqual(["xml-namespace"]);
  });
});

describe("an index that is cut off", () => {
  const cut = `<sitemapindex ${namespace}><sitemap><loc>${one}</loc></sitemap><sitemap><loc>${two}</loc>`;

  test.each(["", "<lastmod>2024</lastmod>", "<lastmod>202", "</sitemap", "\n", "<x>"])(
    "keeps the sitemap whose URL was closed: %j",
    (rest) => {
      const result = parsed(`${cut}${rest}`);
      expect(result.sitemaps.map(({ url }) => url)).toEqual([one, two]);
      expect(result.complete).toBe(false);
    },
  );

  test("does not keep half a URL", () => {
    expect(parsed(cut.slice(0, -9))).toMatchObject({ sitemaps: [{ url: one }], codes: ["xml-truncated"] });
  });

  test("returns nothing more after the reader has stopped", () => {
    const limits = { ...defaultLimits, documentEntries: 1 };
    expect(parsed(`${cut}</sitemap><sitemap><loc>${three}</loc>`, { limits }).sitemaps).toEqual([{ url: one }]);
    expect(parsed(`${cut}<a b=c>`, { strict: true }).sitemaps).toEqual([{ url: one }]);
  });
});

describe("a URL inside other markup", () => {
  test("lenient: a `<loc>` that was opened twice is read, and so are the entries after it", () => {
    const twice = `<sitemap><loc><loc>${one}</loc><lastmod>2024</lastmod></sitemap>`;
    expect(parsed(index(twice, two))).toMatchObject({
      sitemaps: [{ url: one, lastModified: "2024" }, { url: two }],
      codes: ["xml-mismatched-tag"],
      complete: false,
    });
    const image = "<image:image><image:loc>https://example.org/i</image:loc></image:image>";
    const result = parsed(urlset(`<url><loc><loc>${one}</loc>${image}</url>`, entry(two)));
    expect(result.pages).toMatchObject([{ url: one, images: [{ url: "https://example.org/i" }] }, { url: two }]);
  });

  test("`<loc><loc>` that is closed twice is not reported", () => {
    expect(parsed(index(`<sitemap><loc> <loc>${one}</loc> </loc></sitemap>`, two))).toMatchObject({
      sitemaps: [{ url: one }, { url: two }],
      codes: [],
    });
  });

  test.each([
    [`<loc>${one}<loc>2</loc></loc>`, "url-invalid"],
    [`<loc>${one}<loc>2</loc>3</loc>`, "url-invalid"],
    [`<loc>${one}<lastmod>2024</lastmod>`, "url-missing"],
  ])("%s is not repaired, because the URL would be a guess", (loc, code) => {
    const result = parsed(urlset(`<url>${loc}</url>`, entry(three)));
    expect(urlsOf(result)).toEqual([three]);
    expect(result.codes).toContain(code);
  });

  test("lenient: a link with the URL as its text is repaired and reported; a title is not a URL", () => {
    const link = (text: string) => entry(`<a href="${one}">${text}</a>`);
    expect(parsed(urlset(link(one), link("Page one")))).toMatchObject({
      pages: [{ url: one }],
      problems: [
        { code: "url-repaired", value: one },
        { code: "url-invalid", value: "Page one" },
      ],
    });
  });

  test("`]]>` split over two CDATA sections belongs to the URL", () => {
    const result = parsed(
      urlset(
        entry(`<![CDATA[${one}]]]]><![CDATA[>]]>`),
        entry(`<![CDATA[${one}]]]]><![CDATA[>2]]> `),
        entry(`${two}]]>`),
      ),
    );
    expect(urlsOf(result)).toEqual([`${one}]]>`, `${one}]]>2`, two]);
    expect(result.problems).toMatchObject([{ code: "url-repaired", value: `${two}]]>` }]);
    expect(result.problems[0]?.count).toBeUndefined();
  });
});

describe("entries without the tags of an entry", () => {
  const many = (from: number) => Array.from({ length: 40 }, (_, n) => entry(`https://example.org/${from}/${n}`));

  test.each([
    ["entries in a CDATA section", `<![CDATA[\n ${entry(one)}\n${entry(two)} ]]>`, 1],
    ["URLs in a CDATA section", `<![CDATA[${one} ${two}]]>`, 3],
    ["URLs as text", `${one}\n  "${two}",`, 2],
  ])("lenient: %s are read, and reported", (_, text, count) => {
    const result = parsed(urlset([...many(1), text, ...many(2)].join("\n")));
    expect(urlsOf(result)).toEqual([
      ...urlsOf(parsed(urlset(...many(1)))),
      one,
      two,
      ...urlsOf(parsed(urlset(...many(2)))),
    ]);
    expect(result.problems).toMatchObject([{ code: "xml-misplaced", ...(count > 1 ? { count } : {}) }]);
    expect(result.complete).toBe(true);
  });

  test("lenient: in an index, such entries are sitemaps; in a feed, items", () => {
    const section = `<![CDATA[<sitemap><loc>${two}</loc></sitemap>]]>`;
    const inIndex = parsed(`<sitemapindex ${namespace}>${one} ${section}</sitemapindex>`);
    expect(inIndex.sitemaps).toEqual([{ url: one }, { url: two }]);
    const rss = `<rss><channel><link>${three}</link>${one}<![CDATA[<item><link>${two}</link></item>]]></channel></rss>`;
    expect(urlsOf(parsed(rss))).toEqual([one, two]);
  });

  test("other text between entries is ignored, and so is a URL that is cut off", () => {
    const other = urlset(`${entry(one)} see <![CDATA[ a < b <url> ]]> example.org`);
    expect(summary(other)).toEqual({ urls: [one], codes: [], complete: true });
    const cut = summary(`<urlset ${namespace}>${entry(one)} ${two} https://example.org/hal`);
    expect(cut.urls).toEqual([one, two]);
    expect(cut.codes).toContain("xml-truncated");
  });
});
