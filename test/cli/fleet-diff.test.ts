// `sitegrove fleet diff OLD NEW`: what changed between two runs.
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listenOnLoopback } from "../support/loopback.ts";
import { newFolder } from "../support/test-folder.ts";
import { jsonLines, sitegrove } from "./program.ts";

const folder = newFolder();
const at = (name: string) => path.join(folder, name);
let server: Server;
let port = 0;
let day = 1;
const site = (number: number) => `http://127.0.8.${number}:${port}/`;

// 1: a page goes, another comes. 2: dates. 3: nothing. 4: refuses on the second day. 5 and 6: on one list only. 7: a page moves.
beforeAll(async () => {
  server = createServer((request, response) => {
    const base = `http://${request.headers.host}`;
    const number = Number(/^127\.0\.8\.(\d+)/.exec(request.headers.host ?? "")?.[1]);
    const isLater = day === 2;
    const url = (page: number) =>
      `<url><loc>${base}/a/${page}</loc><lastmod>2024-01-0${isLater && number === 2 ? 2 : 1}</lastmod></url>`;
    const set = (pages: number[]) => `<urlset>${pages.map(url).join("")}</urlset>`;
    if (isLater && number === 4) response.writeHead(403).end();
    else if (request.url === "/robots.txt") response.end(`Sitemap: ${base}/s.xml\nSitemap: ${base}/t.xml\n`);
    else if (request.url === "/s.xml") {
      const gone = isLater && number === 7 ? [1, 2] : [1, 2, 3];
      response.end(set(isLater && number === 1 ? [2, 3, 4] : gone));
    } else if (request.url === "/t.xml") response.end(set(isLater && number === 7 ? [3, 9] : [9]));
    else response.writeHead(404).end();
  });
  port = await listenOnLoopback(
    server,
    [1, 2, 3, 4, 5, 6, 7].map((number) => `127.0.8.${number}`),
  );
  const run = (out: string, more: number, flags: string[]) =>
    sitegrove([
      ...["fleet", ...[1, 2, 3, 4, 7, more].map(site), "--out", at(out), "--retries", "0", "--no-homepage"],
      ...flags,
    ]);
  await Promise.all([
    run("one", 5, []),
    run("archived", 5, ["--archives", "-f", "none"]),
    run("table", 5, ["-f", "csv"]),
  ]);
  day = 2;
  await Promise.all([run("two", 6, []), run("archived-2", 6, ["--archives", "-f", "none"])]);
});
afterAll(() => server.close());

const diff = (one: string, two: string, ...flags: string[]) => sitegrove(["fleet", "diff", at(one), at(two), ...flags]);
const told = (text: string) =>
  jsonLines(text).map(({ site: of, kind, change = "", page }) => {
    const where = page === undefined ? change : new URL(page.url).pathname;
    return `${/8\.(\d)/.exec(of)?.[1]} ${kind} ${where}`;
  });
const expected = [
  ...["5 site gone", "6 site new", "1 removed /a/1", "1 added /a/4", "2 changed /a/1", "2 changed /a/2"],
  ...["2 changed /a/3", "2 changed /a/9", "4 site outcome", "7 moved /a/3"],
];

test.each([
  ["files of pages", "one", "two"],
  ["archives", "archived", "archived-2"],
])("from %s: the changes of every website, with the website", async (_, one, two) => {
  const { code, stdout, stderr } = await diff(one, two, "-f", "ndjson");
  expect(code).toBe(3);
  const lines = told(stdout);
  expect(lines.filter((line) => !/^4 (unknown|sitemap)/.test(line))).toEqual(expected);
  // The fourth website refused: nothing is known to be gone.
  expect(lines.filter((line) => line.startsWith("4 unknown"))).toHaveLength(4);
  expect(stderr).toContain("4 pages are unknown: missing on an incomplete side");
});

test("nothing is different between a run and itself", async () => {
  expect(await diff("one", "one", "--exit-code")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/24 pages in 12 sitemaps → 24 pages in 12 sitemaps\n\nNo differences\.\n$/),
    stderr: "",
  });
});

test("formats, filters and exit codes as diff has them", async () => {
  const csv = await diff("one", "two", "-f", "csv", "--only", "added,removed", "--exit-code");
  expect(csv.code).toBe(6);
  expect(csv.stdout.split("\n").filter((line) => /,(added|removed),/.test(line))).toHaveLength(2);
  expect(csv.stdout.split("\n")[0]).toBe("site,kind,url,change,lastModified,lastModifiedBefore,sitemap,sitemapBefore");
  expect((await diff("one", "two", "-f", "pages", "--only", "added")).stdout).toBe(`${site(1)}a/4\n`);
  expect((await diff("one", "two", "-f", "rss")).stdout.match(/<item>/g)).toHaveLength(1);
  expect((await diff("one", "two", "-f", "markdown", "--ignore", "lastModified")).stdout).not.toContain("lastModified");
  const { stdout } = await diff("one", "two", "--exclude", "*/a/4");
  expect(stdout).toMatch(/Websites\n {2}gone {2}http.*\n {2}new {2}http.*\n {2}complete → blocked {2}http.*\n$/);
  expect(stdout).not.toMatch(/\d {2}added/);
  // What is said of pages does not deny what is said of websites.
  const websites = (await diff("one", "two", "--only", "added", "--exclude", "*/a/4")).stdout;
  expect(websites).toMatch(/\nNo differences on the websites of both\.\n\nWebsites\n/);
  await diff("one", "two", "-f", "ndjson", "-o", at("changes.ndjson"));
  expect(told(readFileSync(at("changes.ndjson"), "utf8"))).toContain("1 added /a/4");
});

test("what cannot be compared is reported", async () => {
  const { code, stderr } = await diff("table", "two");
  expect(code).toBe(3);
  expect(stderr).toMatch(/127\.0\.8\.1:\d+\/: not compared: .*table has no ndjson pages, and there are no archives/);
  expect((await diff("missing", "two")).stderr).toContain("is not the folder of a fleet");
  for (const name of readdirSync(at("one/pages"), { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".ndjson")) appendFileSync(at(`one/pages/${name}`), '{"url":');
  }
  expect((await diff("one", "two")).stderr).toContain("cannot be compared: its last line is cut off");
});
