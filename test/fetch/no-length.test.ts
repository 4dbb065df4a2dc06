// Documents that end with the connection: whether all of it came is only known if the document itself shows it. Needs a server.
import path from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { fetchClient, openTree, type Sitemap, sitemapTreeForHomepage } from "../../src/index.ts";
import { selfSigned } from "../support/certificates.ts";
import { codesOf } from "../support/collected.ts";
import type { Fault } from "../support/fault-server.ts";
import { tenPages, testServer } from "../support/fetching.ts";
import { newFolder } from "../support/test-folder.ts";

const list = "https://example.org/1\nhttps://example.org/2\n";
const ends = (head: string, body: string | Uint8Array): Fault => {
  return ({ socket }) => void socket.end(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), Buffer.from(body)]));
};

test("a list that `fetch` decoded may be cut off, because `fetch` does not report truncated compressed data", async () => {
  const half = gzipSync(list.repeat(1000)).subarray(0, -20);
  for (const encoding of ["content-encoding: gzip", "x: y"]) {
    const isGzip = encoding !== "x: y";
    const body = isGzip ? half : list;
    const head = `HTTP/1.1 200 OK\r\n${encoding}\r\ncontent-length: ${body.length}`;
    const server = await testServer({ "/sitemap.txt": ends(head, body) });
    const options = { network: "allow-private", client: fetchClient(fetch) } as const;
    await using tree = await sitemapTreeForHomepage({ sitemaps: [`${server.origin}/sitemap.txt`] }, options);
    const codes = codesOf(tree);
    expect(codes.includes("body-no-length")).toBe(isGzip);
  }
});

test.each([
  ["HTTP/1.0, text", ends("HTTP/1.0 200 OK\r\nx: y", list), true],
  ["HTTP/1.1, text", ends("HTTP/1.1 200 OK\r\nconnection: close", list), true],
  ["keep-alive that is not kept, text", ends("HTTP/1.1 200 OK\r\nconnection: keep-alive", list), true],
  ["another transfer encoding, text", ends("HTTP/1.1 200 OK\r\ntransfer-encoding: identity", list), true],
  ["text with a length", ends(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${list.length}`, list), false],
  ["text in chunks", ends("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked", `2c\r\n${list}\r\n0\r\n\r\n`), false],
  ["text in brotli", ends("HTTP/1.1 200 OK\r\ncontent-encoding: br", brotliCompressSync(list)), false],
  ["text in zlib", ends("HTTP/1.1 200 OK\r\ncontent-encoding: deflate", deflateSync(list)), false],
  ["gzip, where another member may follow", ends("HTTP/1.1 200 OK\r\nx: y", gzipSync(list)), true],
  ["two members", ends("HTTP/1.1 200 OK\r\nx: y", Buffer.concat([gzipSync(list), gzipSync(list)])), true],
  ["gzip in brotli", ends("HTTP/1.1 200 OK\r\ncontent-encoding: gzip, br", brotliCompressSync(gzipSync(list))), false],
  ["XML", ends("HTTP/1.0 200 OK\r\nx: y", tenPages), false],
])("a body sent as %s is reported as possibly cut off: %s", async (_, fault, isReported) => {
  for (const secure of [undefined, { tls: selfSigned({ names: ["127.0.0.1"] }) }]) {
    const server = await testServer({ "/sitemap.txt": fault }, secure);
    const save = path.join(newFolder(), "saved.warc");
    const options = { network: "allow-private", tls: { verify: false }, save } as const;
    await using tree = await sitemapTreeForHomepage({ sitemaps: [`${server.origin}/sitemap.txt`] }, options);
    const codes = (sitemap: Sitemap | undefined) =>
      sitemap?.kind === "invalid" ? [] : sitemap?.problems.map(({ code }) => code);
    expect(codes(tree.root.children[0])?.includes("body-no-length")).toBe(isReported);
    expect(tree.complete).toBe(true);
    await tree.close();
    await using opened = await openTree(save);
    expect(codes(opened.root.children[0])).toEqual(codes(tree.root.children[0]));
  }
});
