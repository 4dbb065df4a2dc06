// `sitegrove diff` as a process: every kind of side, every format, every exit code.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { entry as entryAt, index, urlset } from "../support/documents.ts";
import { saidOfChecks as said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { readXml, textsOf } from "../support/xml.ts";
import { jsonLines, launch, onTerminal, shell, sitegrove } from "./program.ts";
import { type Answer, serve } from "./website.ts";

const schema = JSON.parse(readFileSync(path.join(import.meta.dirname, "../../schema/output.json"), "utf8"));
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
ajv.addSchema(schema, "output");
const validate = ajv.getSchema("output#/$defs/changeLine");

const folder = newFolder();
const at = (name: string) => path.join(folder, name);
function file(name: string, content: string | Uint8Array): string {
  writeFileSync(at(name), content);
  return at(name);
}

const entry = (name: string, inside = "") => entryAt(`{base}/${name}`, inside);
const date = (day: number) => `<lastmod>2024-05-${String(day).padStart(2, "0")}</lastmod>`;
const titled = (title: string) =>
  `<n:news xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"><n:title>${title}</n:title></n:news>`;
let isLater = false;
const monday: Record<string, string> = {
  "/robots.txt": "Sitemap: {base}/index.xml\n",
  "/index.xml": index("{base}/a.xml", "{base}/b.xml", "{base}/c.xml"),
  "/a.xml": urlset(entry("blog/1", date(1)), entry("blog/2", date(1)), entry("shop/1", date(1))),
  "/b.xml": urlset(entry("moves"), entry("b")),
  "/c.xml": urlset(entry("c")),
};
const tuesday: Record<string, string> = {
  ...monday,
  "/index.xml": index("{base}/a.xml", "{base}/b.xml", "{base}/d.xml"),
  "/a.xml": urlset(
    entry("blog/1", date(31)),
    entry("blog/2", `${date(31)}<priority>0.9</priority>`),
    entry("moves"),
    entry("blog/3?a=1&amp;b=2", date(31) + titled("Fish &amp; chips")),
  ),
  "/b.xml": urlset(entry("b")),
  "/d.xml": urlset(entry("c")),
};
const answer = (name: string): Answer => {
  return ({ headers }, response) => {
    const body = (isLater ? tuesday : monday)[name];
    response.writeHead(body === undefined ? 404 : 200).end(body?.replaceAll("{base}", `http://${headers.host}`));
  };
};
const site = await serve({
  ...Object.fromEntries(Object.keys({ ...monday, ...tuesday }).map((name) => [name, answer(name)])),
  "/stalls.xml": index("{base}/never.xml"),
  "/never.xml": () => {},
  "/broken.xml": index("{base}/a.xml", "{base}/gone.xml"),
});
for (const [name, later] of [
  ["monday.warc.gz", false],
  ["tuesday.warc", true],
] as const) {
  isLater = later;
  expect(
    (await sitegrove(`ls ${site.homepage} --no-known --no-homepage --save ${at(name)} -o ${at(`${name}.txt`)}`)).code,
  ).toBe(0);
}
const broken = `ls --sitemap ${site.homepage}broken.xml --save ${at("broken.warc.gz")} -o ${at("broken.txt")}`;
expect((await sitegrove(broken)).code).toBe(3);
isLater = false;

const pages = (from: number, count: number) =>
  Array.from({ length: count }, (_, page) => `https://example.org/${page + from}\n`).join("");
const both = () => [at("monday.warc.gz"), at("tuesday.warc")];
const short = (text: string) => text.replaceAll(site.homepage, "/").replaceAll(`${folder}/`, "");

test("the default output is a summary: counts, counts by sitemap and section, changed fields, and examples", async () => {
  const { code, stdout, stderr } = await sitegrove(["diff", ...both()]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(short(stdout)).toBe(`monday.warc.gz → tuesday.warc
6 pages in 4 sitemaps → 6 pages in 4 sitemaps

    1  added
    1  removed
    2  changed: 50% changed only lastModified; --ignore lastModified skips it
    2  moved
    2  sitemaps differ

Sitemaps
  /c.xml  (gone)
  /d.xml  (added)

By sitemap
  added  removed  changed  moved
      1        1        2      1  /a.xml
      0        0        0      1  /d.xml

By section
  added  removed  changed  moved
      1        0        2      0  /blog/
      0        0        0      2  /
      0        1        0      0  /shop/

Added, for example
  /blog/3?a=1&b=2

Removed, for example
  /shop/1

Changed, for example
  /blog/1  (lastModified 2024-05-01 → 2024-05-31)
  /blog/2  (lastModified 2024-05-01 → 2024-05-31; priority none → 0.9)

Moved, for example
  /moves  (from /b.xml to /a.xml)
  /c  (from /c.xml to /d.xml)
`);
});

test("without differences, the summary says so, and the other formats are empty", async () => {
  const same = async (format: string) => {
    const words = ["diff", at("monday.warc.gz"), at("monday.warc.gz"), "--exit-code", "-f", format];
    const { stdout, ...rest } = await sitegrove(words);
    expect(rest).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  for (const format of ["summary", "markdown"]) expect(await same(format)).toContain("\nNo differences.\n");
  expect(await same("ndjson")).toBe("");
  expect((await same("csv")).split("\n")).toHaveLength(2);
  expect(readXml(await same("rss")).children[0]?.children.some(({ name }) => name === "item")).toBe(false);
});

test("-f ndjson writes one change per line, as the schema says", async () => {
  const { stdout } = await sitegrove(["diff", ...both(), "-f", "ndjson"]);
  const lines = jsonLines(stdout);
  for (const line of lines) expect(validate?.(line), JSON.stringify(validate?.errors)).toBe(true);
  expect(lines.map((line) => short(`${line.kind} ${line.change ?? line.page.url}`))).toEqual([
    "sitemap gone",
    "sitemap added",
    "removed /shop/1",
    "changed /blog/1",
    "changed /blog/2",
    "moved /moves",
    "added /blog/3?a=1&b=2",
    "moved /c",
  ]);
  expect(lines[3]).toMatchObject({
    fields: ["lastModified"],
    before: { lastModified: "2024-05-01" },
    page: { lastModified: "2024-05-31" },
  });
});

test("-f csv writes one change per row, which another parser reads back", async () => {
  const { stdout } = await sitegrove(["diff", ...both(), "-f", "csv"]);
  const rows = parse(stdout, { columns: true }) as Record<string, string>[];
  expect(rows).toHaveLength(8);
  expect(rows[4]).toEqual({
    kind: "changed",
    url: `${site.homepage}blog/2`,
    change: "lastModified, priority",
    lastModified: "2024-05-31",
    lastModifiedBefore: "2024-05-01",
    sitemap: `${site.homepage}a.xml`,
    sitemapBefore: `${site.homepage}a.xml`,
    declaredUrl: "",
  });
});

test("-f pages writes the URLs of the kinds chosen with --only", async () => {
  const pages = async (...flags: string[]) =>
    short((await sitegrove(["diff", ...both(), "-f", "pages", ...flags])).stdout);
  expect(await pages("--only", "added")).toBe("/blog/3?a=1&b=2\n");
  expect(await pages("--only", "removed,moved")).toBe("/shop/1\n/moves\n/c\n");
  expect(await pages("--only", "changed", "--ignore", "lastModified")).toBe("/blog/2\n");
  expect(await pages("--only", "changed", "--ignore", "lastModified, priority")).toBe("");
  expect(await pages("--include", "*/blog/*", "--exclude", "/1$/", "--only", "added", "--only", "changed")).toBe(
    "/blog/2\n/blog/3?a=1&b=2\n",
  );
});

test("-f rss writes a feed of new pages that other parsers can read", async () => {
  const { stdout } = await sitegrove(["diff", ...both(), "-f", "rss"]);
  const url = `${site.homepage}blog/3?a=1&b=2`;
  const { name, attributes, children } = readXml(stdout);
  expect({ name, attributes }).toMatchObject({ name: "rss", attributes: { version: "2.0" } });
  const [channel] = children;
  if (channel === undefined) return expect.fail("no channel");
  expect(textsOf(channel)).toMatchObject({ title: `New pages of ${site.homepage}`, link: site.homepage });
  const [item, ...others] = channel.children.filter((child) => child.name === "item").map(textsOf);
  expect(others).toEqual([]);
  expect(item).toMatchObject({ guid: url, title: "Fish & chips", link: url });
  expect(new Date(item?.["pubDate"] ?? "")).toEqual(new Date("2024-05-31"));
});

test("-f markdown writes tables for the summary of a CI run", async () => {
  const { stdout } = await sitegrove(["diff", ...both(), "-f", "markdown"]);
  expect(short(stdout)).toContain("### What changed: `monday.warc.gz` → `tuesday.warc`\n");
  expect(short(stdout)).toContain("| `/a.xml` | 1 | 1 | 2 | 1 |\n");
  expect(short(stdout)).toContain("- `/blog/1`: `lastModified 2024-05-01 → 2024-05-31`\n");
});

test("a website is crawled and compared with an archive or a list", async () => {
  isLater = true;
  const flags = ["--no-known", "--no-homepage", "-f", "ndjson"];
  const live = await sitegrove(["diff", at("monday.warc.gz"), site.homepage, ...flags]);
  const saved = await sitegrove(["diff", ...both(), "-f", "ndjson"]);
  expect(live).toEqual(saved);
  const list = file("list.txt", `${site.homepage}b\n${site.homepage}old\n`);
  const since = await sitegrove(["diff", list, site.homepage, ...flags, "--only", "removed"]);
  expect(short(since.stdout)).toBe('{"kind":"removed","page":{"url":"/old"},"sitemap":"list.txt"}\n');
  isLater = false;
});

test("either side can be standard input or a pipe", async () => {
  const list = file("some.txt", "https://example.org/1\nhttps://example.org/2\n");
  const more = gzipSync("https://example.org/2\nhttps://example.org/3\n");
  expect((await sitegrove(["diff", list, "-", "-f", "pages"], { input: more })).stdout).toBe(
    "https://example.org/1\nhttps://example.org/3\n",
  );
  const piped = `eval "$SITEGROVE" diff <(sort ${list}) <(echo https://example.org/9) -f pages --only added`;
  expect(await shell(piped)).toMatchObject({ stdout: "https://example.org/9\n", code: 0 });
  const archive = await sitegrove(["diff", list, "-"], { input: readFileSync(at("monday.warc.gz")) });
  const stderr = `sitegrove: ${said.archiveOnStandardInput}\n`;
  expect(archive).toEqual({ code: 2, stdout: "", stderr });
});

test("an empty list is no evidence: its pages are unknown, with exit code 3", async () => {
  const list = file("one.txt", "https://example.org/1\n");
  for (const [empty, message] of [
    [file("empty.txt", ""), said.emptyDocument],
    [file("header.csv", "URL,Clicks\n"), said.emptyTable],
  ] as const) {
    const { code, stdout, stderr } = await sitegrove(["diff", list, empty, "-f", "ndjson"]);
    expect({ code, changes: jsonLines(stdout) }).toMatchObject({ code: 3, changes: [{ kind: "unknown" }] });
    expect(short(stderr)).toContain(`sitegrove: ${message(path.basename(empty))}\n`);
  }
});

describe("exit codes", () => {
  test("6 means that there are differences; without --exit-code, it is 0", async () => {
    expect((await sitegrove(["diff", ...both()])).code).toBe(0);
    const { code, stderr } = await sitegrove(["diff", ...both(), "--exit-code"]);
    expect({ code, stderr }).toEqual({ code: 6, stderr: said.differences(8) });
    expect(
      (await sitegrove(`diff ${both().join(" ")} --exit-code --include nothing --ignore sitemap --only changed`)).code,
    ).toBe(0);
  });

  test("3 means that a side is incomplete: what is missing there is unknown, never removed", async () => {
    const { code, stdout, stderr } = await sitegrove(`diff ${at("monday.warc.gz")} ${at("broken.warc.gz")} -f ndjson`);
    expect(code).toBe(3);
    const kinds = jsonLines(stdout).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "unknown").length).toBeGreaterThan(0);
    expect(kinds).not.toContain("removed");
    expect(short(stderr)).toContain(said.notFound("/gone.xml"));
    expect(stderr).toMatch(said.unknownPages);
  });

  test("6 wins over 3, and standard error reports both", async () => {
    const { code, stderr } = await sitegrove(["diff", at("broken.warc.gz"), at("tuesday.warc"), "--exit-code"]);
    expect(code).toBe(6);
    expect(stderr).toContain(said.unreadSitemap);
    expect(stderr).toContain(said.differences(3));
  });

  test("4 means that a website has no sitemap, and the old output is kept", async () => {
    const empty = await serve({ "/": "<!doctype html><title>Empty</title>" });
    const output = file("before.xml", "before");
    const run = await sitegrove(`diff ${at("monday.warc.gz")} ${empty.homepage} -f rss -o ${output} --force`);
    expect(run.code).toBe(4);
    expect(readFileSync(output, "utf8")).toBe("before");
  });

  test("5 means that a website cannot be reached", async () => {
    const nobody = await serve({});
    nobody.close();
    const run = await sitegrove(`diff ${at("monday.warc.gz")} ${nobody.homepage} --retries 0 --exit-code`);
    expect(run.code).toBe(5);
  });

  test("130 means that Ctrl-C ended it, immediately and without leaving temporary files or an output", async () => {
    const place = mkdtempSync(at("temporary-"));
    const list = file("many.txt", pages(0, 1000));
    const asked = site.asked("/never.xml");
    const words = ["diff", list, `${site.homepage}stalls.xml`, "-o", at("stopped.txt"), "-f", "pages"];
    const run = launch(words, { env: { TMPDIR: place } });
    await asked;
    run.kill("SIGINT");
    expect(await run.end).toMatchObject({ code: 130, stdout: "" });
    expect(readdirSync(place)).toEqual([]);
    expect(readdirSync(folder).filter((name) => /stopped|partial/.test(name))).toEqual([]);
  });
});

test.each([
  {},
  { url: "" },
  { url: "https://example.org/1", lastModified: 5 },
  { url: "https://example.org/1", newsStory: { title: 5 } },
  { url: "https://example.org/1", images: [null] },
  { url: "https://example.org/1", alternates: [{ language: 1 }] },
])("NDJSON with a line that is not a page is refused before anything is written: %j", async (page) => {
  const line = (page: object) => `${JSON.stringify({ ...page, sitemap: "https://example.org/a.xml" })}\n`;
  const broken = file("broken.ndjson", line({ url: "https://example.org/0" }) + line(page));
  const run = await sitegrove(["diff", file("nothing.txt", ""), broken, "-f", "rss"]);
  expect(run).toMatchObject({ code: 2, stdout: "" });
});

test("on a terminal, the summary is the same, after live progress", async () => {
  const piped = await sitegrove(["diff", ...both()]);
  const quiet = await onTerminal(`diff ${both().join(" ")} --no-progress`);
  expect(quiet.stdout.replaceAll("\r\n", "\n")).toBe(piped.stdout);
  const lively = (await onTerminal(`diff ${both().join(" ")}`)).stdout.replaceAll("\r\n", "\n");
  expect(lively.replaceAll(/\r\u001b\[2K.*?(?=\r\u001b\[2K)|\r\u001b\[2K/g, "")).toBe(piped.stdout);
});

test("NDJSON files can be compared: their fields count, and the trailer says whether a list is complete", async () => {
  const line = (name: string, more: object = {}) =>
    `${JSON.stringify({ url: `https://example.org/${name}`, ...more, sitemap: "https://example.org/a.xml" })}\n`;
  const one = line("1", { lastModified: "2024-01-01" });
  const old = one + line("2");
  const kinds = async (before: string, after: string) => {
    const words = ["diff", file("old.ndjson", before), file("new.ndjson", after), "-f", "ndjson"];
    const { code, stdout } = await sitegrove(words);
    return { code, changes: jsonLines(stdout).map(({ kind, page }) => `${kind} ${page.url.at(-1)}`) };
  };
  const trailer = (complete: boolean) => `${JSON.stringify({ kind: "finished", complete, pages: 2 })}\n`;
  expect(await kinds(old, old)).toEqual({ code: 0, changes: [] });
  const changed = line("1", { lastModified: "2024-01-02" }) + line("3").trimEnd();
  expect(await kinds(old, changed)).toEqual({ code: 0, changes: ["removed 2", "changed 1", "added 3"] });
  expect(await kinds(old, one + trailer(false))).toEqual({ code: 3, changes: ["unknown 2"] });
  expect(await kinds(old, `${old}${trailer(true)}`)).toEqual({ code: 0, changes: [] });
  const listed = file("old.txt", "https://example.org/1\nhttps://example.org/2\n");
  expect((await sitegrove(["diff", at("old.ndjson"), listed, "--exit-code"])).code).toBe(0);
});
