// `--save` and related flags never destroy a file: not the old archive, not the input, nothing that is not a regular file.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { shell, sitegrove } from "./program.ts";
import { type Answer, serve } from "./website.ts";

const routes: Record<string, Answer> = {};
let folder: string;
const site = await serve(routes);
beforeEach(() => {
  folder = newFolder();
  for (const name of Object.keys(routes)) delete routes[name];
  routes["/robots.txt"] = "Sitemap: {base}/a.xml\n";
  routes["/a.xml"] = urlset("{base}/1");
});

const inFolder = (name: string) => path.join(folder, name);
/** Saves an archive, runs `run`, and expects the archive to be unchanged and the only file. */
async function keepsTheOld(run: () => Promise<void>): Promise<void> {
  await save("site.warc");
  const before = readFileSync(inFolder("site.warc"));
  await run();
  expect(readFileSync(inFolder("site.warc"))).toEqual(before);
  expect(readdirSync(folder)).toEqual(["site.warc"]);
}
const flags = ["--no-known", "--no-homepage", "--retries", "0"];
const save = (name: string, ...more: string[]) =>
  sitegrove(["ls", site.homepage, ...flags, "-f", "pages", "--save", inFolder(name), ...more]);

describe("--force", () => {
  test.each(["site.warc", "site.GZ"])("replaces %s once the new one is complete", async (name) => {
    await save(name);
    chmodSync(inFolder(name), 0o640);
    const before = readFileSync(inFolder(name));
    routes["/a.xml"] = urlset("{base}/2");
    expect((await save(name)).code).toBe(2);
    expect(readFileSync(inFolder(name))).toEqual(before);
    expect((await save(name, "--force")).code).toBe(0);
    expect((await sitegrove(["ls", inFolder(name), "-f", "pages", "-u"])).stdout).toBe("/2\n");
    expect(statSync(inFolder(name)).mode & 0o777).toBe(0o640);
    const isCompressed = readFileSync(inFolder(name))[0] === 0x1f;
    expect(isCompressed).toBe(before[0] === 0x1f);
    expect(readdirSync(folder)).toEqual([name]);
  });

  test("replaces the target of a link, and keeps the link", async () => {
    mkdirSync(inFolder("real"));
    await save("real/site.warc");
    symlinkSync("real/site.warc", inFolder("link.warc"));
    routes["/a.xml"] = urlset("{base}/2");
    expect((await save("link.warc", "--force")).code).toBe(0);
    expect((await sitegrove(["ls", inFolder("real/site.warc"), "-f", "pages", "-u"])).stdout).toBe("/2\n");
    expect(realpathSync(inFolder("link.warc"))).toBe(inFolder("real/site.warc"));
    expect(readdirSync(inFolder("real"))).toEqual(["site.warc"]);
  });

  const failures: [string, () => void, number][] = [
    ["found nothing", () => delete routes["/robots.txt"], 4],
    ["could read nothing", () => delete routes["/a.xml"], 3],
    ["reached nobody", () => (routes["/robots.txt"] = (request) => request.socket.destroy()), 5],
  ];
  test.each(failures)("keeps the old archive if the run %s", async (_, fail, code) => {
    await keepsTheOld(async () => {
      fail();
      for (const format of ["pages", "tabtree"]) {
        const run = await save("site.warc", "--force", "-f", format);
        expect(run.code).toBe(code);
        expect(run.stderr).toContain(`${said.notChanged(inFolder("site.warc"))}\n`);
      }
    });
  });

  test("keeps the old archive if the output is closed early", async () => {
    await keepsTheOld(async () => {
      routes["/a.xml"] = urlset(...Array.from({ length: 10_000 }, (_, index) => `{base}/${index}`));
      const words = `${flags.join(" ")} -f pages --save ${inFolder("site.warc")} --force`;
      const { stderr } = await shell(`eval "$SITEGROVE ls ${site.homepage} ${words}" | head -1`);
      expect(stderr).toBe(`sitegrove: ${said.closedEarly}; ${said.notChanged(inFolder("site.warc"))}\n`);
    });
  });
});

describe("--save refuses what is not a regular file", () => {
  const kinds: [string, (file: string) => void][] = [
    ["a pipe", (file) => execFileSync("mkfifo", [file])],
    ["a device", (file) => symlinkSync("/dev/null", file)],
    ["a directory", (file) => mkdirSync(file)],
    ["a link to nowhere", (file) => symlinkSync("nowhere", file)],
    ["a link to itself", (file) => symlinkSync("site.warc", file)],
  ];
  test.each(kinds)("%s", async (_, make) => {
    make(inFolder("site.warc"));
    const before = statSync("/dev/null").rdev;
    for (const more of [[], ["--force"]]) {
      const run = await save("site.warc", ...more);
      expect(run).toMatchObject({ code: 2, stdout: "" });
      expect(run.stderr).toMatch(/^sitegrove: [^\n]+\n$/);
    }
    expect(readdirSync(folder)).toEqual(["site.warc"]);
    expect(statSync("/dev/null").rdev).toBe(before);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });
});

describe("the input is never overwritten", () => {
  const ways: [string, string, () => void][] = [
    ["the same name", "site.warc", () => {}],
    ["another spelling", "./x/../site.warc", () => mkdirSync(inFolder("x"))],
    ["a symbolic link", "other", () => symlinkSync("site.warc", inFolder("other"))],
    ["a hard link", "other", () => linkSync(inFolder("site.warc"), inFolder("other"))],
    ["a link to its folder", "here/site.warc", () => symlinkSync(".", inFolder("here"))],
  ];
  test.each(ways)("by %s", async (_, name, make) => {
    await save("site.warc");
    make();
    const before = readFileSync(inFolder("site.warc"));
    for (const more of [["--save", "--force"], ["-o", "--force"], ["-l"]]) {
      const [flag = "", ...force] = more;
      const run = await sitegrove(["ls", inFolder("site.warc"), ...force, flag, `${folder}/${name}`]);
      expect(run).toMatchObject({ code: 2, stdout: "" });
      expect(readFileSync(inFolder("site.warc"))).toEqual(before);
    }
  });

  // A file that a shell has opened has no name any more, so a hard link or another spelling makes no difference here.
  test("by a shell redirection", () =>
    keepsTheOld(async () => {
      const appended = await shell(`eval "$SITEGROVE ls ${inFolder("site.warc")}" >> ${inFolder("site.warc")}`);
      expect(appended.code).toBe(2);
    }));

  test("two outputs cannot be the same file, whether it exists or not", async () => {
    writeFileSync(inFolder("old"), "mine");
    for (const name of ["new", "old"]) {
      for (const [flag = "", file = ""] of [
        ["-o", inFolder(name)],
        ["-l", `${folder}/./${name}`],
      ])
        expect(await save(name, "--force", flag, file)).toMatchObject({ code: 2, stdout: "" });
    }
    expect(readdirSync(folder)).toEqual(["old"]);
    const both = `eval "$SITEGROVE ls ${site.homepage} --save ${inFolder("old")} --force" > ${inFolder("old")}`;
    expect((await shell(both)).code).toBe(2);
  });
});

test("an archive is listed, filtered and saved again offline; network flags are refused", async () => {
  routes["/robots.txt"] = "Sitemap: {base}/a.xml\nSitemap: {base}/b.xml\n";
  routes["/b.xml"] = urlset("{base}/2", "{base}/3");
  await save("site.warc.gz");
  const asked = site.requests.length;
  const filters = ["-u", "--exclude-sitemap", "a.xml", "--limit", "1", "-f", "pages"];
  await sitegrove(["ls", inFolder("site.warc.gz"), "--save", inFolder("copy.warc")]);
  expect((await sitegrove(["ls", inFolder("copy.warc"), ...filters])).stdout).toBe("/2\n");
  const [copied, first] = await Promise.all(
    ["copy.warc", "site.warc.gz"].map((name) => sitegrove(["ls", inFolder(name)])),
  );
  expect(copied).toEqual(first);
  expect((await sitegrove(["ls", inFolder("copy.warc"), "--retries", "1"])).code).toBe(2);
  expect(site.requests).toHaveLength(asked);
});

describe("the log file", () => {
  const hasFull = statSync("/dev/full", { throwIfNoEntry: false })?.isCharacterDevice();
  test.runIf(hasFull).each(["pages", "tabtree"])(
    "does not end the listing if it cannot be written any more (%s)",
    async (format) => {
      const run = await sitegrove(["ls", site.homepage, ...flags, "-f", format, "-vv", "-l", "/dev/full"]);
      const stderr = `sitegrove: ${said.logEnds("/dev/full", said.noSpace)}\n`;
      expect(run).toEqual({ code: 0, stdout: expect.stringContaining("/1\n"), stderr });
    },
  );

  test("is a usage error if it is a pipe without a reader", async () => {
    execFileSync("mkfifo", [inFolder("pipe")]);
    const run = await sitegrove(["ls", site.homepage, "-l", inFolder("pipe")]);
    expect(run).toMatchObject({ code: 2, stdout: "" });
  });

  test("may be a pipe, and the listing continues if its reader leaves", async () => {
    execFileSync("mkfifo", [inFolder("pipe")]);
    const ls = `eval "$SITEGROVE ls ${site.homepage} ${flags.join(" ")} -f pages -vv -l ${inFolder("pipe")}"`;
    const read = await shell(`cat ${inFolder("pipe")} & ${ls} > ${inFolder("out")}; wait`);
    expect(read.stdout).toContain(said.finished(""));
    const gone = await shell(`head -c 1 ${inFolder("pipe")} & ${ls}`);
    expect(gone).toMatchObject({ code: 0, stdout: expect.stringContaining("/1\n") });
  });
});

test.each(["pages", "ndjson", "json", "sitemaps", "tabtree"])(
  "a document too damaged to be a sitemap is reported as damaged: -f %s",
  async (format) => {
    await save("site.warc");
    const bytes = readFileSync(inFolder("site.warc"));
    bytes[bytes.indexOf("<urlset")] = 0x3d;
    writeFileSync(inFolder("damaged.warc"), bytes);
    const { code, stderr } = await sitegrove(["ls", inFolder("damaged.warc"), "-f", format]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(said.wrongChecksum) });
  },
);
