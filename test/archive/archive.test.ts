// What an archive of ours contains besides the exchanges, and how the file is created.
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { openArchive } from "../../src/archive/reader.ts";
import { createStore, openToResume } from "../../src/archive/store.ts";
import type { Fetched } from "../../src/model/exchange.ts";
import { problem } from "../../src/model/problem.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { some } from "../support/long.ts";
import { site, urlset } from "../support/site.ts";
import { testFolder } from "../support/test-folder.ts";
import { bodyOf, bytesOf, contentOf, documentAt, failedAt, redirectAt } from "./exchanges.ts";
import { opened } from "./opened.ts";

const inFolder = testFolder();

const info = { homepage: "https://example.org/", settings: {} };

/** The path of an archive with these exchanges, of a crawl that finished or not. */
async function written(name: string, exchanges: readonly Fetched[], about = info, finished = false): Promise<string> {
  const store = await createStore({ kind: "auto", save: inFolder(name), info: about });
  for (const exchange of exchanges) await store.keep(exchange);
  if (finished) await store.finish();
  await store.close();
  return inFolder(name);
}

test("an opened archive has the description of the run that wrote it", async () => {
  const about = {
    homepage: "https://example.org/",
    sitemaps: ["https://example.org/a.xml", "https://example.org/ü.xml"],
    settings: { useRobots: false, extraKnownPaths: ["Infinity"], limits: { depth: 0 } },
  };
  const store = await createStore({ kind: "memory", info: about });
  await store.save(inFolder("site.warc.gz"));
  await store.close();
  const archive = await opened(inFolder("site.warc.gz"));
  expect(archive.info).toEqual(about);
});

test("no password is written to an archive", async () => {
  const settings = {
    headers: { authorization: "Bearer secret" },
    proxy: "http://u:secret@proxy.example/",
    tls: { ca: ["secret"] },
    userAgent: "me",
  };
  const site = "https://u:secret@example.org/";
  const link = ["link", `<${site}c.xml>; rel="sitemap"`] as const;
  const about = { homepage: site, sitemaps: [`${site}a.xml`], settings };
  const save = await written(
    "site.warc",
    [
      documentAt(`${site}b.xml`, "x", { headers: [link] }),
      redirectAt(`${site}a.xml`, "//u:secret@example.org/b.xml"),
      // An at sign that names no user is kept.
      redirectAt("https://example.org/@someone", "https://example.org//@someone"),
      failedAt(`${site}d.xml`, { reason: problem("redirect-invalid", { value: "http://u:secret@example.org/" }) }),
    ],
    about,
  );
  expect(await readFile(save, "utf8")).not.toContain("secret");
  const archive = await opened(save);
  expect(archive.info).toEqual({
    homepage: "https://example.org/",
    sitemaps: ["https://example.org/a.xml"],
    settings: { userAgent: "me" },
  });
  expect(await archive.fetch({ url: "https://example.org/@someone", role: "sitemap" })).toMatchObject({
    headers: [["location", "https://example.org//@someone"]],
  });
});

test.each(["site.warc", "site.warc.gz"])("%s says whether the crawl finished", async (name) => {
  for (const finished of [false, true]) {
    const save = inFolder(`${finished}-${name}`);
    const store = await createStore({ kind: "auto", save, info });
    await store.keep(documentAt("https://example.org/a.xml", "x"));
    if (finished) await store.finish();
    await store.save(inFolder(`later-${finished}-${name}`));
    await store.close();
    for (const file of [save, inFolder(`later-${finished}-${name}`)]) {
      const archive = await opened(file);
      expect(archive).toMatchObject({ finished, truncated: false, urls: ["https://example.org/a.xml"] });
    }
  }
});

test("archives can be joined", async () => {
  const parts: Buffer[] = [];
  for (const name of ["a", "b"]) {
    parts.push(await readFile(await written(`${name}.warc.gz`, [documentAt(`https://${name}.example/`, name)])));
  }
  await writeFile(inFolder("both.warc.gz"), Buffer.concat(parts));
  const both = await opened(inFolder("both.warc.gz"));
  expect(both).toMatchObject({ info, truncated: false });
  for (const name of ["a", "b"]) {
    const fetched = await both.fetch({ url: `https://${name}.example/`, role: "homepage" });
    expect(await contentOf(fetched)).toMatchObject({ body: { bytes: name } });
  }
});

test("an archive joined from two websites gives the first one, and reports the other as a loss", async () => {
  const parts = await Promise.all(
    ["https://a.example/", "https://b.example/"].map(async (homepage, at) => {
      const { client } = site({
        [`${homepage}robots.txt`]: `Sitemap: ${homepage}s.xml`,
        [`${homepage}s.xml`]: urlset(`${homepage}1`),
      });
      const options = { client, knownPaths: "never", useHomepage: false, save: inFolder(`${at}.warc`) } as const;
      await (await sitemapTreeForHomepage(homepage, options)).close();
      return readFile(inFolder(`${at}.warc`));
    }),
  );
  await writeFile(inFolder("two.warc"), Buffer.concat(parts));
  await writeFile(inFolder("twice.warc"), Buffer.concat([parts[0]!, parts[0]!]));
  const problemsOf = async (name: string) => {
    await using tree = await openTree(inFolder(name));
    return Array.from(tree.problems(), ({ problem: { code, value } }) => [code, value]);
  };
  expect(await problemsOf("two.warc")).toEqual([["archive-website", "https://b.example/"]]);
  expect(await problemsOf("twice.warc")).toEqual([]);
});

test("an exchange missing from the second of two joined archives is noticed, even if the first archive has more exchanges", async () => {
  const parts: Buffer[] = [];
  for (const names of [["a", "b", "c"], ["d"]]) {
    const documents = names.map((name) => documentAt(`https://example.org/${name}.xml`, name));
    parts.push(await readFile(await written(`${names.length}.warc`, documents, info, true)));
  }
  const [first, second] = parts as [Buffer, Buffer];
  const damaged = Buffer.from(
    second.toString("latin1").replace("WARC-Type: metadata", "WARC-Type: metadatb"),
    "latin1",
  );
  await writeFile(inFolder("whole.warc"), Buffer.concat([first, second]));
  await writeFile(inFolder("damaged.warc"), Buffer.concat([first, damaged]));
  expect(await opened(inFolder("whole.warc"))).toMatchObject({ altered: false });
  expect(await opened(inFolder("damaged.warc"))).toMatchObject({ altered: true });
});

test.each(["site.warc", "site.warc.gz"])("%s can be resumed twice, without a response in between", async (name) => {
  const file = await written(name, [documentAt("https://example.org/a.xml", "a")]);
  for (const [at, urls] of [[], ["b"], ["c"]].entries()) {
    const resumed = await openToResume(file);
    const about = { ...info, settings: { userAgent: `${at}` } };
    const store = await createStore({ kind: "auto", resumed, info: about });
    for (const url of urls) await store.keep(documentAt(`https://example.org/${url}.xml`, url));
    await store.close();
    const archive = await opened(file);
    expect(archive).toMatchObject({ info: about, otherWebsite: undefined, altered: false, finished: false });
    expect([...archive.answers.values()].every(({ run }) => run === undefined)).toBe(true);
  }
});

test.each(["body-short", "body-reset", "timeout-idle", "timeout-total"] as const)(
  "a resumed run requests a document again if its transfer ended with %s",
  async (code) => {
    const [whole, cut] = ["https://example.org/whole.xml", "https://example.org/cut.xml"] as const;
    const broken = documentAt(cut, "cu", { body: bodyOf("cu", { problem: problem(code) }) });
    const resumed = await openToResume(await written("site.warc", [documentAt(whole, "whole"), broken]));
    const store = await createStore({ kind: "auto", resumed, info });
    expect([whole, cut].map((url) => store.has({ url, role: "sitemap" }))).toEqual([true, false]);
    await store.close();
  },
);

describe("an existing file is never replaced", () => {
  test.each(["a file", "a link to nowhere", "a directory"])("%s", async (kind) => {
    const name = inFolder("site.warc");
    if (kind === "a file") await writeFile(name, "mine");
    else if (kind === "a directory") await mkdtemp(name).then(() => symlink(inFolder(), name));
    else await symlink(inFolder("nowhere"), name);
    const before = await readdir(inFolder());
    await expect(createStore({ kind: "auto", save: name, info })).rejects.toMatchObject({ code: "archive-exists" });
    const store = await createStore({ kind: "memory", info });
    await expect(store.save(name)).rejects.toMatchObject({ code: "archive-exists" });
    await store.save(inFolder("other.warc"));
    await store.close();
    const archive = await opened(inFolder("other.warc"));
    await expect(archive.save(name)).rejects.toMatchObject({ code: "archive-exists" });
    expect(await readdir(inFolder())).toEqual([...before, "other.warc"].sort());
    if (kind === "a file") expect(await readFile(name, "utf8")).toBe("mine");
  });

  test("a file that was created during the save", async () => {
    const store = await createStore({ kind: "memory", info });
    await store.keep(documentAt("https://example.org/a.xml", Buffer.alloc(2_000_000)));
    const results = await Promise.allSettled([1, 2, 3].map(() => store.save(inFolder("site.warc"))));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(results.filter((result) => result.status === "rejected").map(({ reason }) => reason.code)).toEqual([
      "archive-exists",
      "archive-exists",
    ]);
    expect(await readdir(inFolder())).toEqual(["site.warc"]);
    await store.close();
  });
});

test("a path that cannot hold an archive is refused with a message, and no files are left behind", async () => {
  await writeFile(inFolder("file"), "");
  const store = await createStore({ kind: "memory", info });
  for (const place of ["none/site.warc", "file/site.warc", `${"x".repeat(300)}.warc`]) {
    const expected = {
      code: "archive-unwritable",
      message: expect.stringMatching(/^\/.*\.warc cannot be written: [a-z ]+$/),
      cause: { code: expect.stringMatching(/^E/) },
    };
    await expect(store.save(inFolder(place))).rejects.toMatchObject(expected);
    await expect(createStore({ kind: "auto", save: inFolder(place), info })).rejects.toMatchObject(expected);
  }
  await store.save(inFolder(`${"x".repeat(250)}.warc`));
  await store.close();
  expect(await readdir(inFolder())).toEqual(["file", `${"x".repeat(250)}.warc`]);
});

test.skipIf(process.getuid?.() === 0)("a file without read permission is refused as an archive", async () => {
  await writeFile(inFolder("site.warc"), "WARC/1.1");
  await chmod(inFolder("site.warc"), 0);
  await expect(openArchive(inFolder("site.warc"))).rejects.toMatchObject({ code: "invalid-archive" });
});

// A temporary file has no name, so its size is read from the open files of the process.
test.runIf(process.platform === "linux")("a document in the archive takes no further space", async () => {
  const save = inFolder("site.warc");
  const store = await createStore({ kind: "auto", save, info });
  // Together, the bodies are larger than what is kept in memory.
  const body = Buffer.alloc(some(10_000_000, 3_000_000), "<loc>");
  for (let index = 0; index < 4; index += 1) {
    await store.keep(documentAt(`https://example.org/${index}.xml`, "", { body: bodyOf(body, { pieces: 100 }) }));
  }
  const sizes = await Promise.all(
    (await readdir("/proc/self/fd")).map(async (name) => {
      const target = await readlink(`/proc/self/fd/${name}`).catch(() => "");
      return /\/sitegrove-[0-9a-f-]+ \(deleted\)$/.test(target) ? (await stat(`/proc/self/fd/${name}`)).size : 0;
    }),
  );
  expect(Math.max(0, ...sizes)).toBeLessThan(body.length);
  for (let index = 0; index < 4; index += 1) {
    const fetched = await store.fetch({ url: `https://example.org/${index}.xml`, role: "sitemap" });
    if (fetched.outcome === "found") expect((await bytesOf(fetched.body)).equals(body)).toBe(true);
  }
  await store.close();
});

test("temporary files have no name, so nobody else can open them, and none is left behind", async () => {
  await mkdir(inFolder("tmp"));
  // os.tmpdir() reads the variable each time.
  vi.stubEnv("TMPDIR", inFolder("tmp"));
  const store = await createStore({ kind: "file", info });
  await store.keep(documentAt("https://example.org/a.xml", "secret"));
  await store.save(inFolder("site.warc.gz"));
  const archive = await opened(inFolder("site.warc.gz"));
  expect(await readdir(inFolder("tmp"))).toEqual([]);
  for (const source of [store, archive]) {
    const fetched = await source.fetch({ url: "https://example.org/a.xml", role: "sitemap" });
    expect(await contentOf(fetched)).toMatchObject({ body: { bytes: "secret" } });
  }
  await store.close();
  vi.unstubAllEnvs();
});

test("URLs and headers that are too long for a record header are not lost", async () => {
  const long = (name: string) => `https://example.org/${name.repeat(100_000)}`;
  const headers = Object.entries({ "x-large": "x".repeat(1_000_000), "content-type": "text/xml" });
  const exchange = () => documentAt(long("a"), "<urlset/>", { headers });
  const archive = await opened(await written("site.warc.gz", [exchange(), documentAt("https://example.org/", "last")]));
  expect(archive).toMatchObject({ truncated: false, urls: [long("a"), "https://example.org/"] });
  const fetched = await archive.fetch({ url: long("a"), role: "sitemap" });
  expect(await contentOf(fetched)).toEqual(await contentOf(exchange()));
});

test("a response record is written as the specification says, line by line", async () => {
  const file = await written("site.warc.gz", [documentAt("https://example.org/ü b.xml", "<urlset/>")]);
  const text = gunzipSync(await readFile(file)).toString();
  const response = text.slice(text.indexOf("WARC/1.1", 1), text.indexOf("WARC-Type: metadata"));
  expect(response.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "UUID").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "DATE")).toBe(
    [
      "WARC/1.1",
      "WARC-Type: response",
      "WARC-Record-ID: <urn:uuid:UUID>",
      "WARC-Date: DATE",
      "Content-Type: application/http; msgtype=response",
      "WARC-Warcinfo-ID: <urn:uuid:UUID>",
      "WARC-Target-URI: https://example.org/%C3%BC%20b.xml",
      "WARC-Payload-Digest: sha1:Y5KQTGIMCOKZM35GM24G64PH4MS7A6TN",
      "Content-Length: 59",
      "",
      "HTTP/1.1 200 OK",
      "content-type: application/xml",
      "",
      "<urlset/>",
      "",
      "WARC/1.1",
      "",
    ].join("\r\n"),
  );
});
