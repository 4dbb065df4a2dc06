// Which character set a document is in, and what becomes of bytes that are not valid in it.
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProblemLog } from "../../src/model/problem.ts";
import { CharsetDecoder } from "../../src/open/charset.ts";
import { OpenedDocument } from "../../src/open/open-document.ts";
import { anyText } from "../support/any-text.ts";
import { some } from "../support/long.ts";
import { words } from "../support/words.ts";
import { cut, opened, openedInEveryCut, sitemap } from "./opened.ts";

const loc = "https://example.org/caf\u00E9/\u65E5\u672C\u8A9E/\u{1F333}";
const text = `<urlset><url><loc>${loc}</loc></url></urlset>`;
const declared = (name: string, content = text) => `<?xml version="1.0" encoding="${name}"?>${content}`;

function utf16be(content: string): Buffer {
  return Buffer.from(content, "utf16le").swap16();
}

function utf32le(content: string): Buffer {
  return Buffer.from(Uint32Array.from([...content], (character) => character.codePointAt(0)!).buffer);
}

describe("spec: the byte order mark wins, then HTTP, then the XML declaration, then UTF-8", () => {
  test("a UTF-8 byte order mark is not part of the text", async () => {
    const content = declared("UTF-8");
    expect(await openedInEveryCut(Buffer.from(`\uFEFF${content}`))).toMatchObject({ text: content, codes: [] });
    const spaced = `${" \r\n\t".repeat(30)}${content}`;
    expect(await openedInEveryCut(Buffer.from(`\uFEFF${spaced}`))).toMatchObject({ text: spaced, codes: [] });
    expect(await openedInEveryCut(Buffer.from(spaced))).toMatchObject({ text: spaced, codes: [] });
  });

  test.each([
    ["UTF-16LE with a mark", (content: string) => Buffer.from(`\uFEFF${content}`, "utf16le")],
    ["UTF-16BE with a mark", (content: string) => utf16be(`\uFEFF${content}`)],
    ["UTF-16LE without one", (content: string) => Buffer.from(content, "utf16le")],
    ["UTF-16BE without one", (content: string) => utf16be(content)],
  ])("%s is recognized", async (_, encode) => {
    const list = "https://example.org/\nhttps://\u00E9";
    for (const content of [declared("UTF-16"), text, `\n ${declared("utf-16")}`, list]) {
      expect(await openedInEveryCut(encode(content))).toMatchObject({ text: content, codes: [] });
    }
    expect(await opened(encode(text), { contentType: "text/xml; charset=utf-16" })).toMatchObject({ text, codes: [] });
  });

  test("UTF-16 is read if only the HTTP header names it", async () => {
    const content = "\u65E5\u672C\u8A9E\u3067\u3059";
    for (const [charset, bytes] of [
      ["utf-16le", Buffer.from(content, "utf16le")],
      ["UTF-16BE", utf16be(content)],
    ] as const) {
      const contentType = `text/plain; charset="${charset}"`;
      expect(await openedInEveryCut(bytes, { contentType })).toMatchObject({ text: content, codes: [] });
    }
  });

  test.each([
    ["ISO-8859-1", "caf\u00E9", [0x63, 0x61, 0x66, 0xe9]],
    ["windows-1252", "\u20ACuro\u201D", [0x80, 0x75, 0x72, 0x6f, 0x94]],
    ["us-ascii", "\u2019", [0x92]],
    ["Shift_JIS", "\u65E5\u672C", [0x93, 0xfa, 0x96, 0x7b]],
    ["GB2312", "\u4E2D\u6587", [0xd6, 0xd0, 0xce, 0xc4]],
    ["gb18030", "\u{1F37F}", [0x94, 0x39, 0xbc, 0x35]],
    ["KOI8-R", "\u0434\u0430", [0xc4, 0xc1]],
    ["EUC-KR", "\uD55C", [0xc7, 0xd1]],
    ["Big5", "\u4E2D", [0xa4, 0xa4]],
    ["EUC-JP", "\u65E5", [0xc6, 0xfc]],
    ["windows-1251", "\u0434", [0xe4]],
    ["ISO-8859-15", "\u20AC", [0xa4]],
  ])("%s is read, whether declared or named in the header", async (name, content, bytes) => {
    const body = Buffer.concat([Buffer.from(declared(name, "<a>")), Buffer.from(bytes), Buffer.from("</a>")]);
    expect(await openedInEveryCut(body)).toMatchObject({ text: declared(name, `<a>${content}</a>`), codes: [] });
    const bare = Buffer.concat([Buffer.from("<a>"), Buffer.from(bytes), Buffer.from("</a>")]);
    const contentType = `application/xml;charset=${name}`;
    expect(await openedInEveryCut(bare, { contentType })).toMatchObject({ text: `<a>${content}</a>`, codes: [] });
  });

  test("windows-1252 is never read as ISO-8859-1, in documents of any size", async () => {
    const body = Buffer.concat([Buffer.from(declared("windows-1252", "")), Buffer.alloc(100_000, 0x80)]);
    expect((await opened(body)).text.slice(-100_000)).toBe("\u20AC".repeat(100_000));
    expect((await opened(body.subarray(0, 60))).text.endsWith("\u20AC")).toBe(true);
  });
});

describe("conflicting character sets", () => {
  test("lenient: a byte order mark overrides header and declaration", async () => {
    const body = Buffer.from(`\uFEFF${declared("ISO-8859-1", "<a>\u00E9</a>")}`);
    const result = await openedInEveryCut(body, { contentType: "text/xml; charset=koi8-r" });
    expect(result.text).toContain("<a>\u00E9</a>");
    expect(result.codes).toEqual(["charset-conflict"]);
    expect(result.problems[0]?.value).toBe(
      "byte order mark: utf-8, Content-Type: koi8-r, XML declaration: iso-8859-1; read as utf-8",
    );
  });

  test.each([
    ["lenient: the header is stronger than the declaration", "UTF-8", "utf8", ["charset-conflict"]],
    ["two names of one character set are no conflict", "windows-1252", "latin1", []],
    ["lenient: a name that is not known is skipped", "bogus", "latin1", ["charset-conflict"]],
  ] as const)("%s", async (_, name, encoding, codes) => {
    const body = Buffer.from(declared("ISO-8859-1", "<a>\u00E9</a>"), encoding);
    const result = await openedInEveryCut(body, { contentType: `text/xml; charset=${name}` });
    expect(result.text).toContain("<a>\u00E9</a>");
    expect(result.codes).toEqual(codes);
  });

  test("lenient: an unknown declared character set is ignored", async () => {
    const bogus = declared("bogus", "<a>\u00E9</a>");
    expect(await opened(Buffer.from(bogus))).toMatchObject({ text: bogus, codes: ["charset-conflict"] });
  });

  describe("lenient: a header with ISO-8859-1, which servers send by default, has less weight than the document", () => {
    const contentType = (name: string) => ({ contentType: `text/plain; charset=${name}` });
    const ascii = `${"https://example.org/\n".repeat(2000)}`;
    const [own, later] = ["https://example.org/caf\u00E9", `${ascii}https://example.org/caf\u00E9`];

    test.each(["ISO-8859-1", "windows-1252", "us-ascii", "latin1"])("%s, for a document in UTF-8", async (name) => {
      for (const content of [own, later, declared("UTF-8"), declared("bogus"), declared("UTF-7"), text]) {
        const result = await openedInEveryCut(Buffer.from(content), contentType(name));
        expect(result).toMatchObject({ text: content, codes: ["charset-conflict"] });
        expect(result.problems[0]?.value).toMatch(/^Content-Type: .*; read as utf-8$/);
      }
    });

    test("a document that is not UTF-8 is read as the header says, even if it declares UTF-8", async () => {
      for (const content of [own, later, `${own}\u00C3\u00A9`]) {
        const result = await openedInEveryCut(Buffer.from(content, "latin1"), contentType("iso-8859-1"));
        expect(result).toMatchObject({ text: content, codes: [] });
      }
      const wrong = declared("UTF-8", "<a>\u00E9</a>");
      expect(await openedInEveryCut(Buffer.from(wrong, "latin1"), contentType("iso-8859-1"))).toMatchObject({
        text: wrong,
        codes: ["charset-conflict"],
      });
    });

    test("the first character that is not ASCII decides; later ones that do not fit are replaced and counted", async () => {
      const body = Buffer.concat([Buffer.from(later), Buffer.from([0xe9, 0x0a])]);
      const { codes, text } = await openedInEveryCut(body, contentType("iso-8859-1"));
      expect(codes).toEqual(["charset-conflict", "charset-invalid"]);
      expect(text).toBe(`${later}\uFFFD\n`);
    });

    test("an ASCII document is no conflict, unless its declaration differs", async () => {
      expect(await openedInEveryCut(Buffer.from(ascii), contentType("iso-8859-1"))).toMatchObject({ codes: [] });
      const content = declared("UTF-8", "<a/>");
      const { codes } = await openedInEveryCut(Buffer.from(content), contentType("iso-8859-1"));
      expect(codes).toEqual(["charset-conflict"]);
    });

    test("a document that declares another character set is read as declared", async () => {
      const body = Buffer.concat([Buffer.from(declared("KOI8-R", "<a>")), Buffer.from([0xc4, 0xc1])]);
      expect(await openedInEveryCut(body, contentType("iso-8859-1"))).toMatchObject({
        text: declared("KOI8-R", "<a>\u0434\u0430"),
        codes: ["charset-conflict"],
      });
      const both = Buffer.from(declared("ISO-8859-1", "<a>\u00C3\u00A9"), "latin1");
      expect(await openedInEveryCut(both, contentType("iso-8859-1"))).toMatchObject({ codes: [] });
      expect((await opened(both, contentType("iso-8859-1"))).text).toContain("\u00C3\u00A9");
    });
  });

  test("lenient: UTF-16, UTF-32 and EBCDIC are not believed if a document begins in ASCII", async () => {
    const codes = ["charset-conflict"];
    for (const name of words("UTF-16 utf-16le UTF-16BE UTF-32 ucs-2 ISO-10646-UCS-4 ebcdic-cp-us IBM037")) {
      const content = declared(name);
      expect(await openedInEveryCut(Buffer.from(content))).toMatchObject({ text: content, codes });
      const contentType = `text/xml; charset=${name}`;
      expect(await opened(Buffer.from(text), { contentType })).toMatchObject({ text, codes });
    }
  });

  test("lenient: UTF-8 is not believed if a document is in UTF-16", async () => {
    const content = declared("UTF-8");
    const contentType = "text/xml; charset=utf-8";
    for (const body of [Buffer.from(content, "utf16le"), utf16be(content), utf16be(`\uFEFF${content}`)]) {
      const codes = ["charset-conflict"];
      expect(await openedInEveryCut(body, { contentType })).toMatchObject({ text: content, codes });
    }
  });

  test("a declaration that is cut off, or not at the start, is ignored", async () => {
    const cutOff = '<?xml version="1.0" encoding="koi8';
    for (const content of [cutOff, `<a/>${declared("koi8-r")}`, "<?xml encoding=koi8-r?>"]) {
      expect(await openedInEveryCut(Buffer.from(content))).toMatchObject({ text: content, codes: [] });
    }
  });
});

describe("character sets that are refused", () => {
  const ebcdic = Buffer.from([0x4c, 0x6f, 0xa7, 0x94, 0x93, 0x40, 0xa5, 0x85, 0x99]);
  test.each([
    ["UTF-32LE", utf32le(text), undefined, "utf-32le"],
    ["UTF-32LE with a mark", utf32le(`\uFEFF${text}`), undefined, "utf-32le"],
    ["UTF-32BE", utf32le(text).swap32(), undefined, "utf-32be"],
    ["UTF-32BE with a mark", utf32le(`\uFEFF${text}`).swap32(), undefined, "utf-32be"],
    ["EBCDIC", ebcdic, undefined, "ebcdic"],
    ["EBCDIC that the header names", Buffer.from([0x88, 0xa3, 0xa3, 0x97]), "text/plain; charset=IBM037", "ibm037"],
    ["UTF-7 with a mark", Buffer.from("+/v8-<a/>"), undefined, "utf-7"],
    ["UTF-7 that is declared", Buffer.from(declared("UTF-7", "<a/>")), undefined, "utf-7"],
    ["UTF-7 that the header names", Buffer.from("<a/>"), "text/xml; charset=utf-7", "utf-7"],
  ])("%s", async (_, body, contentType, value) => {
    const result = await openedInEveryCut(body, { contentType });
    expect(result).toMatchObject({ text: "", codes: [], refusal: { code: "charset-unsupported", value } });
    expect(await opened(gzipSync(body), { contentType })).toMatchObject({ text: "", refusal: { value } });
  });
});

/** Expects the same text, whether the bytes come whole or are split at these places. */
function decodedAlike(create: () => CharsetDecoder, body: Uint8Array, places: number[]): string {
  const whole = create();
  const text = `${whole.write(body)}${whole.end()}`;
  const pieces = create();
  const cuts = places.map((place) => Math.min(place, body.length));
  const written = cut(body, cuts).map((piece) => pieces.write(piece));
  expect(`${written.join("")}${pieces.end()}`).toBe(text);
  expect(pieces.replaced).toBe(whole.replaced);
  return text;
}

describe("invalid bytes", () => {
  test.each([
    ["an overlong NUL", [0xc0, 0x80], 2],
    ["a surrogate", [0xed, 0xa0, 0x80], 3],
    ["a lone continuation", [0x80], 1],
    ["an overlong slash", [0xe0, 0x80, 0xaf], 3],
    ["above U+10FFFF", [0xf4, 0x90, 0x80, 0x80], 4],
    ["a byte that is never used", [0xff], 1],
    ["a character that is cut", [0xe6, 0x97], 1],
  ])("lenient: %s is replaced and counted", async (_, bytes, count) => {
    const body = Buffer.concat([Buffer.from("<a>\u00E9"), Buffer.from(bytes), Buffer.from("</a>")]);
    const result = await openedInEveryCut(body);
    expect(result).toMatchObject({ text: `<a>\u00E9${"\uFFFD".repeat(count)}</a>`, complete: true });
    expect(result.problems).toEqual([
      expect.objectContaining({ code: "charset-invalid", value: "utf-8", ...(count > 1 ? { count } : {}) }),
    ]);
  });

  test("lenient: a character that is cut off at the end is replaced and counted", async () => {
    const body = Buffer.from("<a>\u65E5").subarray(0, -1);
    expect(await openedInEveryCut(body)).toMatchObject({ text: "<a>\uFFFD", codes: ["charset-invalid"] });
    const half = Buffer.from("\uFEFF<a>", "utf16le").subarray(0, -1);
    expect(await openedInEveryCut(half)).toMatchObject({ text: "<a\uFFFD", codes: ["charset-invalid"] });
  });

  test("a replacement character that the website sent is not counted", async () => {
    expect(await openedInEveryCut(Buffer.from("<a>\uFFFD</a>"))).toMatchObject({ text: "<a>\uFFFD</a>", codes: [] });
    const both = Buffer.concat([Buffer.from("\uFFFD"), Buffer.from([0xff]), Buffer.from("\uFFFD")]);
    const { text: read, problems } = await openedInEveryCut(both);
    expect(read).toBe("\uFFFD\uFFFD\uFFFD");
    expect(problems).toEqual([expect.not.objectContaining({ count: expect.anything() })]);
  });

  test("lenient: bytes that another character set does not define are counted, too", async () => {
    const body = Buffer.concat([Buffer.from(declared("Shift_JIS", "<a>")), Buffer.from([0x81, 0xff, 0x62])]);
    const { text: read, problems } = await openedInEveryCut(body);
    expect(read).toContain("<a>\uFFFD");
    expect(problems).toMatchObject([{ code: "charset-invalid", value: "shift_jis" }]);
  });

  test("NUL bytes are passed on", async () => {
    const content = "https://example.org/\0a\nhttps://example.org/b\0\n";
    expect(await openedInEveryCut(Buffer.from(content))).toMatchObject({ text: content, codes: [] });
  });

  test("UTF-8 is decoded as TextDecoder does, however it is split", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      anyText({ maxLength: 20 }).map((content) => new Uint8Array(Buffer.from(content))),
      fc
        .array(fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xe2, 0xef, 0xbb, 0xbf, 0xf0, 0x9f, 0x8c, 0xb3))
        .map((list) => Uint8Array.from(list)),
    );
    fc.assert(
      fc.property(bytes, fc.array(fc.nat({ max: 40 }), { maxLength: 6 }), (body, places) => {
        const expected = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
        expect(decodedAlike(() => new CharsetDecoder(), body, places)).toBe(expected);
      }),
      { numRuns: some(150) },
    );
  });

  const others = words("utf-16le utf-16be windows-1252 shift_jis euc-jp gbk gb18030 big5 euc-kr iso-2022-jp");
  test.each(others)("%s is decoded the same, however it is split", (charset) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), fc.array(fc.nat({ max: 30 }), { maxLength: 6 }), (body, places) => {
        decodedAlike(() => new CharsetDecoder(charset), body, places);
      }),
      { numRuns: 60 },
    );
  });
});

test("a split character that turns out to be invalid just before the end does not throw", () => {
  for (const charset of ["gb18030", "shift_jis", "euc-jp", "big5", "euc-kr", "iso-2022-jp", "utf-16le"]) {
    for (const body of [
      [0x81, 0x30, 0],
      [0x81, 0x30, 0x81, 0x3c],
      [0x8f, 0xa1, 0x3c],
      [0x1b, 0x24, 0x42, 0x30, 0],
    ]) {
      const bytes = Uint8Array.from([...Array(20).fill(0x20), ...body]);
      for (let at = 0; at < bytes.length; at += 1) decodedAlike(() => new CharsetDecoder(charset), bytes, [at]);
    }
  }
});

test("the text comes in strings of moderate size, whatever the size of the chunks", async () => {
  const body = Buffer.from(sitemap(20_000));
  for (const size of [100, 1400, 65_536, body.length]) {
    const places = Array.from({ length: Math.floor(body.length / size) }, (_, index) => index * size);
    const lengths: number[] = [];
    const options = { maxBytes: body.length, encodingLayers: 3, problems: new ProblemLog() };
    for await (const piece of new OpenedDocument(cut(body, places), options)) lengths.push(String(piece).length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(224 * 1024);
    expect(Math.min(...lengths.slice(0, -1))).toBeGreaterThanOrEqual(16 * 1024 - 3);
  }
});
