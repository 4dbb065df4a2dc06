// Our compressed records say their lengths, and large documents stay packed until they are read. Whatever a file says about
// lengths, and wherever it is cut or damaged, the tree is that of the unpacked archive, or it says that it is not.
// Needs processes, more than a second.
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { constants, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSource } from "../../src/archive/archive-source.ts";
import { membersByLength } from "../../src/archive/gzip-members.ts";
import { readBlocks } from "../../src/archive/kept-body.ts";
import { indexArchive } from "../../src/archive/open-archive.ts";
import { archiveKey } from "../../src/archive/replay.ts";
import { skipLengths, withOurHeader } from "../../src/archive/skip-lengths.ts";
import { createStore, openArchive } from "../../src/archive/store.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { isLong } from "../support/long.ts";
import { Random } from "../support/random.ts";
import { home, index, robots, site, urlset } from "../support/site.ts";
import { bytesOf, documentAt } from "./exchanges.ts";

// Too many to be small, and hard to compress.
const locations = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `/${name}/${createHash("sha1").update(`${name}${at}`).digest("hex")}`);
const routes = {
  "/robots.txt": robots("/i.xml"),
  "/i.xml": index("/large.xml", "/small.xml", "/packed.xml.gz", "/last.xml"),
  // Opened without being parsed.
  "/large.xml": urlset(...locations("large", 3300)),
  "/small.xml": urlset("/1", "/2"),
  "/packed.xml.gz": gzipSync(urlset(...locations("packed", 100))),
  "/last.xml": urlset(...locations("last", 1700)),
};
const options = { client: site(routes).client, useKnownPaths: false, useHomepage: false } as const;

let folder: string;
let whole: string;
let bytes: Buffer;
let expected: unknown;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "store-lengths-"));
  whole = inFolder("whole.warc.gz");
  await (await sitemapTreeForHomepage(home, { ...options, save: whole })).close();
  bytes = readFileSync(whole);
  expected = await seenIn(whole);
});
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
const inFolder = (name: string) => path.join(folder, name);
const fileWith = (content: Uint8Array, name = "site.warc.gz") => {
  const file = inFolder(`${count++}-${name}`);
  writeFileSync(file, content);
  return file;
};

/** All that can be seen of the tree in an archive, after its pages were read; the code if there is none. */
async function seenIn(file: string): Promise<unknown> {
  const tree = await openTree(file).catch(({ code }: { code: string }) => code);
  if (typeof tree === "string") return tree;
  const seen = await everythingIn(tree);
  await tree.close();
  return seen;
}

async function everythingIn(tree: SitemapTree): Promise<unknown> {
  const hash = createHash("sha1");
  let pages = 0;
  for await (const { url } of tree.pages()) {
    hash.update(url);
    pages += 1;
  }
  const problems = Array.from(tree.problems(), ({ url, problem: { code } }) => `${url} ${code}`).sort();
  const sitemaps = Array.from(tree.sitemaps(), (sitemap) => `${sitemap.kind} ${sitemap.url}`);
  return { pages, content: hash.digest("hex"), problems, sitemaps, complete: tree.complete };
}

/** The members of an archive, by their lengths. */
async function membersOf(content: Uint8Array) {
  const file = fileWith(content);
  const source = await openSource(file);
  const members = [];
  for await (const member of membersByLength(source.compressed!.file, content.length)) members.push(member);
  await source.close();
  rmSync(file);
  return members;
}

/** The record of large.xml: documents are not always received in the order of the index. */
async function largeMember() {
  const members = await membersOf(bytes);
  const at = members.findIndex(({ offset, length, isLarge }) => {
    return isLarge && gunzipSync(bytes.subarray(offset, offset + length)).includes("/large/");
  });
  return { members, at, ...members[at]! };
}

describe("an archive that a run wrote", () => {
  test("has the lengths of all records, from the first to the end of the file", async () => {
    const members = await membersOf(bytes);
    const records = gunzipSync(bytes).toString("latin1").split("WARC/1.1\r\nWARC-Type").length - 1;
    expect(members).toHaveLength(records);
    const last = members.at(-1)!;
    expect(last.offset + last.length).toBe(bytes.length);
    for (const { offset, length, unpacked } of members) {
      expect(gunzipSync(bytes.subarray(offset, offset + length)).length).toBe(unpacked);
    }
  });

  test("is read by gzip", () => {
    execFileSync("gzip", ["--test", whole]);
    expect(execFileSync("gzip", ["-dc", whole], { maxBuffer: 2 ** 30 }).equals(gunzipSync(bytes))).toBe(true);
  });

  test("leaves large documents packed until they are read, and gives the same bytes then, in any order", async () => {
    const source = await openSource(whole);
    const unpacked = gunzipSync(bytes);
    const { file, size } = source;
    expect(size).toBe(unpacked.length);
    expect(file.lazy!.loaded(0, size)).toBeLessThan(100_000);
    const places = [size - 4, size >> 1, 100_000, 3, 250_000, 99_999];
    for (const offset of places) {
      const length = Math.min(5000, size - offset);
      expect(Buffer.from(await file.read(offset, length)).equals(unpacked.subarray(offset, offset + length))).toBe(
        true,
      );
    }
    const all = await Promise.all([1, 2, 3].map(() => bytesOf(readBlocks([{ file, offset: 0, length: size }]))));
    expect(all.every((each) => each.equals(unpacked))).toBe(true);
    await source.close();
    await expect(file.read(0, 1)).rejects.toMatchObject({ code: "tree-closed" });
  });

  test("unpacks nothing of a large document to know what it is, not even of one that cannot be compressed", async () => {
    const file = inFolder("hard.warc.gz");
    const store = await createStore({ kind: "memory", save: file, info: { settings: {} } });
    const url = "https://example.org/hard.gz";
    await store.keep(documentAt(url, randomBytes(200_000)));
    await store.close();
    const source = await openSource(file);
    const { index } = await indexArchive(source);
    await index.read(index.find(archiveKey({ url, role: "sitemap" }))!);
    expect(source.file.lazy!.loaded(0, source.size)).toBeLessThan(20_000);
    await source.close();
  });

  test("keeps the lengths in the next run, which copies records", async () => {
    const next = inFolder("next.warc.gz");
    const second = await sitemapTreeForHomepage(home, { ...options, previous: whole, save: next });
    await second.close();
    const members = await membersOf(readFileSync(next));
    const last = members.at(-1)!;
    expect(last.offset + last.length).toBe(statSync(next).size);
    // Compressed as they were, not again.
    const [first] = (await membersOf(bytes)).filter(({ isLarge }) => isLarge);
    const large = bytes.subarray(first!.offset, first!.offset + first!.length);
    expect(readFileSync(next).includes(large)).toBe(true);
    expect(await seenIn(next)).toEqual(expected);
  });

  test("gets lengths from an archive that has none", async () => {
    const [old, next] = [fileWith(withoutLengths(await membersOf(bytes))), inFolder("from-old.warc.gz")];
    await (await sitemapTreeForHomepage(home, { ...options, previous: old, save: next })).close();
    const last = (await membersOf(readFileSync(next))).at(-1)!;
    expect(last.offset + last.length).toBe(statSync(next).size);
  });

  test("is resumed at its end", async () => {
    const file = fileWith(bytes);
    await (await sitemapTreeForHomepage(home, { ...options, resume: file })).close();
    expect(readFileSync(file).subarray(0, bytes.length).equals(bytes)).toBe(true);
    const last = (await membersOf(readFileSync(file))).at(-1)!;
    expect(last.offset + last.length).toBe(statSync(file).size);
    expect(await seenIn(file)).toEqual(expected);
  });
});

type Members = Awaited<ReturnType<typeof membersOf>>;

/** As other tools, and earlier versions of ours, write it. */
function withoutLengths(members: Members): Buffer {
  return Buffer.concat(
    members.map(({ offset, length }) => gzipSync(gunzipSync(bytes.subarray(offset, offset + length)))),
  );
}

describe("the same tree", () => {
  test("from records without lengths, in one piece, and with lengths in some", async () => {
    const members = await membersOf(bytes);
    const plain = withoutLengths(members);
    expect(await seenIn(fileWith(plain))).toEqual(expected);
    expect(await seenIn(fileWith(gzipSync(gunzipSync(bytes))))).toEqual(expected);
    const half = members[members.length >> 1]!.offset;
    const rest = gzipSync(gunzipSync(bytes.subarray(half)));
    expect(await seenIn(fileWith(Buffer.concat([bytes.subarray(0, half), rest])))).toEqual(expected);
  });

  test("with other fields before ours, and after it", async () => {
    const changed = (await membersOf(bytes)).map(({ offset, length }) => {
      const member = bytes.subarray(offset, offset + length);
      const field = Buffer.from(member.subarray(12, 24));
      const other = Buffer.concat([Buffer.from("ab\x05\0slsls", "latin1"), Buffer.from("cd\0\0", "latin1")]);
      field.writeUInt32LE(length + 2 * other.length, 4);
      const size = Buffer.from([12 + 2 * other.length, 0]);
      return Buffer.concat([member.subarray(0, 10), size, other, field, other, member.subarray(24)]);
    });
    const content = Buffer.concat(changed);
    expect(await membersOf(content)).toHaveLength(changed.length);
    expect(await seenIn(fileWith(content))).toEqual(expected);
  });

  test("whatever lengths a member says", async () => {
    const { members, at: large, offset, length, unpacked } = await largeMember();
    const [next, later] = [members[large + 1]!, members[large + 2]!];
    const packedLengths = [
      ...[0, 1, 23, 24, 25, length - 1, length + 1, 0x7fffffff, 0x80000000, 0xffffffff],
      // Overlapping, and over the records after it.
      ...[length >> 1, length + next.length, length + next.length + later.length, bytes.length - offset],
      ...[bytes.length - offset - 1, bytes.length - offset + 1],
    ];
    const unpackedLengths = [0, 1, unpacked - 1, unpacked + 1, unpacked - 4, unpacked + next.unpacked, 0xffffffff];
    const changes = (isLong ? [large, 0, large + 1] : [large]).flatMap((at) => [
      ...packedLengths.map((value) => ({ at, field: 16, value })),
      ...unpackedLengths.map((value) => ({ at, field: 20, value })),
    ]);
    // Of a small record.
    for (const value of [0, 25, 100, length, 0xffffffff]) changes.push({ at: large + 1, field: 16, value });
    for (const value of [1, 100, 0xffffffff]) changes.push({ at: 0, field: 20, value });
    for (const { at, field, value } of changes) {
      const changed = Buffer.from(bytes);
      changed.writeUInt32LE(value, members[at]!.offset + field);
      const file = fileWith(changed);
      expect([at, field, value, await seenIn(file)]).toEqual([at, field, value, expected]);
      rmSync(file);
    }
  });

  test("with two members whose lengths are right together, and wrong each", async () => {
    const members = await membersOf(bytes);
    const changed = Buffer.from(bytes);
    const [one, two] = [members[0]!, members[1]!];
    changed.writeUInt32LE(one.unpacked + 100, one.offset + 20);
    changed.writeUInt32LE(two.unpacked - 100, two.offset + 20);
    const file = fileWith(changed);
    expect(await seenIn(file)).toEqual(expected);
    // Nothing of it is copied as it is.
    const next = inFolder("from-lies.warc.gz");
    await (await sitemapTreeForHomepage(home, { ...options, previous: file, save: next })).close();
    expect(await seenIn(next)).toEqual(expected);
  });

  test("where a body is made of compressed records that say lengths", async () => {
    const file = inFolder("inside.warc.gz");
    const store = await createStore({ kind: "memory", save: file, info: { settings: {} } });
    const url = "https://example.org/inside.bin";
    await store.keep(documentAt(url, bytes));
    await store.finish();
    await store.close();
    const archive = await openArchive(file);
    expect(archive).toMatchObject({ urls: [url], truncated: false, finished: true });
    const fetched = await archive.fetch({ url, role: "sitemap" });
    expect(fetched.outcome === "found" && (await bytesOf(fetched.body)).equals(bytes)).toBe(true);
    await archive.close();
  });

  test("cut anywhere, as if it had been unpacked first", async () => {
    const members = await membersOf(bytes);
    const step = isLong ? 97 : 4999;
    const near = isLong ? [-9, -8, -1, 0, 1, 11, 12, 23, 24, 25] : [-8, 0, 12];
    const cuts = Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) => at * step);
    const picked = isLong ? members : members.filter((_, at) => at < 3 || at > members.length - 4);
    for (const { offset } of picked) cuts.push(...near.map((more) => offset + more));
    for (const cut of cuts.filter((length) => length > 20)) {
      const piece = bytes.subarray(0, cut);
      const [packed, plain] = [
        fileWith(piece),
        fileWith(gunzipSync(piece, { finishFlush: constants.Z_SYNC_FLUSH }), "site.warc"),
      ];
      expect([cut, await seenIn(packed)]).toEqual([cut, await seenIn(plain)]);
      rmSync(packed);
      rmSync(plain);
    }
  });

  test("with garbage between two members: up to there", async () => {
    const large = await largeMember();
    for (const garbage of [Buffer.alloc(30), Buffer.from("garbage"), bytes.subarray(0, 9)]) {
      for (const at of [large.offset, large.offset + large.length]) {
        const file = fileWith(Buffer.concat([bytes.subarray(0, at), garbage, bytes.subarray(at)]));
        const seen = await seenIn(file);
        expect(seen).toMatchObject({
          complete: false,
          problems: expect.arrayContaining([`${home} archive-truncated`]),
        });
      }
    }
  });
});

describe("damage in a large document", () => {
  test("is found when it is read: its sitemap is not complete, and all others are", async () => {
    const { offset, length } = await largeMember();
    for (const place of [offset + (length >> 1), offset + length - 12, offset + length - 6]) {
      const changed = Buffer.from(bytes);
      changed[place] = changed[place]! ^ 0x10;
      const file = fileWith(changed);
      const tree = await openTree(file);
      const seen = (await everythingIn(tree)) as { pages: number };
      expect(seen).toMatchObject({ complete: false, problems: [`${home}large.xml archive-digest`] });
      expect(seen.pages).toBeGreaterThanOrEqual(1802);
      expect(seen.pages).toBeLessThanOrEqual(5102);
      await expect(tree.save(inFolder(`${place}.warc`))).rejects.toMatchObject({
        code: "invalid-archive",
        message: expect.stringContaining(file),
      });
      await tree.close();
      // The next run asks for it again.
      const next = inFolder(`${place}-next.warc.gz`);
      await (await sitemapTreeForHomepage(home, { ...options, previous: file, save: next })).close();
      expect(await seenIn(next)).toEqual(expected);
    }
  });

  test("at its start costs no other, either: the next record is found by the length", async () => {
    const { offset, length } = await largeMember();
    // Also in the length at its end, by which the other one is compared.
    for (const [from, count] of [...[30, 300, 600, 1000, 2000, 3500].map((at) => [at, 20]), [length - 2, 1]] as const) {
      const changed = Buffer.from(bytes);
      for (let at = offset + from; at < offset + from + count; at += 1) changed[at] = changed[at]! ^ 0xff;
      const file = fileWith(changed);
      const tree = await openTree(file);
      const seen = (await everythingIn(tree)) as { pages: number };
      expect([from, seen]).toMatchObject([
        from,
        { complete: false, problems: expect.arrayContaining([`${home}large.xml archive-digest`]) },
      ]);
      expect(seen.pages).toBeGreaterThanOrEqual(1802);
      // A copy would not know what is missing.
      const code = "invalid-archive";
      await expect(tree.save(inFolder(`start-${from}.warc`))).rejects.toMatchObject({ code });
      await tree.close();
      await expect(sitemapTreeForHomepage(home, { ...options, resume: file })).rejects.toMatchObject({ code });
      expect(readFileSync(file).equals(changed)).toBe(true);
      // The next run asks for it again, and copies the others as they are.
      const next = inFolder(`start-${from}-next.warc.gz`);
      await (await sitemapTreeForHomepage(home, { ...options, previous: file, save: next })).close();
      expect(await seenIn(next)).toEqual(expected);
    }
  });

  test("in the name of its record costs no other, either", async () => {
    const { offset, length } = await largeMember();
    const record = Buffer.from(gunzipSync(bytes.subarray(offset, offset + length)));
    const name = record.indexOf("WARC-Record-ID: <urn:uuid:") + 26;
    record.write(record[name] === 0x30 ? "1" : "0", name);
    const member = withOurHeader(gzipSync(record), record.length);
    const [before, behind] = [bytes.subarray(0, offset), bytes.subarray(offset + length)];
    expect(await seenIn(fileWith(Buffer.concat([before, member, behind])))).toMatchObject({
      complete: false,
      pages: 1802,
      problems: [`${home}large.xml archive-digest`],
    });
  });

  test("so are bytes after the compressed data that the length includes", async () => {
    const { offset, length, unpacked } = await largeMember();
    for (const garbage of ["\0\0\0\0", "garb", "\x1f\x8b\x08\0", "\x1f"]) {
      const more = Buffer.from(`${garbage}1234`, "latin1");
      more.writeUInt32LE(unpacked, more.length - 4);
      const end = offset + length;
      const changed = Buffer.concat([bytes.subarray(0, end), more, bytes.subarray(end)]);
      changed.writeUInt32LE(length + more.length, offset + 16);
      expect(await seenIn(fileWith(changed))).toMatchObject({
        complete: false,
        problems: expect.arrayContaining([`${home}large.xml archive-digest`]),
      });
    }
  });

  test("is never silent, wherever it is", async () => {
    const random = new Random(7);
    for (let round = 0; round < (isLong ? 500 : 12); round += 1) {
      const changed = Buffer.from(bytes);
      const place = random.below(bytes.length);
      changed[place] = changed[place]! ^ (1 << random.below(8));
      const file = fileWith(changed);
      const seen = (await seenIn(file)) as { complete: boolean };
      // Either nobody needs the byte, or the tree is not complete.
      if (typeof seen === "object" && seen.complete) expect([place, seen]).toEqual([place, expected]);
      rmSync(file);
    }
  });

  test("the file becomes shorter, is written over, or is removed, while it is open", async () => {
    const short = fileWith(bytes);
    const one = await openTree(short);
    truncateSync(short, 1000);
    expect(await everythingIn(one)).toMatchObject({ complete: false });
    await one.close();

    const other = fileWith(bytes);
    const two = await openTree(other);
    writeFileSync(other, Buffer.alloc(bytes.length, 7));
    expect(await everythingIn(two)).toMatchObject({ complete: false });
    await two.close();

    const gone = fileWith(bytes);
    const [three, four] = [await openTree(gone), await openTree(gone)];
    if (process.platform !== "win32") rmSync(gone);
    expect(await Promise.all([everythingIn(three), everythingIn(four)])).toEqual([expected, expected]);
    await Promise.all([three.close(), four.close()]);
  });

  test("more documents than are decompressed at a time, each left in its middle and read again", async () => {
    const file = inFolder("many.warc.gz");
    const store = await createStore({ kind: "memory", save: file, info: { settings: {} } });
    // More than is unpacked at once.
    const line = locations("line", 1000).join("\n");
    const document = (at: number) => Buffer.from(Array(26).fill(`${line}${at}`).join(`${at}\n`));
    const urls = Array.from({ length: 17 }, (_, at) => `https://example.org/${at}.txt`);
    for (const [at, url] of urls.entries()) await store.keep(documentAt(url, document(at)));
    await store.close();
    const archive = await openArchive(file);
    const bodies = [];
    for (const url of urls) {
      const fetched = await archive.fetch({ url, role: "sitemap" });
      if (fetched.outcome === "found") bodies.push(fetched.body);
    }
    for (const body of bodies) for await (const _ of body) break;
    for (const [at, body] of bodies.entries()) {
      const twice = await Promise.all([bytesOf(body), bytesOf(body)]);
      expect(twice.map((each) => each.equals(document(at)))).toEqual([true, true]);
    }
    expect(bodies.map((body) => body.problem)).toEqual(bodies.map(() => undefined));
    await archive.close();
  });
});

test("lengths never let a small file unpack to more than it may", async () => {
  const body = Buffer.alloc(32 * 1024 * 1024);
  const head = `WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: ${home}\r\nContent-Length: ${body.length}\r\n\r\n`;
  const record = Buffer.concat([Buffer.from(head), body, Buffer.from("\r\n\r\n")]);
  const member = withOurHeader(gzipSync(record, { level: 1 }), record.length);
  expect(skipLengths(member)).toEqual({ packed: member.length, unpacked: record.length });
  const file = fileWith(Buffer.concat(Array(5).fill(member)));
  await expect(openArchive(file)).rejects.toMatchObject({
    code: "invalid-archive",
    message: expect.stringContaining("unpacks to more than"),
  });
});
