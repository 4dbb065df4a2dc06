// No input costs more than linear time. Patterns that grow in one dimension (the length of a value, the number of different names,
// the depth, what stands before the document), read at two sizes: a byte must not cost more in the larger than in the smaller.
// Quadratic time would make it sixteen times as dear, and backtracking in dates some hundred thousand times.
// Needs more than a second.
import { Readable } from "node:stream";
import { brotliCompressSync, constants } from "node:zlib";
import { describe, expect, test } from "vitest";
import { read } from "../../src/crawl/read.ts";
import { HomepageLinks } from "../../src/discover/homepage-links.ts";
import { HtmlLinks } from "../../src/discover/html-links.ts";
import { defaultLimits } from "../../src/model/options.ts";
import { ProblemLog } from "../../src/model/problem.ts";
import { parseDate } from "../../src/parse/date.ts";
import { dearest, growth, repeatedTo, slowest } from "../support/cost.ts";
import { isLong, some } from "../support/long.ts";
import { entry, parsePieces } from "../support/parsed.ts";
import { Random } from "../support/random.ts";
import { randomPattern } from "../support/random-patterns.ts";

const piece = some(64 * 1024, 11 * 1024);

function inPieces(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / piece) }, (_, n) => text.slice(n * piece, (n + 1) * piece));
}

const readXml = (text: string) => void parsePieces(inPieces(text));
const readStrictly = (text: string) => void parsePieces(inPieces(text), { strict: true });
const readText = (text: string) => void parsePieces(inPieces(text), { url: "https://example.org/sitemap.txt" });
const readRobots = (text: string) => void parsePieces(inPieces(text), { url: "https://example.org/robots.txt" });
const readDates = (text: string) => {
  for (const date of text.split("\n\n")) parseDate(date);
};
const readHtml = (text: string) => {
  const html = new HtmlLinks("https://example.org/", new HomepageLinks(new ProblemLog()));
  for (const part of inPieces(text)) html.write(part);
  html.end(false);
};

/** `build` makes a document of which one dimension has this size, or sixteen times this size. */
function expectLinear(
  build: (size: number) => string,
  size: number,
  read: (text: string) => void = readXml,
  factor = 16,
): void {
  const { ratio, speed } = growth(build(size), build(size * factor), read);
  expect(ratio, "how many times as dear a byte is in the larger document").toBeLessThan(dearest);
  expect(speed, "MB a second").toBeGreaterThan(slowest);
}

// With the length of a piece, so that there are as many of them.
const total = some(60_000, 10_000);
const urlset = (content: string) => `<urlset>${content}</urlset>`;

describe("dates", () => {
  const skeletons = [
    ["2024-01-02", "03:04:05", "PM", "+01:00", "x"],
    ["2024-01-02", "3", "x"],
    ["2024", "Jan", "02", "T", "03:04", "GMT", "+1"],
    ["Thu", "17", "Dec", "2009", "12:04:56", "EST", "+02", "x"],
    ["December", "17", "2009", "at", "3", "PM", "x"],
    ["17", "of", "December", "2009", "-", "3:04", "p.m."],
    ["Thu", "Dec", "17", "12:04:56", "+0200", "2009", "("],
    ["25", "12", "2024", "1", "a"],
  ];

  test.each([" ", "\t", "\n", "\u00a0", ",", "-", ".", "(", ":", "1", "a", " ,", "- ", ". "])(
    "%j, as often as one likes between the parts of a date",
    (filler) => {
      for (const parts of skeletons) {
        const build = (size: number) => repeatedTo(total, `${parts.join(filler.repeat(size))}\n\n`);
        // No longer than a date may be.
        for (const factor of isLong ? [6, 10, 30] : [10, 30]) expectLinear(build, 1, readDates, factor);
      }
    },
    60_000,
  );

  test("in a sitemap", () => {
    const blanks = (size: number) => " ".repeat(size);
    expectLinear(
      (size) => {
        const date = `2024-01-02${blanks(size)}3${blanks(size)}P${blanks(size)}+`;
        return urlset(repeatedTo(total, entry("https://example.org/", `<lastmod>${date}</lastmod>`)));
      },
      2,
      readXml,
      13,
    );
  });
});

describe("what stands before a document", () => {
  test("megabytes of blanks, which are a few bytes compressed", async () => {
    const blanks = brotliCompressSync(Buffer.alloc(some(100_000_000, 5_000_000), " "), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 5 },
    });
    const document = { url: undefined, headers: [["content-encoding", "br"]] as const, body: Readable.from([blanks]) };
    const reading = read(document, { limits: defaultLimits, strict: false });
    let step = await reading.next();
    while (!step.done) step = await reading.next();
    expect(blanks.length).toBeLessThan(1000);
    expect(step.value).toMatchObject({ outcome: { kind: "invalid", reason: { code: "empty" } }, complete: true });
  });

  test.each([" ", "\n", "\r", "\t", "\0", "\ufeff", "\u00a0", "\u2028", "\ufeff\0", " \0"])("%j", (blank) => {
    for (const read of [readXml, readText, readRobots]) {
      expectLinear((size) => `${blank.repeat(size)}<urlset/>`, some(total, 4000), read);
      expectLinear((size) => `${blank.repeat(size)}https://example.org/`, some(total, 4000), read);
    }
  });
});

describe("names", () => {
  test("elements with long names are open, and end tags match none of them", () => {
    // As many bytes of names as of end tags, in the larger document.
    const depth = some(250, 60);
    const tags = depth * 320;
    for (const letter of ["N", "n", "é"]) {
      const open = (length: number) =>
        Array.from({ length: depth }, (_, n) => `<${letter.repeat(length)}${n}>`).join("");
      expectLinear((size) => `<urlset>${open(size)}${"</a>".repeat(tags)}`, 50);
      expectLinear((size) => `<urlset>${open(size)}${"<b></a>".repeat(tags / 2)}`, 50);
    }
  });

  test("many elements are open, and end tags match none of them", () => {
    for (const tags of ["</a>", "<c></a>", "</B>", "<c></A ></c>"]) {
      expectLinear((size) => `<urlset>${"<b>".repeat(size)}${tags.repeat(some(40_000, 8000))}`, 15);
    }
  });

  // By their length, their first and last character, or as numbers, which engines hash without a seed.
  const alike = [
    (n: number) => `a${String(n * 7).padStart(6, "0")}z`,
    (n: number) => `${n * 4096}`,
    (n: number) => `x${n * 4096}`,
    (n: number) => `${String(n).padStart(6, "0")}:${String(n * 3).padStart(6, "0")}`,
  ];

  test.each([0, 1, 2, 3])("names that fall into one slot of a table (%i)", (index) => {
    const name = alike[index]!;
    const most = some(50, 25);
    const cycle = (size: number, write: (name: string) => string) =>
      repeatedTo(some(200_000, 40_000), Array.from({ length: size }, (_, n) => write(name(n))).join(""));
    expectLinear((size) => urlset(cycle(size, (raw) => `<${raw}/>`)), 40, readXml, most);
    expectLinear((size) => urlset(cycle(size, (raw) => `<${raw}></${raw}>`)), 40, readXml, most);
    expectLinear((size) => urlset(cycle(size, (raw) => `<a ${raw}="1"/>`)), 40, readXml, most);
    expectLinear((size) => urlset(cycle(size, (raw) => `<a xmlns:${raw}="u"/>`)), 40, readXml, most);
    expectLinear((size) => urlset(cycle(size, (raw) => `<a xmlns="${raw}"/>`)), 40, readXml, most);
    expectLinear((size) => cycle(size, (raw) => `User-agent: ${raw}\nCrawl-delay: 1\n`), 40, readRobots, most);
    expectLinear((size) => cycle(size, (raw) => `<link ${raw}=1>`), 40, readHtml, most);
  });

  test("names of attributes and prefixes in one tag", () => {
    for (const name of alike) {
      const attributes = (size: number, before: string) =>
        Array.from({ length: size }, (_, n) => `${before}${name(n).replace(":", "")}="u"`).join(" ");
      expectLinear((size) => urlset(repeatedTo(some(200_000, 40_000), `<a ${attributes(size, "")}/>`)), 60);
      expectLinear((size) => urlset(repeatedTo(some(200_000, 40_000), `<a ${attributes(size, "xmlns:")}/>`)), 60);
      expectLinear(
        (size) => urlset(repeatedTo(some(200_000, 40_000), `<a ${attributes(size, "")}/>`)),
        60,
        readStrictly,
      );
      expectLinear((size) => repeatedTo(some(200_000, 40_000), `<link ${attributes(size, "")}>`), 60, readHtml);
    }
  });

  test("declarations of namespaces that stay in scope", () => {
    const open = (size: number) =>
      Array.from({ length: some(200, 80) }, (_, depth) => {
        const declared = Array.from({ length: size }, (_, n) => `xmlns:${(depth * size + n) * 2048}="u"`).join(" ");
        return `<a ${declared}>`;
      }).join("");
    expectLinear((size) => `<urlset>${open(size)}${"<p:a xmlns:p='x'/>".repeat(some(20_000, 8000))}`, 3);
  });
});

describe("URLs", () => {
  const far = (size: number) => Array.from({ length: size }, (_, n) => String.fromCodePoint(0x4e00 + n * 2)).join("");
  const forms: [name: string, write: (size: number) => string][] = [
    ["a host of many different characters", (size) => `https://${far(size)}/`],
    ["a host of many labels", (size) => `https://${"a.".repeat(size)}/`],
    ["a host of many labels outside of ASCII", (size) => `https://${"é.".repeat(size)}/`],
    ["a host with marks to be put in order", (size) => `https://a${"\u0301\u0323".repeat(size)}/`],
    ["an escaped host", (size) => `https://${encodeURIComponent(far(size / 3))}/`],
    ["a relative host", (size) => `//${far(size)}/`],
    ["user names", (size) => `https://${"@".repeat(size)}a/`],
    ["an address", (size) => `https://[${":1".repeat(size)}]/`],
    ["steps upwards", (size) => `${"../".repeat(size)}a`],
    ["steps down and up", (size) => `https://example.org/${"a/".repeat(size)}${"../".repeat(size)}`],
    ["backslashes", (size) => `https:${"\\".repeat(size)}a`],
    ["slashes", (size) => `https:${"/".repeat(size)}a`],
    ["colons", (size) => `${":".repeat(size)}//a`],
    ["dots", (size) => `${"a.".repeat(size)}com`],
    ["quotes", (size) => `"${'"'.repeat(size)}https://a/"`],
    ["brackets", (size) => `<![CDATA[${"]]>".repeat(size)}`],
    ["blanks", (size) => `https://example.org/${" a".repeat(size)}`],
    ["references", (size) => `https://example.org/${"&amp;".repeat(size)}`],
    ["ampersands", (size) => `https://example.org/${"&".repeat(size)}`],
  ];

  test.each(forms)("%s", (_, write) => {
    const unescaped = (size: number) => write(size).replaceAll("<", "&lt;").replaceAll('"', "&quot;");
    expectLinear((size) => urlset(repeatedTo(total, entry(unescaped(size)))), 30, readXml, 200);
    expectLinear((size) => `https://example.org/\n${repeatedTo(total, `${write(size)}\n`)}`, 30, readText, 200);
    expectLinear((size) => repeatedTo(total, `Sitemap: ${write(size)}\n`), 30, readRobots, 200);
  });
});

describe("lines", () => {
  test.each(["#", " #", ":", "a#", "\t", " ", "\u00a0", "a ", "a:", "*", "$", "%2F", "/"])("%j in a line", (text) => {
    // Each of them behind half of these.
    const isTried = (_: string, n: number) => isLong || (n + text.length + text.charCodeAt(0)) % 2 === 0;
    const fields = ["", "a", "Sitemap: ", "User-agent: ", "Disallow: /", "Crawl-delay: 1"];
    for (const before of fields.filter(isTried)) {
      expectLinear((size) => repeatedTo(total, `${before}${text.repeat(size)}\n`), 100, readRobots, 120);
    }
    const starts = ["", "https://example.org/", '"', "https://example.org/ 2024", "https://example.org/\t"];
    for (const before of starts.filter(isTried)) {
      const build = (size: number) => `https://example.org/\n${repeatedTo(total, `${before}${text.repeat(size)}\n`)}`;
      expectLinear(build, 100, readText, 120);
    }
  });
});

describe("markup", () => {
  const places = [
    "",
    "<urlset>",
    "<urlset><url>",
    "<urlset><url><loc>",
    "<urlset><url><loc>https://example.org/",
    "<urlset><url><lastmod>",
    "<urlset><a b='",
    "<sitemapindex><sitemap>",
    "<rss><channel><item><title>",
    "<urlset></urlset>",
  ];
  // Each of them in half of the places, and in each place half of them, so that kinds of both are together.
  const placesFor = (attack: string) =>
    places.filter((place) => isLong || (place.length + attack.length + attack.charCodeAt(attack.length - 1)) % 2 === 0);

  test.each([
    ...[" ", "<", ">", "&", ";", "]", "-", "7", ".", "%", "/", ":", "\u00a0", "\0", "'", '"', "="],
    ...["<loc>", "</a>", "<a ", "<a b='", '<a b="', "<a b=c ", "<!--", "-->", "<!-- -->", "<![CDATA[", "]]>", "<?"],
    ...["?>", "<?xml ", "<!", "<!DOCTYPE", "&#", "&#1", "&#x", "&amp;", "&a;", "&amp;amp;", "<a></b>", "<a><b>", "</"],
    ...["<url>", "</url>", "<url><loc>", "<a/>", "<A></a>", "<x:y/>", "<a xmlns='b'>", "<a xmlns:b='c'/>", "<url/>"],
  ])(
    "%j, as often as one likes",
    (attack) => {
      for (const place of placesFor(attack)) {
        expectLinear((size) => place + attack.repeat(Math.ceil(size / attack.length)), some(6000, 3000));
      }
      for (const place of ["", "<urlset>", "<urlset><url><loc>"]) {
        expectLinear((size) => place + attack.repeat(Math.ceil(size / attack.length)), some(6000, 3000), readStrictly);
      }
      expectLinear((size) => attack.repeat(Math.ceil(size / attack.length)), some(6000, 3000), readHtml);
    },
    60_000,
  );
});

describe("patterns made up at random", () => {
  // `SITEGROVE_PATTERNS=2000` tries more.
  const count = Number(process.env["SITEGROVE_PATTERNS"] ?? some(60));
  const readers = { xml: readXml, text: readText, robots: readRobots, html: readHtml };

  test(
    "cost no more for each byte where there is more of them",
    () => {
      for (let number = 1; number <= count; number++) {
        const { kind, build, sample } = randomPattern(new Random(number));
        try {
          expectLinear(build, 5000, readers[kind]);
        } catch (cause) {
          throw new Error(`pattern ${number}, ${kind}: ${JSON.stringify(sample)}: ${(cause as Error).message}`, {
            cause,
          });
        }
      }
    },
    60_000 + count * 500,
  );
});
