// A file whose bytes do not change once they were read: small reads come from what was read around them.
import { mkdtempSync, rmSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { KeptFile } from "../../src/archive/file.ts";

const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-final-"));
afterAll(() => rmSync(folder, { recursive: true }));

const length = 200_000;
const content = Buffer.from(new Uint32Array(length / 4).map((_, index) => index * 2_654_435_761).buffer);

async function finalFile(): Promise<KeptFile> {
  const name = path.join(folder, "file");
  await writeFile(name, content);
  const file = new KeptFile(await open(name), name);
  file.remembersReads = true;
  return file;
}

test("every read gives the bytes of its place, in any order, and at the end", async () => {
  const file = await finalFile();
  const places = Array.from({ length: 500 }, (_, index) => [(index * 7919) % length, (index * 613) % 20_000] as const);
  places.push([0, 1], [length - 1, 1], [length - 10, 100], [length, 10], [5, 0], [0, 16_384], [1, 16_385]);
  for (const [offset, size] of places) {
    const bytes = await file.read(offset, size);
    expect(Buffer.from(bytes).equals(content.subarray(offset, offset + size)), `${offset} ${size}`).toBe(true);
  }
  await file.close();
});

test("reads at the same time do not disturb each other, and none changes another", async () => {
  const file = await finalFile();
  const offsets = Array.from({ length: 100 }, (_, index) => (index * 31_337) % (length - 100));
  const all = await Promise.all(offsets.map((offset) => file.read(offset, 100)));
  for (const bytes of all.slice(0, 50)) bytes.fill(0);
  expect(all.slice(50).map((bytes) => Buffer.from(bytes).toString("hex"))).toEqual(
    offsets.slice(50).map((offset) => content.subarray(offset, offset + 100).toString("hex")),
  );
  for (const offset of offsets) {
    for (const part of [offset, offset + 10]) {
      const bytes = await file.read(part, 90);
      expect(Buffer.from(bytes).equals(content.subarray(part, part + 90))).toBe(true);
      bytes.fill(0);
    }
  }
  await file.close();
});
