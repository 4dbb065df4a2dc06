// Full disks, missing folders and files that cannot be opened end the run with a message and an exit code.
import { readdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { Spool, SpoolRoom } from "../../src/crawl/spool.ts";
import { shell, sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { index, urlset } from "../support/documents.ts";
import { isLong } from "../support/long.ts";
import { said } from "../support/messages.ts";
import { smallDisk } from "../support/small-disk.ts";
import { newFolder } from "../support/test-folder.ts";

const disk = smallDisk(1024);
const folder = newFolder();
const names = Array.from({ length: 12 }, (_, index) => `/${index}.xml`);
// The documents are larger than what is kept in memory, but quick to read.
const filler = `<!--${"x".repeat(1_200_000)}-->`;
const pages = Array.from({ length: 100 }, (_, index) => `{base}/a-page-with-a-long-name-${index}`);
const site = await serve({
  "/robots.txt": "Sitemap: {base}/index.xml\n",
  "/index.xml": index(...names.map((name) => `{base}${name}`)),
  ...Object.fromEntries(names.map((name) => [name, urlset(filler, ...pages)])),
});
afterEach(() => {
  vi.unstubAllEnvs();
  if (disk !== undefined) for (const name of readdirSync(disk.path)) rmSync(path.join(disk.path, name));
});
afterAll(() => disk?.remove());

const flags = ["--no-known", "--no-homepage"];
const oneLine = (message: string) => `sitegrove: ${message}\n`;

describe.skipIf(disk === undefined)("a full disk", () => {
  const place = disk?.path ?? "";

  test("for temporary files ends a prefetched document with an error, not in a loop", async () => {
    vi.stubEnv("TMPDIR", place);
    const body = Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(100_003, "<url>")));
    const room = new SpoolRoom();
    const spool = new Spool(Object.assign(body, { end: {} }), room);
    await spool.filled;
    let length = 0;
    const reading = (async () => {
      for await (const bytes of spool) length += bytes.length;
    })();
    await expect(reading).rejects.toMatchObject({ code: "storage-failed", cause: { code: "ENOSPC" } });
    expect(length).toBeGreaterThan(500_000);
    expect(length).toBeLessThan(4_000_000);
    await room.scratch.close();
    expect(readdirSync(place)).toEqual([]);
  });

  test("for temporary files is reported by the program", async () => {
    const { code, stdout, stderr } = await sitegrove(["ls", site.homepage, ...flags], { env: { TMPDIR: place } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(oneLine(said.couldNotBeWritten(said.temporaryFile(place), said.noSpace)));
    expect(readdirSync(place)).toEqual([]);
  });

  test.each(["pages", "tabtree"])("for an archive leaves it complete up to there (%s)", async (format) => {
    const save = path.join(place, "site.warc");
    const { code, stderr } = await sitegrove(["ls", site.homepage, ...flags, "-f", format, "--save", save]);
    expect(code).toBe(1);
    expect(stderr).toBe(oneLine(said.couldNotBeWritten(save, said.noSpace)));
    const offline = await sitegrove(["ls", save]);
    expect(offline.code).toBe(3);
    expect(offline.stdout).toContain("/robots.txt");
    expect(statSync(save).size).toBeLessThan(1024 * 1024);
  });
});

test("a limit on file sizes is reported like a full disk", async () => {
  const save = path.join(folder, "limited.warc");
  const ls = (more: string) => `ulimit -f 700; eval "$SITEGROVE ls ${site.homepage} ${flags.join(" ")} ${more}"`;
  const saved = await shell(ls(`--save ${save}`));
  expect(saved.code).toBe(1);
  expect(saved.stderr).toBe(oneLine(said.couldNotBeWritten(save, said.fileTooLarge)));
  expect(readdirSync(folder)).toEqual(["limited.warc"]);
});

test("a missing temporary folder is named in the error when it is needed", async () => {
  const env = { TMPDIR: path.join(folder, "none") };
  const stderr = oneLine(said.noTemporaryFile(env.TMPDIR, said.noSuchFile));
  const large = await sitegrove(["ls", site.homepage, ...flags], { env });
  expect(large).toMatchObject({ code: 1, stdout: "", stderr });
  const save = path.join(folder, "site.warc.gz");
  await sitegrove(["ls", site.homepage, ...flags, "-f", "pages", "--save", save]);
  expect(await sitegrove(["ls", save], { env })).toMatchObject({ code: 0 });
  rmSync(save);
});

test("a missing folder for an archive is a usage error", async () => {
  const save = path.join(folder, "none/site.warc");
  const asked = site.requests.length;
  for (const format of ["pages", "tabtree"]) {
    const { code, stdout, stderr } = await sitegrove(["ls", site.homepage, "-f", format, "--save", save]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(save) });
  }
  expect(site.requests).toHaveLength(asked);
});

test("running out of file handles gives a one-line error, without a stack trace", async () => {
  const limited = (limit: number) =>
    shell(`ulimit -n ${limit}; eval "$SITEGROVE ls ${site.homepage} ${flags.join(" ")} --retries 0 -f pages"`);
  const codes: unknown[] = [];
  for (let limit = 18; limit < 50 && !codes.includes(0); limit += codes.includes(1) && !isLong ? 3 : 1) {
    const { code, stdout, stderr } = await limited(limit);
    // Node.js itself needs about 18, and says so in its own way.
    if (codes.length === 0 && !stderr.startsWith("sitegrove: ")) continue;
    codes.push(code);
    if (code === 0) expect(stdout).not.toBe("");
    // This is enough to start, and each document that could not be read is reported in one line.
    else if (code === 3) expect(stderr).toMatch(said.noFileHandles);
    else expect(stderr).toMatch(said.raiseLimit);
  }
  expect(codes).toContain(1);
});
