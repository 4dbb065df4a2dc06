import { describe, expect, test } from "vitest";
import { parsed, parsePieces, summary, urlsOf } from "../support/parsed.ts";

const rss = (...items: string[]) =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>Feed</title><link>https://example.org/</link>
  <image><link>https://example.org/image</link></image>\n${items.join("\n")}</channel></rss>`;

// https://www.rssboard.org/rss-specification
describe("RSS 2.0", () => {
  test("a date that cannot be parsed is absent", () => {
    const result = parsed(rss("<item><pubDate>soon</pubDate><link>https://example.org/1</link></item>"));
    expect(result).toMatchObject({ pages: [{ url: "https://example.org/1" }], codes: ["date-invalid"] });
    expect(result.pages[0]).not.toHaveProperty("newsStory");
  });

  test("a text that is too long is reported only if it is needed", () => {
    const long = `x${"y".repeat(70_000)}`;
    const link = "<link>https://example.org/1</link>";
    const cases: [string, string[]][] = [
      [`<title>t</title>${link}<description>${long}</description>`, []],
      [`<description><![CDATA[${long}]]></description>${link}<title>t</title>`, []],
      [`<guid>https://example.org/${long}</guid><title>t</title>${link}`, []],
      [`${link}<description>${long}</description>`, ["limit-text-length"]],
      [`<title>${long}</title>${link}`, ["limit-text-length"]],
      [`<guid>https://example.org/${long}</guid><title>t</title>`, ["limit-url-length", "url-missing"]],
    ];
    for (const [item, codes] of cases) {
      const result = parsePieces([rss(`<item>${item}</item>`)]);
      expect(result.codes).toEqual(codes);
      expect(result.complete).toBe(codes.length === 0);
    }
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/1"/><title>t</title><summary>${long}</summary></entry></feed>`;
    expect(parsePieces([atom])).toMatchObject({ complete: true, pages: [{ newsStory: { title: "t" } }] });
  });

  test("lenient: without a link, the guid is used, unless it is not a permalink", () => {
    const result = parsed(
      rss(
        "<item><title>a</title><guid>https://example.org/a</guid></item>",
        '<item><title>b</title><guid isPermaLink="true">https://example.org/b</guid></item>',
        '<item><title>c</title><guid isPermaLink="false">https://example.org/c</guid></item>',
        "<item><title>d</title><guid>tag:example.org,2024:d</guid></item>",
        "<item><title>e</title><guid>12345</guid></item>",
        "<item><link>https://example.org/f</link><guid>https://example.org/g</guid></item>",
      ),
    );
    expect(urlsOf(result)).toEqual(["https://example.org/a", "https://example.org/b", "https://example.org/f"]);
    expect(result.problems).toMatchObject([{ code: "url-missing", count: 3 }]);
  });

  test("elements of other namespaces are not fields of the item", () => {
    const result = parsed(
      `<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
      <atom:link href="https://example.org/feed" rel="self"/>
      <item><media:title>no</media:title><media:content><title>no</title><link>https://no.example/</link></media:content>
      <atom:link href="https://no.example/"/><link>https://example.org/1</link><title>yes</title></item></channel></rss>`,
    );
    expect(result.pages).toEqual([{ url: "https://example.org/1", newsStory: { title: "yes" } }]);
  });

  test("a truncated feed keeps the items that are complete", () => {
    const whole = rss("<item><link>https://example.org/1</link></item><item><link>https://example.org/2</link></item>");
    const result = summary(whole.slice(0, whole.lastIndexOf("</item>")));
    expect(result).toEqual({ urls: ["https://example.org/1"], codes: ["xml-truncated"], complete: false });
  });

  test.each(["0.91", "0.92"])("RSS %s is read like RSS 2.0", (version) => {
    const result = parsed(
      `<rss version="${version}"><channel><item><title>T</title><link>https://example.org/1</link></item></channel></rss>`,
    );
    expect(result.pages).toEqual([{ url: "https://example.org/1", newsStory: { title: "T" } }]);
    expect(result.problems).toEqual([]);
  });
});

// https://web.resource.org/rss/1.0/spec
test.each(["http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/"])(
  "spec: items of RDF are outside the channel (%s)",
  (namespace) => {
    const result = parsed(
      `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="${namespace}" xmlns:dc="http://purl.org/dc/elements/1.1/">
    <channel rdf:about="https://example.org/rss"><link>https://example.org/</link></channel>
    <item rdf:about="https://example.org/about"><title>T</title><link>https://example.org/1</link><dc:date>2024-01-02</dc:date></item>
    </rdf:RDF>`,
    );
    expect(result.outcome).toEqual({ kind: "pages", format: "rss" });
    expect(result.pages).toEqual([
      { url: "https://example.org/1", newsStory: { title: "T", publishDate: "2024-01-02" } },
    ]);
    expect(result.problems).toEqual([]);
  },
);

// https://www.rfc-editor.org/rfc/rfc4287
describe("Atom", () => {
  const atom = (...entries: string[]) =>
    `<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><link href="https://example.org/"/>
    <updated>2003-12-13T18:30:02Z</updated>${entries.join("\n")}</feed>`;

  test("the <source> of an Atom entry is not part of the entry", () => {
    const result = parsed(
      atom(
        `<entry><source><title>no</title><link href="https://no.example/"/></source>
        <title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A <em>b</em></div></title><link href="https://example.org/1"/></entry>`,
      ),
    );
    expect(result.pages).toEqual([{ url: "https://example.org/1", newsStory: { title: "A b" } }]);
  });

  test("lenient: an Atom feed without its namespace is read and reported", () => {
    const result = summary('<feed><entry><link href="/1"/></entry></feed>');
    expect(result).toMatchObject({ urls: ["https://example.org/1"], codes: ["xml-namespace", "url-relative"] });
  });
});

describe("relative links", () => {
  const urls = (document: string, url = "https://host.example/feeds/all.xml") => urlsOf(parsed(document, { url }));

  // https://www.rfc-editor.org/rfc/rfc4287#section-2: "Any element defined by this specification MAY have an xml:base attribute"
  test("spec: links are resolved against the xml:base of the link, the entry and the feed", () => {
    expect(
      urls(`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://base.example/blog/">
        <entry><link href="1"/></entry>
        <entry xml:base="2024/"><link href="2"/><link rel="self" href="x"/></entry>
        <entry><link xml:base="/other/" href="3"/></entry>
        <entry xml:base="https://third.example/"><link href="/4"/></entry>
        <entry><link href="https://fourth.example/5"/></entry>
        <entry><link href="6"/></entry></feed>`),
    ).toEqual([
      "https://base.example/blog/1",
      "https://base.example/blog/2024/2",
      "https://base.example/other/3",
      "https://third.example/4",
      "https://fourth.example/5",
      "https://base.example/blog/6",
    ]);
  });

  test("a relative xml:base is resolved against the document", () => {
    expect(
      urls(`<rss version="2.0" xml:base="/news/"><channel><item><link>1</link></item>
        <item xml:base="../old/"><link>2</link></item><item><link xml:base="https://base.example/a/b">3</link></item></channel></rss>`),
    ).toEqual(["https://host.example/news/1", "https://host.example/old/2", "https://base.example/a/3"]);
  });

  test("an invalid base is ignored, and relative links are not a problem", () => {
    const based = (base: string) =>
      summary(`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="${base}"><entry><link href="1"/></entry></feed>`, {
        url: "https://host.example/feed",
      });
    expect(based("javascript:alert(1)").urls).toEqual(["https://host.example/1"]);
    expect(based("https://b.example/")).toMatchObject({ urls: ["https://b.example/1"], codes: [] });
  });
});

describe("links of several kinds", () => {
  test("a link to an HTML page is preferred, in any order", () => {
    const result = parsed(`<feed xmlns="http://www.w3.org/2005/Atom">
      <entry><link type="application/json" href="https://e.example/1.json"/><link href="https://e.example/1"/></entry>
      <entry><link type="application/pdf" href="https://e.example/2.pdf"/><link type="text/html; charset=utf-8" href="https://e.example/2"/></entry>
      <entry><link type="application/json" href="https://e.example/3.json"/></entry>
      <entry><link href="https://e.example/4"/><link type="text/html" href="https://e.example/4.html"/></entry></feed>`);
    expect(urlsOf(result)).toEqual(["1", "2", "3.json", "4"].map((path) => `https://e.example/${path}`));
  });

  test("lenient: an RSS item without a link uses its Atom link", () => {
    const result = parsed(
      `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
      <item><title>a</title><atom:link href="https://e.example/1"/><guid isPermaLink="false">x</guid></item>
      <item><atom:link rel="self" href="https://e.example/self"/><guid>https://e.example/2</guid></item>
      <item><atom:link href="https://no.example/"/><link>https://e.example/3</link></item></channel></rss>`,
    );
    expect(urlsOf(result)).toEqual(["https://e.example/1", "https://e.example/2", "https://e.example/3"]);
  });
});

describe("less common feeds", () => {
  // https://www.rfc-editor.org/rfc/rfc4287#section-2: "This specification describes two kinds of Atom Documents"
  test("spec: a single Atom entry is a document", () => {
    const result =
      parsed(`<?xml version="1.0"?><entry xmlns="http://www.w3.org/2005/Atom" xml:base="https://e.example/">
      <title>One</title><link href="1"/><updated>2024-05-31T10:00:00Z</updated></entry>`);
    expect(result.outcome).toEqual({ kind: "pages", format: "atom" });
    expect(result.pages).toMatchObject([{ url: "https://e.example/1", lastModified: "2024-05-31T10:00:00Z" }]);
    expect(parsed("<entry><link href='https://e.example/1'/></entry>").outcome.kind).toBe("invalid");
  });

  test("in RSS 1.1, the root is the channel, and the items are in a separate element", () => {
    const result = parsed(`<Channel xmlns="http://purl.org/net/rss1.1#"><title>t</title><link>https://e.example/</link>
      <items><item><title>a</title><link>https://e.example/1</link></item>
      <item><title>b</title><link>https://e.example/2</link></item></items></Channel>`);
    const pages = ["https://e.example/1", "https://e.example/2"].map((url) => ({ url }));
    expect(result).toMatchObject({ outcome: { kind: "pages", format: "rss" }, pages, problems: [] });
  });

  test("dates in Dublin Core's qualified terms are read", () => {
    const result =
      parsed(`<rss version="2.0" xmlns:dcterms="http://purl.org/dc/terms/"><channel><item><link>https://e.example/1</link>
      <dcterms:issued>2024-05-01</dcterms:issued><dcterms:modified>2024-05-31</dcterms:modified></item></channel></rss>`);
    const dates = { lastModified: "2024-05-31", newsStory: { publishDate: "2024-05-01" } };
    expect(result.pages).toEqual([{ url: "https://e.example/1", ...dates }]);
  });
});

test("the next page of a feed is part of its result", () => {
  const atom = (links: string) =>
    `<feed xmlns="http://www.w3.org/2005/Atom">${links}<entry><link href="/1"/></entry></feed>`;
  expect(parsed(atom('<link rel="next" href="?page=2"/>')).outcome).toEqual({
    kind: "pages",
    format: "atom",
    next: "https://example.org/maps/sitemap.xml?page=2",
  });
  for (const rel of ["next", "prev-archive"]) {
    const links = ["/2", "/3", "/2"].map((href) => `<link rel="${rel}" href="${href}"/>`).join("");
    const { outcome, problems, complete } = parsed(atom(links));
    expect(outcome).toMatchObject({ next: "https://example.org/2" });
    expect(problems[0]).toMatchObject({ code: "feed-next", value: "several: https://example.org/3" });
    expect(complete).toBe(false);
  }
  for (const href of ["mailto:x", "", `/${"x".repeat(9000)}`]) {
    expect(parsed(atom(`<link rel="next" href="${href}"/>`))).toMatchObject({
      codes: ["feed-next", "url-relative"],
      complete: false,
    });
  }
});

// https://www.jsonfeed.org/version/1.1/
describe("JSON Feed", () => {
  const feed = (items: string, rest = "") =>
    `{\n"version": "https://jsonfeed.org/version/1.1", "author": {"url": "https://example.org/me"}, "items": [${items}]${rest}}`;
  const one = { url: "https://example.org/1" };

  test("spec: an item is a page, with title, dates, image and language", () => {
    const item = {
      id: 1,
      url: "https://example.org/1",
      title: 'A "title" with \\ and [ } é',
      content_html: "<p>{[</p>",
      tags: ["a", { url: "https://example.org/none" }],
      date_published: "2026-10-05T06:12:00+02:00",
      date_modified: "2026-10-06T00:00:00Z",
      image: "/i.png",
      language: "de-CH",
    };
    const result = parsed(feed(JSON.stringify(item), ', "next_url": "https://example.org/feed?page=2"'));
    expect(result).toMatchObject({ problems: [{ code: "url-relative" }], complete: true });
    expect(result.outcome).toEqual({ kind: "pages", format: "json", next: "https://example.org/feed?page=2" });
    expect(result.pages).toEqual([
      {
        ...one,
        lastModified: "2026-10-06T00:00:00Z",
        newsStory: { title: item.title, publishDate: item.date_published, publicationLanguage: "de-CH" },
        images: [{ url: "https://example.org/i.png" }],
      },
    ]);
  });

  const item = '{"url": "https://example.org/1"}';
  test.each<[what: string, text: string, urls: string[], codes: string[]]>([
    ["lenient: an id that is a URL", feed('{"id": "https://example.org/1"}, {"id": "2"}'), [one.url], ["url-missing"]],
    ["a relative URL, a repeated one", feed(`{"url": "/1"}, ${item}`), [one.url], ["url-relative", "url-repeated"]],
    ["an escaped slash is decoded", feed(item).replaceAll("/", "\\/"), [one.url], []],
    [
      "a long text is left out",
      feed(`{"content_text": "${'\\u00e9\\"'.repeat(9000)}", ${item.slice(1)}`),
      [one.url],
      [],
    ],
    ["escapes in a name are decoded", feed(item).replace('"items"', '"item\\u0073"'), [one.url], []],
    [
      "any white space before the list is accepted",
      feed(item).replace('"items": ', `"items"${" ".repeat(70)}:${"\n".repeat(70)}`),
      [one.url],
      [],
    ],
    [
      "the version may come after the items",
      `{"items": [${item}], "version": "http:\\/\\/jsonfeed.org\\/version\\/1"}`,
      [one.url],
      [],
    ],
    ["items of other kinds are skipped", feed(`null, 1, "${one.url}", [], ${item}`), [one.url], ["url-missing"]],
    ["cut off", feed(`${item}, {"url": "https://example.org/2`).slice(0, -2), [], ["json-not-well-formed"]],
    ["a broken item", feed(`{"url": "https://example.org/0" 1}, ${item}`), [], ["json-not-well-formed"]],
    ["a stray bracket", feed(`${item}], [${item}`).replaceAll("}]", "}]]"), [], ["json-not-well-formed"]],
    ["broken JSON beside the next page", feed(item, ', "next_url": "/2", x'), [], ["json-not-well-formed"]],
    ["a feed must have a list of items", feed(item).replace("items", "entries"), [], ["json-not-well-formed"]],
    ["a long title", feed(`{"title": "${"x".repeat(70_000)}", ${item.slice(1)}`), [one.url], ["limit-text-length"]],
    ["a long URL is skipped", feed(`{"url": "/${"x".repeat(70_000)}"}`), [], ["limit-url-length"]],
    ["a feed without items is reported", feed(""), [], ["no-entries"]],
    ["lenient: what follows is not read", `${feed(item)} <!-- cached -->`, [one.url], ["json-not-well-formed"]],
    [
      "lenient: several lists of items are read",
      feed(item, ', "items": [{"url": "https://example.org/2"}], "items": null, "items" : [{"url": "/3"}]'),
      [one.url, "https://example.org/2", "https://example.org/3"],
      ["xml-misplaced", "url-relative"],
    ],
    [
      "lists of items elsewhere do not count",
      feed(item, ', "title": "\\"items\\": [", "items": {"items": []}').replace(
        '"author": {',
        '"author": {"items": [1], ',
      ),
      [one.url],
      [],
    ],
    ["items elsewhere", feed("", ', "_x": {"items": [{"url": "https://example.org/2"}]}'), [], ["no-entries"]],
  ])("%s", (_, text, urls, codes) => {
    const pages = urls.map((url) => ({ url }));
    expect(parsed(text)).toMatchObject({ outcome: { kind: "pages", format: "json" }, pages, codes });
  });

  test("a feed without a list of items is not called broken JSON", () => {
    const messages = [feed(item).replace("items", "entries"), feed(item).slice(0, -1)].map((text) => {
      return parsed(text).problems[0]?.message;
    });
    expect(new Set(messages).size).toBe(2);
  });

  test("half a surrogate pair in a URL is reported, because it is no character", () => {
    const result = parsed(
      feed('{"url": "https://example.org/\\ud83d"}, {"url": "https://example.org/\\ud83d\\ude00"}'),
    );
    expect(result.pages.map(({ url }) => url)).toEqual(["https://example.org/\ufffd", "https://example.org/\u{1f600}"]);
    expect(result).toMatchObject({ codes: ["url-damaged"], complete: false });
  });

  test("broken JSON is a loss", () => {
    expect(parsed(feed(item).slice(0, -1))).toMatchObject({ complete: false });
  });

  test("a next page without a valid URL is reported", () => {
    const next = (value: string) => parsed(feed(item, `, "next_url": ${value}`)).codes;
    expect(["null", '""', "[2]", '"ftp://x/"'].map(next)).toEqual([[], [], ["feed-next"], ["feed-next"]]);
  });

  test.each(['{"urls": []}', '{"version": 1, "items": [{"url": "https://example.org/1"}]}', '{"a": [1, 2'])(
    "other JSON is not a feed: %s",
    (text) => {
      const outcome = { kind: "invalid", reason: { code: "not-a-sitemap" } };
      expect(parsed(text)).toMatchObject({ outcome, pages: [] });
    },
  );

  test("an endless JSON object is not kept in memory", () => {
    const piece = '"key": [], '.repeat(6000);
    const endless = ['{"version": "https://jsonfeed.org/version/1", ', ...Array<string>(160).fill(piece)];
    expect(parsePieces(endless)).toMatchObject({ codes: ["limit-document-bytes"], complete: false });
  });
});
