// The digests in an archive are compared with its bytes when these are first read to their end.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { base32, parseDigest } from "../../src/archive/warc.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";
import { testFolder } from "../support/test-folder.ts";
import { contentOf } from "./exchanges.ts";
import { opened } from "./opened.ts";

const inFolder = testFolder();

const url = "https://example.org/a.xml";

async function savedTree(): Promise<Buffer> {
  const { client } = site({
    "/robots.txt": robots("/i.xml", "/gone.xml"),
    "/i.xml": index("/a.xml", "/old.xml"),
    "/a.xml": urlset("/1", "/2"),
    "/old.xml": { to: "/b.xml" },
    "/b.xml": urlset("/3"),
  });
  const save = inFolder("site.warc");
  const options = { client, save, retries: 0, knownPaths: "never", useHomepage: false } as const;
  await using _ = await sitemapTreeForHomepage(home, options);
  return readFile(save);
}

async function problemsOf(bytes: Buffer): Promise<{ complete: boolean; codes: string[] }> {
  const name = inFolder("changed.warc");
  await writeFile(name, bytes);
  await using tree = await openTree(name);
  for await (const _ of tree.pages());
  const codes = [...tree.problems()].map(({ url, problem }) => `${url.slice(home.length - 1)} ${problem.code}`);
  return { complete: tree.complete, codes };
}

const replaced = (bytes: Buffer, from: string, to: string): Buffer => {
  const text = bytes.toString("latin1");
  expect(text).toContain(from);
  expect(to).toHaveLength(from.length);
  return Buffer.from(from.includes("depth") ? text.replaceAll(from, to) : text.replace(from, to), "latin1");
};

describe("an archive that sitegrove wrote", () => {
  test("reports nothing if it is unchanged", async () => {
    expect(await problemsOf(await savedTree())).toEqual({ complete: false, codes: ["/gone.xml http-404"] });
  });

  test.each([
    ["a page of a document", "<loc>https://example.org/2</loc>", "<loc>https://example.org/8</loc>", "/a.xml"],
    ["a child of an index", "<loc>https://example.org/a.xml</loc>", "<loc>https://example.org/b.xml</loc>", "/i.xml"],
    ["robots.txt", "Sitemap: https://example.org/gone.xml", "Sitemap: https://example.org/away.xml", "/robots.txt"],
    ["why there is no document", '"code":"http-404"', '"code":"http-410"', "/gone.xml"],
    ["where a redirect leads", '["location","/b.xml"]', '["location","/a.xml"]', "/old.xml"],
    [
      "the description of a document",
      '"url":"https://example.org/b.xml"',
      '"url":"https://example.org/B.xml"',
      "/b.xml",
    ],
    // The description of the archive is in its first record, and in the index.
    ["the limits", '"depth":11', '"depth":99', ""],
  ])("reports that somebody changed %s", async (_, from, to, at) => {
    const { codes } = await problemsOf(replaced(await savedTree(), from, to));
    expect(codes).toContain(`/${at.slice(1)} archive-digest`);
  });

  test("reports no change if it has no digests", async () => {
    const records = (await savedTree()).toString("latin1").replaceAll(/WARC-Block-Digest: .*\r\n/g, "");
    expect((await problemsOf(Buffer.from(records, "latin1"))).codes).toEqual(["/gone.xml http-404"]);
  });
});

describe("an archive that another tool wrote", () => {
  const body = "<urlset><url><loc>https://example.org/1</loc></url></urlset>";
  const chunked = `5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`;
  const digest = (algorithm: string, text: string) => createHash(algorithm).update(text).digest();

  async function problemOf(http: string, fields: Record<string, string>, type = "response"): Promise<unknown> {
    const lines = Object.entries({ "WARC-Type": type, "WARC-Target-URI": url, ...fields });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const name = inFolder("foreign.warc");
    await writeFile(name, `WARC/1.0\r\n${head}Content-Length: ${http.length}\r\n\r\n${http}\r\n\r\n`);
    const archive = await opened(name);
    const fetched = await archive.fetch({ url, role: "sitemap" });
    const { body } = (await contentOf(fetched)) as { body: { problem?: { code: string } } };
    return body.problem?.code;
  }

  const http = `HTTP/1.1 200 OK\r\nX: y\r\n\r\n${body}`;
  const inChunks = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`;
  const forms: [string, (bytes: Buffer) => string][] = [
    ["Base32", (bytes) => base32Padded(bytes)],
    ["Base32 without padding", (bytes) => base32Padded(bytes).replace(/=+$/, "")],
    ["Base32 in small letters", (bytes) => base32Padded(bytes).toLowerCase()],
    ["hexadecimal digits", (bytes) => bytes.toString("hex")],
    ["Base64", (bytes) => bytes.toString("base64")],
  ];

  test.each(["sha1", "sha256", "sha512", "md5"])("has its %s digests checked, in any form", async (algorithm) => {
    for (const [name, write] of forms) {
      const payload = (text: string) => ({ "WARC-Payload-Digest": `${algorithm}:${write(digest(algorithm, text))}` });
      expect(await problemOf(http, payload(body)), name).toBeUndefined();
      expect(await problemOf(http, payload(`${body} `)), name).toBe("archive-digest");
    }
  });

  const sha1 = (text: string) => `sha1:${base32(digest("sha1", text))}`;
  const payloadOf = (text: string) => ({ "WARC-Payload-Digest": sha1(text) });
  const blockOf = (text: string) => ({ "WARC-Block-Digest": sha1(text) });
  // Some tools include chunks in the payload, others do not. A resource is its own payload.
  test.each<[string, string, Record<string, string>, boolean]>([
    ["response", http, { ...payloadOf(body), ...blockOf(http) }, true],
    ["response", http, { ...payloadOf(body), ...blockOf(body) }, false],
    ["response", inChunks, payloadOf(chunked), true],
    ["response", inChunks, payloadOf(body), true],
    ["response", inChunks, payloadOf("x"), false],
    ["response", inChunks, blockOf(inChunks), true],
    ["response", inChunks, blockOf(chunked), false],
    ["resource", body, { ...payloadOf(body), ...blockOf(body) }, true],
    ["resource", body, blockOf("x"), false],
  ])("with a %s, %j with %j, has the right digests: %s", async (type, content, fields, isRight) => {
    expect(await problemOf(content, fields, type)).toBe(isRight ? undefined : "archive-digest");
  });

  test.each(["crc32:ABCD", "sha1", "sha1:", "sha1:!!!!", "sha1:ABC", "constructor:x", ""])(
    "has nothing to check if its digest is %j",
    async (text) => {
      expect(parseDigest(text)).toBeUndefined();
      expect(await problemOf(http, { "WARC-Payload-Digest": text, "WARC-Block-Digest": text })).toBeUndefined();
    },
  );

  function base32Padded(bytes: Buffer): string {
    const padded = Buffer.concat([bytes, Buffer.alloc((5 - (bytes.length % 5)) % 5)]);
    const digits = Math.ceil((bytes.length * 8) / 5);
    const text = base32(padded).slice(0, digits);
    return text.padEnd(Math.ceil(digits / 8) * 8, "=");
  }
});

test("every record that sitegrove writes has a block digest or a payload digest", async () => {
  const heads = (await savedTree()).toString("latin1").match(/WARC\/1\.1\r\n(?:.+\r\n)+/g) ?? [];
  expect(heads.length).toBeGreaterThan(10);
  for (const head of heads) expect(head).toMatch(/WARC-(?:Block|Payload)-Digest: sha1:[A-Z2-7]{32}\r\n/);
});
