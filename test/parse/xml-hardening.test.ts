// Everything a website sends is hostile input: the classes of attacks on XML parsers, and attacks on time and memory.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../../src/model/parse-options.ts";
import { dearest, growth } from "../support/cost.ts";
import { entry, index, richUrlset as urlset } from "../support/documents.ts";
import { some } from "../support/long.ts";
import { parsed, parsePieces, urlsOf } from "../support/parsed.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const one = entry("https://example.org/1");
const two = entry("https://example.org/2");
const piece = 64 * 1024;

/** Repeats a text `times` times, in pieces of a usual size, without ever building all of it. */
function* repeated(before: string, text: string, times: number, after: string): Generator<string> {
  yield before;
  const perPiece = Math.max(1, Math.floor(piece / text.length));
  const full = text.repeat(perPiece);
  for (let left = times; left > 0; left -= perPiece) yield left >= perPiece ? full : text.repeat(left);
  yield after;
}

/** Parses pieces, and returns the largest heap growth that was sampled meanwhile. */
function parseWatchingMemory(pieces: Iterable<string>) {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  let count = 0;
  function* watched() {
    for (const text of pieces) {
      yield text;
      if (++count % 32 === 0) {
        collectGarbage();
        most = Math.max(most, process.memoryUsage().heapUsed - before);
      }
    }
  }
  const result = parsePieces(watched());
  return { result, most };
}

describe("very many references", () => {
  test("megabytes of references in one loc lose only that entry", () => {
    const [before, after] = [`<urlset>${one}<url><loc>https://example.org/`, `</loc></url>${two}</urlset>`];
    const { result, most } = parseWatchingMemory(repeated(before, "&#65;", some(2_000_000, 300_000), after));
    expect(urlsOf(result)).toEqual(["https://example.org/1", "https://example.org/2"]);
    expect(result.codes).toContain("limit-url-length");
    expect(most).toBeLessThan(some(2_000_000, 1_000_000));
  });

  test("100,000 references in 5,000 locs give 5,000 URLs", () => {
    const locs = Array.from({ length: 5000 }, (_, n) => entry(`https://example.org/${n}?${"&amp;".repeat(20)}`));
    const result = parsePieces([urlset(...locs)]);
    expect(result.pages).toHaveLength(5000);
    expect(result.pages[4999]?.url).toBe(`https://example.org/4999?${"&".repeat(20)}`);
  });
});

describe("deep nesting", () => {
  test.each([
    ["before the first entry", (deep: string) => [`<urlset>${deep}`], 0],
    ["in the first entry", (deep: string) => [`<urlset>${one}<url><loc>https://example.org/2</loc>${deep}`], 1],
    ["after the entries", (deep: string) => [`<urlset>${one}${two}${deep}`], 2],
  ])("%s ends the document, and what came before is kept", (_, wrap, kept) => {
    const result = parsePieces(wrap("<a>".repeat(100_000)));
    expect(result.pages).toHaveLength(kept);
    expect(result.problems.at(-1)).toMatchObject({ code: "limit-xml-depth", limit: 256 });
    expect(result.complete).toBe(false);
  });

  test("up to the limit is accepted", () => {
    const deep = `${"<a>".repeat(255)}${"</a>".repeat(255)}`;
    expect(
      urlsOf(parsed(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${deep}${one}</urlset>`)),
    ).toEqual(["https://example.org/1"]);
    expect(parsePieces([`<urlset><a>${deep}</a>${one}</urlset>`]).codes).toContain("limit-xml-depth");
  });
});

describe("many attributes", () => {
  test("20,000 on one tag end the document at the limit", () => {
    const attributes = Array.from({ length: 20_000 }, (_, n) => ` a${n}="${n}"`).join("");
    const result = parsePieces([`<urlset>${one}<url${attributes}>`]);
    expect(urlsOf(result)).toEqual(["https://example.org/1"]);
    expect(result.problems.at(-1)).toMatchObject({ code: "limit-xml-attributes", limit: 1000 });
  });

  test("are limited the same, however the tag is split", () => {
    const attributes = Array.from({ length: 12 }, (_, n) => ` a${n}="${n}"`).join("");
    const document = urlset(one, `<x${attributes}/>`, two);
    expect(parsed(document, { limits: { xmlAttributes: 12 } }).pages).toHaveLength(2);
    const result = parsed(document, { limits: { xmlAttributes: 11 } });
    expect(urlsOf(result)).toEqual(["https://example.org/1"]);
    expect(result.codes).toEqual(["limit-xml-attributes"]);
  });
});

describe("huge tokens", () => {
  // Each token is four times as large as the memory that is allowed.
  const length = some(32, 2) * 1024 * 1024;
  test.each([
    ["a comment", "<!--", "x- ", "-->", []],
    ["an instruction", "<?pi ", "x? ", "?>", []],
    ["CDATA that nobody wants", "<x><![CDATA[", "]] ", "]]></x>", []],
    ["text that nobody wants", "<x>", "abc", "</x>", []],
    ["CDATA that is wanted", "<url><loc><![CDATA[", "]]x", "]]></loc></url>", ["limit-url-length"]],
    ["text that is wanted", "<url><loc>", "abc", "</loc></url>", ["limit-url-length"]],
    ["an attribute", '<x a="', "abc", '"/>', ["limit-xml-token"]],
    ["a name", "<x", "abc", "/>", ["limit-xml-token"]],
    ["the white space of a tag", "<x ", "   ", "/>", ["limit-xml-token"]],
    ["an end tag", "</", "abc", ">", ["limit-xml-token"]],
  ])("%s is skipped without being buffered", (_, before, text, after, codes) => {
    const times = length / 3;
    const head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">';
    const { result, most } = parseWatchingMemory(
      repeated(`${head}${one}${before}`, text, times, `${after}${two}</urlset>`),
    );
    expect(urlsOf(result)).toEqual(["https://example.org/1", "https://example.org/2"]);
    expect(result.codes.filter((code) => code !== "url-missing")).toEqual(codes);
    expect(most).toBeLessThan(length / 4);
  });

  test("a document type declaration is skipped in little memory", () => {
    const { result, most } = parseWatchingMemory(
      repeated("<!DOCTYPE urlset [", "<!ELEMENT urlset ANY><!-- x -->", length / 32, `]><urlset>${one}</urlset>`),
    );
    expect(urlsOf(result)).toEqual(["https://example.org/1"]);
    expect(most).toBeLessThan(length / 4);
  });

  test("are limited the same, however the document is split", () => {
    const limits = { ...defaultLimits, xmlNameLength: 10, xmlTextLength: 60 };
    const result = parsed(
      urlset(
        one,
        `<${"n".repeat(11)} a="b"/>`,
        entry("https://example.org/3", `<x a="${"v".repeat(61)}"/><lastmod>${"d".repeat(61)}</lastmod>`),
        entry("https://example.org/4", `<lastmod><![CDATA[${"d".repeat(61)}]]></lastmod>`),
        entry("https://example.org/5", `<lastmod><![CDATA[${"d".repeat(40)}]]>${"d".repeat(21)}</lastmod>`),
      ),
      { limits },
    );
    expect(urlsOf(result)).toEqual([1, 3, 4, 5].map((n) => `https://example.org/${n}`));
    expect(result.problems).toMatchObject([
      { code: "limit-xml-token", limit: 10, count: 2 },
      { code: "limit-text-length", limit: 60, count: 3 },
    ]);
  });
});

describe("names of object properties", () => {
  const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];
  const build = (name: string) =>
    `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:${name}="urn:x" xmlns:xhtml="http://www.w3.org/1999/xhtml">
    <${name}><polluted>1</polluted></${name}><url ${name}="1"><loc>https://example.org/1</loc><${name}>x</${name}><${name}:a ${name}="b"/>
    <xhtml:link rel="alternate" hreflang="${name}" href="https://example.org/x"/></url></urlset>`;

  test.each(names)("such as %s are ordinary names", (name) => {
    const result = parsed(build(name));
    const harmless = parsed(build("harmless"));
    expect(JSON.stringify(result).replaceAll(name, "harmless")).toBe(JSON.stringify(harmless));
    expect("polluted" in {}).toBe(false);
  });
});

test.each(["a.*", "a+?", "(a", "[a", "a{9}", "a|b", "a\\d", "^a$"])(
  "a crawler called %s is not taken for a pattern",
  (name) => {
    const result = parsed(
      `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><${name}>x</${name}>${one}</urlset>`,
    );
    expect(urlsOf(result)).toEqual(["https://example.org/1"]);
  },
);

describe("many declarations of namespaces", () => {
  test("on nested elements give the right URLs, or end at a limit", () => {
    const many = Array.from({ length: 900 }, (_, n) => ` xmlns:p${n}="urn:${n}"`).join("");
    const nested = `${`<x${many}>`.repeat(110)}${"</x>".repeat(110)}`;
    const result = parsePieces([
      `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${nested}${one}</urlset>`,
    ]);
    expect(urlsOf(result)).toEqual(["https://example.org/1"]);
  });

  test("on every entry change nothing", () => {
    const own = one.replace("<url>", '<url xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">');
    const result = parsed(
      `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9">${own}${own.replace("/1<", "/2<")}</s:urlset>`,
    );
    expect(urlsOf(result)).toEqual(["https://example.org/1", "https://example.org/2"]);
    expect(result.problems).toEqual([]);
  });
});

describe("parsing time", () => {
  // Patterns that grow are in linear-time.test.ts.
  const expectLinear = async (build: (size: number) => string, size: number) => {
    const ratio = await growth(build(size), build(size * 16), (text) => void parsePieces([text]));
    // In quadratic time, a byte would cost sixteen times as much.
    expect(ratio).toBeLessThan(dearest);
  };

  test("entries that often leave the fast path are read in linear time", async () => {
    const surprising = (count: number) =>
      urlset(
        ...Array.from({ length: count }, (_, n) => {
          const space = " ".repeat(n % 40);
          return `<url>${space}<loc>https://example.org/${n}</loc>${space}<p${n % 7}>x</p${n % 7}>${space}</url>`;
        }),
      );
    await expectLinear(surprising, some(700, 120));
  });

  test("documents with many children are read in linear time", async () => {
    const children = (count: number) => index(...Array.from({ length: count }, (_, n) => `/${n}.xml`));
    await expectLinear(children, some(4000, 400));
  });

  test("a long text in small chunks is not read again for each chunk", async () => {
    const result = parsePieces([
      ...`<urlset><url><loc>https://example.org/</loc><x a="${"x".repeat(some(50_000, 20_000))}"/></url></urlset>`,
    ]);
    expect(urlsOf(result)).toEqual(["https://example.org/"]);
  });
});

test("a stray < counts toward the limit of a text, however the document is split", async () => {
  for (const xmlTextLength of [0, 1, 2]) {
    const result = parsed("<rss><channel><item><title><<x></title></item></channel></rss>", {
      limits: { xmlTextLength },
    });
    expect(result.codes.includes("limit-text-length")).toBe(xmlTextLength === 0);
  }
});
