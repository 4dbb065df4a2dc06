// `changes` over many days of a website that changes and is partly broken, with processes that are killed.

import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type ChangesOptions, ChangesRun, changes, type WebsiteChange } from "../../src/diff/changes.ts";
import type { SitemapError } from "../../src/model/errors.ts";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import type { Options } from "../../src/model/options.ts";
import { openTree } from "../../src/tree/build.ts";
import { ended, onTerminal, shell, sitegrove, start } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { listOf } from "../support/collected.ts";
import { rss } from "../support/documents.ts";
import { some } from "../support/long.ts";
import { saidOfChecks as said } from "../support/messages.ts";
import { Random } from "../support/random.ts";
import { home, index, type Route, robots, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";
import { ChangingSite } from "./changing-site.ts";

const folder = newFolder();
let made = 0;
const newState = () => path.join(folder, `${made++}.warc${made % 2 === 0 ? ".gz" : ""}`);

type Line = Pick<WebsiteChange, "kind" | "page">;

/** Follows a website through its days, checking each run by what is true and what can be seen. */
class Follower {
  readonly changing: ChangingSite;
  readonly #state: string;
  /** The last modification of each page, as the changes so far say. */
  readonly #known = new Map<string, string>();
  #last = "";

  constructor(changing: ChangingSite, state: string) {
    this.changing = changing;
    this.#state = state;
  }

  get #saved(): string {
    return existsSync(this.#state) ? readFileSync(this.#state, "latin1") : "";
  }

  /** Applies the changes that a run lists. Those of a run after a killed one may repeat others. */
  see(lines: readonly Line[], mayRepeat: boolean): void {
    const { declared } = this.changing;
    const was = new Set(this.#known.keys());
    const wrong = lines.filter(({ kind, page: { url } }) => {
      const isRepeated = !mayRepeat && (kind === "added") === was.has(url);
      return isRepeated || (kind === "removed" && declared.has(url));
    });
    expect(wrong).toEqual([]);
    for (const { kind, page } of lines) {
      if (kind === "removed") this.#known.delete(page.url);
      else this.#known.set(page.url, page.lastModified as string);
    }
    if (this.#saved === this.#last) return;
    this.#last = this.#saved;
    this.changing.wasRead();
  }

  /** Checks what is known after a run that ended well. */
  expectKnown(): void {
    const { visible, truth, isWhole } = this.changing;
    expect([...visible.keys()].filter((url) => !this.#known.has(url))).toEqual([]);
    if (isWhole) expect([...this.#known].sort()).toEqual([...truth].sort());
  }
}

const flags = ["-k", "--no-homepage", "--retries", "0"];

describe("nothing is removed that may still be there, and the changes add up to the website whenever all of it can be read", () => {
  test.each(Array.from({ length: some(200, 5) }, (_, seed) => seed))("website %d", async (seed) => {
    const changing = new ChangingSite(seed);
    const { client, homepage } = changing;
    const state = newState();
    const follower = new Follower(changing, state);
    for (let day = 0; day < some(30, 12); day++) {
      if (day > 0) changing.nextDay();
      await using found = changes(homepage, { state, client, extraKnownPaths: ["guess.xml"], ...options });
      const lines = await listOf(found).catch(({ code }: SitemapError) => void expect(code).toBe("unreachable"));
      if (lines === undefined) continue;
      await found.commit();
      follower.see(lines, false);
      if (existsSync(state)) follower.expectKnown();
    }
  });

  test.each(Array.from({ length: some(8, 1) }, (_, seed) => seed))(
    "website %d, with killed processes",
    async (seed) => {
      const random = new Random(seed);
      const changing = await ChangingSite.serve(seed);
      const state = newState();
      const words = ["changes", changing.homepage, "--state", state, "--known-path", "guess.xml", ...flags];
      const follower = new Follower(changing, state);
      // A killed process may leave half a line, which does not count.
      const linesOf = (stdout: string) =>
        stdout
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line) as Line);
      for (let day = 0; day < some(30, 5); day++) {
        if (day > 0) changing.nextDay();
        let kills = 0;
        while (random.below(3) === 0 && kills < 3) {
          kills += 1;
          const child = start(words);
          // Kills it at some request, at the first output, or at any moment.
          const moment = random.below(3);
          const killAt = changing.answers.length + 1 + random.below(6);
          const kill = () => void child.kill("SIGKILL");
          if (moment === 0) changing.onRequest = (count) => count === killAt && kill();
          if (moment === 1) child.stdout?.once("data", kill);
          if (moment === 2) setTimeout(kill, random.below(1500));
          follower.see(linesOf((await ended(child)).stdout), true);
          changing.onRequest = () => {};
        }
        const { code, stdout, stderr } = await sitegrove(words);
        expect(changing.isWhole ? [0] : [0, 3, 4, 5], stderr).toContain(code);
        follower.see(linesOf(stdout), kills > 0);
        if (code === 0 || code === 3) follower.expectKnown();
      }
      // Whatever was killed, the state is one file, and an ordinary archive.
      expect(readdirSync(folder).filter((name) => name.includes(path.basename(state)))).toEqual([path.basename(state)]);
      await using tree = await openTree(state);
      expect(tree.pageCount).toBeGreaterThan(0);
    },
  );
});

const options = { knownPaths: "never", useHomepage: false, retries: 0 } as const;

/** A website of two sitemaps, as routes that a test can change. */
function website(name = newState()) {
  const routes: Record<string, Route> = {
    "/robots.txt": robots("index.xml"),
    "/index.xml": index("a.xml", "b.xml"),
    "/a.xml": urlset("1", "2"),
    "/b.xml": urlset("3"),
  };
  const { client } = site((name) => routes[name]);
  const state = path.resolve(folder, name);
  const read = (more: Partial<ChangesOptions> = {}) => changes(home, { state, client, ...options, ...more });
  return { routes, client, state, read };
}

async function all(found: ReturnType<typeof changes>): Promise<string[]> {
  const listed = (await listOf(found)).map(({ kind, page }) => `${kind} ${page.url.slice(home.length)}`);
  return found.uncertain === 0 ? listed : [...listed, `${found.uncertain} uncertain`];
}

async function committed(found: ReturnType<typeof changes>): Promise<string[]> {
  const lines = await all(found);
  await found.commit();
  return lines;
}

const openFiles = () =>
  readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return [];
    }
  });

describe("in the library", () => {
  test("each run lists new changes, and the next one starts where the last one was committed", async () => {
    const { routes, read } = website();
    expect(await committed(read())).toEqual(["added 1", "added 2", "added 3"]);
    expect(await committed(read())).toEqual([]);
    routes["/a.xml"] = urlset("2", "4");
    // Without a commit, the next run lists the same changes.
    await using unfinished = read();
    expect(await all(unfinished)).toEqual(["removed 1", "added 4"]);
    await unfinished.close();
    const left = read();
    for await (const { page } of left) {
      expect(page.url).toBe(`${home}1`);
      break;
    }
    await expect(left.commit()).rejects.toThrow("after the loop has finished");
    expect(await committed(read())).toEqual(["removed 1", "added 4"]);
    expect(await committed(read())).toEqual([]);
  });

  test.each<[string, Partial<ChangesOptions>, string[]]>([
    ["first: none", { first: "none" }, []],
    ["only", { only: ["removed"] }, []],
    ["include", { include: (url) => url.endsWith("2") }, ["added 2"]],
    ["include with patterns", { include: ["nothing", /2$/] }, ["added 2"]],
  ])("the first run respects %s", async (_, more, expected) => {
    const { read } = website();
    expect(await committed(read(more))).toEqual(expected);
    expect(await committed(read())).toEqual([]);
  });

  test("new pages are listed only if robots.txt allows the crawler; removed pages are listed in any case", async () => {
    const { routes, read } = website();
    routes["/robots.txt"] = `User-agent: GPTBot\nDisallow: /2\nDisallow: /4\n${robots("index.xml")}`;
    routes["/b.xml"] = urlset("3", "https://example.com/");
    routes["https://example.com/robots.txt"] = { status: 503 };
    expect(await committed(read({ allowedFor: "GPTBot/1.2" }))).toEqual(["added 1", "added 3"]);
    routes["/a.xml"] = urlset("4", "5");
    expect(await committed(read({ allowedFor: "GPTBot" }))).toEqual(["removed 1", "removed 2", "added 5"]);
  });

  // A list in which the pages named x have no URL.
  const flawed = (...names: string[]) => urlset(...names).replaceAll(">x<", "><");
  const mended = { "/a.xml": urlset("2", "5") };
  test.each<[string, ...days: [Record<string, Route>, string[]][]]>([
    ["is missing for a day", [{ "/a.xml": { status: 404 } }, []], [mended, ["removed 1", "added 5"]]],
    ["is down", [{ "/a.xml": { status: 503 } }, []], [mended, ["removed 1", "added 5"]]],
    ["is cut off", [{ "/a.xml": urlset("2").slice(0, -20) }, []], [mended, ["removed 1", "added 5"]]],
    ["is an error page", [{ "/a.xml": "<html><title>Oops</title></html>" }, []], [mended, ["removed 1", "added 5"]]],
    ["is empty", [{ "/a.xml": urlset() }, ["removed 1", "removed 2"]], [mended, ["added 2", "added 5"]]],
    [
      "is down does not hide what others add, but may have what they lost, until it is not named any more",
      [{ "/a.xml": { status: 503 }, "/b.xml": urlset("6") }, ["added 6", "1 uncertain"]],
      [{ "/index.xml": index("b.xml") }, ["removed 1", "removed 2", "removed 3"]],
    ],
    [
      "was replaced by one that cannot be read yet is not gone",
      [{ "/index.xml": index("c.xml", "b.xml") }, ["2 uncertain"]],
      [{ "/c.xml": urlset("1", "2") }, []],
    ],
    [
      "was replaced by one that cannot be read does not hide a new one",
      [{ "/index.xml": index("c.xml", "d.xml"), "/d.xml": urlset("4") }, ["added 4", "3 uncertain"]],
      [{ "/d.xml": urlset("4", "5") }, ["removed 1", "removed 2", "removed 3", "added 5"]],
      [{ "/index.xml": index("d.xml") }, []],
    ],
    [
      "was replaced by one that is down is gone once everything can be read",
      [{ "/index.xml": index("c.xml", "b.xml"), "/c.xml": { status: 503 } }, ["2 uncertain"]],
      [{ "/index.xml": { status: 503 }, "/b.xml": urlset("4") }, []],
      [{ "/index.xml": index("c.xml", "b.xml"), "/c.xml": urlset("1") }, ["removed 3", "removed 2", "added 4"]],
    ],
    [
      "is named by another index, which is down",
      [{ "/robots.txt": robots("index.xml", "j.xml"), "/j.xml": index("c.xml"), "/c.xml": urlset("4") }, ["added 4"]],
      [{ "/index.xml": index("b.xml"), "/j.xml": { status: 503 } }, ["2 uncertain"]],
      [{ "/j.xml": index("a.xml", "c.xml") }, []],
    ],
    [
      "lost a page to a sitemap whose index is down",
      [{ "/robots.txt": robots("index.xml", "j.xml"), "/j.xml": index("c.xml"), "/c.xml": urlset("4") }, ["added 4"]],
      [{ "/a.xml": urlset("2"), "/c.xml": urlset("4", "1"), "/j.xml": { status: 503 } }, ["1 uncertain"]],
      [{ "/j.xml": index("c.xml") }, []],
      [{ "/c.xml": urlset("4") }, ["removed 1"]],
    ],
    [
      "lost a page is believed once all indexes can be read, and before that if another sitemap lists the page",
      [{ "/robots.txt": robots("index.xml", "j.xml"), "/j.xml": index("c.xml"), "/c.xml": urlset("4") }, ["added 4"]],
      [{ "/a.xml": urlset("2"), "/b.xml": urlset("3", "1", "5"), "/j.xml": { status: 403 } }, ["added 5"]],
      [{ "/b.xml": urlset("3", "5", "6") }, ["added 6", "1 uncertain"]],
      [{ "/j.xml": index("c.xml") }, ["removed 1"]],
    ],
    [
      "lost a page to a new sitemap that cannot be read for a day",
      [
        { "/index.xml": index("a.xml", "b.xml", "c.xml"), "/a.xml": urlset("2"), "/c.xml": { status: 503 } },
        ["1 uncertain"],
      ],
      [{ "/c.xml": urlset("1") }, []],
    ],
    [
      "lost a page is not believed as long as another one cannot be read",
      [
        { "/index.xml": index("a.xml", "b.xml", "c.xml"), "/a.xml": urlset("2"), "/c.xml": { status: 403 } },
        ["1 uncertain"],
      ],
      [{ "/a.xml": urlset("2", "5") }, ["added 5", "1 uncertain"]],
      [{ "/a.xml": urlset("5") }, ["2 uncertain"]],
      [{ "/c.xml": urlset("2") }, ["removed 1"]],
    ],
    [
      "lost a page is believed if another one cannot be read, but is not named any more",
      [{ "/a.xml": urlset("2"), "/b.xml": { status: 503 } }, ["1 uncertain"]],
      [{ "/index.xml": index("a.xml") }, ["removed 3", "removed 1"]],
    ],
    [
      "lost a page is believed in the second run that does not find a new one",
      [{ "/index.xml": index("a.xml", "b.xml", "c.xml"), "/a.xml": urlset("2") }, ["1 uncertain"]],
      [{}, ["removed 1"]],
      [{ "/a.xml": urlset("5") }, ["removed 2", "added 5"]],
    ],
    [
      "lost a page is believed in the second run that does not find another one, which may come back",
      [{ "/a.xml": urlset("2"), "/b.xml": { status: 404 } }, ["1 uncertain"]],
      [{ "/b.xml": { status: 503 } }, ["1 uncertain"]],
      [{ "/b.xml": { status: 410 } }, ["1 uncertain"]],
      [{ "/b.xml": { status: 404 } }, ["removed 1"]],
      [{ "/b.xml": urlset("3", "1") }, ["added 1"]],
    ],
    [
      "lost a page may have lost it to an entry of a new one that cannot be read",
      [
        {
          "/index.xml": index("a.xml", "b.xml", "c.xml"),
          "/a.xml": urlset("2"),
          "/c.xml": flawed("x"),
        },
        ["1 uncertain"],
      ],
      [{ "/c.xml": urlset("1") }, []],
    ],
    [
      "lost a page that comes back in another one, changed, while something cannot be read",
      [{ "/a.xml": urlset("2"), "/b.xml": { status: 503 } }, ["1 uncertain"]],
      [{ "/a.xml": urlset("2", "<url><loc>1</loc><priority>1.0</priority></url>") }, ["changed 1"]],
      [{ "/b.xml": urlset("3") }, []],
    ],
    [
      "lost a post while another one was down has expired, not removed it",
      [{ "/b.xml": rss("7", "8") }, ["removed 3", "added 7", "added 8"]],
      [{ "/b.xml": rss("8"), "/a.xml": { status: 503 } }, []],
      [{ "/a.xml": urlset("1", "7") }, ["removed 2"]],
    ],
    [
      "lost a page to one beyond the place where their index is cut off",
      [
        {
          "/index.xml": index("b.xml", "a.xml", "c.xml").slice(0, -30),
          "/a.xml": urlset("2"),
          "/c.xml": urlset("1"),
        },
        ["1 uncertain"],
      ],
      [{ "/index.xml": index("b.xml", "a.xml", "c.xml") }, []],
    ],
    [
      "has no length may be cut off",
      [{ "/a.xml": { headers: { connection: "close" }, body: `${home}2\nhttps://exa` } }, []],
      [mended, ["removed 1", "added 5"]],
    ],
    [
      "has no length lists new pages, and never removed ones",
      [
        { "/a.xml": { headers: { connection: "close" }, body: `${home}2\n${home}5\n${home}6\n` } },
        ["added 5", "added 6", "1 uncertain"],
      ],
      [
        { "/a.xml": { headers: { connection: "close" }, body: `${home}7\n${home}8\n` } },
        ["added 7", "added 8", "4 uncertain"],
      ],
      [{ "/a.xml": urlset("2", "8") }, ["removed 7", "removed 5", "removed 6", "removed 1"]],
    ],
    [
      "is missing in a robots.txt without a length",
      [{ "/robots.txt": robots("b.xml", "a.xml") }, []],
      [{ "/robots.txt": { headers: { connection: "close" }, body: robots("b.xml") } }, []],
      [{ "/robots.txt": robots("b.xml") }, ["removed 1", "removed 2"]],
    ],
    [
      "is not named any more is gone once everything else can be read",
      [
        { "/index.xml": index("b.xml"), "/robots.txt": robots("index.xml", "new.xml"), "/new.xml": "<sitemapindex>" },
        ["2 uncertain"],
      ],
      [{ "/new.xml": index("c.xml"), "/c.xml": urlset("2", "5") }, ["removed 1", "added 5"]],
    ],
    [
      "names itself loses a page",
      [
        { "/b.xml": urlset("3", "4").replace("</urlset>", `<sitemap><loc>${home}b.xml</loc></sitemap></urlset>`) },
        ["added 4"],
      ],
      [
        { "/b.xml": urlset("4").replace("</urlset>", `<sitemap><loc>${home}b.xml</loc></sitemap></urlset>`) },
        ["removed 3"],
      ],
    ],
    [
      "has an entry without a URL lists new pages, but the entry may be a page that is missing",
      [{ "/a.xml": flawed("1", "2", "x", "5") }, ["added 5"]],
      [{ "/a.xml": flawed("1", "x", "x", "6") }, ["added 6", "2 uncertain"]],
      [{ "/a.xml": urlset("1", "6") }, ["removed 2", "removed 5"]],
    ],
    [
      "always has an entry without a URL can still lose pages",
      [{ "/a.xml": flawed("x", "1", "2") }, []],
      [{ "/a.xml": flawed("x", "2", "5") }, ["removed 1", "added 5"]],
    ],
    [
      "robots.txt no longer lists is still read, but robots.txt may be missing by mistake, and list another one",
      [{ "/robots.txt": { status: 404 }, "/a.xml": urlset("1", "9") }, ["added 9", "1 uncertain"]],
      [{ "/a.xml": urlset("1") }, ["removed 9", "removed 2"]],
    ],
    [
      "robots.txt did not list for a while is dropped once it lists others, which can be read",
      [{ "/robots.txt": robots("a.xml", "b.xml") }, []],
      [{ "/robots.txt": { status: 404 } }, []],
      [{}, []],
      [{ "/a.xml": { status: 503 } }, []],
      [{ "/robots.txt": robots("b.xml", "new.xml"), "/new.xml": { status: 503 } }, ["2 uncertain"]],
      [{ "/new.xml": urlset("2", "4"), "/a.xml": urlset("1", "2") }, ["removed 1", "added 4"]],
      [{}, []],
    ],
  ])("pages count as removed only if there is evidence: a sitemap that %s", async (_, ...days) => {
    const { routes, read } = website();
    await committed(read());
    for (const [changed, expected] of days) {
      Object.assign(routes, changed);
      expect(await committed(read())).toEqual(expected);
    }
  });

  test("a sitemap that is always cut off reports new pages, but never removed ones", async () => {
    const { routes, read } = website();
    for (const [pages, expected] of [
      [["3"], ["added 1", "added 2", "added 3"]],
      [["3", "4"], ["added 4"]],
      [["5"], ["added 5", "2 uncertain"]],
    ] as const) {
      routes["/b.xml"] = urlset(...pages).slice(0, -9);
      expect(await committed(read())).toEqual(expected);
    }
  });

  const states = new Map<string, Buffer>();
  const error = "<html><title>Oops</title></html>";
  test.each<[string, Record<string, Route | undefined>]>([
    ["robots.txt leads to an error", { "/robots.txt": { to: "/maintenance" }, "/maintenance": { status: 503 } }],
    ["robots.txt leads to itself", { "/robots.txt": { to: "/robots.txt" } }],
    ["robots.txt is forbidden", { "/robots.txt": { status: 403 } }],
    ["a sitemap that nobody declares is a page", { "/sitemap.xml": "<html><title>Soon back</title></html>" }],
    ["a sitemap that nobody declares is forbidden", { "/sitemap.xml": { status: 403 } }],
    ["a sitemap that nobody declares is busy", { "/sitemap.xml": { status: 429 } }],
    ["a sitemap that nobody declares leads to an error", { "/sitemap.xml": { to: "/x" }, "/x": { status: 503 } }],
    ["the homepage leads to an error", { "/": { to: "/maintenance" }, "/maintenance": { status: 503 } }],
    ["the homepage is forbidden", { "/": { status: 403 } }],
    ["the homepage is busy", { "/": { status: 429 } }],
    [
      "the homepage is cut off",
      { "/": { headers: { "content-encoding": "gzip" }, body: gzipSync("<p>").subarray(0, 12) } },
    ],
    ["robots.txt is missing", { "/robots.txt": undefined }],
    ["robots.txt is an error message", { "/robots.txt": "Internal error: no database\n" }],
    ["robots.txt is an error page", { "/robots.txt": error }],
    ["robots.txt is empty", { "/robots.txt": "" }],
    ["robots.txt is a default that lists no sitemap", { "/robots.txt": "User-agent: *\nDisallow:\n" }],
    ["robots.txt is missing and so is its sitemap", { "/robots.txt": undefined, "/index.xml": undefined }],
    ["a sitemap at a well-known path is missing", { "/sitemap.xml": undefined }],
    ["a sitemap at a well-known path is empty", { "/sitemap.xml": "" }],
    ["the homepage has no link", { "/": "<title>Down for maintenance</title>" }],
    ["the homepage is missing", { "/": undefined }],
    ["the homepage has no link, and what it linked to is missing", { "/": "<p>", "/linked.xml": undefined }],
    ["an entry of an index is not closed", { "/index.xml": index("a.xml", "b.xml").replace("b.xml</loc>", "b.xml") }],
    ["an entry of an index has no URL", { "/index.xml": index("a.xml", "b.xml").replace(">b.xml<", "><") }],
    ["an entry of a sitemap has no URL", { "/a.xml": urlset("1", "2").replace(">2<", "><") }],
    ["a feed has no items", { "/feed.xml": rss("<title>News</title>") }],
    ["a JSON Feed has a stray bracket", { "/feed.json": '{"version":"https://jsonfeed.org/version/1.1","items":[]]}' }],
    ["a quote is not closed", { "/a.xml": urlset("1", "2").replace("<url><loc>", '<url a="b><loc>') }],
    ["a tag is not closed", { "/a.xml": urlset("1", "2").replace("</loc>", "</loc") }],
  ])("nothing counts as removed if, for one run, %s", async (_, changed) => {
    const { routes, read, state } = website();
    routes["/index.xml"] = index("a.xml", "b.xml", "https://cdn.example.com/c.xml");
    routes["https://cdn.example.com/c.xml"] = urlset("6");
    const item = { url: `${home}21` };
    routes["/feed.json"] = JSON.stringify({ version: "https://jsonfeed.org/version/1.1", items: [item] });
    routes["/feed.xml"] = rss(`${home}20`);
    routes["/robots.txt"] = `${robots("index.xml", "feed.xml", "feed.json")}Sitemap: https://cdn.example.com/d.xml\n`;
    routes["https://cdn.example.com/d.xml"] = urlset("7");
    routes["/sitemap.xml"] = urlset("4");
    routes["/"] = '<link rel="sitemap" href="/linked.xml"><link rel="sitemap" href="https://cdn.example.com/e.xml">';
    routes["/linked.xml"] = urlset("5");
    routes["https://cdn.example.com/e.xml"] = urlset("8");
    // Requesting the other well-known paths in every run would take long.
    const crawl = { useHomepage: true, extraKnownPaths: ["/sitemap.xml"] };
    const whole = { ...routes };
    // Every first run leaves the same state.
    const known = states.get(path.extname(state));
    if (known !== undefined) writeFileSync(state, known);
    else expect(await committed(read(crawl))).toHaveLength(10);
    states.set(path.extname(state), readFileSync(state));
    for (const [name, route] of Object.entries(changed)) {
      if (route === undefined) delete routes[name];
      else routes[name] = route;
    }
    const listed = async () => (await committed(read(crawl))).filter((line) => !line.endsWith("uncertain"));
    expect(await listed()).toEqual([]);
    expect(await listed()).toEqual([]);
    // Pages that are really gone are still listed.
    Object.assign(routes, whole, { "/a.xml": urlset("2") });
    expect(await committed(read(crawl))).toEqual(["removed 1"]);
  });

  test("a page missing from a guessed sitemap is not removed while robots.txt is down, because another sitemap may list it", async () => {
    const { routes, read } = website();
    routes["/guess.xml"] = urlset("4", "5");
    const crawl = { extraKnownPaths: ["/guess.xml"] };
    await committed(read(crawl));
    Object.assign(routes, { "/robots.txt": { status: 503 }, "/guess.xml": urlset("4") });
    expect(await committed(read(crawl))).toEqual(["1 uncertain"]);
    routes["/robots.txt"] = robots("index.xml");
    expect(await committed(read(crawl))).toEqual(["removed 5"]);
  });

  test("a robots.txt that lists other sitemaps, and a sitemap that answers 410, are evidence for removals", async () => {
    const { routes, read } = website();
    routes["/sitemap.xml"] = urlset("4");
    const crawl = { knownPaths: "always" } as const;
    expect(await committed(read(crawl))).toHaveLength(4);
    routes["/sitemap.xml"] = { status: 410 };
    expect(await committed(read(crawl))).toEqual(["removed 4"]);
    routes["/robots.txt"] = robots("b.xml");
    expect(await committed(read(crawl))).toEqual(["removed 1", "removed 2"]);
  });

  test("a sitemap linked from the homepage is not dropped if only robots.txt was missing for a while", async () => {
    const { routes, read } = website();
    Object.assign(routes, { "/": '<link rel="sitemap" href="/linked.xml">', "/linked.xml": urlset("5") });
    const crawl = { useHomepage: true };
    expect(await committed(read(crawl))).toHaveLength(4);
    Object.assign(routes, { "/robots.txt": "User-agent: *\n", "/": "<p>" });
    expect(await committed(read(crawl))).toEqual([]);
    routes["/robots.txt"] = robots("b.xml");
    expect(await committed(read(crawl))).toEqual(["removed 1", "removed 2"]);
    expect(await committed(read(crawl))).toEqual([]);
  });

  test("a link to a sitemap elsewhere that the homepage lost hides removed pages for one run", async () => {
    const { routes, read } = website();
    routes["/"] = '<link rel="sitemap" href="https://cdn.example.com/e.xml">';
    routes["https://cdn.example.com/e.xml"] = urlset("5");
    const crawl = { useHomepage: true };
    await committed(read(crawl));
    Object.assign(routes, { "/": "<p>", "/a.xml": urlset("2") });
    expect(await committed(read(crawl))).toEqual(["1 uncertain"]);
    expect(await committed(read(crawl))).toEqual(["removed 1"]);
    expect(await committed(read(crawl))).toEqual([]);
  });

  test("a post that scrolled out of a feed is expired, and listed only on request", async () => {
    const { routes, read } = website();
    routes["/b.xml"] = rss(`${home}7`, `${home}8`);
    await committed(read());
    routes["/b.xml"] = rss(`${home}8`, `${home}9`);
    const asked = { only: ["removed", "expired"] } as const;
    await using found = read(asked);
    expect(await all(found)).toEqual(["expired 7"]);
    await found.close();
    // As long as another sitemap may list it, it has not expired.
    const { "/a.xml": whole } = routes;
    routes["/a.xml"] = { status: 503 };
    expect(await committed(read())).toEqual(["added 9"]);
    expect(await committed(read(asked))).toEqual(["1 uncertain"]);
    routes["/a.xml"] = whole as Route;
    expect(await committed(read(asked))).toEqual(["expired 7"]);
  });

  test.each<[string, Options]>([
    ["--llms", { useLlms: true }],
    ["--feeds", { useFeeds: true }],
    ["well-known paths", { knownPaths: "always" }],
    ["--known-path", { extraKnownPaths: ["/more.xml"] }],
    ["--known-path ./", { extraKnownPaths: ["./more.xml"] }],
    ["--known-path /./", { extraKnownPaths: ["/./more.xml"] }],
    ["the homepage", { useHomepage: true }],
    ["robots.txt", { useRobots: true }],
  ])("pages found only with %s are kept by a run without it", async (_, more) => {
    const { routes, read } = website();
    routes["/llms.txt"] = `# Site\n\n## Docs\n\n- [Ten](${home}10)\n`;
    routes["/feed"] = rss("<title>News</title>", `${home}11`);
    routes["/sitemap.xml"] = urlset("12");
    routes["/more.xml"] = urlset("13");
    routes["/"] = '<link rel="sitemap" href="/linked.xml">';
    routes["/linked.xml"] = urlset("14");
    routes["/always.xml"] = urlset("15");
    const less = { useRobots: false, extraKnownPaths: ["/always.xml"] };
    const crawl = { ...less, ...more, extraKnownPaths: [...less.extraKnownPaths, ...(more.extraKnownPaths ?? [])] };
    const first = await committed(read(crawl));
    expect(first.length).toBeGreaterThan(1);
    for (let run = 0; run < 2; run++) expect(await committed(read(less))).toEqual([]);
    expect(await committed(read(crawl))).toEqual([]);
    routes["/always.xml"] = urlset("16");
    expect(await committed(read(less))).toEqual(["removed 15", "added 16"]);
  });

  test("pages of sitemaps that are not followed today are kept", async () => {
    const { routes, read } = website();
    await committed(read());
    routes["/a.xml"] = urlset("2", "4");
    const follows = ({ url }: { readonly url: string }) => !url.endsWith("b.xml");
    expect(await committed(read({ recurse: follows }))).toEqual(["removed 1", "added 4"]);
    expect(await committed(read({ recurseList: (children) => children.filter(follows) }))).toEqual([]);
    routes["/b.xml"] = urlset("5");
    expect(await committed(read())).toEqual(["removed 3", "added 5"]);
  });

  test("a page that may be removed is remembered by runs that do not list it", async () => {
    const { routes, read } = website();
    await committed(read());
    Object.assign(routes, { "/a.xml": urlset("2"), "/b.xml": { status: 503 } });
    for (const more of [{ only: ["added"] }, { include: "1" }, { include: "9" }, { exclude: "1" }] as const)
      expect(await committed(read(more))).toEqual("include" in more && more.include === "1" ? ["1 uncertain"] : []);
    routes["/b.xml"] = urlset("3");
    expect(await committed(read())).toEqual(["removed 1"]);
  });

  test("no more pages are remembered than a document may have; it is said how many are not", async () => {
    const { routes, client, state, read } = website();
    await committed(read());
    Object.assign(routes, { "/index.xml": index("b.xml", "c.xml"), "/b.xml": urlset("4"), "/c.xml": { status: 503 } });
    const limits = withFixedLimits({ documentEntries: 2 });
    const run = new ChangesRun(home, { state, client, ...options, limits });
    const found = run.batches();
    let step = await found.next();
    for (; !step.done; step = await found.next()) expect(step.value).toMatchObject([{ kind: "added" }]);
    expect(step.value).toMatchObject({ uncertain: 3, forgotten: 1 });
    run.commit();
    routes["/c.xml"] = urlset("5");
    expect(await committed(read())).toEqual(["removed 1", "removed 2", "added 5"]);
  });

  test("limits apply to the website, not to the state", async () => {
    const { read } = website();
    await committed(read());
    for (const limits of [{ time: 0 }, { sitemaps: 1 }, { pages: 1 }]) {
      const found = read({ limits });
      expect(await all(found).catch(({ code }: { code: string }) => [code])).not.toContainEqual(
        expect.stringMatching("added"),
      );
      await found.commit().catch(() => undefined);
      expect(await committed(read())).toEqual([]);
    }
  });

  test("pages beyond a time limit are listed by the next run", async () => {
    const { routes, read } = website();
    const { b = "" } = { b: routes["/b.xml"] };
    routes["/b.xml"] = { wait: 60_000 };
    const cut = read({ limits: { time: 500 } });
    expect(await committed(cut)).toEqual(["added 1", "added 2"]);
    routes["/b.xml"] = b;
    expect(await committed(read())).toEqual(["added 3"]);
  });

  test("a website that is down throws, one without a sitemap lists nothing, and both keep the state", async () => {
    const { routes, read, state } = website();
    await committed(read());
    const before = readFileSync(state);
    routes["/robots.txt"] = { status: 503 };
    await expect(all(read())).rejects.toMatchObject({ code: "unreachable" });
    routes["/robots.txt"] = robots();
    delete routes["/index.xml"];
    expect(await committed(read())).toEqual([]);
    expect(readFileSync(state).equals(before)).toBe(true);
  });

  test("unchanged documents are not transferred again", async () => {
    const changing = await ChangingSite.serve(3);
    const state = newState();
    const run = () => committed(changes(changing.homepage, { state, ...options }));
    expect(await run()).not.toEqual([]);
    const sent = changing.answers.filter((answer) => answer.startsWith("200 s")).length;
    expect(await run()).toEqual([]);
    expect(changing.answers.filter((answer) => answer.startsWith("304")).length).toBeGreaterThan(0);
    expect(changing.answers.filter((answer) => answer.startsWith("200 s")).length).toBeLessThan(2 * sent);
  });

  test("a state that is damaged, foreign, of another website or in use is refused, named in the error, and not changed", async () => {
    const { routes, read, state } = website("damaged.warc");
    await committed(read());
    Object.assign(routes, { "/a.xml": urlset("2"), "/b.xml": { status: 503 } });
    expect(await committed(read())).toEqual(["1 uncertain"]);
    Object.assign(routes, { "/b.xml": urlset("3") });
    const whole = readFileSync(state);
    const at = Math.floor(whole.length / 2);
    const damaged = Buffer.from(whole);
    damaged[whole.indexOf("<loc>2</loc>") + 5] = "8".charCodeAt(0);
    // This damages the record of robots.txt.
    const described = Buffer.from(whole);
    described[whole.indexOf('"attempts"') + 1] = "b".charCodeAt(0);
    // This damages the page that may be removed.
    const noted = Buffer.from(whole);
    noted[whole.indexOf(`"url":"${home}1"`) + 7 + home.length] = "7".charCodeAt(0);
    for (const bytes of [damaged, described, noted, whole.subarray(0, at), Buffer.from("site"), Buffer.alloc(0)]) {
      writeFileSync(state, bytes);
      const refused = await all(read()).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "invalid-archive", message: expect.stringContaining(state) });
      expect(readFileSync(state).equals(bytes)).toBe(true);
    }
    writeFileSync(state, whole);
    const other = changes("https://example.com/", { state, client: site({}).client });
    await expect(all(other)).rejects.toThrow(
      `${state} is an archive of https://example.org/, not of https://example.com/`,
    );
    const sitemaps = [`${home}a.xml`];
    const part = changes({ sitemaps }, { state, client: site({}).client });
    await expect(all(part)).rejects.toThrow(`${state} is the state of https://example.org/, not of ${sitemaps[0]}`);
    const first = read();
    const iterator = first[Symbol.asyncIterator]();
    expect((await iterator.next()).done).toBe(false);
    await expect(all(read())).rejects.toMatchObject({
      code: "state-in-use",
      message: `Process ${process.pid} is using ${state}; wait for it, or stop it`,
    });
    await first.close();
    if (process.platform === "linux") expect(openFiles()).not.toContain(state);
    expect(await committed(read())).toEqual(["removed 1"]);
    expect(existsSync(`${state}.lock`)).toBe(false);
  });

  test("invalid calls are refused", async () => {
    const { read, state } = website();
    await expect(read().commit()).rejects.toThrow("Call `commit()` after the loop");
    expect(() => read({ first: "some" as "all" })).toThrow("first");
    expect(() => read({ only: ["moved" as "added"] })).toThrow("moved");
    for (const crawl of [{ save: "x.warc" }, { resume: "x.warc" }])
      expect(() => changes(home, { state, ...crawl })).toThrow("cannot be combined with");
    expect(() => changes(home, {} as ChangesOptions)).toThrow("state");
  });
});

describe("the program", () => {
  test("writes the formats of diff, and reports what could not be read", async () => {
    const changing = await ChangingSite.serve(1);
    const state = newState();
    const words = ["changes", changing.homepage, "--state", state, "-k", "--no-homepage", "--retries", "0"];
    const nothing = ["--include", "zzz", "--include", "y"];
    expect(await sitegrove([...words, "--first", "none", ...nothing])).toEqual({ code: 0, stdout: "", stderr: "" });
    const { stderr: note } = await sitegrove([...words, ...nothing, "--exclude", "x"]);
    expect(note).toMatch(said.noPageMatches);
    expect(await sitegrove([...words, "--include", "*"])).toEqual({ code: 0, stdout: "", stderr: "" });
    changing.nextDay({ "index.xml": "down", "more.xml": "down" });
    const { code, stdout, stderr } = await sitegrove([...words, "-f", "csv"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringMatching(/^kind,url,[^\n]*\n$/) });
    expect(stderr).toContain(said.unavailable(`${changing.homepage}index.xml`));
    changing.nextDay({});
    const added = await sitegrove([...words, "-f", "pages", "--only", "added"]);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(http:\/\/127\S+\n)+$/) });
    expect(await sitegrove(words)).toMatchObject({ code: 0, stdout: "" });
    changing.close();
    // The state is kept while the website cannot be reached.
    const before = readFileSync(state);
    expect(await sitegrove(words)).toMatchObject({ code: 5, stdout: "" });
    expect(readFileSync(state).equals(before)).toBe(true);
  });

  test("names the sitemaps that were read before but are refused now, and counts the pages that may be removed", async () => {
    let status = 200;
    const served = await serve({
      "/robots.txt": "Sitemap: {base}/a.xml",
      "/a.xml": (_, response) => response.end(status === 200 ? urlset("/1", "/0") : urlset("/1")),
      "/guess.xml": (_, response) => response.writeHead(status).end(urlset("/2")),
    });
    const flags = ["--state", newState(), "-k", "--no-homepage", "--known-path", "guess.xml", "-f", "pages"];
    expect((await sitegrove(["changes", served.homepage, ...flags])).stdout.split("\n")).toHaveLength(4);
    status = 403;
    const { code, stdout, stderr } = await sitegrove(["changes", served.homepage, ...flags]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain(said.stateKept(`${served.homepage}guess.xml`));
    expect(stderr).toContain(said.mayBeRemoved);
    served.close();
  });

  test("a sitemap that is never readable holds back no removal once --exclude-sitemap leaves it out", async () => {
    const routes = {
      "/robots.txt": "Sitemap: {base}/a.xml\nSitemap: {base}/private.xml",
      "/a.xml": urlset("/1", "/0"),
      "/private.xml": (_: unknown, response: ServerResponse) => response.writeHead(403).end(),
    };
    const served = await serve(routes);
    const words = ["changes", served.homepage, "--state", newState(), "-k", "--no-homepage", "-f", "csv"];
    expect((await sitegrove(words)).code).toBe(3);
    routes["/a.xml"] = urlset("/1");
    expect((await sitegrove(words)).stdout).not.toContain("removed");
    const { code, stdout } = await sitegrove([...words, "--exclude-sitemap", "*/private.xml"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("removed,https://example.org/0,") });
    served.close();
  });

  test.each([
    ["the same", () => "2026-06-01", said.onlyDatesChanged],
    ["different", (number: number) => `2026-06-01T10:00:${10 + number}Z`, undefined],
  ])("says so if only dates changed, all to the same one; here, the new ones are %s", async (_, dateOf, told) => {
    const routes: Record<string, string> = { "/robots.txt": "Sitemap: {base}/s.xml\n" };
    const served = await serve(routes);
    const list = (date: (number: number) => string) =>
      urlset(
        ...Array.from({ length: 20 }, (_, at) => `<url><loc>{base}/${at}</loc><lastmod>${date(at)}</lastmod></url>`),
      );
    const words = `changes ${served.homepage} --state ${newState()} --no-known --no-homepage`;
    routes["/s.xml"] = list((number) => `2026-05-01T10:00:${10 + number}Z`);
    expect((await sitegrove(words)).stderr).toBe("");
    routes["/s.xml"] = list(dateOf);
    expect((await sitegrove(words)).stderr).toBe(told === undefined ? "" : `sitegrove: ${told}\n`);
  });

  test("counts changes, not pages, on a terminal", async () => {
    const served = await serve({ "/robots.txt": "Sitemap: {base}/s.xml\n", "/s.xml": urlset("/1", "/2") });
    const words = `changes ${served.homepage} --state ${newState()} -k --no-homepage -f pages`;
    expect((await onTerminal(words)).stdout).toContain(said.changesRead(2));
    expect((await onTerminal(words)).stdout).toContain(said.changesRead(0));
  });

  test("exits with 3 if --allowed-for skips pages because a robots.txt cannot be read", async () => {
    const other = await serve({ "/robots.txt": (_, response) => response.writeHead(503).end() });
    const served = await serve({
      "/robots.txt": "Sitemap: {base}/s.xml\n",
      "/s.xml": urlset("<url><loc>{base}/1</loc></url>", `<url><loc>${other.homepage}2</loc></url>`),
    });
    const words = `changes ${served.homepage} --state ${newState()} -k --no-homepage --retries 0 -f pages --allowed-for a`;
    expect(await sitegrove(words)).toMatchObject({ code: 3, stdout: `${served.homepage}1\n` });
  });

  test("keeps the state if the reader closes the output", async () => {
    const changing = await ChangingSite.serve(2);
    const state = newState();
    const { code } = await shell(`$SITEGROVE changes ${changing.homepage} --state ${state} -k | true`);
    expect({ code, isMade: existsSync(state) }).toEqual({ code: 0, isMade: false });
  });
});
