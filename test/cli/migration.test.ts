// A migration from start to end: the old website archived, the new one, --rewrite, --follow. Needs two loopback servers and dist/.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { urlset } from "../support/documents.ts";
import { saidOfChecks as said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { sitegrove } from "./program.ts";
import { serve } from "./website.ts";

const folder = newFolder();
const at = (name: string) => path.join(folder, name);
const crawl = ["--no-known", "--no-homepage", "--retries", "0"];
let isMoved = false;
const requested: string[] = [];
// The secrets that the new website received, by path.
const secrets = new Map<string, unknown>();

const oldPages = [
  "hats/1",
  "hats/2",
  "shoes/1",
  "shoes/2",
  "lost",
  "gone",
  "soft",
  "titled",
  "loop",
  "home",
  "here",
  "broken",
  "secret",
];
const html = (title: string, text = title) => `<!doctype html><title>${title}</title><p>${text}</p>`;

const answers: Record<string, string | number> = {
  "hats/1": "headwear/1",
  "hats/2": "headwear/2",
  "shoes/1": "boots/1",
  "shoes/2": "boots/unlisted",
  gone: 410,
  soft: "error",
  loop: "loop",
  home: "",
  broken: 500,
};
const old = await serve((request, response) => {
  const name = (request.url ?? "").slice(1);
  requested.push(name);
  if (name === "robots.txt")
    return void response.end(`Sitemap: ${old.homepage}sitemap.xml\nUser-agent: *\nDisallow: /secret\n`);
  if (name === "sitemap.xml") return void response.end(urlset(...oldPages.map((page) => old.homepage + page)));
  response.setHeader("content-type", "text/html");
  if (!isMoved || name === "here") return void response.end(html(name, `All about ${name}, and much more of it.`));
  if (name === "titled") return void response.end(html("Page not found"));
  const answer = answers[name];
  if (typeof answer === "number") return void response.writeHead(answer).end();
  if (answer === undefined) return void response.writeHead(404).end();
  const target = answer === "loop" ? `${old.homepage}loop` : now.homepage + answer;
  response.writeHead(301, { location: target }).end();
});
const now = await serve((request, response) => {
  const name = (request.url ?? "").slice(1);
  secrets.set(name, request.headers["x-secret"]);
  const pages = ["headwear/1", "headwear/2", "boots/1", "new"];
  if (name === "robots.txt") return void response.end(`Sitemap: ${now.homepage}sitemap.xml\n`);
  if (name === "sitemap.xml") return void response.end(urlset(...pages.map((page) => now.homepage + page)));
  response.setHeader("content-type", "text/html");
  if ([...pages, "boots/unlisted", ""].includes(name))
    return void response.end(
      html(`Shop: ${name}`, `The new page about ${name.replaceAll(/\W|\d/g, "")}, with its own words.`),
    );
  response.end(html("Shop", "We could not find what you are looking for today"));
});
expect((await sitegrove(["ls", old.homepage, ...crawl, "--save", at("old.warc.gz"), "-o", at("old.txt")])).code).toBe(
  0,
);
writeFileSync(at("urls.txt"), oldPages.map((page) => `${old.homepage}${page}\n`).join(""));
const ndjson = ["ls", old.homepage, ...crawl, "-f", "ndjson", "-o", at("old.ndjson")];
expect((await sitegrove(ndjson)).code).toBe(0);
writeFileSync(at("crawl.csv"), `Address,Status\n${oldPages.map((page) => `${old.homepage}${page},200\n`).join("")}`);
isMoved = true;

const rules = () => [
  ...["--rewrite", `${old.homepage}hats/=${now.homepage}headwear/`],
  // The first match wins.
  ...["--rewrite", `${old.homepage}hats/=${now.homepage}nowhere/`],
  ...["--rewrite", `${old.homepage}shoes/=${now.homepage}boots/`],
];

test.each(["old.warc.gz", "urls.txt", "old.ndjson", "crawl.csv", "live"])("--rewrite works for %s", async (side) => {
  const before = side === "live" ? old.homepage : at(side);
  const list = (only: string) =>
    sitegrove(["diff", before, now.homepage, ...crawl, ...rules(), "-f", "pages", "--only", only]);
  expect((await list("added")).stdout).toBe(`${now.homepage}new\n`);
  const removed = (await list("removed")).stdout.replaceAll(old.homepage, "").replaceAll(now.homepage, "new:");
  expect(removed.trim().split("\n")).toEqual(["new:boots/2", ...oldPages.slice(4)]);
});

test.each(["old.warc.gz", "urls.txt", "old.ndjson", "crawl.csv", "live"])(
  "a removed page of %s also has its URL before --rewrite",
  async (side) => {
    const before = side === "live" ? old.homepage : at(side);
    const diff = async (format: string, only = "removed") =>
      (await sitegrove(["diff", before, now.homepage, ...crawl, ...rules(), "-f", format, "--only", only])).stdout;
    const declared = `${old.homepage}shoes/2`;
    const url = `${now.homepage}boots/2`;
    const rows = parse(await diff("csv"), { columns: true }) as Record<string, string>[];
    expect(rows[0]).toMatchObject({ kind: "removed", url, declaredUrl: declared });
    // These are not rewritten.
    expect(new Set(rows.slice(1).map((row) => row["declaredUrl"]))).toEqual(new Set([""]));
    const [first, second] = (await diff("ndjson")).split("\n").map((line) => line && JSON.parse(line));
    expect(first).toMatchObject({ kind: "removed", page: { url }, declaredUrl: declared });
    expect(second).not.toHaveProperty("declaredUrl");
    expect(await diff("summary")).toContain(`  ${url}  (declared as ${declared})\n`);
  },
);

test("--rewrite to parts of the new website prints no warning", async () => {
  const { stderr } = await sitegrove(["diff", at("old.warc.gz"), now.homepage, ...crawl, ...rules()]);
  expect(stderr).toBe("");
});

const follow = (...flags: string[]) =>
  sitegrove(["diff", at("old.warc.gz"), now.homepage, ...crawl, "--allow-private", "--follow", ...flags]);

test("--follow reports where every removed page leads", async () => {
  const { code, stderr } = await follow("-o", at("gone.csv"));
  expect({ code, stderr }).toEqual({ code: 3, stderr: `sitegrove: ${said.requestsFailed(1, said.serverError)}\n` });
  const rows = parse(readFileSync(at("gone.csv")), { columns: true }) as Record<string, string>[];
  const short = (url = "") => url.replace(old.homepage, "/").replace(now.homepage, "new/");
  const shown = rows.map((row) =>
    [row["url"], row["status"], row["hops"], row["finalUrl"], row["listed"], row["verdict"], row["reason"]]
      .map((cell) => short(cell))
      .join(" ")
      .trim(),
  );
  expect(shown).toEqual([
    "/hats/1 200 1 new/headwear/1 true moved",
    "/hats/2 200 1 new/headwear/2 true moved",
    "/shoes/1 200 1 new/boots/1 true moved",
    "/shoes/2 200 1 new/boots/unlisted false moved-unlisted",
    "/lost 404 0 /lost false gone",
    "/gone 410 0 /gone false gone",
    "/soft 200 1 new/error false soft-404",
    "/titled 200 0 /titled false soft-404",
    "/loop 301 1 /loop false loop",
    "/home 200 1 new/ false soft-404",
    "/here 200 0 /here false still-there",
    "/broken 500 0 /broken false unknown Server error (500)",
    "/secret  0 /secret false unknown",
  ]);
  // robots.txt disallows it.
  expect(requested.filter((name) => name === "secret")).toEqual([]);
});

test("with --rewrite, only pages that the rules do not explain are requested, at their old URLs", async () => {
  const { stdout } = await follow(...rules(), "-f", "ndjson");
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { url: string; verdict: string });
  expect(rows[0]).toMatchObject({
    url: `${old.homepage}shoes/2`,
    status: 200,
    hops: 1,
    listed: false,
    verdict: "moved-unlisted",
  });
  expect(rows).toHaveLength(oldPages.length - 3);
});

test("the summary counts the verdicts, and --fail-on turns them into an exit code", async () => {
  const { code, stdout, stderr } = await follow("--fail-on", "gone,loop");
  expect(code).toBe(6);
  expect(stderr).toContain(said.twoPagesGone);
  expect(stderr).toContain(said.onePageLoops);
  expect(stdout).toContain(
    "13 pages missing from the new sitemaps; at the old addresses:\n\n    3  moved\n    1  moved-unlisted\n    2  gone\n",
  );
  expect(stdout).toContain(
    `unknown, for example\n  ${old.homepage}broken  Server error (500)\n  ${old.homepage}secret\n`,
  );
  const rest = await follow(...rules(), "--include", "*/hats/*", "--fail-on", "gone");
  expect(rest).toMatchObject({ code: 0, stdout: expect.stringContaining("No page is missing.") });
});

test("--follow sends headers to the website that the user named, but not if another website redirects there", async () => {
  secrets.clear();
  await follow("-f", "ndjson", "--header", "X-Secret: 1");
  expect(secrets.get("sitemap.xml")).toBe("1");
  expect(secrets.has("headwear/1")).toBe(true);
  expect(secrets.get("headwear/1")).toBeUndefined();
});

test("--save keeps the responses, and --resume requests only what is missing", async () => {
  const first = await follow("-f", "ndjson", "--save", at("follow.warc.gz"));
  expect(first.code).toBe(3);
  requested.length = 0;
  const again = await follow("-f", "ndjson", "--resume", at("follow.warc.gz"));
  expect(again.stdout).toBe(first.stdout);
  expect(requested.filter((name) => name !== "broken")).toEqual([]);
});

test("--follow without --allow-private says once that addresses were refused, and which flag allows them", async () => {
  requested.length = 0;
  const flags = [...crawl, "--follow", "-f", "ndjson"];
  const { code, stdout, stderr } = await sitegrove(["diff", at("old.warc.gz"), now.homepage, ...flags]);
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { verdict: string; reason?: { code: string } });
  expect([...new Set(rows.map(({ verdict, reason }) => `${verdict} ${reason?.code}`))]).toEqual([
    "unknown address-blocked",
  ]);
  expect(stderr).toBe(`sitegrove: ${said.requestsFailed(oldPages.length, said.privateAddress)}\n`);
  expect({ code, requested }).toEqual({ code: 3, requested: [] });
});

test("the file name chooses the format", async () => {
  for (const [name, start] of [
    ["a.csv", "kind,url,"],
    ["a.ndjson", '{"kind":'],
    ["a.md", "### What changed"],
  ] as const) {
    await sitegrove(["diff", at("urls.txt"), now.homepage, ...crawl, "-o", at(name)]);
    expect(readFileSync(at(name), "utf8").slice(0, start.length)).toBe(start);
  }
  const state = ["--state", at("state.warc.gz"), ...crawl];
  await sitegrove(["changes", now.homepage, ...state, "-o", at("changes.csv")]);
  expect(readFileSync(at("changes.csv"), "utf8")).toMatch(/^kind,url,/);
});

test("a crawler's export can be checked", async () => {
  const { code, stdout } = await sitegrove(["check", at("crawl.csv"), "-f", "json"]);
  expect(code).not.toBe(2);
  expect((JSON.parse(stdout) as { pageCount: number }).pageCount).toBe(oldPages.length);
  const wrong = await sitegrove(["check", at("crawl.csv"), "--column", "Status"]);
  expect(wrong.code).toBe(2);
});
