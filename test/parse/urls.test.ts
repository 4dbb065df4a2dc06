// The URLs of a document: each is one page, the first declaration counts.
import { expect, test } from "vitest";
import { entry, richUrlset as urlset } from "../support/documents.ts";
import { some } from "../support/long.ts";
import { parsed, parsePieces, urlsOf } from "../support/parsed.ts";

const read = (...urls: string[]) => parsed(urlset(...urls.map((url) => entry(url))));

test("the first declaration of a URL counts, however it is written", () => {
  const [a, b, c] = ["https://example.org/a", "https://example.org/b", "https://example.org/c"];
  const result = read(a, b, a, "../b", "../c", c);
  expect(urlsOf(result)).toEqual([a, b, c]);
  expect(result.problems).toMatchObject([
    { code: "url-repeated", value: a, count: 3 },
    { code: "url-relative", value: "../c" },
  ]);
});

test("an invalid URL is noticed even if its origin is already known", () => {
  const invalid = ["/a\tb", "/\u007f", ":99999/", ":x/", "]/"].map((rest) => `https://example.org${rest}`);
  const result = read("https://example.org/", ...invalid, "https://example.org/\ufffd", "https://example.org/a]]&gt;");
  expect(urlsOf(result)).toEqual(["https://example.org/", "https://example.org/\ufffd", "https://example.org/a"]);
  expect(result.problems).toMatchObject([
    { code: "url-invalid", count: invalid.length },
    { code: "url-damaged" },
    { code: "url-repaired" },
  ]);
});

test("many similar URLs are each listed once", () => {
  const count = some(300_000, 40_000);
  const url = (index: number) => `https://example.org/${index % 600}/${Math.trunc(index / 600)}\n`;
  const all = Array.from({ length: count }, (_, index) => url(index));
  const result = parsePieces([all.join(""), all.slice(0, 10_000).join("")]);
  expect(result.pages).toHaveLength(count);
  expect(result.problems).toContainEqual(expect.objectContaining({ code: "url-repeated", count: 10_000 }));
});

test("lenient: a doubled scheme and a Markdown link are repaired and reported", () => {
  const schemes = ["https://https://", "http://https://", "http://https//", "HTTP://http://https://"];
  const forms = [
    ...schemes.map((start) => `${start}a.example/1`),
    ...["[https://a.example/1](https://a.example/2)", "[The (second) page](https://a.example/2_(x))"],
    ...["[](https://a.example/3)", "&lt;http://https://a.example/4&gt;"],
  ];
  const result = read("https://a.example/0", ...forms);
  expect(urlsOf(result)).toEqual(["0", "1", "2", "2_(x)", "3", "4"].map((path) => `https://a.example/${path}`));
  expect(result.problems).toMatchObject([
    { code: "url-repaired", count: 5 },
    { code: "url-repeated", count: 3 },
  ]);
});

test("lines that cannot be repaired are skipped", () => {
  const forms = [
    ...["https://https://", "http://http:///a", "http://http//http//a.example/", "http://https://[/"],
    ...["[a](https://a.example/", "[[a](https://a.example/)", "[a](https://a.example/ b)"],
    "[![a](https://a.example/)](https://b.example/)",
  ];
  const result = read("https://a.example/0", ...forms);
  expect(urlsOf(result)).toEqual(["https://a.example/0"]);
  expect(result.codes).toEqual(["url-invalid"]);
});

test.each(["::", ":::", ":.", ".", ";", ",", "", ": ", " :", " : "])(
  "lenient: %j between the scheme and the document's own host is repaired and reported; another host is not guessed",
  (mark) => {
    for (const slashes of ["//", "///", "\\\\", "// "]) {
      for (const scheme of ["http", "HTTPS"]) {
        const result = read(`${scheme}${mark}${slashes}www.example.org/1`, `${scheme}${mark}${slashes}other.example/1`);
        expect(urlsOf(result)).toEqual([`${scheme.toLowerCase()}://www.example.org/1`]);
        expect(result.codes).toEqual(["url-repaired", "url-invalid"]);
      }
    }
  },
);

test.each(["()", "[]", "{}", "``", '""', "''"])("lenient: a URL in %s is repaired and reported", (pair) => {
  const result = read(`${pair[0]}https://example.org/1${pair[1]}`);
  expect(urlsOf(result)).toEqual(["https://example.org/1"]);
  expect(result.codes).toEqual(["url-repaired"]);
});

test("a host name without a scheme is not a page of this website", () => {
  const hosts = ["other.com\\1", "other.com/1", "other.org\\a\\b", "other.de/1", "other.co.uk/1", "other.io\\1"];
  hosts.push("www.other.com\\1");
  expect(read(...hosts)).toMatchObject({ pages: [], problems: [{ code: "url-invalid", count: hosts.length }] });
  const paths = ["v1.2/x", "index.php/x", "page.html", "about.pl/x?y=1", "docs/a.de/c", "a\\b"];
  expect(read(...paths)).toMatchObject({ problems: [{ code: "url-relative", count: paths.length }] });
});
