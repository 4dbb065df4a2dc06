// A document in a file that somebody may change: what was compared counts while the file shows that nobody wrote to it.
import { appendFileSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { type CheckedBody, parseDigest } from "../../src/archive/digest.ts";
import { EarlierBody } from "../../src/archive/earlier-body.ts";
import { blockSize, KeptFile } from "../../src/archive/kept-body.ts";
import { PreviousArchives } from "../../src/archive/previous-archives.ts";
import { createStore } from "../../src/archive/store.ts";
import { bytesOf, documentAt } from "./exchanges.ts";

const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-earlier-"));
afterAll(() => rmSync(folder, { recursive: true }));

const name = path.join(folder, "file");
const size = 3 * blockSize;
const content = Buffer.alloc(size, "0123456789");
// Not what is in the file: where nobody compares, nobody notices.
const wrong = parseDigest("md5:00000000000000000000000000000000")!;

async function bodyIn(file: KeptFile) {
  return new EarlierBody([{ file, offset: 0, length: size }], wrong, undefined);
}

async function readAll(body: EarlierBody, during: () => void = () => undefined): Promise<string | undefined> {
  let length = 0;
  for await (const piece of body) {
    if (length === 0) during();
    length += piece.length;
  }
  expect(length).toBeLessThanOrEqual(size);
  return body.problem?.code;
}

/** As if the file had been written long ago. */
async function opened(isOld: boolean): Promise<KeptFile> {
  writeFileSync(name, content);
  const file = new KeptFile(await open(name), name);
  const now = Date.now();
  vi.spyOn(Date, "now").mockReturnValue(isOld ? now + 10_000 : now);
  await file.watch();
  vi.restoreAllMocks();
  return file;
}

test.skipIf(process.platform === "win32")("an old file that nobody writes to is not compared again", async () => {
  const file = await opened(true);
  expect(await file.isUnchanged()).toBe(true);
  expect(await readAll(await bodyIn(file))).toBeUndefined();
  await file.close();
});

test("a file that was just written is compared: its times may not show the next change", async () => {
  const file = await opened(false);
  expect(await file.isUnchanged()).toBe(false);
  expect(await readAll(await bodyIn(file))).toBe("archive-digest");
  await file.close();
});

test("a file that nobody watches is compared", async () => {
  writeFileSync(name, content);
  const file = new KeptFile(await open(name), name);
  expect(await readAll(await bodyIn(file))).toBe("archive-digest");
  await file.close();
});

test.each([
  ["site.warc", true],
  ["site.warc.gz", undefined],
])("a document that stays in %s: whether others may write to where it is", async (archive, mayChange) => {
  const [save, info] = [path.join(folder, archive), { settings: {} }];
  const request = { url: "https://example.org/a.xml", role: "sitemap" } as const;
  const first = await createStore({ kind: "memory", save, info });
  await first.keep(documentAt(request.url, content));
  await first.close();
  const previous = await PreviousArchives.open([save]);
  const document = (await previous.document(request))!;
  expect(await (document.body as CheckedBody).isGood()).toBe(true);
  const store = await createStore({ kind: "auto", info, earlier: previous.files });
  const answered = { status: 304, headers: [] };
  const { body } = await store.keep({ ...document, came: "not-modified", answered });
  expect(body.mayChange).toBe(mayChange);
  expect((await bytesOf(body)).equals(content)).toBe(true);
  expect(body.problem).toBeUndefined();
  await store.close();
});

test.each([
  ["written to", () => writeFileSync(name, content)],
  ["made longer", () => appendFileSync(name, "more")],
  ["made shorter", () => truncateSync(name, 100)],
  [
    "written to, and dated back",
    () => {
      writeFileSync(name, content);
      utimesSync(name, 1000, 1000);
    },
  ],
  ["deleted", () => rmSync(name)],
])("a file that is %s is compared, also where that happens while it is read", async (_, change) => {
  for (const when of ["before", "during"]) {
    const file = await opened(true);
    // Longer than the steps of the clock that dates files.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const body = await bodyIn(file);
    if (when === "before") change();
    expect(await readAll(body, when === "during" ? change : undefined), when).toBe("archive-digest");
    await file.close();
  }
});
