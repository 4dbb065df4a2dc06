import { describe, expect, test } from "vitest";
import type { AllLimits } from "../../src/model/options.ts";
import { defaultLimits } from "../../src/model/parse-options.ts";
import { type ProblemCode, ProblemLog } from "../../src/model/problem.ts";
import { TextParser } from "../../src/parse/text.ts";
import { inEveryCut } from "../support/cuts.ts";
import { parsed, parsePieces, urlsOf } from "../support/parsed.ts";

/** Reads a text, split in many ways. */
function read(text: string, limits: Partial<AllLimits> = {}, earlier: ProblemCode[] = []) {
  return inEveryCut(text, (pieces) => readPieces(pieces, limits, earlier));
}

function readPieces(pieces: Iterable<string>, limits: Partial<AllLimits> = {}, earlier: ProblemCode[] = []) {
  const problems = new ProblemLog();
  for (const code of earlier) problems.add(code);
  const parser = new TextParser({
    url: "https://example.org/sitemap.txt",
    limits: { ...defaultLimits, ...limits },
    strict: false,
    problems,
  });
  const urls: string[] = [];
  const take = (pages: readonly { url: string }[]) => urls.push(...pages.map((page) => page.url));
  for (const piece of pieces) take(parser.write(piece).pages);
  take(parser.end().pages);
  return {
    urls,
    outcome: parser.outcome,
    stopped: parser.stopped,
    complete: problems.complete,
    problems: problems.toArray().map(({ code, line, count = 1 }) => `${code}:${line}${count > 1 ? ` ×${count}` : ""}`),
  };
}

const [a, b, c] = ["https://example.org/a", "https://example.org/b?x=1&y=2#z", "http://other.example/c"];

// https://www.sitemaps.org/protocol.html#otherformats
//   "The text file must have one URL per line. The URLs cannot contain embedded new lines."
test("spec: there is one URL per line, in the order of the document", () => {
  const expected = { urls: [a, b, c], outcome: { kind: "pages", format: "text" }, complete: true, problems: [] };
  expect(read(`${a}\n${b}\n${c}\n`)).toMatchObject(expected);
  expect(read(`${a}\n${b}\n${c}`)).toMatchObject(expected);
});

test("a page of a text sitemap has only a URL", () => {
  const parser = new TextParser({ url: undefined, limits: defaultLimits, strict: false, problems: new ProblemLog() });
  expect(parser.write(`${a}\n`)).toEqual({ pages: [{ url: a }], sitemaps: [] });
});

describe("line ends", () => {
  test.each([
    ["CR", "\r"],
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["LFCR", "\n\r"],
    ["CRCRLF", "\r\r\n"],
  ])("%s ends a line", (_, end) => {
    expect(read([a, b, c, ""].join(end))).toMatchObject({ urls: [a, b, c], problems: [] });
  });

  test("mixed line endings are counted as in an editor", () => {
    expect(read(`${a}\r\n\r\n${b}\n\rjunk\r${c}`)).toMatchObject({ urls: [a, b, c], problems: ["text-junk:5"] });
  });

  test.each([
    ["U+2028", "\u2028"],
    ["U+2029", "\u2029"],
    ["U+0085", "\u0085"],
    ["a comma", ","],
    ["a comma and a blank", ", "],
    ["a semicolon", ";"],
    ["a bar", " | "],
    ["a bar without blanks", "|"],
  ])("lenient: %s does not end a line, but separates URLs", (_, end) => {
    expect(read(`${a}${end}${b}\n${c}`)).toMatchObject({ urls: [a, b, c], problems: ["text-extra:1"] });
    expect(read(`"${a}"${end}'${b}'\n${c}`)).toMatchObject({ urls: [a, b, c], problems: ["text-extra:1"] });
    expect(read(`https://example.org/x${end}y\n${c}`)).toMatchObject({ urls: [`https://example.org/x${end}y`, c] });
  });

  test("lenient: a comma at the end of a line is not part of its URL", () => {
    expect(read(`${a},\n"${b}",\n${c}`)).toMatchObject({ urls: [a, b, c], problems: ["text-extra:1 ×2"] });
  });

  test.each([
    ["vertical tab", "\v"],
    ["form feed", "\f"],
  ])("%s does not end a line, and makes a URL invalid", (_, end) => {
    expect(read(`${a}${end}${b}\n${c}`)).toMatchObject({ urls: [c], problems: ["url-invalid:1"] });
  });
});

type Row = [what: string, text: string, urls: string[], problems: string[]];
const [d, e] = ["https://example.org/d", "http://other.example/e"];
const lost = "https://example.org/caf\ufffd";

test.each<Row>([
  [
    "lenient: blank lines, white space and byte order marks are ignored",
    `\ufeff${a}\n\n   \n\t${b} \t\n\u00a0${c}\u200b\n\ufeff\n`,
    [a, b, c],
    [],
  ],
  ["lenient: a URL may be enclosed", `"${a}"\n<${b}>\n' ${c} '\n\u201c${d}\u201d`, [a, b, c, d], ["text-extra:1 ×4"]],
  [
    "lenient: bullets and numbers before a URL are ignored",
    `- ${a}\n  * <${b}>\n1. ${c} ${d}\n22) ${e}, 2024-01-01\n\u2022\t${lost}\n- junk\n-${a}`,
    [a, b, c, d, e, lost],
    ["text-extra:1 ×5", "url-damaged:5", "text-junk:6 ×2"],
  ],
  [
    "lenient: a second column after a tab is ignored",
    `${a}\t2024-01-01\t0.5\n"${b}"\tdaily\n${e}\t0.5\n`,
    [a, b, e],
    ["text-extra:1 ×3"],
  ],
  [
    "lenient: several URLs may be separated by tabs",
    `${a}\t${b}\n"${c}"\tThe title\t"${d}"\t0.5\t${e}\n`,
    [a, b, c, d, e],
    ["text-extra:1 ×2"],
  ],
  [
    "lenient: a date and other columns after commas are ignored, but not a number alone",
    `${a},2024-01-01\n${b},2024-01-01T00:00:00Z,daily,0.5\n${c},nId,7\n${d},2024-01-01,x\n`,
    [a, b, `${c},nId,7`, `${d},2024-01-01,x`],
    ["text-extra:1 ×2"],
  ],
  [
    "lenient: so are those after bars",
    `${a}|2024-01-01\n${b}|2024-01-01T00:00:00Z|daily|0.5\n${c}|x\n`,
    [a, b, `${c}|x`],
    ["text-extra:1 ×2"],
  ],
  [
    "lenient: an HTML line break ends a URL",
    `${a}<br>${b}<br/>\n${c}<BR />\n<br>${d}\n`,
    [a, b, c, d],
    ["text-extra:1 ×3"],
  ],
  [
    "lenient: columns in quotes are ignored",
    `"${a}","2024-01-01"\n"${b}",2024-01-01\n"${c}";"A title, with a comma"\t1\n'${d}', x\n${e},"A title"\n`,
    [a, b, c, d, e],
    ["text-extra:1 ×5"],
  ],
  [
    "lenient: several URLs and columns may be in quotes",
    `"${a}","${b}","The title",0.5\n"${c}" "${d}" "The title"\n`,
    [a, b, c, d],
    ["text-extra:1 ×2"],
  ],
  [
    "lenient: a title after a tab and a date after a semicolon are ignored",
    `${a}\tThe title\n${b}\tTitle\n${c}\tx\ty\n"${d}"\ttitle\n${e};2024-01-01;0.5\n`,
    [a, b, c, d, e],
    ["text-extra:1 ×5"],
  ],
  [
    "lenient: a title after a space is ignored if the URL ends like a folder or a file",
    "https://example.org/a.html The title\nhttps://example.org/b/ title\nhttps://example.org/ Dr. A: welcome.\n",
    ["https://example.org/a.html", "https://example.org/b/", "https://example.org/"],
    ["text-extra:1 ×3"],
  ],
  ["a tab inside a URL makes it invalid", `https://example.org/video-\tgame\n${a}\t\n`, [a], ["url-invalid:1"]],
  ["lenient: junk", `Our pages:\n${a}\n# comment\n- \nexample.org/x\n/x\n?\n"\n<>\n${b}\n`, [a, b], ["text-junk:1 ×8"]],
  [
    "URLs with other schemes are skipped",
    `ftp://example.org/\n${a}\nfile:///etc/passwd\nmailto:a@example.org\njavascript:alert(1)\n`,
    [a],
    ["url-scheme:1 ×2", "text-junk:4 ×2"],
  ],
  ["invalid URLs are skipped", `http://\n${a}\nhttps://[::1\nhttp://a b/\n`, [a], ["url-invalid:1 ×3"]],
  ["a URL that lost bytes is kept and reported", `${lost}\n${a}\n`, [lost, a], ["url-damaged:1"]],
  [
    "lenient: one line may have several URLs",
    `${a} ${b}\n"${d}"   <${e}> and ${a}\n`,
    [a, b, d, e],
    ["text-extra:1 ×2", "url-repeated:2"],
  ],
  [
    "lenient: a date, number or change frequency after a space is ignored",
    `${a} 2024-05-31 10:00\n${b} 0.8\n${c} daily\n`,
    [a, b, c],
    ["text-extra:1 ×3"],
  ],
  [
    "any other space is part of the URL",
    "https://example.org/my page.html\nhttps://example.org/New York\nhttps://example.org/a/ b.pdf\nhttps://example.org/a.html b/c\n",
    [
      "https://example.org/my page.html",
      "https://example.org/New York",
      "https://example.org/a/ b.pdf",
      "https://example.org/a.html b/c",
    ],
    [],
  ],
  [
    "lenient: a scheme may be in capitals, or lack a slash",
    "HTTPS://Example.org/A\nhttp:/example.org/b\n",
    ["HTTPS://Example.org/A", "http://example.org/b"],
    ["url-repaired:2"],
  ],
  ["a NUL loses its line", `${a}\0\n\0${b}\n${c}\n`, [c], ["url-invalid:1", "text-junk:2"]],
  ["the first declaration of a page counts", `${a}\n${b}\n${a}\n "${a}"\n${c}\n`, [a, b, c], ["url-repeated:3 ×2"]],
])("%s", (_, text, urls, problems) => {
  expect(read(text)).toMatchObject({ urls, problems, complete: !text.includes(lost) });
});

describe("text that is not a sitemap", () => {
  test("a text without a URL is invalid", () => {
    const { urls, outcome } = read("Sorry, nothing here.\nTry https://example.org/ instead.\n");
    expect(urls).toEqual([]);
    expect(outcome).toMatchObject({ kind: "invalid", reason: { code: "not-a-sitemap" } });
  });

  test.each(["", "\n\n", " \r\n\t\ufeff\n"])("%j is empty", (text) => {
    expect(read(text).outcome).toMatchObject({ kind: "invalid", reason: { code: "empty" } });
  });
});

describe("limits", () => {
  const long = (length: number) => `https://example.org/${"x".repeat(length - 20)}`;

  test("a long URL is kept and reported, one beyond the limit is skipped", () => {
    const limits = { urlLength: 3000 };
    expect(readPieces([`${long(2047)}\n${long(2048)}\n${long(3000)}\n${long(3001)}\n`], limits)).toMatchObject({
      urls: [long(2047), long(2048), long(3000)],
      problems: ["protocol-url-length:2 ×2", "limit-url-length:4"],
    });
  });

  test("an overlong line is skipped, and later lines are kept", () => {
    const text = `${a}\n${"x".repeat(31)}\n${"y".repeat(30)}\n${b}\n${"z".repeat(100)}`;
    expect(read(text, { lineLength: 31 })).toMatchObject({
      urls: [a, b],
      complete: false,
      problems: ["text-junk:2 ×2", "limit-line-length:5"],
    });
    expect(read(text, { lineLength: 30 }).problems).toEqual(["limit-line-length:2 ×3", "text-junk:3"]);
  });

  test("a line of 50 MB is not kept in memory", () => {
    const piece = "x".repeat(64 * 1024);
    const pieces = function* () {
      yield `${a}\n`;
      for (let count = 0; count < 800; count++) yield piece;
      yield `\n${b}\n`;
    };
    expect(readPieces(pieces())).toMatchObject({ urls: [a, b], problems: ["limit-line-length:2"] });
  });

  test("more entries than the protocol allows are read and reported", () => {
    const lines = function* (count: number) {
      for (let index = 0; index < count; index++) yield `https://example.org/${index}\n`;
    };
    const over = readPieces(lines(50_010));
    expect(over.urls.length).toBe(50_010);
    expect(over).toMatchObject({ complete: true, stopped: false, problems: ["protocol-entries:50001"] });
  });

  test("reading stops at the limit of entries", () => {
    expect(read(`${a}\n${a}\n${b}\n${c}\njunk\n`, { documentEntries: 2 })).toMatchObject({
      urls: [a, b],
      outcome: { kind: "pages" },
      stopped: true,
      complete: false,
      problems: ["url-repeated:2", "limit-document-entries:4"],
    });
    expect(read(`${a}\n${b}`, { documentEntries: 2 })).toMatchObject({ stopped: false, complete: true });
    expect(read(`${a}\n`, { documentEntries: 0 })).toMatchObject({ urls: [], stopped: true, complete: false });
  });

  test("every limit set to zero means zero", () => {
    expect(read(`${a}\n`, { urlLength: 0 })).toMatchObject({ urls: [], problems: ["limit-url-length:1"] });
    expect(read(`${a}\n`, { lineLength: 0 })).toMatchObject({ urls: [], problems: ["limit-line-length:1"] });
  });
});

test("the last line of a truncated document is not used, because it may be half a URL", () => {
  expect(read(`${a}\nhttps://example.org/ha`, {}, ["coding-truncated"]).urls).toEqual([a]);
  expect(read(`${a}\n${b}\n`, {}, ["body-short"]).urls).toEqual([a, b]);
  expect(read(`${a}\n${b}`, {}, ["charset-conflict"]).urls).toEqual([a, b]);
});

test("a word is not a relative URL, whatever its first letter", () => {
  const words = ["h", "hello", "howdy/x", "http", "https", "httpx:a", "Hello", "x/y", "/z", "hi.html", "http/a"];
  const result = read(`https://example.org/1\n${words.join("\n")}\nhttps://example.org/2\n`);
  expect(result.urls).toEqual(["https://example.org/1", "https://example.org/2"]);
  expect(result.problems).toEqual([`text-junk:2 ×${words.length}`]);
});

// https://llmstxt.org/
describe("llms.txt", () => {
  test("has links in lists, which are pages with title and section", () => {
    const text = `# Project

> A summary with a [link](https://example.org/none).

Some [text](https://example.org/none).

## Docs
- [Start \\[here\\]](https://example.org/start.md): notes, see [that](https://example.org/none)
* [\`API\` of *x_y*](/api "title")
  1. [](https://example.org/untitled)
- https://example.org/bare
- Docs: **https://example.org/docs**.
- <https://example.org/autolink>: notes, see https://example.org/none
- The API is at https://example.org/none, see [the docs][ Docs ] and [that][none]
- [Now][], and not ![this][none] or [TODO]
- [Lost][nowhere], list[0][1]
- list[0][1]

[ docs ]: <https://example.org/reference> "title"
[docs]: https://example.org/none
[now]: https://example.org/now

- [Again][Now], [none]

## Optional ##
+ [x] [Twice](https://example.org/start.md)
+ [Mail](mailto:a@example.org)
+ [Pairs](https://example.org/a_(b)) (more)
+ [Brackets](<https://example.org/c(>)
+ [Array [1] of [x]](https://example.org/d)
- [![A logo](logo.png)](https://example.org/e)
- **[Bold](https://example.org/bold)**: notes
- ![icon](/none.png) \\[see\\](none): [After text](https://example.org/after), [not this](https://example.org/none)
~~~~md
- [Code](https://example.org/none)
~~~
- [Code](https://example.org/none)
~~~~
`;
    const result = parsed(text);
    expect(result.outcome).toEqual({ kind: "pages", format: "llms" });
    expect(result.pages).toEqual([
      { url: "https://example.org/start.md", newsStory: { title: "Start [here]", section: "Docs" } },
      { url: "https://example.org/api", newsStory: { title: "API of x_y", section: "Docs" } },
      { url: "https://example.org/untitled", newsStory: { section: "Docs" } },
      { url: "https://example.org/bare", newsStory: { section: "Docs" } },
      { url: "https://example.org/docs", newsStory: { section: "Docs" } },
      { url: "https://example.org/autolink", newsStory: { section: "Docs" } },
      { url: "https://example.org/reference", newsStory: { title: "the docs", section: "Docs" } },
      { url: "https://example.org/now", newsStory: { title: "Now", section: "Docs" } },
      { url: "https://example.org/a_(b)", newsStory: { title: "Pairs", section: "Optional" } },
      { url: "https://example.org/c(", newsStory: { title: "Brackets", section: "Optional" } },
      { url: "https://example.org/d", newsStory: { title: "Array [1] of [x]", section: "Optional" } },
      { url: "https://example.org/e", newsStory: { title: "![A logo](logo.png)", section: "Optional" } },
      { url: "https://example.org/bold", newsStory: { title: "Bold", section: "Optional" } },
      { url: "https://example.org/after", newsStory: { title: "After text", section: "Optional" } },
    ]);
    expect(result.problems).toMatchObject([
      { code: "url-relative" },
      { code: "text-extra", line: 11, count: 3 },
      { code: "url-repeated", count: 2 },
      { code: "url-scheme" },
      { code: "text-junk", line: 16, value: "[Lost][nowhere], list[0][1]" },
    ]);
  });

  test("references beyond 10,000 are reported, not kept", () => {
    const items = Array.from({ length: 10_002 }, (_, n) => `- [${n}][]\n`).join("");
    const result = parsePieces([`# T\n- [A](https://example.org/a)\n${items}[10001]: https://example.org/b\n[0]: /c`]);
    expect(urlsOf(result)).toEqual(["https://example.org/a", "https://example.org/c"]);
    expect(result.problems).toMatchObject([
      { code: "text-junk", line: 10_003, count: 10_001 },
      { code: "url-relative" },
    ]);
  });

  test.each<[what: string, text: string, format: string]>([
    ["a comment before URLs", "# all pages\nhttps://example.org/a\n", "text"],
    ["no heading", "- [A](https://example.org/a)\nhttps://example.org/b", "text"],
    ["no section", "# T\r\n- [A](https://example.org/a)", "llms"],
  ])("a document with %s has the right format", (_, text, format) => {
    expect(parsed(text).outcome).toEqual({ kind: "pages", format });
  });
});
