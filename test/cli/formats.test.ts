// Each format is read back by a parser of its own.
import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { index, urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { steering } from "../write/hostile.ts";
import { type Ended, jsonLines, sitegrove } from "./program.ts";
import { serve } from "./website.ts";

const schema = JSON.parse(readFileSync(path.join(import.meta.dirname, "../../schema/output.json"), "utf8"));
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
ajv.addSchema(schema, "output");
function expectPrintable({ stdout, stderr }: Ended): void {
  for (const line of `${stdout}${stderr}`.split("\n")) expect(line.replace(/^\t+/, "")).not.toMatch(steering);
}
function expectValid(value: unknown, name: string): void {
  const validate = ajv.getSchema(`output#/$defs/${name}`);
  expect(validate?.(value), JSON.stringify(validate?.errors?.slice(0, 3))).toBe(true);
}

const hostileTitle = '=cmd("\u202e\u009b31m\u2028"), \u001b[2J';
const site = await serve({
  "/robots.txt": "Sitemap: {base}/index.xml.gz\nSitemap: {base}/moved.xml\n",
  "/moved.xml": (request, response) => {
    response.writeHead(301, { location: `http://${request.headers.host}/plain.txt` }).end();
  },
  "/plain.txt": "{base}/t1\n{base}/t2\n",
  "/rich.xml": urlset(
    "<url><loc>{base}/a?x=1&amp;y=2</loc><lastmod>2024-05-06</lastmod><priority>0.8</priority></url>",
    '<url><loc>{base}/b</loc><n:news xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"><n:title>Storm, again</n:title></n:news>' +
      '<i:image xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"><i:loc>{base}/i.png</i:loc></i:image></url>',
  ),
  "/feed.rss": `<rss version="2.0"><channel><item><link>{base}/story</link><title><![CDATA[${hostileTitle}]]></title></item></channel></rss>`,
  "/cut.xml": "<urlset><url><loc>{base}/kept</loc></url><url><loc>{base}/lo",
  "/sitemap.xml": index("{base}/rich.xml", "{base}/feed.rss", "{base}/cut.xml", "{base}/gone.xml"),
});

const sitemaps = () => ["--sitemap", `${site.homepage}sitemap.xml`, "--sitemap", `${site.homepage}moved.xml`];
const allPages = ["a?x=1&y=2", "b", "story", "kept", "t1", "t2"];

test("tabtree shows the tree, indented with tabs, and says why something is missing", async () => {
  const end = await sitegrove(["ls", ...sitemaps(), "-u", "-vv"]);
  expectPrintable(end);
  const { stdout, code } = end;
  expect(stdout).toBe(
    [
      site.homepage,
      "\t/sitemap.xml",
      "\t\t/rich.xml",
      "\t\t\t/a?x=1&y=2",
      "\t\t\t/b",
      "\t\t/feed.rss",
      "\t\t\t/story",
      "\t\t/cut.xml (incomplete: The file is cut off at line 1)",
      "\t\t\t/kept",
      "\t\t/gone.xml (not read: Not found (404))",
      "\t/plain.txt",
      "\t\t/t1",
      "\t\t/t2",
      "",
    ].join("\n"),
  );
  expect(code).toBe(3);
});

test("pages is one URL per line", async () => {
  const end = await sitegrove(["ls", ...sitemaps(), "-f", "pages"]);
  expectPrintable(end);
  expect(end).toMatchObject({ code: 3, stdout: allPages.map((page) => `${site.homepage}${page}\n`).join("") });
});

test("pages-json is an array of the same URLs, even if there are none, and lists the sitemaps of an index", async () => {
  const end = await sitegrove(["ls", ...sitemaps(), "-f", "pages-json", "-u"]);
  expectPrintable(end);
  expect(JSON.parse(end.stdout)).toEqual(allPages.map((page) => `/${page}`));
  expect(end.code).toBe(3);
  const none = await sitegrove(["ls", ...sitemaps(), "-f", "pages-json", "--include", "nowhere"]);
  expect(JSON.parse(none.stdout)).toEqual([]);
  const input = index("http://e/a", "http://e/b");
  const named = await sitegrove(["parse", "-", "-f", "pages-json"], { input });
  expect(JSON.parse(named.stdout)).toEqual(["http://e/a", "http://e/b"]);
});

test("json is one document that matches its schema", async () => {
  const end = await sitegrove(["ls", ...sitemaps(), "-f", "json"]);
  expectPrintable(end);
  const tree = JSON.parse(end.stdout);
  expectValid(tree, "tree");
  expect(tree).toMatchObject({ homepage: site.homepage, complete: false, pageCount: 6 });
  expect(tree.root.children[0].children[1].pages[0].newsStory.title).toBe(hostileTitle);
  const declaredUrl = `${site.homepage}moved.xml`;
  expect(tree.root.children[1]).toMatchObject({ kind: "pages", format: "text", declaredUrl });
});

test("ndjson is one page per line, and matches its schema", async () => {
  const end = await sitegrove(["ls", ...sitemaps(), "-f", "ndjson"]);
  expectPrintable(end);
  const pages = jsonLines(end.stdout);
  for (const page of pages) expectValid(page, "pageLine");
  expect(pages.map(({ url }) => url)).toEqual(allPages.map((page) => site.homepage + page));
  expect(pages[2]).toMatchObject({ sitemap: `${site.homepage}feed.rss`, newsStory: { title: hostileTitle } });
});

test("csv has one row per page, without formulas or terminal control characters", async () => {
  const all = ["ls", ...sitemaps(), "-f", "csv", "--columns", "all"];
  const end = await sitegrove([...all, "--separator", ";"]);
  expectPrintable(end);
  const rows = parse(end.stdout, { columns: true, delimiter: ";" }) as Record<string, string>[];
  expect(rows.map((row) => row["url"])).toEqual(allPages.map((page) => site.homepage + page));
  expect(rows[1]?.["news.title"]).toBe("Storm, again");
  expect(JSON.parse(rows[1]?.["images"] ?? "")).toEqual([{ url: `${site.homepage}i.png` }]);
  expect(rows[2]?.["news.title"]).toBe('\'=cmd("\\u202e\\u009b31m\\u2028"), \\u001b[2J');
  const exact = await sitegrove([...all, "--no-csv-safe"]);
  expect((parse(exact.stdout, { columns: true }) as Record<string, string>[])[2]?.["news.title"]).toBe(hostileTitle);
});

test("parse says that relative URLs need --url", async () => {
  const input = urlset("<url><loc>/a</loc></url>", "<url><loc>/b</loc></url>");
  const { code, stdout, stderr } = await sitegrove(["parse", "-", "-f", "pages"], { input });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toMatch(said.needsUrl);
});

test("parse reads a local file and standard input, in every format", async () => {
  const document = urlset("<url><loc>/a</loc><lastmod>2024-05-06</lastmod></url>", "https://e.org/b");
  const read = (...words: string[]) =>
    sitegrove(["parse", "-", "--url", "https://e.org/s.xml", ...words], { input: gzipSync(document) });
  const ends = await Promise.all(["tabtree", "pages", "json", "ndjson", "csv"].map((format) => read("-f", format)));
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
  const [tree, pages, json = "", ndjson = "", csv = ""] = ends.map(({ stdout }) => stdout);
  expect(tree).toBe("https://e.org/s.xml\n\thttps://e.org/a\n\thttps://e.org/b\n");
  expect(pages).toBe("https://e.org/a\nhttps://e.org/b\n");
  const parsed = JSON.parse(json);
  expectValid(parsed, "parsed");
  expect(parsed).toMatchObject({
    kind: "pages",
    format: "xml",
    complete: true,
    pages: [{ url: "https://e.org/a" }, {}],
  });
  for (const line of jsonLines(ndjson)) expectValid(line, "parsedLine");
  expect(parse(csv)).toHaveLength(3);
});

test("parse lists the sitemaps in an index", async () => {
  const input = index("<sitemap><loc>https://e.org/a.xml</loc><lastmod>2024-05</lastmod></sitemap>");
  const json = JSON.parse((await sitegrove(["parse", "-", "-f", "json"], { input })).stdout);
  expectValid(json, "parsed");
  expect(json).toMatchObject({ kind: "index", sitemaps: [{ url: "https://e.org/a.xml", lastModified: "2024-05" }] });
  const line = JSON.parse((await sitegrove(["parse", "-", "-f", "ndjson"], { input })).stdout);
  expectValid(line, "parsedLine");
  expect(line.kind).toBe("sitemap");
});

test("parse says why a document is not a sitemap, and its JSON matches the schema", async () => {
  const { code, stdout, stderr } = await sitegrove(["parse", "-", "-f", "json"], { input: "<html></html>" });
  expect(code).toBe(4);
  expectValid(JSON.parse(stdout), "parsed");
  expect(stderr).toBe(`sitegrove: ${said.notRead("standard input", said.gotHtml)}\n`);
});

test("parse calls standard input the same in every format, without an apostrophe in a table", async () => {
  const input = "https://example.org/a\n";
  const parsed = async (format: string) => (await sitegrove(["parse", "-", "-f", format], { input })).stdout;
  expect(await parsed("csv")).toMatch(/^https:\/\/example\.org\/a,.*,standard input(?:,|$)/m);
  expect(JSON.parse(await parsed("ndjson"))).toMatchObject({ sitemap: "standard input" });
  expect(await parsed("tabtree")).toBe("standard input\n\thttps://example.org/a\n");
});

test.each(["# ours\n\nUser-agent: *\nDisallow:\n", "\ufeffsitemap : https://example.org/0.xml\n"])(
  "parse recognizes robots.txt on standard input by its first line: %j",
  async (start) => {
    const { code, stdout } = await sitegrove(["parse", "-"], { input: `${start}Sitemap: https://example.org/s.xml\n` });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/\thttps:\/\/example\.org\/s\.xml\n$/) });
  },
);
