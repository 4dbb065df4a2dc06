// What bounds the memory of compressed archives, and what their records are copied by.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { openSource } from "../../src/archive/archive-source.ts";
import { CompressedRecords } from "../../src/archive/compressed-records.ts";
import { membersByLength } from "../../src/archive/gzip-members.ts";
import type { PackedMember } from "../../src/archive/packed-member.ts";
import { PackedMembers } from "../../src/archive/packed-members.ts";
import { createStore } from "../../src/archive/store.ts";
import { WarcReader } from "../../src/archive/warc-reader.ts";
import { documentAt } from "./exchanges.ts";

const folder = mkdtempSync(path.join(tmpdir(), "packed-bounds-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("at most sixteen records are half decompressed, and closing ends those", async () => {
  const members = new PackedMembers();
  const halfway = new Set<number>();
  const closed: number[] = [];
  for (let at = 0; at < 40; at++) {
    let loadedTo = at * 100;
    const member: Partial<PackedMember> = {
      start: at * 100,
      end: at * 100 + 100,
      get isWhole() {
        return loadedTo === at * 100 + 100;
      },
      loadedFrom: (position) => Math.max(position, loadedTo),
      async load(to) {
        loadedTo = to;
        if (loadedTo === at * 100 + 100) halfway.delete(at);
        else halfway.add(at);
      },
      async close() {
        closed.push(at);
      },
    };
    members.add(member as PackedMember);
  }
  for (let at = 0; at < 40; at++) {
    await members.load(at * 100, 50);
    expect(halfway.size).toBeLessThanOrEqual(16);
  }
  await members.close();
  expect(closed).toEqual([...halfway]);
  expect(closed).toHaveLength(16);
});

test("a record is copied as it is compressed only while the file still holds it", async () => {
  const file = path.join(folder, "small.warc.gz");
  const store = await createStore({ kind: "memory", save: file, info: { settings: {} } });
  await store.keep(documentAt("https://example.org/a.txt", Buffer.from("https://example.org/1")));
  await store.close();
  const source = await openSource(file, {});
  const find = async () => {
    const found = [];
    for await (const { start, end } of new WarcReader(source.file, source.size)) {
      found.push(await new CompressedRecords(source).find({ file: source.file, offset: start, length: end - start }));
    }
    return found.map((each) => each !== undefined);
  };
  expect(await find()).toEqual([true, true, true]);
  const members = [];
  for await (const member of membersByLength(source.compressed!.file, source.compressed!.size)) members.push(member);
  const bytes = readFileSync(file);
  const changed = members[1]!.offset + members[1]!.length - 20;
  bytes[changed] = bytes[changed]! ^ 1;
  writeFileSync(file, bytes);
  expect(await find()).toEqual([true, false, true]);
  await source.close();
});
