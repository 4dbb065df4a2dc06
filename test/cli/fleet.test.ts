// `sitegrove fleet` as a process: lists, outputs, continuing after failures, signals.
// Needs processes, more than a second.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, test } from "vitest";
import { SiteList } from "../../src/cli/fleet/sites.ts";
import type { JournalLine } from "../../src/fleet/journal-file.ts";
import { readResults } from "../../src/fleet/journal-state.ts";
import { nameInFolder } from "../../src/fleet/results.ts";
import { siteJob } from "../../src/fleet/site-job.ts";
import { type ManyServers, type ManyServersOptions, manyServers } from "../fleet/many-servers.ts";
import { dated, index, urlset } from "../support/documents.ts";
import { linesIn, occurrences } from "../support/grown.ts";
import { some } from "../support/long.ts";
import { saidOfFleets as said } from "../support/messages.ts";
import { smallDisk } from "../support/small-disk.ts";
import { testFolder } from "../support/test-folder.ts";
import { steering } from "../write/hostile.ts";
import { ended, jsonLines, launch, onTerminal, shell, sitegrove, start } from "./program.ts";

const at = testFolder();
function file(name: string, content: string | Uint8Array): string {
  writeFileSync(at(name), content);
  return at(name);
}
async function serve(options: ManyServersOptions): Promise<ManyServers> {
  const servers = await manyServers(options);
  file("sites.txt", `${servers.sites.join("\n")}\n`);
  return servers;
}

const utf16 = (text: string) => Buffer.from(text, "utf16le");

/** Returns URLs at which no server listens. */
async function nowhere(count: number): Promise<string[]> {
  const gone = await manyServers({ count });
  gone.close();
  return [...gone.sites];
}

const linesOf = (name: string) => readFileSync(at(name), "utf8").trimEnd().split("\n");
const summaryIn = (out = "out") => JSON.parse(readFileSync(at(`${out}/summary.json`), "utf8"));
const parquetOf = (folder: string) => ["ls", "--sitemap", "http://127.0.0.1:9/", "-f", "parquet", "-o", folder];
const quick = ["--no-homepage", "--retries", "0"];
/** Turns off the progress line that is printed every ten seconds, which only a busy machine reaches. */
const fleet = (...flags: string[]) => ["fleet", "--out", at("out"), ...quick, "--no-progress", ...flags];
// Ignores the last line, which may be only half written.
const journal = (out = "out"): JournalLine[] =>
  jsonLines(readFileSync(at(`${out}/sites.ndjson`), "utf8").replace(/.+$/, ""));
const urlsIn = (name: string) => jsonLines(readFileSync(at(name), "utf8")).map(({ url }) => url);
const done = '"type":"done"';
const doneLines = (out = "out") => journal(out).flatMap((line) => (line.type === "done" ? [line.summary] : []));
const sitesDone = () =>
  doneLines()
    .map(({ site }) => site)
    .sort();
const files = (kind = "") =>
  readdirSync(at(`out/${kind}`), { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? path.relative(at(`out/${kind}`), path.join(entry.parentPath, entry.name)) : [],
  );

test("the summary counts the AI preferences of robots.txt", async () => {
  await serve({ count: 2, robots: "License: /a\nUser-agent: *\nContent-Signal: search=yes, ai-train=no\n" });
  const { stdout } = await sitegrove(fleet("--from", at("sites.txt")));
  expect(summaryIn().preferences).toEqual({ License: 2, "search=yes": 2, "ai-train=no": 2 });
  expect(stdout).toContain("by number of websites\n     2  License\n     2  search=yes\n     2  ai-train=no\n");
  expect(doneLines()[0]?.preferences?.[1]).toMatchObject({ values: { "ai-train": "no" }, line: 4, agents: ["*"] });
});

test("a list of websites gives a journal, a file of pages for each website, a summary and a table", async () => {
  const { sites } = await serve({ count: 12 });
  const { code, stdout, stderr } = await sitegrove(fleet("--from", at("sites.txt")));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^12 websites in [\d.]+ m?s: 36 pages, 24 requests, [\d.]+ kB\n\n {4}12 {2}complete\n$/);
  expect(sitesDone()).toEqual([...sites].sort());
  for (const { site, files: outputs } of doneLines()) {
    expect(urlsIn(`out/${outputs["pages"]}`)).toEqual([0, 1, 2].map((page) => `${site}${page}`));
  }
  const left = { waiting: 0, duplicates: 0, malformed: 0 };
  expect(summaryIn()).toMatchObject({ websites: 12, pages: 36, outcomes: { complete: 12, failed: 0 }, ...left });
  expect(files().filter((name) => /partial|lock/.test(name))).toEqual([]);
  const status = await sitegrove(["fleet", "status", at("out")]);
  expect(status.stdout).toMatch(/^finished: 0 websites in progress, 0 waiting\n12 websites: 36 pages/);
  const json = JSON.parse((await sitegrove(["fleet", "status", at("out"), "-f", "json"])).stdout);
  expect(json).toMatchObject({ websites: 12, running: 0, waiting: 0, process: null, outcomes: { complete: 12 } });
  const single = await sitegrove(["ls", sites[0]!, "-f", "ndjson", "--no-homepage"]);
  const first = doneLines().find(({ site }) => site === sites[0]);
  expect(readFileSync(at(`out/${first?.files["pages"]}`), "utf8")).toBe(single.stdout);
});

test("-f csv, --archives and --check write files; -f none writes only the journal", async () => {
  const { sites } = await serve({ count: 2 });
  const some = await sitegrove(fleet("--from", at("sites.txt"), "-f", "csv", "--archives", "--check"));
  expect(some.code).toBe(0);
  for (const summary of doneLines()) {
    const { pages = "", archive = "", findings = "" } = summary.files;
    expect(pages).toMatch(/^pages\/[0-9a-f]{2}\/127\.1\.0\.\d+_\d+\.[0-9a-f]{16}-1-[0-9a-f]{6}\.csv$/);
    expect(readFileSync(at(`out/${pages}`), "utf8").split("\n")[0]).toMatch(/^url,lastModified,/);
    const listed = await sitegrove(["ls", at(`out/${archive}`), "-f", "pages"]);
    expect(listed.stdout).toBe([0, 1, 2].map((page) => `${summary.site}${page}\n`).join(""));
    const found = JSON.parse(readFileSync(at(`out/${findings}`), "utf8"));
    expect(found).toMatchObject({ homepage: summary.site, pageCount: 3 });
  }
  rmSync(at("out"), { recursive: true });
  await sitegrove(fleet(...sites, "-f", "none"));
  expect(files().sort()).toEqual(["sites.ndjson", "summary.json"]);
});

test("the journal and the summary match their published schemas", async () => {
  const { sites } = await serve({ count: 3 });
  const [dead = ""] = await nowhere(1);
  await sitegrove(fleet(...sites, dead, "--check"));
  await sitegrove(fleet("--retry", "unreachable"));
  const compiled = (name: string) => {
    const schema = JSON.parse(readFileSync(path.join(import.meta.dirname, `../../schema/${name}.json`), "utf8"));
    return new Ajv2020({ allErrors: true, formats: { "date-time": true } }).compile(schema);
  };
  const summary = compiled("fleet-summary");
  expect(summary(summaryIn()), JSON.stringify(summary.errors)).toBe(true);
  const validate = compiled("journal");
  expect(new Set(journal().map(({ type }) => type))).toEqual(
    new Set(["list", "listed", "add", "start", "done", "back"]),
  );
  for (const line of journal()) expect(validate(line), JSON.stringify(validate.errors)).toBe(true);
});

test("--previous reuses earlier archives, and reports and refetches those it cannot use", async () => {
  const { sites } = await serve({ count: 3 });
  await sitegrove(fleet(...sites, "--archives"));
  const [damaged = "", missing = ""] = doneLines().map(({ files: { archive = "" } }) => at(`out/${archive}`));
  writeFileSync(damaged, "not an archive");
  rmSync(missing);
  const later = (out: string, previous: string) =>
    sitegrove(["fleet", ...quick, ...sites, "--previous", at(previous), "--archives", "-v", "--out", at(out)]);
  const { code, stdout, stderr } = await later("later", "out");
  expect(code).toBe(0);
  expect(stdout).toContain("2 earlier archives could not be used, so those websites were fetched in full");
  expect(stderr.match(said.earlierArchiveNotUsed)).toHaveLength(2);
  expect(summaryIn("later")).toMatchObject({ previousErrors: 2, outcomes: { complete: 3 } });
  for (const { key, previousError = "", files: outputs } of doneLines("later")) {
    const before = doneLines().find((summary) => summary.key === key)?.files ?? {};
    const archive = at(`out/${before["archive"]}`);
    const isNamed = [archive, before["archive"] ?? "?"].some((name) => previousError.startsWith(name));
    expect(isNamed).toBe([damaged, missing].includes(archive));
    expect(linesOf(`later/${outputs["pages"]}`)).toEqual(linesOf(`out/${before["pages"]}`));
  }
  expect((await later("third", "missing")).code).toBe(2);
});

test("-f changes writes new and changed pages, and every page of a website that is new", async () => {
  let pages = { a: "2026-01-01", b: "2026-01-01" } as Record<string, string>;
  const { sites } = await serve({
    count: 2,
    sitemaps: (base) => ({
      "/sitemap.xml": urlset(...Object.entries(pages).map(([name, date]) => dated(`${base}/${name}`, date))),
    }),
  });
  expect((await sitegrove(fleet(sites[0]!, "--archives"))).code).toBe(0);
  pages = { a: "2026-01-01", b: "2026-02-02", c: "2026-02-02", other: "2026-02-02" };
  const night = (...flags: string[]) => sitegrove(["fleet", ...quick, ...sites, "--out", at("next"), ...flags]);
  const changes = ["-f", "changes", "--exclude", "other"];
  expect((await night(...changes, "--previous", at("out"), "--archives")).code).toBe(0);
  const told = doneLines("next").flatMap(({ files: { pages: none, changes: name } }) => {
    expect(none).toBeUndefined();
    return jsonLines(readFileSync(at(`next/${name}`), "utf8")).map(({ kind, page }) => `${kind} ${page.url}`);
  });
  const whole = ["a", "b", "c"].map((name) => `added ${sites[1]}${name}`);
  expect(told.sort()).toEqual([`changed ${sites[0]}b`, `added ${sites[0]}c`, ...whole].sort());
  expect(readdirSync(at("next"), { recursive: true }).filter((name) => /pages/.test(String(name)))).toEqual([]);
});

describe("the list of websites", () => {
  test("may have comments, blank lines and duplicates; lines that are not websites are reported before the crawl ends", async () => {
    let answer = () => {};
    const isReported = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { sites } = await serve({ count: 3, gate: () => isReported });
    const [one = "", two = "", three = ""] = sites;
    const list = file(
      "list.txt",
      `\ufeff# my list\n\n${one}\n  ${two}path?x#y  # a comment\r\n${one}\nnot a website\n${three}\nftp://example.org/\n`,
    );
    const run = launch(fleet("--from", list, two));
    run.stderr.on("data", (text) => String(text).includes("list.txt:6: ") && answer());
    const { code, stderr } = await run.end;
    // The exit code tells scripts about it.
    expect(code).toBe(3);
    expect(summaryIn()).toMatchObject({ outcomes: { complete: 3 }, malformed: 2 });
    const status = async (...flags: string[]) => (await sitegrove(["fleet", "status", at("out"), ...flags])).stdout;
    expect(JSON.parse(await status("-f", "json")).malformed).toBe(2);
    expect(await status()).toContain("\n2 lines of the list are not websites\n");
    expect(sitesDone()).toEqual([...sites].sort());
    expect(stderr.replaceAll(at("/"), "")).toBe(
      said.notWebsite("list.txt:6", "not a website") +
        said.notWebsite("list.txt:8", "ftp://example.org/") +
        said.twoDuplicates +
        said.twoLinesNotWebsites,
    );
  });

  test.each([
    ["by its name", "Domain", 'rank,domain,note\n1,a.example,"a, b"\n2,b.example,\n'],
    ["by its number", "2", "1,a.example\n2,b.example\n"],
    ["with cells of several lines", "domain", 'note,domain\n"two\nlines, ""quoted""",a.example\n"",b.example\n'],
    ["with a quote that is not closed", "domain", 'note,domain\n"x,a.example\n7"",b.example\n', ["b.example"]],
    ["by its number, below a header", "1", 'site;pages\na.example;1\n"b.example";2\n'],
    ["in UTF-16", "site", utf16("\ufeffsite\tn\r\na.example\t1\r\nb.example\t2\r\n")],
    ["in UTF-16 without a mark", "site", utf16("site\tn\r\na.example\t1\r\nb.example\t2\r\n")],
    ["in big-endian UTF-16", "site", utf16("\ufeffsite\tn\r\na.example\t1\r\nb.example\t2\r\n").swap16()],
    ["in big-endian UTF-16 without a mark", "1", utf16("a.example\r\nb.example\r\n").swap16()],
  ])("may be a column of a CSV file, %s", async (_, column, text, names = ["a.example", "b.example"]) => {
    const list = new SiteList([], { from: [file("list.csv", text)], column });
    const found: string[] = [];
    for await (const { homepage } of list) found.push(homepage);
    expect(found).toEqual(names.map((name) => `https://${name}/`));
  });

  test("may have rows with an empty cell, which are reported, and all of them logged", async () => {
    const { sites } = await serve({ count: 1 });
    const rows = ["example.org", "4", "x.example,", "127.0.0.1,", "a.example, ", "b.example", `c.example,${sites[0]}`];
    const list = file("list.csv", `note,site\n${rows.join("\n")}\n`);
    const log = at("malformed.log");
    const { code, stderr } = await sitegrove(fleet("--from", list, "--column", "site", "--log-file", log));
    expect(code).toBe(3);
    expect(stderr).toContain(said.notWebsite(`${list}:2`, "example.org"));
    expect(stderr).toContain(said.oneMoreNotWebsite);
    expect(doneLines()).toHaveLength(1);
    expect(linesOf("malformed.log").filter((line) => line.includes(list))).toHaveLength(6);
  });

  test("may have two paths of one host, which --keep-path makes two websites", async () => {
    const { sites } = await serve({ count: 1 });
    const paths = ["a/", "b/"].map((path) => `${sites[0]}${path}`);
    await sitegrove(fleet("--keep-path", "--from", "-"), { input: paths.join("\n") });
    expect(sitesDone()).toEqual(paths);
  });
});

test("running out of sockets stops the fleet and fails no website", async () => {
  await serve({ count: 40, latency: 50 });
  const words = fleet("--from", at("sites.txt"), "--concurrency", "40").join(" ");
  const { code, stderr } = await shell(`ulimit -n 48; eval "$SITEGROVE ${words}"`);
  expect(code).toBe(1);
  expect(stderr).toMatch(said.tooManyOpenFiles);
  for (const { outcome } of doneLines()) expect(outcome).toBe("complete");
  expect((await sitegrove(fleet("--from", at("sites.txt")))).code).toBe(0);
  expect(new Set(doneLines().map(({ site }) => site)).size).toBe(40);
});

test("reasons are counted by website, and --fail-above sets the exit code to 6", async () => {
  const { sites } = await serve({ count: 2 });
  const list = [...sites, ...(await nowhere(1)).map((site) => site.replace("127.1.0.1", "127.1.9.9"))];
  const run = (...flags: string[]) => sitegrove(fleet(...list, ...flags));
  const { code, stdout, stderr } = await run();
  expect({ code, stderr }).toEqual({ code: 3, stderr: said.oneUnreachable });
  expect(stdout).toMatch(/ 2 {2}complete\n +1 {2}unreachable\n/);
  expect(stdout).toMatch(/Reasons, by number of websites\n +1 {2}.*\(connection-refused\)\n/);
  const bad = await run("--fail-above", "20%");
  expect(bad.code).toBe(6);
  expect(bad.stderr).toContain(said.aboveLimit);
  expect((await run("--fail-above", "34")).code).toBe(3);
});

test("a reason that several websites share has a general message", async () => {
  const { sites } = await serve({
    count: 3,
    sitemaps: (base) => ({
      "/sitemap.xml": `<urlset>${"\n".repeat(Number(base.split(/[.:]/)[4]))}<url><loc>${base}/1</loc></url><url><loc>`,
    }),
  });
  const { stdout } = await sitegrove(fleet(...sites));
  expect(stdout).toMatch(/Reasons, by number of websites\n +3 {2}The file is cut off \(xml-truncated\)\n/);
});

test("a shard without websites succeeds", async () => {
  const { sites } = await serve({ count: 1 });
  const ends = [];
  for (const part of ["1/2", "2/2"])
    ends.push(await sitegrove(["fleet", ...sites, "--out", at(`part-${part[0]}`), ...quick, "--shard", part]));
  expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  expect(ends.map(({ stdout }) => Number(stdout.split(" ", 1))).sort()).toEqual([0, 1]);
});

test.each([[[]], [["--check"]]])("page filters choose which pages are written and counted, with %j", async (more) => {
  const { sites } = await serve({
    count: 1,
    robots: "User-agent: friend\nDisallow: /new/private\n",
    sitemaps: (base) => ({
      "/sitemap.xml": index(`${base}/a.xml`, `${base}/b.xml`, `${base}/c.html`),
      "/a.xml": urlset(
        ...["/new", "/new", "/no", "/other", "/new/private"].map((page) => dated(base + page, "2026-01-01")),
        dated("http://other.example/new", "2026-01-01"),
        `${base}/new/undated`,
        dated(`${base}/new/old`, "2020-01-01"),
      ),
      "/b.xml": urlset(`${base}/new//b.xml`),
      "/c.html": urlset(`${base}/new//c.html`),
    }),
  });
  const flags = ["--include", "/n", "--exclude", "/no", "--since", "2025-01-01", "--undated", "keep", "--unique"];
  flags.push("--same-host", "--allowed-for", "friend");
  flags.push("--include-sitemap", ".xml", "--exclude-sitemap", "/b.xml");
  const { code } = await sitegrove(fleet(...sites, ...flags, ...more));
  const [summary] = doneLines();
  expect({ code, ...summary }).toMatchObject({ code: 0, outcome: "complete", pages: 2, sitemaps: 2 });
  expect(urlsIn(`out/${summary?.files["pages"]}`)).toEqual([`${sites[0]}new`, `${sites[0]}new/undated`]);
});

test("a second run continues the first and crawls nothing twice; --retry crawls some websites again", async () => {
  const { sites, visits } = await serve({ count: 4 });
  const [dead = ""] = await nowhere(1);
  await sitegrove(fleet(sites[0] ?? "", sites[1] ?? "", dead));
  const again = await sitegrove(fleet("--from", at("sites.txt")));
  expect(again.stderr).toContain(said.continuing);
  expect(again.stdout).toMatch(
    /^2 websites in [\d.]+ m?s, 4 requests; with earlier runs, 5 websites: 12 pages, \d+ requests, /,
  );
  expect([...visits.values()]).toEqual([1, 1, 1, 1]);
  const nothing = await sitegrove(fleet());
  expect({ code: nothing.code, lines: doneLines().length }).toEqual({ code: 3, lines: 5 });
  await sitegrove(fleet("--retry", "unreachable"));
  expect(journal().filter(({ type, site }) => type === "start" && site === dead)).toHaveLength(2);
  expect([...visits.values()]).toEqual([1, 1, 1, 1]);
  await sitegrove(fleet("--retry", "failed, incomplete"));
  expect(doneLines()).toHaveLength(6);
});

test("a journal with damaged lines makes a run incomplete, because websites may be missing", async () => {
  const { sites } = await serve({ count: 2 });
  expect((await sitegrove(fleet(...sites))).code).toBe(0);
  const results = async () => {
    const { code, stdout, stderr } = await sitegrove(["fleet", "results", at("out")]);
    return {
      code,
      stderr,
      sites: jsonLines(stdout)
        .map(({ site }) => site)
        .sort(),
    };
  };
  expect(await results()).toEqual({ code: 0, stderr: "", sites: [...sites].sort() });
  const lines = linesOf("out/sites.ndjson").filter((line) => !line.includes(sites[1] ?? ""));
  file("out/sites.ndjson", `${[...lines, "junk"].join("\n")}\n`);
  const { code, stderr } = await sitegrove(fleet());
  expect({ code, websites: summaryIn().websites }).toEqual({ code: 3, websites: 1 });
  expect(stderr).toContain(said.damagedLine);
  const incomplete = expect.stringContaining(said.damagedLine);
  expect(await results()).toEqual({ code: 3, stderr: incomplete, sites: [sites[0]] });
});

test("if a killed run added only the beginning of a list, later runs are incomplete until the list is added again", async () => {
  const { sites } = await serve({ count: 2 });
  await sitegrove(fleet(sites[0] ?? ""));
  file(
    "out/sites.ndjson",
    `${linesOf("out/sites.ndjson")
      .filter((line) => !line.includes('"listed"'))
      .join("\n")}\n`,
  );
  const { code } = await sitegrove(fleet());
  expect({ code, websites: summaryIn().websites }).toEqual({ code: 3, websites: 1 });
  expect(JSON.parse((await sitegrove(["fleet", "status", at("out"), "-f", "json"])).stdout)).toMatchObject({
    cutLists: 1,
  });
  expect((await sitegrove(["fleet", "dataset", at("out"), "--out", at("set")])).code).toBe(3);
  expect((await sitegrove(fleet("--from", at("sites.txt")))).code).toBe(0);
  expect((await sitegrove(fleet())).code).toBe(0);
});

test("retrying a website that is down now keeps the pages of the earlier run", async () => {
  let isDown = false;
  const server = createServer((request, response) => {
    if (isDown) return void request.socket.destroy();
    const home = `http://${request.headers.host}/`;
    if (request.url === "/robots.txt") response.end(`Sitemap: ${home}a.xml\nSitemap: ${home}b.xml\n`);
    else if (request.url === "/a.xml") response.end(urlset(`${home}1`));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await sitegrove(fleet(site));
  const [summary] = doneLines();
  expect(summary).toMatchObject({ outcome: "incomplete", pages: 1 });
  isDown = true;
  await sitegrove(fleet("--retry", "incomplete"));
  expect(doneLines().at(-1)).toMatchObject({ outcome: "unreachable", files: {} });
  expect(urlsIn(`out/${summary?.files["pages"]}`)).toEqual([`${site}1`]);
  server.close();
});

describe("a fleet killed with -9", () => {
  const kills = Number(process.env["SITEGROVE_KILLS"] ?? some(6, 1));

  test("at any moment loses nothing, and counts no website twice", { timeout: 180_000 + kills * 3000 }, async () => {
    const count = kills * 20;
    const { sites } = await serve({ count, latency: some(15, 50) });
    for (let kill = 0; kill < kills; kill++) {
      const child = start(fleet("--from", at("sites.txt"), "--concurrency", "8"));
      const end = ended(child);
      await linesIn(at("out/sites.ndjson"), done, kill * 20 + 1 + Math.floor(Math.random() * 10));
      child.kill("SIGKILL");
      await end;
    }
    const { code } = await sitegrove(fleet("--from", at("sites.txt"), "--concurrency", "8"));
    const results = doneLines();
    expect(results.map(({ site, outcome }) => `${site} ${outcome}`).sort()).toEqual(
      sites.map((site) => `${site} complete`).sort(),
    );
    expect(code).toBe(0);
    // Every file that the journal names exists and is complete, and there are no others.
    const named = results.map(({ files: { pages = "" } }) => pages.replace("pages/", ""));
    expect(files("pages").sort()).toEqual(named.sort());
    for (const { site, files: outputs } of results) {
      expect(readFileSync(at(`out/${outputs["pages"]}`), "utf8").split("\n")).toHaveLength(4);
      expect(readFileSync(at(`out/${outputs["pages"]}`), "utf8")).toContain(`${site}2`);
    }
  });

  test("five times during one website quarantines it until --retry, and leaves no unfinished files", async () => {
    const { sites } = await serve({ count: 2 });
    const [site = ""] = sites;
    const facts = Array.from({ length: 5 }, (_, death) => ({ type: "start", attemptId: `1-${death + 1}` }));
    mkdirSync(at("out"));
    file("out/sites.ndjson", facts.map((fact) => `${JSON.stringify({ site, key: site, ...fact })}\n`).join(""));
    // What a killed attempt had written, and the pages of an earlier result.
    const name = nameInFolder("pages", undefined, siteJob(site)!);
    const earlier = [`${name}-1-abc.ndjson`, name.replace(/[^/]+$/, "partial.$&-5-abc.ndjson")];
    mkdirSync(path.dirname(at(`out/${name}`)), { recursive: true });
    for (const each of earlier) file(`out/${each}`, "");
    const { code, stdout } = await sitegrove(fleet("--from", at("sites.txt")));
    expect(code).toBe(3);
    expect(earlier.map((each) => existsSync(at(`out/${each}`)))).toEqual([true, false]);
    expect(stdout).toMatch(/ 1 {2}complete\n +1 {2}quarantined: set aside because the process died five times\n/);
    expect((await sitegrove(fleet("--retry", "quarantined"))).code).toBe(0);
    expect(doneLines().findLast((summary) => summary.site === site)?.outcome).toBe("complete");
  });
});

test("while websites hang, progress shows how long the oldest has taken instead of the time left", async () => {
  const { sites } = await serve({ count: 12, isSilent: (number) => number >= 6 });
  const words = fleet(...sites).filter((word) => word !== "--no-progress");
  const { end, stderr, kill } = launch(words);
  let text = "";
  await new Promise<void>((resolve) =>
    stderr.on("data", (piece) => {
      text += piece;
      if (text.includes(said.halfDone)) resolve();
    }),
  );
  kill("SIGINT");
  kill("SIGTERM");
  await end;
  expect(text).toMatch(said.oldest);
});

describe("a signal", () => {
  const words = () => fleet("--from", at("sites.txt"), "--concurrency", "4");
  const begin = async <T>(startFleet: () => T): Promise<T> => {
    const before = occurrences(at("out/sites.ndjson"), '"type":"start"');
    const started = startFleet();
    // Once a website is being crawled, signals are handled.
    await linesIn(at("out/sites.ndjson"), '"type":"start"', before + 1);
    return started;
  };

  test("Ctrl-C once finishes the websites in progress, and the next run continues", async () => {
    const { visits } = await serve({ count: 24, latency: 50 });
    const { end, kill } = await begin(() => launch(words()));
    kill("SIGINT");
    const { code, stderr } = await end;
    expect(code).toBe(130);
    expect(stderr).toMatch(said.finishing);
    expect(stderr).toMatch(said.websitesLeft);
    // A website that was just being handed to a worker is returned without being crawled.
    const count = (kind: JournalLine["type"]) => journal().filter(({ type }) => type === kind).length;
    expect(doneLines()).toHaveLength(count("start") - count("back"));
    expect(count("done")).toBeLessThan(24);
    expect((await sitegrove(fleet())).code).toBe(0);
    expect(doneLines()).toHaveLength(24);
    expect(new Set(visits.values())).toEqual(new Set([1]));
  });

  test("Ctrl-C twice stops at once, and counts as no death", async () => {
    let isSilent = true;
    await serve({ count: 6, isSilent: (number) => isSilent && number % 2 === 1 });
    for (let round = 0; round < 4; round++) {
      const { end, stderr, kill } = await begin(() => launch(words()));
      const heard = new Promise<void>((resolve) => {
        stderr.on("data", (text) => said.finishing.test(String(text)) && resolve());
      });
      kill("SIGINT");
      await heard;
      kill("SIGINT");
      expect((await end).code).toBe(130);
      // It did not wait for websites that never respond.
      for (const { outcome } of doneLines()) expect(outcome).toBe("complete");
    }
    isSilent = false;
    expect((await sitegrove(fleet())).code).toBe(0);
    expect(doneLines().map(({ outcome }) => outcome)).toEqual(Array(6).fill("complete"));
  });

  test("SIGTERM stops at once, and a suspended process continues", async () => {
    await serve({ count: 20, latency: 30 });
    const child = await begin(() => start(words()));
    const end = ended(child);
    child.kill("SIGSTOP");
    const stderr = `sitegrove: ${said.folderInUse(child.pid)}\n`;
    expect(await sitegrove(fleet())).toEqual({ code: 2, stdout: "", stderr });
    expect((await sitegrove(["fleet", "status", at("out")])).stdout).toContain(`running (process ${child.pid})`);
    child.kill("SIGCONT");
    await linesIn(at("out/sites.ndjson"), done, doneLines().length + 1);
    child.kill("SIGTERM");
    expect((await end).code).toBe(143);
    expect((await sitegrove(fleet())).code).toBe(0);
  });
});

const disk = smallDisk(256);
afterAll(() => disk?.remove());
test.skipIf(disk === undefined)("a full disk stops the fleet with a one-line error", async () => {
  await serve({ count: 30, pages: 200 });
  const out = path.join(disk?.path ?? "", "out");
  rmSync(out, { recursive: true, force: true });
  const words = ["--from", at("sites.txt"), "--concurrency", "4", "--out", out];
  const full = await sitegrove(fleet(...words));
  expect(full.code).toBe(1);
  expect(full.stderr).toMatch(said.fullDisk);
  const status = JSON.parse((await sitegrove(["fleet", "status", out, "-f", "json"])).stdout);
  expect(status.websites).toBeLessThan(30);
  for await (const { files: outputs } of readResults(path.join(out, "sites.ndjson")))
    expect(readFileSync(path.join(out, outputs["pages"] ?? ""), "utf8").split("\n")).toHaveLength(201);
});

describe("2: a mistake on the command line", () => {
  test("a list without a website is refused, and no files are left behind", async () => {
    const stderr = expect.stringContaining(said.noWebsite);
    expect(await sitegrove(fleet("not", "websites"))).toEqual({ code: 2, stdout: "", stderr });
    expect(existsSync(at("out"))).toBe(false);
  });

  test("a list that is given like a website, or without its column, is refused with the flag that it needs", async () => {
    const list = file("ranks.csv", "rank,site\n1,a.example\n2,b.example\n");
    expect(await sitegrove(fleet(list))).toEqual({ code: 2, stdout: "", stderr: said.isList(list) });
    const { code, stderr } = await sitegrove(fleet("--from", list));
    expect(code).toBe(2);
    expect(stderr).toContain(said.isTable);
    const plain = await sitegrove(fleet("--from", file("plain.txt", "not a website\n")));
    expect(plain.stderr).not.toContain(said.isTable);
  });

  test.each(["lock", "sites.ndjson"])("a folder in place of %s is refused and kept", async (name) => {
    mkdirSync(at(`out/${name}/mine`), { recursive: true });
    const { code, stderr } = await sitegrove(fleet("example.org"));
    expect(code).toBe(2);
    expect(stderr).toContain(said.folderInPlaceOfFile(at(`out/${name}`)));
    expect(readdirSync(at("out"), { recursive: true }).sort()).toEqual([name, `${name}/mine`]);
  });

  test.runIf(existsSync("/proc/self"))("a folder that cannot be created is reported", async () => {
    for (const words of [fleet("example.org", "--out", "/proc/x/y"), parquetOf("/proc/x")]) {
      const { code, stderr } = await sitegrove(words, { input: "https://example.org/\n" });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(said.cannotCreate) });
    }
  });

  test("a column that is missing in any file is reported before the first crawl", async () => {
    const { sites, visits } = await serve({ count: 1 });
    const lists = [file("good.csv", `site\n${sites[0]}\n`), file("bad.csv", "a,b\n1,2\n")];
    const from = lists.flatMap((list) => ["--from", list]);
    expect((await sitegrove(fleet(...sites, ...from, "--column", "site"))).code).toBe(2);
    expect([existsSync(at("out")), visits.size]).toEqual([false, 0]);
    // No name server is asked for a name with such a long label.
    const input = `site\n${sites[0]}\n${"a".repeat(64)}.invalid\n`;
    expect((await sitegrove(fleet("--from", "-", "--column", "site"), { input })).code).toBe(3);
    expect(doneLines()).toHaveLength(2);
  });
});

test("a terminal shows live progress, without control characters from the list", async () => {
  await serve({ count: 10, latency: 120 });
  file("more.txt", "\u001b[2Jevil\u009b31m\n");
  const words = fleet("--from", at("sites.txt"), "--from", at("more.txt"), "--concurrency", "5");
  const { stdout } = await onTerminal(words.filter((word) => word !== "--no-progress").join(" "));
  expect(stdout).toMatch(said.progress);
  // eslint-disable-next-line no-control-regex
  const text = stdout.replaceAll(/\u001b\[(\d+[AK]|J|\d*m)|\r/g, "");
  for (const line of text.split("\n")) expect(line).not.toMatch(steering);
});

test("-v and --log-file log one line per website, and a full disk does not stop the fleet", async () => {
  const { sites } = await serve({ count: 3 });
  const run = async (...flags: string[]) => {
    rmSync(at("out"), { recursive: true, force: true });
    const { code, stderr } = await sitegrove(fleet(...sites, ...flags));
    expect({ code, sites: doneLines().length }).toEqual({ code: 0, sites: 3 });
    return stderr;
  };
  const text = await run("-v");
  expect(text.trimEnd().split("\n")).toHaveLength(3);
  expect(text).toMatch(said.crawled);
  expect(await run("--log-file", at("fleet.log"))).toBe("");
  expect(linesOf("fleet.log")).toHaveLength(3);
  for (const line of (await run("-v", "--log-format", "json")).trimEnd().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ at: expect.stringMatching(/^\d{4}-.*Z$/), outcome: "complete", pages: 3 });
  if (existsSync("/dev/full")) expect(await run("--log-file", "/dev/full")).toBe(`sitegrove: ${said.fullLogFile}\n`);
});
