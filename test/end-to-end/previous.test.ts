// Runs with `previous`: the tree is the same as without, and unchanged documents are not transferred.

import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { WARCParser } from "warcio";
import { openArchive } from "../../src/archive/reader.ts";
import { revalidating } from "../../src/crawl/revalidate.ts";
import { Fetcher } from "../../src/fetch/fetcher.ts";
import type { CrawlEvent, FinishedEvent } from "../../src/model/event.ts";
import type { DocumentResponse } from "../../src/model/exchange.ts";
import { type Options, resolveOptions } from "../../src/model/options.ts";
import type { Sitemap } from "../../src/model/sitemap.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { sitegrove } from "../cli/program.ts";
import { type Handler, serve } from "../cli/website.ts";
import { contentOf } from "../support/collected.ts";
import { index, urlset as pagesOf } from "../support/documents.ts";
import { isLong } from "../support/long.ts";
import { site } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

interface Document {
  body: string | Buffer;
  etag?: string | undefined;
  modified?: string | undefined;
  headers?: Record<string, string>;
}

const folder = newFolder();
const documents = new Map<string, Document | Handler>();
const seen: { path: string; headers: IncomingMessage["headers"]; status: number; bytes: number }[] = [];
const server = await serve((request, response) => {
  const { url = "/" } = request;
  const entry = { path: url, headers: request.headers, status: 0, bytes: 0 };
  seen.push(entry);
  const { end } = response;
  response.end = ((chunk?: string | Buffer) => {
    entry.status = response.statusCode;
    entry.bytes += chunk?.length ?? 0;
    return end.call(response, chunk, "utf8");
  }) as typeof end;
  const document = documents.get(url);
  if (document === undefined) response.writeHead(404).end();
  else if (typeof document === "function") document(request, response);
  else answer(document, request, response);
});
const home = server.homepage;

/** Responds like a server that follows RFC 9110. */
function answer({ body, etag, modified, headers = {} }: Document, request: IncomingMessage, response: ServerResponse) {
  const validators = { ...(etag && { etag }), ...(modified && { "last-modified": modified }) };
  const asked = request.headers["if-none-match"];
  const bare = (tag: string) => tag.trim().replace(/^W\//, "");
  const isSame =
    asked === undefined
      ? modified !== undefined && request.headers["if-modified-since"] === modified
      : etag !== undefined && asked.split(",").some((tag) => bare(tag) === bare(etag));
  if (isSame) response.writeHead(304, validators).end();
  else response.writeHead(200, { ...validators, ...headers }).end(body);
}

const urlset = (...names: string[]) => pagesOf(...names.map((name) => home + name));
const tagOf = (body: string | Buffer) => `"${createHash("md5").update(body).digest("hex")}"`;
const put = (name: string, body: string | Buffer, more: Partial<Document> = {}) =>
  documents.set(name, { body, etag: tagOf(body), ...more });

beforeEach(() => {
  documents.clear();
  seen.length = 0;
  put("/robots.txt", `Sitemap: ${home}index.xml\nSitemap: ${home}moved.xml\n`);
  put("/index.xml", index(`${home}a.xml`, `${home}b.xml.gz`));
  put("/a.xml", urlset("1", "2"), { modified: "Wed, 01 May 2024 00:00:00 GMT" });
  put("/b.xml.gz", gzipSync(urlset("3")));
  documents.set("/moved.xml", redirect("/c.xml"));
  put("/c.xml", urlset("4"));
});

let count = 0;
const options: Options = { knownPaths: "never", useHomepage: false, retries: 0 };
const newFile = (name = "site.warc.gz") => path.join(folder, `${count++}-${name}`);

async function saved(name?: string): Promise<string> {
  const save = newFile(name);
  await (await sitemapTreeForHomepage(home, { ...options, save })).close();
  seen.length = 0;
  return save;
}

/** Runs with the archive and without, expects the same of both, and says how each document was obtained. */
async function again(previous: string | string[], more: Options = {}): Promise<Record<string, string>> {
  const obtained: Record<string, string> = {};
  await using tree = await sitemapTreeForHomepage(home, {
    ...options,
    previous,
    ...more,
    onEvent: (event: CrawlEvent) => {
      if (event.type === "response") obtained[event.url.slice(home.length - 1)] = event.obtained;
    },
  });
  const content = await contentOf(tree);
  const requests = [...seen];
  await using without = await sitemapTreeForHomepage(home, options);
  expect(content).toBe(await contentOf(without));
  seen.splice(0, seen.length, ...requests);
  return obtained;
}

const found = ["/robots.txt", "/index.xml", "/a.xml", "/b.xml.gz", "/c.xml"];

test.each(isLong ? ["site.warc", "site.warc.gz"] : ["site.warc"])(
  "%s: unchanged documents are not transferred",
  async (name) => {
    const obtained = await again(await saved(name));
    expect(obtained).toEqual({
      "/moved.xml": "fetched",
      ...Object.fromEntries(found.map((url) => [url, "not-modified"])),
    });
    expect(seen.map(({ path }) => path).sort()).toEqual([...found, "/moved.xml"].sort());
    expect(seen.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(0);
  },
);

const replaceIn = (file: string, from: string, to: string) =>
  writeFileSync(file, readFileSync(file, "latin1").replace(from, to), "latin1");
const redirect =
  (location: string): Handler =>
  (_, response) =>
    response.writeHead(301, { location }).end();

test.each<[string, (archive: string) => void, Record<string, string>]>([
  [
    "documents that changed or have a new ETag are fetched, others are not",
    () => {
      put("/a.xml", urlset("1", "2", "5"));
      put("/c.xml", urlset("4"), { etag: '"another"' });
    },
    { "/a.xml": "fetched", "/c.xml": "fetched", "/index.xml": "not-modified" },
  ],
  [
    "a 304 to an unconditional request is not mistaken for an unchanged document",
    () => {
      documents.set("/new.xml", (_, response) => response.writeHead(304).end());
      put("/index.xml", index(`${home}new.xml`));
    },
    { "/new.xml": "fetched" },
  ],
  [
    "a document that was changed in the archive is requested again",
    (archive) => replaceIn(archive, `${home}2<`, `${home}9<`),
    { "/a.xml": "fetched" },
  ],
  [
    "a redirect that now leads to another known document is followed",
    () => documents.set("/moved.xml", redirect("/a.xml")),
    { "/a.xml": "not-modified" },
  ],
  [
    "a redirect that now leads to a new document is followed",
    () => {
      documents.set("/moved.xml", redirect("/d.xml"));
      put("/d.xml", urlset("7"));
    },
    { "/d.xml": "fetched" },
  ],
])("%s", async (_, change, expected) => {
  const archive = await saved("site.warc");
  change(archive);
  expect(await again(archive)).toMatchObject(expected);
});

test("an ETag is sent with and without its coding suffix, and the date exactly as it was received", async () => {
  put("/a.xml", urlset("1"), { etag: '"x-gzip"', modified: "Wed, 1 May 2024 00:00:00 +0000" });
  put("/c.xml", urlset("4"), { etag: 'W/"y;gzip"' });
  await again(await saved());
  const headers = (name: string) => seen.find((request) => request.path === name)?.headers;
  expect(headers("/a.xml")).toMatchObject({
    "if-none-match": '"x-gzip", "x"',
    "if-modified-since": "Wed, 1 May 2024 00:00:00 +0000",
  });
  expect(headers("/c.xml")?.["if-none-match"]).toBe('W/"y;gzip", W/"y"');
});

describe("servers that break the rules", () => {
  const onlyIf =
    (condition: string, handler: Handler): Handler =>
    (request, response) =>
      request.headers[condition] === undefined
        ? response.writeHead(200, { etag: '"x"' }).end(urlset("1"))
        : handler(request, response);

  // Lists one sitemap per case in the index.
  const nameAll = (cases: readonly (readonly [what: string, ...unknown[]])[]) => {
    const children = cases.map((_, at) => `${home}case-${at}.xml`);
    put("/index.xml", index(...children));
  };
  const resultsOf = (cases: readonly (readonly [what: string, ...unknown[]])[], obtained: Record<string, string>) =>
    Object.fromEntries(cases.map(([what], at) => [what, obtained[`/case-${at}.xml`]]));

  const withHead =
    (status: number, headers = {}, body: () => string = () => ""): Handler =>
    (_, response) =>
      response.writeHead(status, headers).end(body());
  const withBody: Handler = ({ socket }) =>
    void socket.end("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello");
  const answers: readonly [what: string, Handler, obtained: string][] = [
    ["304 with another ETag", withHead(304, { etag: '"other"' }), "fetched"],
    ["304 with a weak form of the ETag", withHead(304, { etag: 'W/"x"' }), "not-modified"],
    ["304 with a body", withBody, "not-modified"],
    ["304 without anything", withHead(304), "not-modified"],
    ["412", withHead(412), "fetched"],
    ["400", withHead(400), "fetched"],
    ["nothing", withHead(200, { "content-length": "0" }), "fetched"],
    ["the same document with the old ETag", withHead(200, { etag: '"x"' }, () => urlset("1")), "fetched"],
  ];
  test("an odd response to a conditional request is read like any other response", async () => {
    nameAll(answers);
    for (const [at, [, handler]] of answers.entries())
      documents.set(`/case-${at}.xml`, onlyIf("if-none-match", handler));
    const obtained = await again(await saved());
    expect(resultsOf(answers, obtained)).toEqual(
      Object.fromEntries(answers.map(([what, , expected]) => [what, expected])),
    );
  });

  test("a changed document with its old ETag is noticed, and that ETag is not trusted again", async () => {
    const archive = await saved();
    const old = documents.get("/a.xml") as Document;
    // Always 200 and the same ETag, so the ETag must not be believed.
    const head = { etag: old.etag as string, "last-modified": old.modified as string };
    documents.set("/a.xml", (_, response) => response.writeHead(200, head).end(urlset("changed")));
    const second = newFile();
    expect(await again(archive, { save: second })).toMatchObject({ "/a.xml": "fetched" });
    expect(await again(second)).toMatchObject({ "/a.xml": "fetched" });
  });

  test("a server that answers 304 to everything gives no document, and the crawl ends", async () => {
    const archive = await saved();
    const changed = await saved();
    documents.set("/a.xml", (_, response) => response.writeHead(304, { etag: '"other"' }).end());
    documents.set("/c.xml", (_, response) => response.writeHead(304).end());
    await using tree = await sitemapTreeForHomepage(home, { ...options, previous: [archive, changed] });
    expect(seen.filter(({ path }) => path === "/a.xml")).toHaveLength(2);
    expect(tree.complete).toBe(false);
    const lost = [...tree.sitemaps()].flatMap((sitemap) => (sitemap.kind === "invalid" ? [sitemap] : []));
    expect(lost).toMatchObject([{ url: `${home}a.xml`, reason: { code: "http-304" } }]);
    // The website claims that this one did not change, and nothing shows otherwise.
    expect(await contentOf(tree)).toContain(`"${home}4"`);
  });

  const validators: readonly [what: string, headers: Record<string, string>][] = [
    ["an ETag without quotes", { etag: "abc" }],
    ["an ETag that is a list", { etag: '"a", "b-gzip"' }],
    ["an ETag of nothing but W/", { etag: "W/" }],
    ["an ETag that is long", { etag: `"${"x".repeat(5000)}"` }],
    ["an ETag with bytes above ASCII", { etag: '"\u00e9\u00ff"' }],
    ["an ETag that is empty", { etag: '""' }],
    ["an asterisk", { etag: "*" }],
    ["a date that is none", { "last-modified": "yesterday, or so" }],
    ["a date in the future", { "last-modified": "Fri, 31 Dec 9999 23:59:59 GMT" }],
  ];
  test("odd ETags and dates never hide a change", async () => {
    let body = urlset("1");
    nameAll(validators);
    for (const [at, [, headers]] of validators.entries()) {
      documents.set(`/case-${at}.xml`, (request, response) => {
        const { "if-none-match": tag, "if-modified-since": date } = request.headers;
        const isAsked =
          tag === undefined ? date === headers["last-modified"] && date !== undefined : tag === headers["etag"];
        if (isAsked && body === urlset("1")) response.writeHead(304).end();
        else response.writeHead(200, headers).end(body);
      });
    }
    const archive = await saved();
    await again(archive);
    expect(seen.filter(({ headers }) => headers["if-none-match"] === "*")).toEqual([]);
    body = urlset("1", "changed");
    const obtained = await again(archive);
    expect(resultsOf(validators, obtained)).toEqual(Object.fromEntries(validators.map(([what]) => [what, "fetched"])));
  });

  test("a document that is incomplete in the archive is requested unconditionally", async () => {
    put("/a.xml", urlset(...Array.from({ length: 50 }, (_, page) => String(page))));
    const save = newFile("part.warc");
    const limits = { documentBytes: 600 };
    await (await sitemapTreeForHomepage(home, { ...options, save, limits })).close();
    seen.length = 0;
    expect(await again(save)).toMatchObject({ "/a.xml": "fetched" });
    expect(seen.find((request) => request.path === "/a.xml")?.headers["if-none-match"]).toBeUndefined();
  });

  test("a document that ended with its connection is requested unconditionally, because it may be cut off", async () => {
    const whole = urlset("1", "2", "3");
    let sent = whole.slice(0, -50);
    documents.set("/a.xml", ({ headers, socket }) => {
      const isKnown = headers["if-none-match"] !== undefined;
      const head = `HTTP/1.1 ${isKnown ? "304 Not Modified" : "200 OK"}\r\nConnection: close\r\nETag: "x"\r\n\r\n`;
      socket.end(isKnown ? head : head + sent);
    });
    const archive = await saved();
    sent = whole;
    expect(await again(archive)).toMatchObject({ "/a.xml": "fetched" });
  });

  test("a change to the settings in an earlier archive does not make the next archive incomplete", async () => {
    const archive = await saved("site.warc");
    replaceIn(archive, '"videos":100', '"videos":200');
    const save = newFile("site.warc");
    await again(archive, { save });
    await using tree = await openTree(save);
    expect(tree.complete).toBe(true);
  });
});

describe.each(["site.warc", "site.warc.gz"])("the archive of the second run, %s,", (name) => {
  test("is complete on its own, for us and for warcio, and a third run can use it", async () => {
    const first = await saved(name);
    put("/c.xml", urlset("4"), { etag: '"another"' });
    const second = newFile(name);
    await again(first, { save: second });
    rmSync(first);
    await using tree = await openTree(second);
    await using online = await sitemapTreeForHomepage(home, options);
    expect(await contentOf(tree)).toBe(await contentOf(online));
    expect(tree.complete).toBe(true);

    const records: string[] = [];
    for await (const record of new WARCParser(createReadStream(second))) {
      await record.readFully(false);
      const profile = record.warcHeaders.headers.get("WARC-Profile")?.split("/").at(-1) ?? "";
      records.push(`${record.warcType} ${record.warcTargetURI?.slice(home.length - 1) ?? ""} ${profile}`.trim());
    }
    expect(records).toContain("response /a.xml");

    seen.length = 0;
    const third = newFile(name);
    expect(await again(second, { save: third })).toMatchObject({ "/a.xml": "not-modified", "/c.xml": "not-modified" });
    await using last = await openTree(third);
    expect(await contentOf(last)).toBe(await contentOf(online));
  });
});

test.each<[string, (file: string) => void]>([
  ["is deleted", (file) => rmSync(file)],
  ["is replaced by another file", (file) => writeFileSync(file, "something else")],
  ["is changed in place", (file) => replaceIn(file, `${home}2<`, `${home}9<`)],
  ["becomes shorter", (file) => truncateSync(file, 1000)],
])(
  "while the tree is open, the earlier archive %s: all pages are still listed, and a saved archive is complete on its own",
  async (_, change) => {
    put("/a.xml", urlset(...Array.from({ length: 1000 }, (_, page) => String(page))));
    const previous = await saved("site.warc");
    const [written, copy] = [newFile(), newFile()];
    const tree = await sitemapTreeForHomepage(home, { ...options, previous });
    const saving = await sitemapTreeForHomepage(home, { ...options, previous, save: written });
    change(previous);
    await using without = await sitemapTreeForHomepage(home, options);
    const expected = await contentOf(without);
    expect(await contentOf(tree)).toBe(expected);
    expect(await contentOf(saving)).toBe(expected);
    await tree.save(copy);
    await Promise.all([tree.close(), saving.close()]);
    for (const file of [copy, written]) {
      await using opened = await openTree(file);
      expect(await contentOf(opened)).toBe(expected);
    }
  },
);

test("of several archives, the newest record of a URL counts, even if they are joined or cut off", async () => {
  const old = await saved("site.warc");
  put("/a.xml", urlset("1", "8"));
  const newer = await saved("site.warc");
  const [joined, cut] = [newFile(), newFile()];
  writeFileSync(joined, Buffer.concat([readFileSync(old), readFileSync(newer)]));
  writeFileSync(cut, readFileSync(newer).subarray(0, readFileSync(newer).lastIndexOf("WARC/1.1") - 200));
  for (const previous of [[old, newer], [newer, old], joined, cut]) {
    expect(await again(previous)).toMatchObject({ "/a.xml": "not-modified", "/c.xml": "not-modified" });
  }
});

test("an archive from another port belongs to another website; one from before the move to https does not", async () => {
  const about = async (homepage: string) => {
    const file = newFile("site.warc");
    await (await sitemapTreeForHomepage(homepage, { ...options, save: file, client: site({}).client })).close();
    return file;
  };
  const run = (homepage: string, previous: string) =>
    sitemapTreeForHomepage(homepage, { ...options, previous, client: site({}).client }).then((tree) => tree.close());
  const archive = await about("http://example.org:8080/");
  await expect(run("http://example.org:9090/", archive)).rejects.toThrow(
    "is an archive of http://example.org:8080/, not",
  );
  await run("https://www.example.org/", await about("http://example.org/"));
});

test("only a few documents are looked up in earlier archives at a time", async () => {
  const archive = await openArchive(await saved());
  const settings = resolveOptions(options);
  const fetcher = new Fetcher({ settings, start: [home] });
  const earlier = revalidating(fetcher, [archive], () => undefined);
  const url = `${home}a.xml`;
  const fetching: Promise<unknown>[] = [];
  while (fetching.length < 100 && earlier.hasRoomFor?.(url)) fetching.push(earlier.fetch({ url, role: "sitemap" }));
  expect(fetching.length).toBeLessThan(20);
  await Promise.all(fetching);
  expect(earlier.hasRoomFor?.(url)).toBe(true);
  await fetcher.close();
  await archive.close();
});

test("--previous gives the same output, and archives that cannot be used are a one-line error with exit code 2", async () => {
  const archive = await saved();
  const flags = ["--no-known", "--no-homepage"];
  const without = await sitegrove(["ls", home, ...flags]);
  expect(await sitegrove(["ls", home, ...flags, "--previous", archive])).toEqual(without);
  // Every day, today's archive replaces yesterday's.
  const daily = ["ls", home, ...flags, "--previous", archive, "--save", archive, "--force"];
  expect(await sitegrove(daily)).toEqual(without);
  expect((await sitegrove(["ls", archive])).stdout).toBe(without.stdout);
  const other = newFile("other.warc");
  const renamed = readFileSync(await saved("site.warc"), "latin1").replaceAll(home, "http://other.example:12345/");
  writeFileSync(other, renamed, "latin1");
  writeFileSync(path.join(folder, "text"), "hello");
  for (const file of [folder, path.join(folder, "none"), path.join(folder, "text"), other]) {
    const save = newFile();
    const run = await sitegrove(["ls", home, ...flags, "--previous", file, "--save", save]);
    await expect(sitemapTreeForHomepage(home, { ...options, previous: file, save })).rejects.toThrow(file);
    expect(existsSync(save)).toBe(false);
    expect(run).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(/^sitegrove: [^\n]+\n$/);
  }
});

describe("bytes that were not transferred again", () => {
  const totalsOf = async (more: Options) => {
    let totals: FinishedEvent["totals"] | undefined;
    const onEvent = (event: CrawlEvent) => {
      if (event.type === "finished") totals = event.totals;
    };
    const tree = await sitemapTreeForHomepage(home, { ...options, ...more, onEvent });
    const data = tree.toJSON();
    await tree.close();
    return { ...(totals as FinishedEvent["totals"]), data };
  };

  test("are counted separately, in totals and responses", async () => {
    const save = newFile();
    const first = await totalsOf({ save });
    expect([first.wireBytes > 0, first.reusedBytes]).toEqual([true, 0]);
    const second = await totalsOf({ previous: save });
    expect([second.wireBytes, second.reusedBytes]).toEqual([0, first.wireBytes]);
    put("/a.xml", urlset("1", "2", "3", "4"));
    const third = await totalsOf({ previous: save });
    expect(third.wireBytes).toBe(Buffer.byteLength(urlset("1", "2", "3", "4")));
    expect(third.reusedBytes).toBeGreaterThan(0);
    await using tree = await sitemapTreeForHomepage(home, { ...options, previous: save });
    const obtained = [];
    for (const sitemap of tree.sitemaps()) obtained.push((await tree.response(sitemap))?.obtained);
    expect(new Set(obtained)).toEqual(new Set([undefined, "not-modified"]));
  });

  test("do not count toward the byte limit, neither in the run nor when its archive is opened", async () => {
    const save = newFile();
    const whole = await totalsOf({ save });
    const limits = { bytes: 10 };
    expect((await totalsOf({ limits })).data.complete).toBe(false);
    const second = newFile();
    const { data } = await totalsOf({ previous: save, save: second, limits });
    expect(data).toEqual(whole.data);
    await using opened = await openTree(second);
    expect(opened.toJSON()).toEqual(whole.data);
  });
});

test("a 304 updates the headers, but keeps the time and coding of the bytes, and drops old cookies", async () => {
  const body = urlset("1");
  documents.set("/a.xml", (request, response) => {
    const isSame = request.headers["if-none-match"] === '"v"';
    const fresh = { etag: '"v"', "cache-control": isSame ? "max-age=2" : "max-age=1" };
    if (isSame) response.writeHead(304, { ...fresh, "content-type": "text/html", "set-cookie": "new=1" }).end();
    else {
      response.writeHead(200, { ...fresh, "content-type": "application/xml", "set-cookie": "old=1", "x-kept": "yes" });
      response.end(body);
    }
  });
  const responseIn = async (file: string) => {
    await using tree = await openTree(file);
    const sitemap = [...tree.sitemaps()].find(({ url }) => url.endsWith("/a.xml"));
    const { headers, receivedAt, status } = (await tree.response(sitemap as Sitemap)) as DocumentResponse;
    return { headers: Object.fromEntries(headers), receivedAt, status };
  };
  const [first, second] = [await saved(), newFile()];
  expect(await again(first, { save: second })).toMatchObject({ "/a.xml": "not-modified" });
  const [before, after] = [await responseIn(first), await responseIn(second)];
  expect(before.headers).toMatchObject({ "cache-control": "max-age=1", "set-cookie": "old=1" });
  expect(after.headers).toMatchObject({ "cache-control": "max-age=2", "set-cookie": "new=1", "x-kept": "yes" });
  expect(after).toMatchObject({ status: 200, receivedAt: before.receivedAt });
  expect(after.headers["content-type"]).toBe("application/xml");
});
