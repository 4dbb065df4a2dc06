// warcio, which the tools of this field are built on, reads what we write, and we read what it writes.
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { WARCParser, WARCRecord, WARCSerializer } from "warcio";
import { createStore } from "../../src/archive/store.ts";
import { problem } from "../../src/model/problem.ts";
import { newFolder } from "../support/test-folder.ts";
import { bodyOf, contentOf, documentAt, failedAt, redirectAt } from "./exchanges.ts";
import { opened } from "./opened.ts";

const directory = newFolder();

describe.each(["site.warc", "site.warc.gz"])("%s, written by sitegrove", (file) => {
  const records: Awaited<ReturnType<typeof seen>>[] = [];

  beforeAll(async () => {
    const name = path.join(directory, file);
    const store = await createStore({ kind: "memory", save: name, info: { settings: {} } });
    await store.keep(redirectAt("https://example.org/old.xml", "/new.xml"));
    await store.keep(
      documentAt("https://example.org/new.xml", "<urlset/>", {
        headers: Object.entries({
          ...{ "content-type": "application/xml", "transfer-encoding": "chunked", "content-length": "12345" },
          "x-odd": "a\r\nb\u4e2d",
        }),
      }),
    );
    const broken = bodyOf("<urlset>", { problem: problem("limit-document-bytes", { limit: 8 }) });
    await store.keep(documentAt("https://example.org/cut.xml", "", { body: broken }));
    await store.keep(documentAt("https://example.org/large.xml", Buffer.alloc(3_000_000, "<url>")));
    await store.keep(failedAt("https://example.org/missing.xml"));
    const { status: _, headers: __, ...unreachable } = failedAt("https://example.org/unreachable.xml");
    await store.keep(unreachable);
    await store.finish();
    await store.close();

    for await (const record of new WARCParser(createReadStream(name))) records.push(await seen(record));
  });

  async function seen(record: WARCRecord) {
    const payload = Buffer.from(await record.readFully(false));
    const digest = record.warcPayloadDigest;
    return {
      type: record.warcType,
      url: record.warcTargetURI,
      version: record.warcHeaders.protocol,
      truncated: record.warcHeader("WARC-Truncated"),
      status: record.httpHeaders?.statusCode,
      headers: [...(record.httpHeaders?.headers ?? [])],
      payload: payload.toString("latin1"),
      digestHolds: digest ? digest === (await payloadDigest(payload)) : undefined,
    };
  }

  test("warcio finds every record, in the order in which they were written", () => {
    const exchanges = ["/old.xml", "/new.xml", "/cut.xml", "/large.xml", "/missing.xml"].flatMap((at) => [
      `response ${at}`,
      `metadata ${at}`,
    ]);
    // The index is at the end, after it a record that says where it begins.
    const expected = ["warcinfo", ...exchanges, "metadata /unreachable.xml", "metadata", "metadata"];
    const found = records.map(({ type, url }) => `${type} ${(url ?? "").replace("https://example.org", "")}`.trim());
    expect(found).toEqual(expected);
    expect(new Set(records.map(({ version }) => version))).toEqual(new Set(["WARC/1.1"]));
  });

  test("warcio reads the status, headers and body of every response; payload digests match, and descriptions are JSON", () => {
    expect(records[1]).toMatchObject({ status: 301, headers: [["location", "/new.xml"]], payload: "" });
    // Headers that would mislead a reader are left out.
    const headers = Object.entries({ "content-type": "application/xml", "x-odd": "a  b?" });
    expect(records[3]).toMatchObject({ status: 200, headers, payload: "<urlset/>", digestHolds: true });
    expect(records[5]).toMatchObject({ payload: "<urlset>", truncated: "length", digestHolds: true });
    expect(records[7]).toMatchObject({ payload: expect.stringMatching(/^.{3000000}$/), digestHolds: true });
    expect(records[9]).toMatchObject({ status: 404, payload: "", truncated: "unspecified" });
    for (const { payload } of records.filter(({ type, url }) => type === "metadata" && url)) JSON.parse(payload);
  });
});

describe.each([true, false])("written by warcio (compressed: %s)", (gzip) => {
  async function write(...records: WARCRecord[]): Promise<string> {
    const parts: Uint8Array[] = [];
    for (const record of records) parts.push(await WARCSerializer.serialize(record, { gzip }));
    const name = path.join(directory, `theirs-${Math.random()}.warc`);
    await writeFile(name, Buffer.concat(parts));
    return name;
  }

  async function* content(text: string) {
    yield Buffer.from(text);
  }

  const response = (url: string, status: string, httpHeaders: Record<string, string>, body: string) =>
    WARCRecord.create(
      { url, type: "response", warcVersion: "WARC/1.1", statusline: `HTTP/1.1 ${status}`, httpHeaders },
      content(body),
    );

  test("documents, redirects and errors are all found", async () => {
    const name = await write(
      WARCRecord.createWARCInfo({ filename: "theirs.warc", warcVersion: "WARC/1.1" }, { software: "warcio" }),
      response("https://example.org/robots.txt", "301 Moved", { Location: "https://www.example.org/robots.txt" }, ""),
      response("https://www.example.org/robots.txt", "200 OK", { "Content-Type": "text/plain" }, "Sitemap: /a.xml\n"),
      response("https://example.org/none.xml", "404 Not Found", {}, "gone"),
    );
    const archive = await opened(name);
    expect(archive).toMatchObject({ info: undefined, finished: false, truncated: false });
    expect(archive.urls).toHaveLength(3);
    expect(await archive.fetch({ url: "https://example.org/robots.txt", role: "robots" })).toMatchObject({
      outcome: "redirect",
      status: 301,
      headers: [["location", "https://www.example.org/robots.txt"]],
    });
    const fetched = await archive.fetch({ url: "https://www.example.org/robots.txt", role: "robots" });
    expect(await contentOf(fetched)).toEqual({
      outcome: "found",
      url: "https://www.example.org/robots.txt",
      role: "sitemap",
      status: 200,
      headers: [["content-type", "text/plain"]],
      attempts: 1,
      receivedAt: expect.stringMatching(/^20\d\d-/),
      body: { bytes: "Sitemap: /a.xml\n", problem: undefined },
    });
    expect(await archive.fetch({ url: "https://example.org/none.xml", role: "sitemap" })).toMatchObject({
      outcome: "absent",
      status: 404,
      reason: { code: "http-404" },
    });
  });
});

/** As warcio computes it. */
async function payloadDigest(payload: Uint8Array): Promise<string | null | undefined> {
  const record = WARCRecord.create({ url: "https://example.org/", type: "response", warcVersion: "WARC/1.1" }, [
    payload,
  ]);
  await WARCSerializer.serialize(record, { digest: { algo: "sha-1", prefix: "sha1:", base32: true } });
  return record.warcPayloadDigest;
}
