// No input takes more than linear time. Patterns grow in one dimension (the length of a value, the number of different names,
// the depth, the text before the document) and are read at two sizes: a byte must not take longer in the larger one.
// Quadratic time would make it sixteen times as expensive, and backtracking in dates some hundred thousand times.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { brotliCompressSync, constants } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readPageHead } from "../../src/check/pages/page-head.ts";
import { SiteList } from "../../src/cli/fleet/sites.ts";
import { readBaseline, readCheckConfig } from "../../src/cli/input/check-files.ts";
import { read } from "../../src/crawl/read.ts";
import { NdjsonSide } from "../../src/diff/ndjson-side.ts";
import { HomepageLinks } from "../../src/discover/homepage-links.ts";
import { defaultLimits } from "../../src/model/parse-options.ts";
import { ProblemLog } from "../../src/model/problem.ts";
import { parseDate } from "../../src/parse/dates.ts";
import { parseRobots } from "../../src/parse/robots-rules.ts";
import { dearest, growth, type Read, repeatedTo } from "../support/cost.ts";
import { inPieces } from "../support/cuts.ts";
import { entry } from "../support/documents.ts";
import { isLong, some } from "../support/long.ts";
import { parsePieces } from "../support/parsed.ts";
import { Random } from "../support/random.ts";
import { randomPattern } from "../support/random-patterns.ts";
import { newFolder } from "../support/test-folder.ts";

const piecesOf = (text: string) => inPieces(text, some(64 * 1024, 11 * 1024));
const readXml = (text: string) => void parsePieces(piecesOf(text));
const readStrictly = (text: string) => void parsePieces(piecesOf(text), { strict: true });
const readText = (text: string) => void parsePieces(piecesOf(text), { url: "https://example.org/sitemap.txt" });
const readRobots = (text: string) => void parsePieces(piecesOf(text), { url: "https://example.org/robots.txt" });
const readDates = (text: string) => {
  for (const date of text.split("\n\n")) parseDate(date);
};
const readHtml = (text: string) => {
  const html = new HomepageLinks("https://example.org/", new ProblemLog()).html();
  for (const part of piecesOf(text)) html.write(part);
  html.end(false);
};

/** `build` makes a document of which one dimension has this size, or sixteen times this size. */
async function expectLinear(
  build: (size: number) => string,
  size: number,
  read: Read = readXml,
  factor = 16,
  most = dearest,
): Promise<void> {
  const ratio = await growth(build(size), build(size * factor), read, most);
  expect(ratio, "how many times as dear a byte is in the larger document").toBeLessThan(most);
}

// Together with the length of a piece, this keeps the number of pieces the same.
const total = some(60_000, 10_000);
const urlset = (content: string) => `<urlset>${content}</urlset>`;

describe("dates are read in linear time", () => {
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
    "with %j any number of times between their parts",
    async (filler) => {
      for (const parts of skeletons) {
        const build = (size: number) => repeatedTo(total, `${parts.join(filler.repeat(size))}\n\n`);
        // A date is not read beyond this length.
        for (const factor of isLong ? [6, 10, 30] : [30]) await expectLinear(build, 1, readDates, factor);
      }
    },
  );

  test("in a sitemap", async () => {
    const blanks = (size: number) => " ".repeat(size);
    await expectLinear(
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

describe("text before a document is read in linear time", () => {
  test("if it is megabytes of white space", async () => {
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

  test.each([" ", "\n", "\r", "\t", "\0", "\ufeff", "\u00a0", "\u2028", "\ufeff\0", " \0"])("%j", async (blank) => {
    for (const read of isLong ? [readXml, readText, readRobots] : [readXml, readRobots]) {
      const after = read === readXml ? "<urlset/>" : "https://example.org/";
      for (const text of isLong ? ["<urlset/>", "https://example.org/"] : [after]) {
        await expectLinear((size) => blank.repeat(size) + text, some(total, 4000), read);
      }
    }
  });
});

describe("names are read in linear time", () => {
  test("in end tags that match none of a few open elements with long names", async () => {
    // In the larger document, names and end tags have the same number of bytes.
    const depth = some(250, 60);
    const tags = depth * 320;
    for (const letter of isLong ? ["N", "n", "é"] : ["N"]) {
      const open = (length: number) =>
        Array.from({ length: depth }, (_, n) => `<${letter.repeat(length)}${n}>`).join("");
      await expectLinear((size) => `<urlset>${open(size)}${"</a>".repeat(tags)}`, 50);
      await expectLinear((size) => `<urlset>${open(size)}${"<b></a>".repeat(tags / 2)}`, 50);
    }
  });

  test("in end tags that match none of many open elements", async () => {
    for (const tags of isLong ? ["</a>", "<c></a></c>", "<C></c>", "</a ></A>"] : ["</a>", "<C></c>"]) {
      const build = (size: number) => `<urlset>${"<b>".repeat(size)}${tags.repeat(some(40_000, 20_000))}`;
      await expectLinear(build, 15, readXml, 16, 2.5);
    }
  });

  // These collide by their length, by their first and last character, or as numbers, which engines hash without a seed.
  const alike = [
    (n: number) => `a${String(n * 7).padStart(6, "0")}z`,
    (n: number) => `${n * 4096}`,
    (n: number) => `x${n * 4096}`,
    (n: number) => `${String(n).padStart(6, "0")}:${String(n * 3).padStart(6, "0")}`,
  ];

  test.each([0, 1, 2, 3])("if they fall into one slot of a hash table (%i)", async (index) => {
    const name = alike[index]!;
    const most = some(50, 25);
    const cycle = (size: number, write: (name: string) => string) =>
      repeatedTo(some(200_000, 40_000), Array.from({ length: size }, (_, n) => write(name(n))).join(""));
    const uses: [write: (raw: string) => string, read: Read][] = [
      [(raw) => `<${raw}/>`, readXml],
      [(raw) => `<${raw}></${raw}>`, readXml],
      [(raw) => `<a ${raw}="1"/>`, readXml],
      [(raw) => `<a xmlns:${raw}="u"/>`, readXml],
      [(raw) => `<a xmlns="${raw}"/>`, readXml],
      [(raw) => `User-agent: ${raw}\nCrawl-delay: 1\n`, readRobots],
      [(raw) => `<link ${raw}=1>`, readHtml],
    ];
    // Tries half of the uses with each kind of names.
    for (const [write, read] of uses.filter((_, place) => isLong || (place + index) % 2 === 0)) {
      const build = (size: number) => (read === readXml ? urlset(cycle(size, write)) : cycle(size, write));
      await expectLinear(build, 40, read, most);
    }
  });

  test("in the attributes and prefixes of one tag", async () => {
    for (const name of alike) {
      const attributes = (size: number, before: string) =>
        Array.from({ length: size }, (_, n) => `${before}${name(n).replace(":", "")}="u"`).join(" ");
      await expectLinear((size) => urlset(repeatedTo(some(200_000, 40_000), `<a ${attributes(size, "")}/>`)), 60);
      await expectLinear((size) => urlset(repeatedTo(some(200_000, 40_000), `<a ${attributes(size, "xmlns:")}/>`)), 60);
      await expectLinear(
        (size) => urlset(repeatedTo(some(200_000, 40_000), `<a ${attributes(size, "")}/>`)),
        60,
        readStrictly,
      );
      await expectLinear((size) => repeatedTo(some(200_000, 40_000), `<link ${attributes(size, "")}>`), 60, readHtml);
    }
  });

  test("in namespace declarations that stay in scope", async () => {
    const open = (size: number) =>
      Array.from({ length: some(200, 80) }, (_, depth) => {
        const declared = Array.from({ length: size }, (_, n) => `xmlns:${(depth * size + n) * 2048}="u"`).join(" ");
        return `<a ${declared}>`;
      }).join("");
    await expectLinear((size) => `<urlset>${open(size)}${"<p:a xmlns:p='x'/>".repeat(some(20_000, 3000))}`, 3);
  });
});

describe("URLs are read in linear time", () => {
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

  test.each(forms)("with %s", async (_, write) => {
    const unescaped = (size: number) => write(size).replaceAll("<", "&lt;").replaceAll('"', "&quot;");
    await expectLinear((size) => urlset(repeatedTo(total, entry(unescaped(size)))), 30, readXml, 200);
    await expectLinear((size) => `https://example.org/\n${repeatedTo(total, `${write(size)}\n`)}`, 30, readText, 200);
    await expectLinear((size) => repeatedTo(total, `Sitemap: ${write(size)}\n`), 30, readRobots, 200);
  });
});

describe("lines are read in linear time", () => {
  test.each(["#", " #", ":", "a#", "\t", " ", "\u00a0", "a ", "a:", "*", "$", "%2F", "/"])(
    "if they repeat %j",
    async (text) => {
      // Tries half of these fields before each text.
      const isTried = (_: string, n: number) => isLong || (n + text.length + text.charCodeAt(0)) % 2 === 0;
      const fields = ["", "a", "Sitemap: ", "User-agent: ", "Disallow: /", "Crawl-delay: 1"];
      for (const before of fields.filter(isTried)) {
        await expectLinear((size) => repeatedTo(total, `${before}${text.repeat(size)}\n`), 100, readRobots, 120);
      }
      const starts = ["", "https://example.org/", '"', "https://example.org/ 2024", "https://example.org/\t"];
      for (const before of starts.filter(isTried)) {
        const build = (size: number) => `https://example.org/\n${repeatedTo(total, `${before}${text.repeat(size)}\n`)}`;
        await expectLinear(build, 100, readText, 120);
      }
    },
  );

  test.each(["[", "](", "[x](", "[x]", "[[x]", "![x](y)", "[x](<", "[x]( ", "![x](", "\\", "(", "()", " ", "[("])(
    "in an llms.txt that repeats %j",
    async (text) => {
      const start = "# Title\n- [a](https://example.org/)\n";
      const build = (size: number) => `${start}${repeatedTo(total, `- ${text.repeat(size)}\n`)}`;
      await expectLinear(build, 100, readText, 120);
    },
  );
});

describe("markup is read in linear time", () => {
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
  // Tries each attack in a third of the places, so that every kind of attack meets every kind of place.
  const placesFor = (attack: string) =>
    places.filter((place) => isLong || (place.length + attack.length + attack.charCodeAt(attack.length - 1)) % 3 === 0);

  test.each([
    ...[" ", "<", ">", "&", ";", "]", "-", "7", ".", "%", "/", ":", "\u00a0", "\0", "'", '"', "="],
    ...["<loc>", "</a>", "<a ", "<a b='", '<a b="', "<a b=c ", "<!--", "-->", "<!-- -->", "<![CDATA[", "]]>", "<?"],
    ...["?>", "<?xml ", "<!", "<!DOCTYPE", "&#", "&#1", "&#x", "&amp;", "&a;", "&amp;amp;", "<a></b>", "<a><b>", "</"],
    ...["<url>", "</url>", "<url><loc>", "<a/>", "<A></a>", "<x:y/>", "<a xmlns='b'>", "<a xmlns:b='c'/>", "<url/>"],
  ])("with %j any number of times", async (attack) => {
    for (const place of placesFor(attack)) {
      await expectLinear((size) => place + attack.repeat(Math.ceil(size / attack.length)), some(6000, 3000));
    }
    for (const place of isLong ? ["", "<urlset>", "<urlset><url><loc>"] : ["<urlset><url><loc>"]) {
      await expectLinear(
        (size) => place + attack.repeat(Math.ceil(size / attack.length)),
        some(6000, 3000),
        readStrictly,
      );
    }
    await expectLinear((size) => attack.repeat(Math.ceil(size / attack.length)), some(6000, 3000), readHtml);
  });
});

describe("other inputs are read in linear time", () => {
  const folder = newFolder();
  /** Reads the text as a file. A file that is refused was read, too. */
  const inFile =
    (read: (file: string) => unknown): Read =>
    async (text) => {
      const file = path.join(folder, "file");
      writeFileSync(file, text);
      await Promise.resolve()
        .then(() => read(file))
        .catch(() => undefined);
    };
  const readSites = (column?: string) =>
    inFile(async (file) => {
      for await (const _ of new SiteList([], { from: [file], column }));
    });
  const readers = {
    // The last line is the path of a URL.
    "robots rules": (text: string) => {
      const path = text.slice(text.lastIndexOf("\n") + 1);
      parseRobots(`User-agent: *\n${text}`).isAllowed(`https://example.org${path}`, "a");
    },
    "heads of pages": (text: string) => void readPageHead("https://example.org/", [], text),
    "headers of pages": (text: string) =>
      void readPageHead(
        "https://example.org/",
        [
          ["link", text],
          ["x-robots-tag", text],
        ],
        "",
      ),
    ndjson: inFile((file) => new NdjsonSide(file).scan({ add: async () => undefined } as never)),
    "site lists": readSites(),
    "CSV lists": readSites("1"),
    configuration: inFile(readCheckConfig),
    baselines: inFile(readBaseline),
  };
  const rule = (piece: string, url: string) => (size: number) =>
    `Disallow: /${piece.repeat(size)}*0\n/0${url.repeat(size)}`;
  const page = (fields: string) => `{"url":"https://example.org/","sitemap":"s"${fields}}`;
  const setting = (rest: string) => `{"ignore":[{"rule":"url-fragment","reason":"a"${rest}}]}`;

  test.each<[reader: keyof typeof readers, name: string, build: (size: number) => string]>([
    ["robots rules", "wildcards", rule("*a", "a")],
    ["robots rules", "long pieces", (size) => `Disallow: /*b${"a".repeat(size)}\n/b0${"a".repeat(size * 2)}`],
    ["robots rules", "blanks", (size) => `Disallow:${" ".repeat(size)}a\nDisallow${" ".repeat(size)}\n/`],
    ["robots rules", "escapes", rule("*%41", "%41")],
    ["robots rules", "folders", (size) => `Allow: ${"/index.html".repeat(size)}/a\n/`],
    ["heads of pages", "open tags", (size) => "<meta ".repeat(size)],
    ["heads of pages", "quotes", (size) => `<link a='${'" '.repeat(size)}`],
    ["heads of pages", "attributes", (size) => `<link ${"a ".repeat(size)}>`],
    ["heads of pages", "comments", (size) => "<!--->-".repeat(size)],
    ["heads of pages", "scripts", (size) => "<script></script ".repeat(size)],
    ["headers of pages", "blanks", (size) => `<x>;rel=${" ".repeat(size)}`],
    ["headers of pages", "blanks before a name", (size) => `<x>;${" ".repeat(size)}rel`],
    ["headers of pages", "links", (size) => `<x>;rel="a",${" ".repeat(20)}`.repeat(size)],
    ["headers of pages", "words", (size) => `${"noindex ".repeat(size)}:`],
    ["ndjson", "lines", (size) => `${page("")}\n`.repeat(size)],
    ["site lists", "comments", (size) => " #".repeat(size)],
    ["site lists", "blanks", (size) => `${" ".repeat(size)}a\n`.repeat(3)],
    ["site lists", "sites", (size) => "example.org\n".repeat(size)],
    ["CSV lists", "quotes", (size) => `"${'""'.repeat(size)}`],
    ["CSV lists", "cells", (size) => `a,"b",`.repeat(size)],
    ["configuration", "wildcards", (size) => setting(`,"sitemap":"${"a*".repeat(size)}"`)],
    ["configuration", "an unknown key", (size) => `{"${"a".repeat(size)}":1}`],
    ["configuration", "brackets", (size) => `{"rules":${"[".repeat(size)}`],
    ["baselines", "sitemaps", (size) => `{"version":1,"findings":{${'"a":{"b":1},'.repeat(size)}"a":{}}}`],
  ])("%s: %s", async (reader, _, build) => {
    await expectLinear(build, some(2000, 360), readers[reader]);
  });

  // Short inputs are below what can be measured, so quadratic time looks only a few times as expensive, not sixteen times.
  test.each<[reader: keyof typeof readers, name: string, size: number, build: (size: number) => string]>([
    [
      "ndjson",
      "a line of many megabytes",
      some(2_000_000, 300_000),
      (size) => page(`,"lastModified":"${"a".repeat(size)}"`),
    ],
    ["CSV lists", "a quoted cell of many lines", 6, (size) => `"${`${"a".repeat(3000)}\n`.repeat(size)}"`],
  ])("%s: %s", async (reader, _, size, build) => {
    await expectLinear(build, size, readers[reader], 16, 2.5);
  });
});

describe("random patterns", () => {
  // `SITEGROVE_PATTERNS=2000` tries more.
  const count = Number(process.env["SITEGROVE_PATTERNS"] ?? some(60, 6));
  const readers = { xml: readXml, text: readText, robots: readRobots, html: readHtml };

  test("take no more time per byte if there are more of them", async () => {
    for (let number = 1; number <= count; number++) {
      const { kind, build, sample } = randomPattern(new Random(number));
      try {
        await expectLinear(build, 5000, readers[kind]);
      } catch (cause) {
        throw new Error(`pattern ${number}, ${kind}: ${JSON.stringify(sample)}: ${(cause as Error).message}`, {
          cause,
        });
      }
    }
  });
});
