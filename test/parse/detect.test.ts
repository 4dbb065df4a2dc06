import { describe, expect, test } from "vitest";
import { parsed, summary, urlsOf } from "../support/parsed.ts";

const urlset =
  '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://example.org/1</loc></url></urlset>';
const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

describe("the content decides what a document is", () => {
  test.each([
    ["urlset", urlset, { kind: "pages", format: "xml" }],
    ["sitemapindex", "<sitemapindex/>", { kind: "index", format: "xml" }],
    ["rss", "<rss/>", { kind: "pages", format: "rss" }],
    ["feed", "<feed/>", { kind: "pages", format: "atom" }],
    ["text", "https://example.org/1\n", { kind: "pages", format: "text" }],
  ])("for example, %s", (_, text, outcome) => {
    expect(parsed(text, { url: "https://example.org/anything.php?x=robots.txt" }).outcome).toEqual(outcome);
  });

  test("a robots.txt is recognized by its URL, unless it is clearly something else", () => {
    const url = "https://example.org/robots.txt";
    const robots = parsed("User-agent: *\nSitemap: https://example.org/s.xml\n", { url });
    expect(robots.outcome).toEqual({ kind: "index", format: "robots" });
    expect(robots.sitemaps).toEqual([{ url: "https://example.org/s.xml" }]);
    for (const text of ["", " \n", "# nothing to see"])
      expect(parsed(text, { url }).outcome).toEqual({ kind: "index", format: "robots" });
  });

  test.each([
    "<!-- made by hand -->\n",
    "<br />\n<b>Warning</b>: Undefined variable $x in <b>/srv/robots.php</b> on line <b>3</b><br />\n",
    "<!DOCTYPE html><html><body><pre>\n",
    "\n\ufeff <?php echo 1; ?>\n",
  ])("lenient: the lines of a robots.txt that begins with %j are read", (before) => {
    const url = "https://example.org/robots.txt";
    const robots = parsed(`${before}User-agent: *\nSitemap: https://example.org/s.xml\nCrawl-delay: 2\n`, { url });
    expect(robots.outcome).toEqual({ kind: "index", format: "robots" });
    expect(robots.sitemaps).toEqual([{ url: "https://example.org/s.xml" }]);
  });

  test.each([
    ["html", "<!doctype html><html><p>404</html>"],
    ["html", "<!doctype html>\n<html>\n<p>Not found: see the sitemap\n</html>"],
    ["html", "<html><head><title>404: Not found</title><style>a:hover { b: c }</style></head></html>"],
    ["p", "<p>Not found</p>"],
    ["markup", "<!-- nothing -->"],
  ])("%s served as robots.txt is invalid unless it has a robots.txt line", (value, text) => {
    const { outcome } = parsed(text, { url: "https://example.org/robots.txt" });
    expect(outcome).toMatchObject({ kind: "invalid", reason: { code: "not-a-sitemap", value } });
  });

  test("a sitemap served as robots.txt is read as a sitemap", () => {
    const url = "https://example.org/robots.txt";
    expect(parsed(`<!-- x -->\n${urlset}`, { url }).outcome).toEqual({ kind: "pages", format: "xml" });
  });
});

describe("what was received instead of a sitemap is named", () => {
  test.each([
    ["html", "<!DOCTYPE html><html><head><title>x</title><body><pre>https://example.org/</pre></html>"],
    ["html", "<html><body><br><p>a < b & c</body>"],
    ["html", "\n\n<HTML></HTML>"],
    ["html", "<!doctype html><title>x</title>"],
    ["html", '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"><head><title>x</title></head>'],
    ["html", "<!doctype html>"],
    ["title", "<!doctype title><title>x</title>"],
    ["html", "Not found <html><body>https://example.org/</body></html>"],
    ["opml", '<?xml version="1.0"?><opml version="2.0"><body/></opml>'],
    ["channel", '<CHANNEL HREF="https://example.org/"><ITEM HREF="https://example.org/1"/></CHANNEL>'],
    ["json", '{"urls": ["https://example.org/"]}'],
    ["json", '[\n"https://example.org/"]'],
    ["pdf", "%PDF-1.7\n%âãÏÓ"],
    ["image", "\ufffdPNG\r\n\u001a\n\0\0\0\rIHDR"],
    ["archive", "PK\u0003\u0004\u0014\0\0\0"],
    ["binary", "\u0001\u0002\u0000\u0000\u0003abc\ufffd\ufffd"],
    ["binary", "\0".repeat(100)],
    ["text without a URL", "Sorry, this page does not exist."],
  ])("%s: %j", (value, text) => {
    const outcome = { kind: "invalid", reason: { code: "not-a-sitemap", value } };
    expect(parsed(text)).toMatchObject({ outcome, pages: [] });
  });

  test.each(["", "  \r\n\t", "\ufeff", "\ufeff \n"])("as empty: %j", (text) => {
    expect(parsed(text).outcome).toMatchObject({ kind: "invalid", reason: { code: "empty" } });
  });

  test.each(["<", "<?xml", '<?xml version="1.0"?>', "<!-- -->", "<urlset xmlns='"])(
    "and a mere beginning is invalid: %j",
    (text) => expect(parsed(text).outcome.kind).toBe("invalid"),
  );
});

describe("white space before a document", () => {
  test("lenient: blank lines before the declaration are skipped and reported", () => {
    const result = parsed(`${"\n".repeat(30)}${declaration}${urlset}`);
    expect(urlsOf(result)).toEqual(["https://example.org/1"]);
    expect(result.problems).toMatchObject([{ code: "xml-junk-before-root", value: "white space", line: 31 }]);
    expect(result.complete).toBe(true);
  });

  test("a byte order mark, or white space without a declaration, is not a problem", () => {
    expect(parsed(`\ufeff${declaration}${urlset}`).problems).toEqual([]);
    expect(parsed(`\n\n ${urlset}`).problems).toEqual([]);
    expect(urlsOf(parsed("\ufeffhttps://example.org/1"))).toEqual(["https://example.org/1"]);
  });
});

describe("junk around a document", () => {
  test("lenient: elements before the document are skipped and reported", () => {
    const result = parsed(
      `<br />\n<b>Warning</b>:  Undefined variable in <b>/x.php</b> on line <b>3</b><br />\n${declaration}${urlset}`,
    );
    expect(urlsOf(result)).toEqual(["https://example.org/1"]);
    expect(result.codes).toContain("xml-junk-before-root");
    expect(result.complete).toBe(true);
  });

  test("a text sitemap may contain angle brackets", () => {
    const result = parsed("<URL:https://example.org/0>\nhttps://example.org/1\n<https://example.org/2>\n");
    expect(result.outcome).toMatchObject({ kind: "invalid" });
    const text = parsed("https://example.org/1\n<https://example.org/2>\nfeed < rss\n");
    expect(text.outcome).toEqual({ kind: "pages", format: "text" });
    expect(urlsOf(text)).toEqual(["https://example.org/1", "https://example.org/2"]);
  });

  test.each(["\nsome text", "<!-- c --><p>more</p>", "<br>", "</urlset>", "]]>", "<![CDATA[x]]>", "<"])(
    "lenient: text after the root is skipped and reported: %j",
    (junk) => {
      const result = summary(`${urlset}\n<!-- fine --><?fine?>\n${junk}`);
      expect(result).toEqual({ urls: ["https://example.org/1"], codes: ["xml-junk-after-root"], complete: true });
    },
  );

  test.each([
    urlset.replace("/1", "/2"),
    '<url xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><loc>https://example.org/2</loc></url>',
    "junk <p>more</p><url><loc>https://example.org/2</loc></url></urlset>",
  ])("lenient: entries after the root are read and reported: %j", (more) => {
    const result = parsed(`${urlset}\n${more}`);
    expect(urlsOf(result)).toEqual(["https://example.org/1", "https://example.org/2"]);
    expect(result.codes[0]).toBe("xml-junk-after-root");
    expect(result.complete).toBe(true);
  });

  test("an entry after the root that is cut off is a loss", () => {
    const result = parsed(`${urlset}<url><loc>https://example.org/2</loc>`);
    expect(urlsOf(result)).toEqual(["https://example.org/1"]);
    expect(result.codes).toContain("xml-truncated");
    expect(result.complete).toBe(false);
  });
});

test("binary data served as robots.txt is invalid, unless it has robots.txt lines", () => {
  const url = "https://example.org/robots.txt";
  const noise = "\u001f\u0002\ufffd\u0003\u0004x".repeat(9);
  expect(parsed(noise, { url }).outcome).toMatchObject({ kind: "invalid", reason: { code: "not-a-sitemap" } });
  const { sitemaps } = parsed(`${noise}\nSitemap: https://example.org/a.xml\n`, { url });
  expect(sitemaps).toEqual([{ url: "https://example.org/a.xml" }]);
});
