// `-o FILE`: the file has the complete result, or is unchanged.
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, expect, test } from "vitest";
import { urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { type Ended, launch, shell, sitegrove } from "./program.ts";
import { serve } from "./website.ts";

let folder: string;
const site = await serve({
  "/robots.txt": "Sitemap: {base}/a.xml\nSitemap: {base}/slow.xml\n",
  "/a.xml": urlset("{base}/1", "{base}/2"),
  "/slow.xml": (_, response) => void response.write("<urlset><url><loc>"),
  "/never.xml": () => {},
  "/long.xml": urlset(`{base}/${"x".repeat(2000)}`),
});
beforeEach(() => {
  folder = newFolder();
});

const only = (url: string) => ["ls", "--sitemap", `${url}a.xml`];

test.each(["pages", "json"])("%s writes the same to a file as to standard output", async (format) => {
  const file = path.join(folder, "result");
  const printed = await sitegrove([...only(site.homepage), "-f", format]);
  const written = await sitegrove([...only(site.homepage), "-f", format, "-o", file]);
  expect(written).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(readFileSync(file, "utf8")).toBe(printed.stdout);
  expect(readdirSync(folder)).toEqual(["result"]);
});

test.each([
  ["pages.csv", "csv"],
  ["pages.JSONL", "ndjson"],
  ["tree.json", "json"],
  ["list.txt", "tabtree"],
])("without -f, the name %s means %s", async (name, format) => {
  const file = path.join(folder, name);
  const printed = await sitegrove([...only(site.homepage), "-f", format]);
  await sitegrove([...only(site.homepage), "-o", file]);
  expect(readFileSync(file, "utf8")).toBe(printed.stdout);
});

test("-o - is standard output", async () => {
  const words = [...only(site.homepage), "-f", "pages"];
  expect(await sitegrove([...words, "-o", "-"], { cwd: folder })).toEqual(await sitegrove(words));
  expect(readdirSync(folder)).toEqual([]);
});

test("an existing file is replaced only with --force", async () => {
  const file = path.join(folder, "urls.txt");
  writeFileSync(file, "old");
  const refused = await sitegrove([...only(site.homepage), "-f", "pages", "-o", file]);
  expect(refused.code).toBe(2);
  expect(readFileSync(file, "utf8")).toBe("old");
  expect((await sitegrove([...only(site.homepage), "-f", "pages", "-o", file, "--force"])).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe(`${site.homepage}1\n${site.homepage}2\n`);
});

test("a symbolic link is kept, and its target is replaced", async () => {
  writeFileSync(path.join(folder, "target"), "old");
  const link = path.join(folder, "link");
  symlinkSync("target", link);
  expect((await sitegrove([...only(site.homepage), "-f", "pages", "-o", link, "--force"])).code).toBe(0);
  expect(readFileSync(path.join(folder, "target"), "utf8")).toContain("/1\n");
  expect(readdirSync(folder).sort()).toEqual(["link", "target"]);
});

test("a run that finds nothing, or is stopped, leaves the old file unchanged and no other file", async () => {
  const file = path.join(folder, "urls.txt");
  writeFileSync(file, "old");
  const flags = ["-f", "pages", "-o", file, "--force"];
  const nothing = await serve({});
  expect((await sitegrove(["ls", nothing.homepage, ...flags])).code).toBe(4);
  expect((await sitegrove(["parse", "-", ...flags], { input: "<html></html>" })).code).toBe(4);
  expect((await stopped(["ls", ...flags])).code).toBe(130);
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(readdirSync(folder)).toEqual(["urls.txt"]);
});

// Stops the run while it waits for a document.
async function stopped(words: readonly string[], signal: "SIGINT" | "SIGHUP" = "SIGINT"): Promise<Ended> {
  const asked = site.asked("/slow.xml");
  const run = launch(words[0] === "parse" ? [...words, `${site.homepage}slow.xml`] : [...words, site.homepage, "-k"]);
  await asked;
  run.kill(signal);
  return run.end;
}

test.each([
  [["ls", "-f", "csv", "-o", "new"], said.notWritten("new")],
  [["ls", "-f", "csv", "-o", "old.warc", "--force"], said.notChanged("old.warc")],
  [["ls", "-f", "parquet", "-o", "deep/new"], said.notWritten("deep/new")],
  [["ls", "-f", "json"], said.nothingWritten],
  [["ls", "-f", "json", "--save", "old.warc", "--force"], said.notChanged("old.warc")],
  [["check"], said.nothingWritten],
  [["check", "-f", "json", "-o", "a", "-f", "sarif", "-o", "b"], `${said.notWritten("a")}; ${said.notWritten("b")}`],
  [["report", "-o", "new"], said.notWritten("new")],
  [["parse"], said.nothingWritten],
])("a stopped run says what it left behind: %j", async (words, left) => {
  writeFileSync(path.join(folder, "old.warc"), "old");
  const flags = words.map((word, at) => (/^(-o|--save)$/.test(words[at - 1] ?? "") ? path.join(folder, word) : word));
  const { code, stderr } = await stopped(flags);
  expect(stderr.replaceAll(`${folder}/`, "")).toBe(`sitegrove: ${said.stopped(left)}\n`);
  expect(code).toBe(130);
  expect(readdirSync(folder)).toEqual(["old.warc"]);
  expect(readFileSync(path.join(folder, "old.warc"), "utf8")).toBe("old");
});

test("stopping before a document has answered is not reported as an unexpected failure", async () => {
  const asked = site.asked("/never.xml");
  const run = launch(["parse", `${site.homepage}never.xml`, "-f", "csv", "-o", path.join(folder, "new")]);
  await asked;
  run.kill("SIGINT");
  const stderr = `sitegrove: ${said.stopped(said.nothingWritten)}\n`;
  expect(await run.end).toEqual({ code: 130, stdout: "", stderr });
  expect(readdirSync(folder)).toEqual([]);
});

test("a stopped run says that its new archive has the responses received so far", async () => {
  const file = path.join(folder, "new.warc");
  const { stderr } = await stopped(["ls", "-f", "json", "--save", file]);
  expect(stderr).toBe(`sitegrove: ${said.stopped(said.responsesSoFar(file))}${said.resumeIt(file)}\n`);
  expect(readdirSync(folder)).toEqual(["new.warc"]);
  // A report cannot be resumed.
  const other = path.join(folder, "other.warc");
  const report = await stopped(["report", "--save", other]);
  expect(report.stderr).toBe(`sitegrove: ${said.stopped(said.responsesSoFar(other))}\n`);
});

test.runIf(process.platform === "linux")("closing the terminal leaves no files behind", async () => {
  const file = path.join(folder, "urls.csv");
  const end = await stopped(["ls", "-f", "csv", "-o", file], "SIGHUP");
  expect(end).toMatchObject({ code: 129, stderr: `sitegrove: ${said.stopped(said.notWritten(file))}\n` });
  expect(readdirSync(folder)).toEqual([]);
});

test("an output that cannot be written is a usage error, and nothing is requested", async () => {
  writeFileSync(path.join(folder, "other.txt"), "");
  const untouched = await serve({ "/sitemap.xml": urlset("{base}/1") });
  for (const [name, named, format] of [
    ["missing/urls.txt", "missing/urls.txt", "csv"],
    [".", folder, "csv"],
    [".", "other.txt", "parquet"],
  ] as const) {
    const file = path.join(folder, name);
    const { code, stderr } = await sitegrove([...only(untouched.homepage), "-f", format, "-o", file, "--force"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(named) });
  }
  expect(untouched.requests).toEqual([]);
});

test.runIf(process.platform === "linux")("devices and pipes are written directly", async () => {
  expect(await sitegrove([...only(site.homepage), "-o", "/dev/null"])).toEqual({ code: 0, stdout: "", stderr: "" });
  const fifo = path.join(folder, "fifo");
  spawnSync("mkfifo", [fifo]);
  const words = `ls --sitemap ${site.homepage}a.xml -f pages -o ${fifo}`;
  const { stdout } = await shell(`cat ${fifo} & eval "$SITEGROVE ${words}" && wait`);
  expect(stdout).toBe(`${site.homepage}1\n${site.homepage}2\n`);
  expect(readdirSync(folder)).toEqual(["fifo"]);
  const left = await shell(
    `eval "$SITEGROVE ls --sitemap ${site.homepage}long.xml -o /dev/stdout" | true; echo \${PIPESTATUS[0]}`,
  );
  expect(left).toMatchObject({ stdout: "0\n", stderr: "" });
  const { code, stderr } = await sitegrove([...only(site.homepage), "-o", "/dev/full"]);
  expect(stderr).toBe(`sitegrove: ${said.couldNotBeWritten("/dev/full", said.noSpace)}\n`);
  expect(code).toBe(1);
});

test.runIf(process.getuid?.() !== 0)("a folder without write permission is named in the error", async () => {
  chmodSync(folder, 0o500);
  const { code, stderr } = await sitegrove([...only(site.homepage), "-o", path.join(folder, "x")]);
  chmodSync(folder, 0o700);
  expect(code).toBe(2);
  expect(stderr).toContain(folder);
});

test.runIf(process.platform === "linux")("a full disk is an error, and the old file is kept", async () => {
  const file = path.join(folder, "urls.txt");
  writeFileSync(file, "old");
  // A limit on the size of files stands for the disk: the write that crosses it fails.
  const words = `ls --sitemap ${site.homepage}long.xml -f pages -o ${file} --force`;
  const full = await shell(`trap '' XFSZ; ulimit -f 1; eval "$SITEGROVE ${words}"`);
  expect(full.code).toBe(1);
  expect(full.stderr).toContain(said.couldNotBeWritten(file, said.fileTooLarge));
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(readdirSync(folder)).toEqual(["urls.txt"]);
});
