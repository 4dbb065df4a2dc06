// Damage in a large record with a long head, in a compressed archive.
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openArchive } from "../../src/archive/open.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { membersOf } from "../support/members.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";

const digits = (name: string, count: number) =>
  Array.from({ length: Math.ceil(count / 40) }, (_, at) => createHash("sha1").update(`${name}${at}`).digest("hex"))
    .join("")
    .slice(0, count);
const long = `${home}long.xml`;
const headers = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`x-${at}`, digits(`header${at}`, 2000)]));
const pages = Array.from({ length: 1600 }, (_, at) => `/${digits(`page${at}`, 40)}`);
const routes = {
  "/robots.txt": robots("/i.xml"),
  "/i.xml": index("/long.xml", "/small.xml"),
  "/long.xml": { headers, body: urlset(...pages) },
  "/small.xml": urlset("/1", "/2"),
};
const options = { useKnownPaths: false, useHomepage: false } as const;

const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-long-heads-"));
const whole = path.join(folder, "whole.warc.gz");
let bytes: Buffer;
let place: { readonly offset: number; readonly length: number };
beforeAll(async () => {
  await (await sitemapTreeForHomepage(home, { ...options, client: site(routes).client, save: whole })).close();
  bytes = readFileSync(whole);
  place = membersOf(bytes).find(({ content }) => content.length > 128 * 1024)!;
});
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
function fileWith(content: Uint8Array): string {
  const file = path.join(folder, `${count++}.warc.gz`);
  writeFileSync(file, content);
  return file;
}

function changedAt(...places: number[]): Buffer {
  const changed = Buffer.from(bytes);
  for (const at of places) changed[at] = changed[at]! ^ 0xff;
  return changed;
}

describe.each([
  ["in its checksum", () => changedAt(place.offset + place.length - 8)],
  ["in its middle", () => changedAt(place.offset + (place.length >> 1))],
  ["in its head", () => changedAt(...Array.from({ length: 20 }, (_, at) => place.offset + 5000 + at))],
])("damage %s", (_, damaged) => {
  test("costs that document, and no other", async () => {
    await using tree = await openTree(fileWith(damaged()));
    const urls: string[] = [];
    for await (const { url } of tree.pages()) urls.push(url);
    expect(urls).toEqual(expect.arrayContaining([`${home}1`, `${home}2`]));
    expect(tree.complete).toBe(false);
    expect(Array.from(tree.problems(), ({ url, problem }) => `${url} ${problem.code}`)).toContain(
      `${long} archive-digest`,
    );
    expect((await tree.response([...tree.sitemaps()].find(({ url }) => url === long)!))?.status).toBe(200);
  });

  test("has the next run request the document again", async () => {
    const { client, hits } = site(routes);
    const save = path.join(folder, `${count++}.warc.gz`);
    await using tree = await sitemapTreeForHomepage(home, { ...options, client, previous: fileWith(damaged()), save });
    expect([tree.complete, tree.pageCount]).toEqual([true, 1602]);
    expect(hits).toContain("/long.xml");
    await using again = await openTree(save);
    expect([again.complete, again.pageCount]).toEqual([true, 1602]);
  });

  test("does not keep a run from being resumed", async () => {
    const { client } = site(routes);
    await using tree = await sitemapTreeForHomepage(home, { ...options, client, resume: fileWith(damaged()) });
    expect(tree.complete).toBe(false);
    expect([...tree.problems()].map(({ problem }) => problem.code)).toContain("archive-digest");
  });

  test("is a failure in an archive of another tool", async () => {
    const { offset, length } = place;
    const other = Buffer.from(
      gunzipSync(bytes.subarray(offset, offset + length))
        .toString("latin1")
        .replace("/long.xml", "/more.xml"),
      "latin1",
    );
    const file = fileWith(Buffer.concat([damaged().subarray(offset, offset + length), gzipSync(other)]));
    const archive = await openArchive(file);
    const fetched = await archive.fetch({ url: long, role: "sitemap" });
    const problem = fetched.outcome === "found" ? await problemOf(fetched.body) : "reason" in fetched && fetched.reason;
    expect(problem).toMatchObject({ code: archive.truncated ? "archive-missing" : "archive-digest" });
    expect(await archive.fetch({ url: `${home}more.xml`, role: "sitemap" })).toMatchObject({ outcome: "found" });
    await archive.close();
  });
});

test("what is not the head of a response costs its document, and no other", async () => {
  const plain = Buffer.from(gunzipSync(bytes));
  plain.write("HTTP/1.1 -", plain.lastIndexOf("HTTP/1.1 200", plain.indexOf("x-0: ")));
  await using tree = await openTree(fileWith(plain));
  expect([tree.complete, tree.pageCount]).toEqual([false, 2]);
  expect([...tree.problems()].map(({ problem }) => problem.code)).toEqual(["archive-digest"]);
});

async function problemOf(body: AsyncIterable<Uint8Array> & { readonly problem: unknown }): Promise<unknown> {
  for await (const _ of body);
  return body.problem;
}
