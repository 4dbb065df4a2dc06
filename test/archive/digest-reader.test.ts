// Content that is read for its digest alone: many at a time, with the same buffers, also where a file becomes shorter.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readForDigest } from "../../src/archive/digest-reader.ts";
import { type Block, KeptFile } from "../../src/archive/kept-body.ts";

const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-digest-"));
const content = Buffer.from(Uint32Array.from({ length: 800_000 }, (_, at) => at * 2_654_435_761).buffer);
let file: KeptFile;
beforeAll(async () => {
  writeFileSync(path.join(folder, "file"), content);
  file = new KeptFile(await open(path.join(folder, "file")), "file");
});
afterAll(async () => {
  await file.close();
  rmSync(folder, { recursive: true });
});

const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");
async function digested(blocks: readonly Block[]): Promise<string> {
  const hash = createHash("md5");
  await readForDigest(blocks, (piece) => hash.update(piece));
  return hash.digest("hex");
}

test("every one is read as it is, whatever its length, and whoever else is read or fails", async () => {
  const lengths = [0, 1, 1000, 524_287, 524_288, 524_289, 1_048_576, 1_500_000, 2_000_000];
  const offsets = [0, 7, 1_000_003];
  const extents = lengths.flatMap((length) => offsets.map((offset) => ({ file, offset, length })));
  const results = await Promise.allSettled(
    extents.flatMap((extent) => [
      digested([extent]),
      digested([Buffer.from("head"), extent, extent]),
      digested([{ file, offset: content.length - 600_000, length: 700_000 }]),
    ]),
  );
  for (const [at, { offset, length }] of extents.entries()) {
    const bytes = content.subarray(offset, offset + length);
    const [alone, joined, shorter] = results.slice(3 * at);
    expect(alone).toEqual({ status: "fulfilled", value: md5(bytes) });
    expect(joined).toEqual({ status: "fulfilled", value: md5(Buffer.concat([Buffer.from("head"), bytes, bytes])) });
    expect(shorter).toMatchObject({ status: "rejected", reason: { code: "invalid-archive" } });
  }
  expect(await digested([Buffer.from("a"), Buffer.from("b")])).toBe(md5(Buffer.from("ab")));
});
