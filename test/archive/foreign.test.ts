// Archives of other tools, written by hand: what the specification allows, and what has been seen.
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Archive } from "../../src/archive/reader.ts";
import { openTree } from "../../src/tree/build.ts";
import { testFolder } from "../support/test-folder.ts";
import { contentOf } from "./exchanges.ts";
import { opened } from "./opened.ts";

const inFolder = testFolder();

async function archiveOf(...parts: (string | Uint8Array)[]): Promise<Archive> {
  const name = inFolder("site.warc");
  await writeFile(name, Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part))));
  return opened(name);
}

function record(type: string, url: string, content: string, more: Record<string, string> = {}): string {
  const fields = { "WARC-Type": type, "WARC-Target-URI": url, ...more };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `WARC/1.0\r\n${lines.join("")}Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}\r\n\r\n`;
}

const response = (url: string, http: string, more?: Record<string, string>) => record("response", url, http, more);
const document = (body: string, headers = "") => `HTTP/1.1 200 OK\r\n${headers}\r\n${body}`;
const url = "https://example.org/a.xml";
const ask = (archive: Archive, asked = url) => archive.fetch({ url: asked, role: "sitemap" });

const inChunks = (body: string) => response(url, document(body, "Transfer-Encoding: chunked\r\n"));
const bodyWith = (bytes: unknown, code?: string) => ({
  outcome: "found",
  body: { bytes, problem: code === undefined ? undefined : { code } },
});
const folded = "HTTP/1.1 200 OK\ncontent-type:\n text/xml\n\n<urlset/>";

test.each<[string, string | Buffer, object]>([
  ["chunks are taken apart", inChunks("5;x=1\r\n<urls\r\n4\r\net/>\r\n0\r\n\r\n"), bodyWith("<urlset/>")],
  ["a body that announces chunks but has none is taken as it is", inChunks("<urlset/>"), bodyWith("<urlset/>")],
  ...["5\r\n<urls\r\n4\r\net", "5\r\n<urlset/>", "5\r\n<urls\r\nzz\r\n", "5\r\n<urls\r\n"].map(
    (chunks): [string, string, object] => [
      `chunks that break off are a body that ended early: ${JSON.stringify(chunks)}`,
      inChunks(chunks),
      bodyWith(expect.stringMatching(/^<urls/), "body-short"),
    ],
  ),
  ...Object.entries({ disconnect: "body-reset", length: "body-short", time: "body-short" }).map(
    ([reason, code]): [string, string, object] => [
      `a record that says it was truncated (${reason}) is a body that ended early`,
      response(url, document("<urlset>"), { "WARC-Truncated": reason }),
      bodyWith("<urlset>", code),
    ],
  ),
  [
    "a body shorter than its announced length ended early",
    response(url, document("<urlset>", "Content-Length: 99\r\n")),
    bodyWith("<urlset>", "body-short"),
  ],
  ...Object.entries({
    ...{ 404: "absent", 410: "absent", 403: "blocked", 429: "blocked", 500: "failed", 304: "failed" },
    ...{ 201: "failed", 202: "failed", 204: "failed", 206: "failed" },
  }).map(([status, outcome]): [string, string, object] => [
    `status ${status} is ${outcome}`,
    response(url, `HTTP/1.1 ${status} x\r\n\r\nbody`),
    { outcome, status: Number(status), reason: { code: `http-${status}` } },
  ]),
  [
    "a redirect is answered as such",
    response(url, "HTTP/1.1 302 Found\r\nLocation: /b.xml\r\n\r\n"),
    { outcome: "redirect", url, role: "sitemap", attempts: 1, status: 302, headers: [["location", "/b.xml"]] },
  ],
  ["even a redirect to nowhere", response(url, "HTTP/1.1 302 Found\r\nX: /1\r\n\r\n"), { outcome: "redirect" }],
  [
    "a resource is a document without the head of a response",
    record("resource", url, "<urlset/>", { "Content-Type": "text/xml" }),
    { status: 200, headers: [["content-type", "text/xml"]], ...bodyWith("<urlset/>") },
  ],
  [
    "records of other types are skipped",
    [
      record("warcinfo", "", "software: other\r\n"),
      record("request", url, "GET /a.xml HTTP/1.1\r\n\r\n"),
      ...["metadata", "conversion", "unheard-of"].map((type) => record(type, url, "text")),
      response("dns:example.org", "20260101000000\nexample.org. 300 IN A 192.0.2.1\n"),
      response(url, document("<urlset/>")),
    ].join(""),
    bodyWith("<urlset/>"),
  ],
  [
    "the first response for a URL counts",
    response(url, document("first")) + response(url, document("second")),
    bodyWith("first"),
  ],
  [
    "lines may end in LF alone, fields may be folded, URLs may be in angle brackets",
    `WARC/1.0\nwarc-type: response\nWARC-Target-URI:\n <${url}>\nContent-Length: ${folded.length}\n\n${folded}\n\n`,
    { headers: [["content-type", "text/xml"]], ...bodyWith("<urlset/>") },
  ],
  ["the last line ends may be missing", `\r\n\r\n\r\n${response(url, document("b")).trimEnd()}`, bodyWith("b")],
  ...["<html>", ""].map((http): [string, string, object] => [
    `${JSON.stringify(http)} as the head of a response is a failure of the website`,
    response(url, http),
    { outcome: "failed", reason: { code: "http-protocol" } },
  ]),
])("%s", async (_, file, expected) => {
  const archive = await archiveOf(file);
  expect(archive).toMatchObject({ urls: [url], truncated: false });
  const fetched = await ask(archive);
  // The body can be read twice.
  for (const __ of [1, 2]) expect(await contentOf(fetched)).toMatchObject(expected);
});

test("chunks may be split anywhere across blocks", async () => {
  const text = Array.from({ length: 60_000 }, (_, index) => `<url>${index}</url>`).join("");
  const chunks = text.match(/.{1,4099}/g)!.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  const archive = await archiveOf(
    response(url, document(`${chunks.join("")}0\r\n\r\n`, "transfer-encoding: chunked\r\n")),
  );
  const content = (await contentOf(await ask(archive))) as { body: { bytes: string } };
  expect(content.body.bytes === text).toBe(true);
});

test("redirects in the archive are followed, including loops, missing targets and other archives' URLs", async () => {
  const to = (location: string) => `HTTP/1.1 302 Found\r\n${location}\r\n\r\n`;
  const names = [1, 3, 4, 5, 6].map((name) => `Sitemap: https://example.org/${name}\n`);
  await archiveOf(
    response("https://example.org/robots.txt", document(names.join(""))),
    response("https://example.org/1", to("Location: /2")),
    response("https://example.org/2", to("Location: /1")),
    response("https://example.org/3", to("X-Location: /1")),
    response("https://example.org/4", to("Location: ftp://example.org/")),
    response("https://example.org/5", to("Location: https://elsewhere.example/")),
    response("https://example.org/6", to("Location: //www.example.org/c.xml")),
    response("https://www.example.org/c.xml", document("<urlset><url><loc>https://example.org/p</loc></url></urlset>")),
  );
  await using tree = await openTree(inFolder("site.warc"));
  const [robots] = tree.root.children;
  const children = robots?.kind === "index" ? robots.children : [];
  expect(children.map((child) => (child.kind === "invalid" ? child.reason.code : child.url))).toEqual([
    "redirect-loop",
    "redirect-invalid",
    "scheme-refused",
    "archive-missing",
    "https://www.example.org/c.xml",
  ]);
});

test.each([
  ["only a page", "https://example.org/page"],
  ["a sitemap at a well-known path", "https://example.org/sitemap.xml"],
])("without robots.txt, an archive with %s is not complete: what it declares is unknown", async (_, at) => {
  const sitemap = document("<urlset><url><loc>https://example.org/p</loc></url></urlset>");
  await archiveOf(response(at, at.endsWith(".xml") ? sitemap : document("<p>")));
  {
    await using tree = await openTree(inFolder("site.warc"));
    expect(tree.complete).toBe(false);
    expect([...tree.problems()].map(({ problem }) => problem.code)).toContain("robots-unreachable");
  }
  await archiveOf(response("https://example.org/robots.txt", "HTTP/1.1 404 No\r\n\r\n"), response(at, sitemap));
  await using tree = await openTree(inFolder("site.warc"));
  expect(tree.complete).toBe(true);
});

describe("a revisit record takes its payload from another record", () => {
  const other = "https://example.org/b.xml";
  const digest = "sha1:5TMKFQ6GKSXKCGUUSEOJZYZPB2XD6OVZ";
  const wrong = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
  const original = (more: Record<string, string> = {}) =>
    response(other, document("<urlset/>", "X: 1\r\n"), {
      "WARC-Record-ID": "<urn:uuid:1>",
      "WARC-Date": "2024-05-01T00:00:00Z",
      ...more,
    });
  const elsewhere = { "WARC-Refers-To-Target-URI": "https://example.org/none" };
  const profiles = ["1.0", "1.1"].flatMap((version) =>
    ["identical-payload-digest", "server-not-modified"].map(
      (name) => `http://netpreserve.org/warc/${version}/revisit/${name}`,
    ),
  );
  const heads = {
    "identical-payload-digest": "HTTP/1.1 200 OK\r\nX: 2\r\n\r\n",
    "server-not-modified": "HTTP/1.1 304 Not Modified\r\nX: 3\r\n\r\n",
  };

  describe.each(profiles)("%s", (profile) => {
    const name = profile.split("/").at(-1) as keyof typeof heads;
    const byUrl = { "WARC-Refers-To-Target-URI": other };
    const ways: [string, string, Record<string, string>][] = [
      ["by the id of its record", url, { "WARC-Refers-To": "<urn:uuid:1>" }],
      ["by its URL", url, byUrl],
      ["by its URL and date", url, { ...byUrl, "WARC-Refers-To-Date": "2024-05-01T00:00:00Z" }],
      ["by the digest of its payload", url, { "WARC-Payload-Digest": digest }],
      ["by nothing but the same URL", other, {}],
    ];
    test.each(ways)("found %s, before or after it in the file", async (_, at, fields) => {
      const revisit = record("revisit", at, heads[name], { "WARC-Profile": profile, ...fields });
      const sha1 = createHash("sha1").update("<urlset/>").digest("hex");
      const first = original({ "WARC-Payload-Digest": `sha1:${sha1}` });
      const named = revisit.replace(digest, `sha1:${sha1}`);
      for (const parts of [`${first}${named}`, `${named}${first}`, `${named}${gap}${first}`]) {
        const archive = await archiveOf(parts);
        const expected = at === other ? "1" : name === "identical-payload-digest" ? "2" : "1";
        expect(await contentOf(await ask(archive, at))).toMatchObject({
          outcome: "found",
          url: at,
          headers: [["x", expected]],
          body: { bytes: "<urlset/>", problem: undefined },
        });
      }
    });
  });

  test("even if that record is a redirect", async () => {
    const archive = await archiveOf(
      response(other, "HTTP/1.1 301 Moved\r\nLocation: /c\r\n\r\n"),
      record("revisit", url, "", { "WARC-Refers-To-Target-URI": other }),
    );
    expect(await ask(archive)).toMatchObject({ outcome: "redirect", url, status: 301 });
  });

  test.each([
    ["another file, by its id", { "WARC-Refers-To": "<urn:uuid:9>", ...elsewhere }],
    ["another file, by its URL", elsewhere],
    ["another payload of that URL", { "WARC-Refers-To-Target-URI": other, "WARC-Payload-Digest": wrong }],
  ])("a reference to %s is archive-revisit", async (_, fields) => {
    const archive = await archiveOf(
      original({ "WARC-Payload-Digest": "sha1:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB" }),
      record("revisit", url, heads["server-not-modified"], fields),
    );
    expect(await ask(archive)).toMatchObject({ outcome: "failed", reason: { code: "archive-revisit" } });
  });

  test("a document whose payload is in another file is missing, so the tree is incomplete", async () => {
    await archiveOf(
      response("https://example.org/robots.txt", document(`Sitemap: ${url}\n`)),
      record("revisit", url, "", { "WARC-Refers-To": "<urn:uuid:9>" }),
    );
    await using tree = await openTree(inFolder("site.warc"));
    expect([...tree.problems()].map(({ problem }) => problem.code)).toEqual(["archive-revisit"]);
    expect(tree.complete).toBe(false);
  });

  test("revisits that refer to each other are archive-revisit", async () => {
    const archive = await archiveOf(
      record("revisit", url, "", { "WARC-Record-ID": "<urn:uuid:1>", "WARC-Refers-To": "<urn:uuid:2>" }),
      record("revisit", other, "", { "WARC-Record-ID": "<urn:uuid:2>", "WARC-Refers-To": "<urn:uuid:1>" }),
    );
    for (const at of [url, other])
      expect(await ask(archive, at)).toMatchObject({ reason: { code: "archive-revisit" } });
  });

  test("a revisit finds the original in an older archive that was joined after it", async () => {
    const today = record("revisit", url, heads["server-not-modified"], { "WARC-Profile": profiles[1] as string });
    const archive = await archiveOf(today, response(url, document("<urlset/>")));
    expect(archive.urls).toEqual([url]);
    expect(await contentOf(await ask(archive))).toMatchObject({ body: { bytes: "<urlset/>" } });
  });

  const gap = record("metadata", other, "x");
});
