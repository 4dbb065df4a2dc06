// Runs that build on the last one ask only once in a while for what was not there, and, where that is wanted, for what an index says is
// unchanged.
import { createHash } from "node:crypto";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { guessDays, isDue, trustedDays } from "../../src/crawl/previous.ts";
import { knownPaths } from "../../src/discover/known-paths.ts";
import type { CrawlEvent, FinishedEvent } from "../../src/model/event.ts";
import type { Options } from "../../src/model/options.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { sitegrove } from "../cli/program.ts";
import { serve, type Website } from "../cli/website.ts";
import { contentOf } from "../support/collected.ts";
import { isLong } from "../support/long.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();
const documents = new Map<string, { body?: string; status?: number; headers?: Record<string, string> }>();
let asked: string[] = [];
let bodies = 0;
let site: Website;
let home: string;
beforeAll(async () => {
  site = await serve((request, response) => {
    const name = request.url ?? "/";
    asked.push(name);
    const { body = "", status = 200, headers = {} } = documents.get(name) ?? { status: 404 };
    const etag = `"${createHash("md5").update(body).digest("hex")}"`;
    if (status === 200 && request.headers["if-none-match"] === etag) response.writeHead(304, { etag }).end();
    else {
      bodies += body.length;
      response.writeHead(status, status === 200 ? { etag, ...headers } : headers).end(body);
    }
  });
  home = site.homepage;
});
afterAll(() => site.close());

const html = { "content-type": "text/html" };
const urlset = (...names: string[]) =>
  `<urlset>${names.map((name) => `<url><loc>${home}${name}</loc></url>`).join("")}</urlset>`;
const index = (...children: [name: string, lastmod?: string][]) => {
  const date = (lastmod?: string) => (lastmod ? `<lastmod>${lastmod}</lastmod>` : "");
  const entries = children.map(([name, lastmod]) => `<sitemap><loc>${home}${name}</loc>${date(lastmod)}</sitemap>`);
  return `<sitemapindex>${entries.join("")}</sitemapindex>`;
};

beforeEach(() => {
  documents.clear();
  documents.set("/", { body: "<html><title>Home</title></html>", headers: html });
  documents.set("/robots.txt", { body: `Sitemap: ${home}sitemap.xml\n` });
  documents.set("/sitemap.xml", { body: urlset("1", "2") });
});

let count = 0;
const newFile = () => path.join(folder, `${count++}.warc`);

interface Run {
  readonly archive: string;
  readonly asked: readonly string[];
  readonly bodies: number;
  readonly content: string;
  readonly came: FinishedEvent["totals"]["came"];
}

/** One run; its archive alone gives the same tree, which one of many in a row, and one that builds on none, need not show. */
async function run(previous?: string, more: Options = {}, isOneOfMany = false): Promise<Run> {
  asked = [];
  bodies = 0;
  const archive = newFile();
  let finished: FinishedEvent | undefined;
  const onEvent = (event: CrawlEvent) => {
    if (event.type === "finished") finished = event;
  };
  await using tree = await sitemapTreeForHomepage(home, { retries: 0, save: archive, previous, onEvent, ...more });
  const content = await contentOf(tree);
  if (isLong || (!isOneOfMany && previous !== undefined)) {
    await using offline = await openTree(archive);
    expect(await contentOf(offline)).toBe(content);
  }
  expect(finished?.totals.requests).toBe(asked.length);
  return { archive, asked, bodies, content, came: (finished as FinishedEvent).totals.came };
}

/** One that is asked for today, and one that is not. */
function someNames(): { due: string; other: string } {
  const names = Array.from({ length: 500 }, (_, at) => `s${at}.xml`);
  const [due = "", other = ""] = [true, false].map((is) => names.find((name) => isDue(home + name, guessDays) === is));
  return { due, other };
}

const dueGuesses = () => knownPaths.slice(1).flatMap((name) => (isDue(home + name, guessDays) ? [`/${name}`] : []));

describe("known paths that had nothing", () => {
  test("a small website that does not change is asked for what it has, and for what is due; no body comes", async () => {
    const first = await run();
    expect(first.asked).toHaveLength(22);
    let previous = first.archive;
    for (let day = 0; day < 3; day += 1) {
      const daily = await run(previous, {}, day < 2);
      expect(daily.content).toBe(first.content);
      expect(daily.bodies).toBe(0);
      expect(daily.asked).toHaveLength(3 + dueGuesses().length);
      for (const name of ["/robots.txt", "/sitemap.xml", "/", ...dueGuesses()]) expect(daily.asked).toContain(name);
      previous = daily.archive;
    }
  });

  test("what appears is found on its day, and requested from then on", async () => {
    const { due, other } = someNames();
    const options = { extraKnownPaths: [due, other] };
    const { archive } = await run(undefined, options);
    for (const name of [due, other]) documents.set(`/${name}`, { body: urlset(`new-${name}`) });
    const found = await run(archive, options);
    expect(found.content).toContain(`"${home}new-${due}"`);
    expect(found.asked).not.toContain(`/${other}`);
    expect((await run(found.archive, options)).asked).toContain(`/${due}`);
  });

  test("a server that fails, or asks for patience, is asked again", async () => {
    documents.set("/sitemap.php", { status: 500 });
    documents.set("/sitemaps.xml", { status: 429, headers: { "retry-after": "0" } });
    const { asked } = await run((await run()).archive);
    expect(asked).toContain("/sitemap.php");
    expect(asked).toContain("/sitemaps.xml");
  });

  // What a website has on two days; null where there is nothing any more.
  type Day = () => Record<string, string | null>;
  const links = (href: string) => `<link rel="sitemap" href="${href}">`;
  test.each<[string, Day, Day]>([
    [
      "a sitemap that moved from one known path to another is found at once",
      () => ({ "/robots.txt": null }),
      () => ({ "/sitemap.xml": null, "/wp-sitemap.xml": urlset("1", "3") }),
    ],
    [
      "a robots.txt that names what is no longer there makes every document be requested",
      () => ({
        "/robots.txt": `Sitemap: ${home}elsewhere.xml\n`,
        "/elsewhere.xml": urlset("5"),
        "/sitemap.xml": null,
      }),
      () => ({ "/elsewhere.xml": null, "/wp-sitemap.xml": urlset("6") }),
    ],
    [
      "a document that the homepage declares is requested",
      () => ({ "/": links("/sitemap.xml") }),
      () => ({ "/": links("/wp-sitemap.xml"), "/wp-sitemap.xml": urlset("7") }),
    ],
    [
      "so is one that an index declares, before or after its turn",
      () => ({
        "/robots.txt": null,
        "/sitemap.xml": null,
        "/sitemap-index.xml": index(["a.xml"]),
        "/a.xml": urlset("8"),
      }),
      () => ({
        "/sitemap-index.xml": index(["sitemap.xml"], ["wp-sitemap.xml"]),
        "/sitemap.xml": urlset("9"),
        "/wp-sitemap.xml": urlset("10"),
      }),
    ],
  ])("%s", async (_, before, after) => {
    const set = (day: Day) => {
      for (const [name, body] of Object.entries(day())) {
        if (body === null) documents.delete(name);
        else documents.set(name, { body, headers: name === "/" ? html : {} });
      }
    };
    set(before);
    const { archive } = await run();
    set(after);
    expect((await run(archive)).content).toBe((await run()).content);
  });

  test("what was not there and is a sitemap of an index now: the archive has both answers", async () => {
    const { other } = someNames();
    documents.set("/index.xml", { body: index([other]) });
    const options = { extraKnownPaths: [other, "index.xml"] };
    const { archive } = await run(undefined, options);
    documents.set(`/${other}`, { body: urlset("11") });
    const { content, came } = await run(archive, options);
    expect(content).toContain(`"${home}11"`);
    expect(came.fetched).toBe(1);
  });

  test("where no sitemap was found, everything is requested", async () => {
    documents.delete("/robots.txt");
    documents.delete("/sitemap.xml");
    const { archive } = await run();
    expect((await run(archive)).asked).toHaveLength(22);
  });
});

test("everything has its day, and few have the same", () => {
  const urls = knownPaths.map((name) => `https://example.org/${name}`);
  const dates = Array.from({ length: 150 }, (_, day) =>
    new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
  );
  for (const url of urls) expect(dates.some((date) => isDue(url, guessDays, date))).toBe(true);
  for (const date of dates) expect(urls.filter((url) => isDue(url, guessDays, date)).length).toBeLessThan(10);
});

describe("trustLastmod", () => {
  const day = "2026-01-01";
  const names = Array.from({ length: 14 }, (_, at) => `s${at}.xml`);
  const options: Options = { useKnownPaths: false, useHomepage: false };
  const trusting: Options = { ...options, trustLastmod: true };
  const write = (lastmods: (at: number) => string | undefined) =>
    documents.set("/sitemap.xml", {
      body: index(...names.map((name, at) => [name, lastmods(at)] as [string, string?])),
    });
  const dueNames = () => names.flatMap((name) => (isDue(home + name, trustedDays) ? [`/${name}`] : []));
  const withoutMarks = (content: string) => content.replaceAll(',"notAsked":true', "");
  beforeEach(() => {
    write(() => day);
    for (const name of names) documents.set(`/${name}`, { body: urlset(`${name}/1`, `${name}/2`) });
  });

  test("a child with the same lastmod is not requested, unless it is due", async () => {
    const first = await run(undefined, options);
    let { archive: previous } = first;
    for (let daily = 0; daily < 2; daily += 1) {
      const next = await run(previous, trusting);
      const { length } = dueNames();
      expect(new Set(next.asked)).toEqual(new Set(["/robots.txt", "/sitemap.xml", ...dueNames()]));
      expect(next.bodies).toBe(0);
      const came = { "not-modified": 2 + length, "not-asked": names.length - length };
      expect(next.came).toEqual({ fetched: 0, "same-payload": 0, resumed: 0, ...came });
      expect(withoutMarks(next.content)).toBe(first.content);
      expect(next.content.split('"notAsked":true')).toHaveLength(names.length - length + 1);
      previous = next.archive;
    }
    // Without the option they are all asked for, and the archive that was made with it is whole.
    const last = await run(previous, options);
    expect(last.asked).toHaveLength(2 + names.length);
    expect(last.content).toBe(first.content);
  });

  test("what has another lastmod, or none, or is new, or was not there, is requested", async () => {
    write((at) => (at === 0 ? undefined : day));
    documents.delete("/s1.xml");
    const { archive } = await run(undefined, options);
    documents.set("/s1.xml", { body: urlset("again") });
    documents.set("/s3.xml", { body: urlset("new") });
    documents.set("/s4.xml", { body: urlset("not seen") });
    names.push("s14.xml");
    documents.set("/s14.xml", { body: urlset("more") });
    write((at) => (at === 0 ? undefined : at === 3 ? "2026-01-02" : day));
    names.pop();
    const next = await run(archive, { ...trusting, trustLastmod: true });
    for (const name of ["s0", "s1", "s3", "s14"]) expect(next.asked).toContain(`/${name}.xml`);
    expect(next.content).toContain(`"${home}new"`);
    expect(next.content).toContain(`"${home}more"`);
    expect(next.asked.length).toBeLessThanOrEqual(6 + dueNames().length);
  });

  test("what could not be read, or not to its end, is requested", async () => {
    documents.set("/s1.xml", { body: "<html><title>Maintenance</title></html>" });
    documents.set("/s2.xml", { body: urlset("cut/1", "cut/2").slice(0, -30) });
    documents.set("/s3.xml", { body: "" });
    const { archive } = await run(undefined, options);
    for (const name of ["s1", "s2", "s3"]) documents.set(`/${name}.xml`, { body: urlset(`${name}/mended`) });
    const next = await run(archive, trusting);
    for (const name of ["s1", "s2", "s3"]) expect(next.content).toContain(`"${home}${name}/mended"`);
    expect(next.asked.length).toBeLessThanOrEqual(5 + dueNames().length);
  });

  test("a document from another run than the date is requested", async () => {
    const first = await run(undefined, options);
    write(() => "2026-01-05");
    for (const name of names) documents.set(`/${name}`, { body: urlset(`${name}/new`) });
    // The date is in the second archive, the documents are not.
    const second = await run(first.archive, { ...options, limits: { documents: 1 } });
    asked = [];
    await using tree = await sitemapTreeForHomepage(home, { ...trusting, previous: [first.archive, second.archive] });
    expect(asked).toHaveLength(2 + names.length);
    expect(await contentOf(tree)).toBe((await run(undefined, options)).content);
  });

  test("in the program: the tree says so", async () => {
    const { archive } = await run(undefined, options);
    const flags = ["ls", home, "--no-known", "--no-homepage", "--previous", archive];
    const plain = await sitegrove(flags);
    const marked = await sitegrove([...flags, "--trust-lastmod"]);
    const note = " (skipped: same lastmod as before)";
    expect(marked.stdout.split(note)).toHaveLength(names.length - dueNames().length + 1);
    expect(marked.stdout.replaceAll(note, "")).toBe(plain.stdout);
    expect(marked.code).toBe(0);
    for (const [words, message] of [
      [["--trust-lastmod"], "--trust-lastmod needs --previous"],
      [["http://other.example/", "--previous", archive], "--previous works with one website: name only one"],
      [["--previous", archive, "-o", archive, "--force"], "would overwrite the input"],
    ] as const) {
      const refused = await sitegrove(["ls", home, ...words]);
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toContain(message);
    }
  });
});
