// What counts as a change, and of what kind.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { DiffSide } from "../../src/diff/diff-side.ts";
import { diffBatches, diffTrees } from "../../src/diff/diff-trees.ts";
import { type DiffOptions, resolveDiffOptions } from "../../src/diff/settings.ts";
import { SpillFile } from "../../src/join/spill-file.ts";
import type { DiffTotals, TreeChange } from "../../src/model/change.ts";
import type { Options } from "../../src/model/options.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { listOf } from "../support/collected.ts";
import { atom, entry, richUrlset, rss } from "../support/documents.ts";
import { some } from "../support/long.ts";
import { home, index, type Route, site, urlset } from "../support/site.ts";
import { smallDisk } from "../support/small-disk.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();

const trees: SitemapTree[] = [];
afterAll(() => Promise.all(trees.map((tree) => tree.close())));

async function tree(routes: Record<string, Route>): Promise<SitemapTree> {
  const options = { client: site(routes).client, knownPaths: "never", useHomepage: false, retries: 0 } as const;
  const made = await sitemapTreeForHomepage(home, options);
  trees.push(made);
  return made;
}

const treeWith = (...documents: [path: string, body: Route][]) =>
  tree({
    "/robots.txt": `Sitemap: ${home}index.xml`,
    "/index.xml": index(...documents.map(([name]) => name)),
    ...Object.fromEntries(documents),
  });

type Documents = Record<string, Route>;

const all = (before: DiffSide, after: DiffSide, options?: DiffOptions) => listOf(diffTrees(before, after, options));

/** One line for each change, with paths instead of URLs. */
async function lines(before: DiffSide, after: DiffSide, options?: DiffOptions): Promise<string[]> {
  const short = (url: string) => url.replace(home, "/");
  return (await all(before, after, options)).map((change) => {
    if (change.kind === "sitemap") return `sitemap ${change.change} ${short(change.sitemap)}`;
    const { kind, page, sitemap } = change;
    const more = kind === "changed" ? ` ${change.fields.join("+")}` : kind === "unknown" ? ` in ${change.missing}` : "";
    const from = "from" in change && change.from !== undefined ? ` from ${short(change.from)}` : "";
    return `${kind} ${short(page.url)}${more} ${short(sitemap)}${from}`;
  });
}

const prior = (path: string, priority: number) => entry(path, `<priority>${priority}</priority>`);

function file(name: string, content: string | Uint8Array): string {
  const place = path.join(folder, name);
  writeFileSync(place, content);
  return place;
}

describe("pages", () => {
  test("a changed page has the names of the changed fields, and the page before and after", async () => {
    const before = await treeWith([
      "/a.xml",
      richUrlset(entry("/x", "<lastmod>2024-05-01</lastmod><priority>0.5</priority>")),
    ]);
    const after = await treeWith([
      "/a.xml",
      richUrlset(entry("/x", "<lastmod>2024-05-31</lastmod><priority>0.8</priority><changefreq>daily</changefreq>")),
    ]);
    expect(await all(before, after)).toEqual([
      {
        kind: "changed",
        page: {
          url: `${home}x`,
          lastModified: "2024-05-31",
          priority: 0.8,
          changeFrequency: "daily",
          sitemap: `${home}a.xml`,
        },
        sitemap: `${home}a.xml`,
        fields: ["lastModified", "changeFrequency", "priority"],
        before: {
          url: `${home}x`,
          sitemap: `${home}a.xml`,
          lastModified: "2024-05-01",
          priority: 0.5,
        },
      },
    ]);
  });

  test("writing out the default priority of 0.5 is not a change, and `before` has only the fields that were written", async () => {
    const before = await treeWith(["/a.xml", urlset("/x", "/y")]);
    const after = await treeWith(["/a.xml", richUrlset(prior("/x", 0.5), prior("/y", 1))]);
    const [page, was] = [{ priority: 1 }, { url: `${home}y` }];
    expect(await all(before, after)).toMatchObject([{ page, fields: ["priority"], before: was }]);
  });

  test("changed fields of extensions count, but the order of their elements does not", async () => {
    const news = (...inside: string[]) => `<news:news>${inside.join("")}</news:news>`;
    const [title, date] = [
      "<news:title>A story</news:title>",
      "<news:publication_date>2024-05-01</news:publication_date>",
    ];
    const image = (name: string) => `<image:image><image:loc>${home}${name}</image:loc></image:image>`;
    const before = await treeWith([
      "/a.xml",
      richUrlset(
        entry("/same", news(title, date)),
        entry("/image", image("1.jpg")),
        entry("/more", image("1.jpg")),
        entry("/story", news(title)),
      ),
    ]);
    const after = await treeWith([
      "/a.xml",
      richUrlset(
        entry("/same", news(date, title)),
        entry("/image", image("2.jpg")),
        entry("/more", image("1.jpg") + image("2.jpg")),
        "/story",
      ),
    ]);
    expect(await lines(before, after)).toEqual([
      "changed /image images /a.xml",
      "changed /more images /a.xml",
      "changed /story newsStory /a.xml",
    ]);
    const [first] = await all(before, after);
    expect(first).toMatchObject({
      before: { images: [{ url: `${home}1.jpg` }] },
      page: { images: [{ url: `${home}2.jpg` }] },
    });
  });

  const dated = (path: string, inside = "") => entry(path, `<lastmod>2024-05-31</lastmod>${inside}`);
  // properties.test.ts has more about the order of changes, and about which declaration of a URL counts.
  test.each<[string, Documents, Documents, string[], DiffOptions?]>([
    [
      "a change of ignored fields is not reported among other changed fields",
      { "/a.xml": richUrlset(entry("/x", "<lastmod>2024-05-01</lastmod>"), "/y") },
      { "/a.xml": richUrlset(dated("/x"), dated("/y", "<priority>1</priority>")) },
      ["changed /y priority /a.xml"],
      { ignore: ["lastModified"] },
    ],
    [
      "a page of which only ignored fields changed is not reported",
      { "/a.xml": urlset("/x", "/y") },
      { "/a.xml": richUrlset(dated("/x"), dated("/y", "<priority>1</priority>")) },
      [],
      { ignore: ["lastModified", "priority"] },
    ],
    [
      "a page now in another sitemap has moved; if its fields differ, it has changed, and names its old sitemap",
      { "/a.xml": richUrlset("/x", prior("/y", 1)), "/b.xml": urlset("/z") },
      { "/a.xml": urlset("/w"), "/b.xml": urlset("/x", "/y", "/z") },
      ["added /w /a.xml", "moved /x /b.xml from /a.xml", "changed /y priority /b.xml from /a.xml"],
    ],
    [
      "the sitemap of a page can be ignored",
      { "/a.xml": richUrlset("/x", prior("/y", 1)), "/b.xml": urlset("/z") },
      { "/a.xml": urlset("/w"), "/b.xml": urlset("/x", "/y", "/z") },
      ["added /w /a.xml", "changed /y priority /b.xml"],
      { ignore: ["sitemap"] },
    ],
    [
      "only pages whose URL is included are compared",
      { "/a.xml": urlset("/blog/1", "/shop/1") },
      { "/a.xml": urlset("/blog/2", "/shop/2") },
      ["removed /blog/1 /a.xml", "added /blog/2 /a.xml"],
      { include: (url) => url.includes("/blog/") },
    ],
    [
      "a sitemap is identified by its declared URL, wherever it redirects to",
      { "/a.xml": { to: `${home}1.xml` }, "/1.xml": urlset("/x"), "/2.xml": urlset("/x") },
      { "/a.xml": { to: `${home}2.xml` }, "/1.xml": urlset("/x"), "/2.xml": urlset("/x", "/y") },
      ["added /y /2.xml"],
    ],
  ])("%s", async (_, before, after, expected, options) => {
    // Only /a.xml and /b.xml are declared.
    const declared = async (documents: Documents) =>
      tree({
        "/robots.txt": `Sitemap: ${home}index.xml`,
        "/index.xml": index(...Object.keys(documents).filter((name) => /[ab]/.test(name[1]!))),
        ...documents,
      });
    expect(await lines(await declared(before), await declared(after), options)).toEqual(expected);
  });

  const story = (path: string) =>
    entry(
      path,
      "<news:news><news:title>Story</news:title><news:publication_date>2024-05-31</news:publication_date></news:news>",
    );
  const jsonFeed = (...paths: string[]) =>
    JSON.stringify({
      version: "https://jsonfeed.org/version/1.1",
      items: paths.map((path) => ({ url: home + path.slice(1) })),
    });
  test.each<[string, (...paths: string[]) => string]>([
    ["a feed", rss],
    ["an Atom feed", atom],
    ["a JSON Feed", jsonFeed],
    ["a news sitemap", (...paths) => richUrlset(...paths.map(story))],
  ])("a page that left %s is expired, not removed, and listed only on request", async (_, list) => {
    const before = await treeWith(["/a.xml", list("/1", "/2", "/3")], ["/b.xml", urlset("/3", "/4")]);
    const after = await treeWith(["/a.xml", list("/2", "/5")], ["/b.xml", urlset("/4")]);
    let expired = 0;
    const onFinished = (totals: DiffTotals) => (expired = totals.expired);
    // A page that another sitemap listed as well is removed.
    const ignore = ["newsStory"] as const;
    expect(await lines(before, after, { onFinished, ignore })).toEqual(["removed /3 /a.xml", "added /5 /a.xml"]);
    expect(expired).toBe(1);
    expect(await lines(before, after, { only: ["expired"] })).toEqual(["expired /1 /a.xml"]);
    // The same applies to files.
    const files = [file("old.feed", list("/1", "/2")), file("new.feed", list("/2"))] as const;
    expect((await all(...files)).length).toBe(0);
    expect((await all(...files, { only: ["expired"] })).length).toBe(1);
  });

  test("only the chosen kinds are reported, but all are counted", async () => {
    const before = await treeWith(["/a.xml", urlset("/1", "/2", "/3")], ["/b.xml", urlset("/4")]);
    const after = await treeWith(["/a.xml", richUrlset(entry("/2", "<priority>1</priority>"), "/4", "/5")]);
    const found: DiffTotals[] = [];
    const onFinished = (totals: DiffTotals) => found.push(totals);
    expect(await lines(before, after, { only: ["added"], onFinished })).toEqual(["added /5 /a.xml"]);
    expect(await lines(before, after, { only: ["moved"], onFinished })).toEqual(["moved /4 /a.xml from /b.xml"]);
    expect(await lines(before, after, { only: ["changed", "sitemap"], onFinished })).toEqual([
      "sitemap gone /b.xml",
      "changed /2 priority /a.xml",
    ]);
    const sides = {
      before: { pages: 4, sitemaps: 3, complete: true },
      after: { pages: 3, sitemaps: 2, complete: true },
    };
    const counts = {
      added: 1,
      removed: 2,
      unknown: 0,
      changed: 1,
      changedOnlyLastModified: 0,
      moved: 1,
      sitemaps: 1,
      expired: 0,
    };
    expect(found).toEqual(Array(3).fill({ ...sides, ...counts }));
  });
});

describe("a side is incomplete", () => {
  test.each([
    ["a sitemap is gone", (body: string) => treeWith(["/a.xml", body], ["/gone.xml", { status: 404 }])],
    ["a sitemap is cut off", (body: string) => treeWith(["/a.xml", body.replace("</urlset>", "<url><loc>ht")])],
    ["robots.txt cannot be reached", (body: string) => tree({ "/robots.txt": { status: 500 }, "/a.xml": body })],
  ])("so what is missing there is unknown, never removed or added: %s", async (_, incomplete) => {
    const whole = await treeWith(["/a.xml", urlset("/1", "/2")]);
    const part = await incomplete(urlset("/1"));
    const told = await lines(whole, part, { only: ["unknown", "removed"] });
    expect(told.filter((line) => line.startsWith("unknown /2 in after"))).toHaveLength(1);
    expect(told.join()).not.toContain("removed");
    const back = await lines(part, whole, { only: ["unknown", "added"] });
    expect(back.filter((line) => line.startsWith("unknown /2 in before"))).toHaveLength(1);
    expect(back.join()).not.toContain("added");
  });

  test("but pages missing from the complete side are still reported", async () => {
    const whole = await treeWith(["/a.xml", urlset("/1", "/3")]);
    const part = await treeWith(["/a.xml", urlset("/1", "/2")], ["/gone.xml", { status: 404 }]);
    expect(await lines(whole, part)).toEqual([
      "sitemap added /gone.xml",
      "unknown /3 in after /a.xml",
      "added /2 /a.xml",
    ]);
  });

  test("if a sitemap cannot be read on either side; one that exists on neither side has no pages", async () => {
    const sides = (status: number) =>
      [["/1"], ["/2"]].map((pages) => treeWith(["/a.xml", urlset(...pages)], ["/b.xml", { status }]));
    const gone = await Promise.all(sides(404));
    const broken = await Promise.all(sides(500));
    expect(await lines(gone[0]!, gone[1]!)).toEqual(["removed /1 /a.xml", "added /2 /a.xml"]);
    expect(await lines(broken[0]!, broken[1]!)).toEqual(["unknown /1 in after /a.xml", "unknown /2 in before /a.xml"]);
  });

  test.each([403, 429, 503])("if an undeclared sitemap answers %i now, because it may still exist", async (status) => {
    const routes = { "/robots.txt": `Sitemap: ${home}a.xml`, "/a.xml": urlset("/1"), "/guess.xml": urlset("/2") };
    const found = async (more: Documents) => {
      const { client } = site({ ...routes, ...more });
      const options = {
        client,
        knownPaths: "never",
        useHomepage: false,
        retries: 0,
        extraKnownPaths: ["/guess.xml"],
      } as const;
      const made = await sitemapTreeForHomepage(home, options);
      trees.push(made);
      return made;
    };
    const whole = await found({});
    const denied = await found({ "/guess.xml": { status } });
    expect(await lines(whole, denied)).toEqual(["sitemap unknown /guess.xml", "unknown /2 in after /guess.xml"]);
    expect(await lines(whole, await found({ "/guess.xml": { status: 404 } }))).toContain("removed /2 /guess.xml");
    const closed = await found({ "/robots.txt": { status: 403 } });
    expect(await lines(whole, closed, { only: ["removed", "unknown"] })).toEqual(["unknown /1 in after /a.xml"]);
  });

  test("if a document has no length, because it may be cut off: the pages of a list, the sitemaps of robots.txt", async () => {
    const endless = (body: string): Route => ({ headers: { connection: "close" }, body });
    const named = (list: Route, robots: Route) =>
      tree({ "/robots.txt": robots, "/a.txt": list, "/b.xml": urlset("/3", "/4"), "/c.xml": urlset("/5") });
    const lines3 = `Sitemap: ${home}b.xml\nSitemap: ${home}a.txt\nSitemap: ${home}c.xml\n`;
    const whole = await named(`${home}1\n${home}2\n`, lines3);
    const list = await named(endless(`${home}1\n`), lines3.slice(0, -1 - `Sitemap: ${home}c.xml`.length));
    expect(await lines(whole, list)).toEqual([
      "sitemap gone /c.xml",
      "unknown /2 in after /a.txt",
      "removed /5 /c.xml",
    ]);
    const robots = await named(`${home}1\n`, endless(`Sitemap: ${home}b.xml\nSitemap: ${home}a.txt\n`));
    expect(await lines(whole, robots)).toEqual([
      "sitemap unknown /c.xml",
      "removed /2 /a.txt",
      "unknown /5 in after /c.xml",
    ]);
    const urls = file("urls.txt", `${home}1\n${home}2\n${home}3\n${home}4\n`);
    expect(await lines(urls, list)).toEqual(["unknown /2 in after urls.txt"]);
  });

  test("if it is an archive that is cut off", async () => {
    const whole = await treeWith(["/a.xml", urlset("/1")], ["/b.xml", urlset("/2")]);
    const saved = path.join(folder, "whole.warc");
    await whole.save(saved);
    const bytes = readFileSync(saved);
    // Cuts off the later of the two documents and everything after it. Which one is later depends on timing.
    const [one, two] = [1, 2].map((name) => bytes.lastIndexOf(`<loc>${home}${name}</loc>`)) as [number, number];
    const cut = file("cut.warc", bytes.subarray(0, bytes.lastIndexOf("WARC/1.1", Math.max(one, two))));
    const told = await lines(saved, cut);
    expect(told.filter((line) => !line.startsWith("sitemap"))).toEqual([
      one > two ? "unknown /1 in after /a.xml" : "unknown /2 in after /b.xml",
    ]);
    expect(told.join()).not.toContain("gone");
  });
});

describe("a sitemap that one side did not look for", () => {
  const routes = {
    "/robots.txt": `Sitemap: ${home}index.xml`,
    "/index.xml": index("/a.xml", "/more.xml", "/d.xml"),
    "/more.xml": index("/b.xml", "/c.xml"),
    "/a.xml": urlset("/1", "/2"),
    "/b.xml": urlset("/3"),
    "/c.xml": urlset("/4"),
    "/d.xml": urlset("/5"),
  };
  const archive = async (name: string, changed: Record<string, Route> = {}, options: Options = {}) => {
    const save = path.join(folder, name);
    const client = site({ ...routes, ...changed }).client;
    await using _ = await sitemapTreeForHomepage(home, {
      client,
      knownPaths: "never",
      useHomepage: false,
      save,
      ...options,
    });
    return save;
  };

  test.each(["more.xml", "b.xml"])("because of a filter is unknown, and so are its pages: %s", async (skipped) => {
    const recurse = ({ url }: { url: string }) => url !== `${home}${skipped}`;
    const whole = await archive(`whole-${skipped}.warc`);
    const part = await archive(`part-${skipped}.warc`, { "/a.xml": urlset("/1") }, { recurse });
    const changes = await lines(whole, part);
    expect(changes).toContain("unknown /3 in after /b.xml");
    expect(changes).toContain(`sitemap unknown /${skipped}`);
    expect(changes).toContain("removed /2 /a.xml");
    expect(changes.filter((line) => /gone|removed \/[34]/.test(line))).toEqual([]);
    expect(await lines(part, whole)).toContain("unknown /3 in before /b.xml");
  });

  test("because of a limit is unknown", async () => {
    const part = await archive("limited.warc", {}, { limits: { pages: 1 } });
    expect(await lines(await archive("unlimited.warc"), part)).not.toContainEqual(
      expect.stringMatching(/gone|removed/),
    );
  });

  test.each<[string, Options]>([
    ["robots.txt", { useRobots: false }],
    ["the well-known path", { knownPaths: "never" }],
    ["the homepage", { useHomepage: false }],
  ])("because it did not read %s is unknown", async (name, less) => {
    const more = {
      "/": '<link rel="sitemap" href="/linked.xml">',
      "/linked.xml": urlset("/6"),
      "/sitemap.xml": urlset("/7"),
    };
    const everywhere: Options = { useHomepage: true, knownPaths: "always" };
    const whole = await archive(`everywhere-${name}.warc`, more, everywhere);
    const part = await archive(`not-${name}.warc`, more, { ...everywhere, ...less });
    const changes = await lines(whole, part);
    expect(changes).toContainEqual(expect.stringMatching(/^unknown .* in after/));
    expect(changes).not.toContainEqual(expect.stringMatching(/gone|removed/));
    expect(await lines(part, whole)).not.toContainEqual(expect.stringMatching(/added/));
    const later = { ...more, "/linked.xml": urlset("/8"), "/sitemap.xml": urlset("/9") };
    expect(await lines(whole, await archive(`later-${name}.warc`, later, everywhere))).toEqual([
      "removed /6 /linked.xml",
      "removed /7 /sitemap.xml",
      "added /8 /linked.xml",
      "added /9 /sitemap.xml",
    ]);
  });

  test("does not make other pages unknown if the other side did not look for it either", async () => {
    const recurse = ({ url }: { url: string }) => url !== `${home}more.xml`;
    const before = await archive("before-part.warc", {}, { recurse });
    const after = await archive("after-part.warc", { "/a.xml": urlset("/1") }, { recurse });
    expect(await lines(before, after)).toEqual(["removed /2 /a.xml"]);
  });
});

describe("sitemaps", () => {
  test("are reported as added, gone, now invalid and now readable", async () => {
    const before = await treeWith(
      ["/a.xml", urlset("/1")],
      ["/b.xml", urlset("/2")],
      ["/c.xml", { status: 404 }],
      ["/d.xml", urlset("/4")],
    );
    const after = await treeWith(
      ["/a.xml", urlset("/1")],
      ["/c.xml", urlset("/3")],
      ["/d.xml", { status: 500 }],
      ["/e.xml", urlset("/5")],
    );
    expect(await all(before, after, { only: ["sitemap"] })).toEqual([
      { kind: "sitemap", change: "gone", sitemap: `${home}b.xml` },
      { kind: "sitemap", change: "now-readable", sitemap: `${home}c.xml` },
      {
        kind: "sitemap",
        change: "now-invalid",
        sitemap: `${home}d.xml`,
        reason: expect.objectContaining({ code: "http-500" }),
      },
      { kind: "sitemap", change: "added", sitemap: `${home}e.xml` },
    ]);
  });

  const declared = { "/robots.txt": `Sitemap: ${home}index.xml`, "/a.xml": urlset("/1"), "/b.xml": urlset("/2") };
  const both = { ...declared, "/index.xml": index("/a.xml", "/b.xml") };
  const nested = { ...declared, "/index.xml": index("/a.xml", "/more.xml"), "/more.xml": index("/b.xml") };
  const one = { ...declared, "/index.xml": index("/a.xml") };
  const gone = { ...declared, "/index.xml": { status: 500 } };
  test.each<[string, Documents, Documents, string[]]>([
    [
      "a sitemap whose index could not be fully read on the other side is unknown",
      both,
      { ...declared, "/index.xml": index("/a.xml").replace("</sitemapindex>", "<sitemap><loc>ht") },
      ["unknown /b.xml"],
    ],
    ["one whose index is down is unknown", both, gone, ["unknown /a.xml", "unknown /b.xml", "now-invalid /index.xml"]],
    ["so is one whose index was down", gone, both, ["now-readable /index.xml", "unknown /a.xml", "unknown /b.xml"]],
    ["the sitemaps of a new index are new, too", one, nested, ["added /more.xml", "added /b.xml"]],
    ["the sitemaps of an index that is gone are gone, too", nested, one, ["gone /more.xml", "gone /b.xml"]],
    [
      "an index that lists the robots.txt that declares it is not followed in circles",
      { "/sitemap.xml": urlset("/1") },
      { ...declared, "/index.xml": index("/robots.txt", "/a.xml") },
      ["added /index.xml", "added /robots.txt", "added /a.xml"],
    ],
    [
      "a sitemap that now redirects to a page is the same sitemap, now invalid",
      one,
      { ...one, "/a.xml": { to: `${home}login` }, "/login": "<!doctype html><title>Log in</title>" },
      ["now-invalid /a.xml"],
    ],
  ])("%s", async (_, before, after, expected) => {
    const told = await lines(await tree(before), await tree(after), { only: ["sitemap"] });
    expect(told).toEqual(expected.map((line) => `sitemap ${line}`));
  });

  test("further pages of a feed, and a guess that repeats a sitemap, are the same on both sides", async () => {
    const { client } = site({
      "/robots.txt": `Sitemap: ${home}feed`,
      "/feed": rss('<link xmlns="http://www.w3.org/2005/Atom" rel="next" href="/feed?page=2"/>', "/a"),
      "/feed?page=2": rss("/b"),
      "/sitemap.xml": urlset("/c"),
      "/sitemap.xml.gz": gzipSync(urlset("/c")),
    });
    const save = path.join(folder, "feed.warc.gz");
    const made = await sitemapTreeForHomepage(home, { client, save });
    trees.push(made);
    expect(made.pageCount).toBe(3);
    expect(await lines(save, save)).toEqual([]);
  });
});

describe("files", () => {
  const pages = [entry("/1", "<lastmod>2024-05-01</lastmod>"), "/2"];

  test("two sitemaps in any format and compression can be compared, and a page in another file is not a change", async () => {
    const before = file("old.xml", richUrlset(...pages));
    const after = file("new.xml.gz", gzipSync(richUrlset("/3", entry("/1", "<lastmod>2024-05-31</lastmod>"))));
    expect(await lines(before, after)).toEqual([
      "removed /2 old.xml",
      "added /3 new.xml.gz",
      "changed /1 lastModified new.xml.gz",
    ]);
    expect(await lines(before, before)).toEqual([]);
  });

  test("a text sitemap has only URLs, so its pages never change", async () => {
    const listing = file("urls.txt", `${home}1\n${home}3\n`);
    expect(await lines(file("old.xml", richUrlset(...pages)), listing)).toEqual([
      "removed /2 old.xml",
      "added /3 urls.txt",
    ]);
    const website = await treeWith(["/a.xml", richUrlset(...pages)]);
    expect(await lines(listing, website)).toEqual(["removed /3 urls.txt", "added /2 /a.xml"]);
  });

  test("a feed is compared like a sitemap", async () => {
    const feed = rss(`<item><title>One</title><link>${home}1</link></item>`);
    const longer = feed.replace("</channel>", `<item><title>Two</title><link>${home}2</link></item></channel>`);
    expect(await lines(file("old.rss", feed), file("new.rss", longer))).toEqual(["added /2 new.rss"]);
  });

  test("two index files are compared by their sitemaps; compared with anything else, their pages are unknown", async () => {
    const one = file("old-index.xml", index("/a.xml", "/b.xml"));
    const other = file("new-index.xml", index("/b.xml", "/c.xml"));
    expect(await lines(one, other)).toEqual(["sitemap gone /a.xml", "sitemap added /c.xml"]);
    expect(await lines(file("old.xml", richUrlset(...pages)), other)).toEqual([
      "unknown /1 in after old.xml",
      "unknown /2 in after old.xml",
    ]);
    expect(await lines(file("robots.txt", `Sitemap: ${home}a.xml\n`), one)).toEqual(["sitemap added /b.xml"]);
  });

  test("a list with more URLs than a sitemap may have is read to its end", async () => {
    // A crawl would not read this many from one document either.
    const count = some(1_100_000, 51_000);
    const urls = (from: number) => Array.from({ length: count }, (_, at) => `${home}${at + from}\n`).join("");
    const changes = await lines(file("many-old.txt", urls(0)), file("many-new.txt", urls(1)));
    expect(changes).toEqual(["removed /0 many-old.txt", `added /${count} many-new.txt`]);
  });

  test.each([
    ["a directory", () => folder, "is not a file"],
    ["missing", () => path.join(folder, "missing.xml"), "there is no such file"],
    ["missing, and named as an archive", () => path.join(folder, "missing.warc.gz"), "there is no such file"],
    ["an image", () => file("image.png", "\u0089PNG\r\n\u001a\n"), "neither an archive nor a sitemap"],
    ["empty", () => file("empty.xml", ""), "neither an archive nor a sitemap"],
    ["an archive by its name only", () => file("none.warc.gz", gzipSync("hello")), "not a readable archive"],
    ["an archive without a record", () => file("cut-short.warc", "WARC/1.1\r\nWARC-Type: w"), "not a readable archive"],
    ["a zip file", () => file("site.wacz", "PK\u0003\u0004"), "it is a zip file"],
  ])("bad input is an error with a one-line message: %s", async (_, make, sentence) => {
    const good = file("good.xml", richUrlset(...pages));
    for (const sides of [
      [make(), good],
      [good, make()],
    ] as const) {
      const error = await all(...sides).catch((reason: Error) => reason);
      expect(error).toMatchObject({ name: "SitemapError", code: expect.stringMatching(/^invalid-(file|archive)$/) });
      expect((error as Error).message).toMatch(new RegExp(`^.*${sentence}.*$`));
    }
  });
});

describe("memory and cancellation", () => {
  // Every page is changed, added or removed.
  const count = some(12_000, 3000);
  const shift = 1000;
  let sides: [string, string];
  beforeAll(() => {
    const many = (from: number, date: string) =>
      Array.from({ length: count }, (_, at) => entry(`/page/${at + from}`, `<lastmod>${date}</lastmod>`));
    sides = [
      file("large-old.xml", richUrlset(...many(0, "2024-05-01"))),
      file("large-new.xml", richUrlset(...many(shift, "2024-05-31").reverse())),
    ];
  });
  const both = count - shift;
  const onDisk = () => new SpillFile({ memory: 0, blockLength: 64 });
  const expected = { added: shift, removed: shift, changed: both, changedOnlyLastModified: both };
  const inFile = (options?: DiffOptions) => diffBatches(...sides, resolveDiffOptions(options), undefined, onDisk());

  test.each([
    ["in memory", () => new SpillFile()],
    ["in a file", () => onDisk()],
  ])("the result is the same %s", async (_, spill) => {
    const changes: TreeChange[] = [];
    const diff = diffBatches(...sides, resolveDiffOptions(), undefined, spill());
    const totals = await finish(diff, (batch) => changes.push(...batch));
    expect(totals).toMatchObject(expected);
    expect(changes).toHaveLength(count + shift);
    const at = (place: number) => changes[place] as Extract<TreeChange, { kind: "changed" }>;
    // Changes are in the order of the new side, which is reversed.
    expect(
      [0, 999, 1000, 1999, 2000, count + 999].map((place) => at(place).page.url.replace(`${home}page/`, "")),
    ).toEqual([...["0", "999", `${count + 999}`, `${count}`, `${count - 1}`, "1000"]]);
    const dates = changes.slice(2 * shift).map((change) => {
      const { kind, before, page } = change as Extract<TreeChange, { kind: "changed" }>;
      return `${kind} ${before.lastModified} ${page.lastModified}`;
    });
    expect(new Set(dates)).toEqual(new Set(["changed 2024-05-01 2024-05-31"]));
  });

  test.each([0, 1, count, 2 * count])("aborting after %i pages ends it with the reason", async (stopAt) => {
    const reason = new Error("enough");
    const controller = new AbortController();
    let asked = 0;
    const include = () => {
      if (++asked === stopAt) controller.abort(reason);
      return true;
    };
    if (stopAt === 0) controller.abort(reason);
    await expect(finish(inFile({ include, signal: controller.signal }))).rejects.toBe(reason);
  });

  test("an aborted signal stops the reading of the caller's tree", async () => {
    const tree = await treeWith(["/a.xml", urlset(...Array.from({ length: 50 }, (_, page) => `/${page}`))]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const include = () => {
      controller.abort(reason);
      return true;
    };
    await expect(all(tree, tree, { include, signal: controller.signal })).rejects.toBe(reason);
  });

  const disk = smallDisk(some(512, 128));
  afterAll(() => disk?.remove());
  test.skipIf(disk === undefined)("a full disk is an error with a clear message", async () => {
    vi.stubEnv("TMPDIR", disk?.path ?? "");
    await expect(finish(inFile())).rejects.toMatchObject({
      code: "storage-failed",
      message: expect.stringMatching(/^A temporary file in .* could not be written: no space left on device$/),
    });
    vi.unstubAllEnvs();
    expect(readdirSync(disk?.path ?? "")).toEqual([]);
  });
});

describe("options", () => {
  test.each([
    [{ ignore: ["lastmod"] }, "Unknown name `lastmod` in `ignore`"],
    [{ only: ["new"] }, "Unknown name `new` in `only`"],
    [{ only: "added" }, "Expected `only` to be a list of strings"],
    [{ include: 5 }, "Expected `include` to be a pattern, a function or a list of them"],
    [{ exclude: "" }, "Expected `exclude` to be a pattern"],
    [{ unknown: 1 }, "Unknown option `unknown`"],
    [{ crawl: {} }, "Unknown option `crawl`"],
    [{ save: "both.warc.gz" }, "Unknown option `save`"],
    [{ timout: 1 }, "did you mean `timeout`?"],
    [{ retries: -1 }, "Expected `retries` to be"],
  ])("%j is refused when diffTrees is called", (options, message) => {
    expect(() => diffTrees("a.xml", "b.xml", options as never)).toThrow(message);
  });

  test("the caller's trees stay open, and trees that the diff opened are closed", async () => {
    const before = await treeWith(["/a.xml", urlset("/1")]);
    const archive = path.join(folder, "open.warc");
    await before.save(archive);
    const after = await openTree(archive);
    await all(before, after);
    await all(archive, before);
    expect((await before.pages()[Symbol.asyncIterator]().next()).value).toMatchObject({ url: `${home}1` });
    await after.close();
    await expect(all(before, after)).rejects.toMatchObject({ code: "tree-closed" });
  });
});

async function finish(
  diff: AsyncGenerator<readonly TreeChange[], DiffTotals>,
  see: (batch: readonly TreeChange[]) => void = () => {},
): Promise<DiffTotals> {
  for (;;) {
    const step = await diff.next();
    if (step.done) return step.value;
    see(step.value);
  }
}

describe("a skipped entry may be the page that seems to be missing", () => {
  const broken = "<url><loc></loc></url>";

  test("so a page missing from its sitemap is unknown, but one missing from another sitemap is removed", async () => {
    const before = await treeWith(["/a.xml", urlset("/1", "/2")], ["/b.xml", urlset("/3", "/4")]);
    const after = await treeWith(["/a.xml", urlset("/1", broken)], ["/b.xml", urlset("/3")]);
    expect(await lines(before, after)).toEqual(["unknown /2 in after /a.xml", "removed /4 /b.xml"]);
  });

  test("so a page missing from its file is unknown", async () => {
    const before = file("whole.xml", urlset("/1", "/2"));
    const after = file("broken.xml", urlset("/1", broken));
    expect((await all(before, after)).map(({ kind }) => kind)).toEqual(["unknown"]);
  });

  test("so the pages of a sitemap missing from its index are unknown", async () => {
    const routes = (second: string) => ({
      "/robots.txt": `Sitemap: ${home}index.xml`,
      "/index.xml": index("/a.xml", "/b.xml").replace(`${home}b.xml`, second),
      "/a.xml": urlset("/1"),
      "/b.xml": urlset("/2"),
    });
    const [before, after] = [await tree(routes(`${home}b.xml`)), await tree(routes(""))];
    expect(await lines(before, after)).toEqual(["sitemap unknown /b.xml", "unknown /2 in after /b.xml"]);
  });

  test("so a sitemap missing from an index file is unknown, not gone", async () => {
    const listed = index("/a.xml", "/b.xml");
    const before = file("whole-index.xml", listed);
    const after = file("broken-index.xml", listed.replace(`${home}b.xml`, ""));
    expect(await lines(before, after)).toEqual(["sitemap unknown /b.xml"]);
    expect(await lines(after, before)).toEqual(["sitemap unknown /b.xml"]);
  });

  test("so sides of different kinds are compared by how many entries each skipped", async () => {
    const list = file("list.txt", `${home}1\n${home}2\n`);
    const junk = file("junk.txt", `${home}1\nnot a URL\n`);
    const [whole, flawed] = [
      await treeWith(["/a.xml", urlset("/1", "/2")]),
      await treeWith(["/a.xml", urlset("/1", broken)]),
    ];
    expect(await lines(list, flawed)).toEqual(["unknown /2 in after list.txt"]);
    expect(await lines(whole, junk)).toEqual(["unknown /2 in after /a.xml"]);
    expect(await lines(junk, flawed)).toEqual([]);
  });

  test("unless the sitemap also skipped as many before", async () => {
    const before = await treeWith(["/a.xml", urlset("/1", "/2", broken)]);
    const after = await treeWith(["/a.xml", urlset("/1", broken)]);
    expect(await lines(before, after)).toEqual(["removed /2 /a.xml"]);
  });
});
