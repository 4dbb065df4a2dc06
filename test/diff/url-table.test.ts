// Tables of URLs as sides of a diff: exports of crawlers, of Search Console and of logs.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { DiffSide } from "../../src/diff/diff-side.ts";
import { diffTrees } from "../../src/diff/diff-trees.ts";
import { urlColumn } from "../../src/diff/url-table.ts";
import type { DiffTotals } from "../../src/model/change.ts";
import { listOf } from "../support/collected.ts";
import { Random } from "../support/random.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();
const home = "https://example.org/";

function file(name: string, content: string | Uint8Array): string {
  const place = path.join(folder, name);
  writeFileSync(place, content);
  return place;
}

const listed = file("listed.txt", `${home}a\n${home}b\n`);
const differences = async (table: DiffSide, column?: string) =>
  (await listOf(diffTrees(table, listed, { column }))).map(
    (change) => change.kind !== "sitemap" && `${change.kind} ${change.page.url.slice(home.length)}`,
  );
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

test.each<[string, string | Uint8Array]>([
  ["frog.csv", `"Address","Content Type","Status Code"\n"${home}a","text/html","200"\n"${home}c","text/html","200"\n`],
  ["marked.csv", `\ufeffAddress,Title\n${home}a,"One, two"\n${home}c,\n`],
  ["console.csv", `Top pages,Clicks,Impressions,CTR,Position\r\n${home}a,5,80,6%,1\r\n${home}c,0,9,0%,7\r\n`],
  ["semicolons.csv", `Page;Clicks\n${home}a;5\n${home}c;6`],
  ["tabs.tsv", `URL\tTitle\n${home}a\tOne\n${home}c\t"Two\nlines"\n`],
  ["utf16.csv", utf16(`Address,Title\r\n${home}a,Äpfel\r\n${home}c,x\r\n`)],
  ["bigendian.csv", utf16(`Address,Title\r\n${home}a,Äpfel\r\n${home}c,x\r\n`).swap16()],
  ["second.csv", `Title,Clicks,URL\nOne,5,${home}a\nTwo,6,${home}c\n`],
  ["one.csv", `loc\n${home}a\n${home}c\n`],
  ["no-header.csv", `5,${home}a\n6,${home}c\n`],
  ["unnamed", `Address,Title\n${home}a,One\n${home}c,Two\n`],
  ["unnamed-uneven", `Title,Page\nOne,${home}a,x\nTwo,${home}c\n`],
  ["unnamed-no-header", `5,${home}a\n6,${home}c,x\n`],
  ["quotes.csv", `URL,Title\n"${home}a","He said ""no"", twice"\n"${home}c",x\n`],
  ["nul.csv", `Title,URL\nOne\0,${home}a\nTwo,${home}c\n`],
  ["excel.csv", `\ufeffsep=;\r\nURL;Clicks, in all\r\n${home}a;5\r\n${home}c;6\r\n`],
  ["excel", `sep=|\nTitle|URL\nOne|${home}a\nTwo, three|${home}c\n`],
  ["own.csv", `url,lastModified,sitemap\n${home}a,,${home}s.xml\n${home}c,,${home}s.xml\n`],
])("the column of URLs is found by its header: %s", async (name, content) => {
  expect(await differences(file(name, content))).toEqual(["removed c", "added b"]);
});

test.each([
  ["UTF-8", Buffer.from(`Address,Title\n${home}a,One\n${home}c,Two\n`)],
  ["UTF-16", utf16(`Address,Title\r\n${home}a,One\r\n${home}c,Two\r\n`)],
])("a stream is recognized as a table, however small its chunks are: %s", async (_, content) => {
  const bytes = Readable.from(Array.from(content, (byte) => Buffer.of(byte)));
  expect(await differences({ name: "standard input", bytes })).toEqual(["removed c", "added b"]);
});

test.each(["URL,n\n", ""])(
  "the first URL of a chosen column may contain a space, after the header %j",
  async (header) => {
    const table = file("spaces.csv", `${header}${home}a b,1\n${home}b,2\n`);
    expect(await differences(table, "1")).toEqual(["removed a b", "added a"]);
  },
);

test("a column is chosen by its name or number", async () => {
  const table = file("redirects.csv", `Source,Target\n${home}x,${home}a\n${home}y,${home}c\n`);
  for (const column of ["Target", "target", "2"])
    expect(await differences(table, column)).toEqual(["removed c", "added b"]);
  // Without a known header, a table is recognized by its rows.
  const unnamed = file("redirects", `Source;Target\n${home}x;${home}a;301\n${home}y;${home}c\n`);
  expect(await differences(unnamed, "Target")).toEqual(["removed c", "added b"]);
});

test.each<[string, string, string | undefined, string]>([
  [
    "without a known column",
    "Title,Clicks\nOne,5\n",
    undefined,
    "none of its columns is known to contain URLs (Title, Clicks)",
  ],
  ["whose column has no URLs", "Page,Clicks\nAbout us,5\n", undefined, 'its column 1 has "About us", not a URL'],
  ["whose column has paths", "Page,Clicks\n/about,5\n", undefined, 'its column 1 has "/about", not a URL'],
  ["whose column is empty", "Page,Clicks\n,5\n,6\n", undefined, "its column 1 is empty"],
  ["without the named column", `URL,Clicks\n${home}a,5\n`, "Address", "it has no column Address (URL, Clicks)"],
  ["without the numbered column", `URL,Clicks\n${home}a,5\n`, "3", "it has no column 3 (URL, Clicks)"],
  ["whose named column is another", `URL,Clicks\n${home}a,5\n`, "Clicks", 'its column 2 has "5", not a URL'],
])("a table %s is an error", async (_, content, column, reason) => {
  const table = file("wrong.csv", content);
  await expect(differences(table, column)).rejects.toMatchObject({
    code: "invalid-file",
    message: `${table} is a table, and ${reason}; name one with --column`,
  });
});

test.each([
  ["code", "let a, b;\nrun(a);\nlet c, d;\n"],
  ["prose", "Dear all,\nsee you, soon, and again.\n"],
  ["a single line", "Title, Clicks"],
])("text with commas is not called a table: %s", async (_, content) => {
  await expect(differences(file("text", content))).rejects.toThrow("is neither an archive nor a sitemap");
});

test("a list of URLs with commas is a list", async () => {
  expect(await differences(file("commas.txt", `${home}a\n${home}b,c;d\n`))).toEqual(["removed b,c;d", "added b"]);
});

test.each([
  ["list.txt", ""],
  ["blank.txt", " \n\n"],
  ["list.csv", ""],
  ["header.csv", "URL,Clicks\n"],
  ["excel-header.csv", "sep=;\nURL;Clicks\n"],
  ["list.ndjson", ""],
])(
  "an empty list or table does not show that pages are gone, or that there were none: %s %j",
  async (name, content) => {
    const empty = file(name, content);
    const stream = { name: "standard input", bytes: Readable.from([Buffer.from(content)]) };
    for (const side of [empty, stream]) {
      let totals: DiffTotals | undefined;
      const kinds = new Set<string>();
      const onFinished = (all: DiffTotals) => {
        totals = all;
      };
      for await (const { kind } of diffTrees(listed, side, { onFinished })) kinds.add(kind);
      expect([...kinds]).toEqual(["unknown"]);
      expect(totals).toMatchObject({ unknown: 2, before: { complete: true }, after: { complete: false } });
    }
    expect(await differences(empty)).toEqual(["unknown a", "unknown b"]);
  },
);

test("a table may be split into chunks anywhere", async () => {
  const random = new Random(7);
  const cells = ['"a ""b"" c"', '"x\r\ny"', "", "plain", '"1,2"'];
  for (let run = 0; run < 50; run++) {
    const end = random.pick(["\n", "\r\n"]);
    const urls = Array.from({ length: 20 }, (_, at) => `${home}${at}`);
    const rows = urls.map((url) => `${random.pick(cells)},${random.below(2) === 0 ? url : `"${url}"`}`);
    const bytes = Buffer.from(`Title,URL${end}${rows.join(end)}${random.below(2) === 0 ? end : ""}`);
    const pieces = async function* () {
      for (let at = 0; at < bytes.length; ) {
        const next = at + 1 + random.below(run < 10 ? 2 : 40);
        yield bytes.subarray(at, next);
        at = next;
      }
    };
    const found = (await listOf(urlColumn("t.csv", pieces()))).map((piece) => Buffer.from(piece).toString()).join("");
    expect(found).toBe(`${urls.join("\n")}\n`);
  }
});

test("an unclosed quote loses no row", async () => {
  const rows = Array.from({ length: 150 }, (_, at) => `${home}${at},${at === 3 ? '"12 inch' : "x"}`);
  const bytes = async function* () {
    yield Buffer.from(["URL,Title", ...rows].join("\n"));
  };
  const column = Buffer.concat(await listOf(urlColumn("stray.csv", bytes()))).toString();
  expect(column.trim().split("\n")).toEqual(rows.map((_, at) => `${home}${at}`));
});
