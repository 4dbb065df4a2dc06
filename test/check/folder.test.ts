// A built website in a folder, against its sitemaps: by hand-made folders, and by what generators of websites write.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { sitegrove } from "../cli/program.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-folder-"));
afterAll(() => rmSync(folder, { recursive: true }));

const home = "https://example.org/";
const page = (head = "") => `<!doctype html>\n<html>\n<head>\n<title>A page</title>\n${head}\n</head></html>`;
const canonical = (url: string) => page(`<link rel="canonical" href="${url}">`);
const noindex = page('<meta name="robots" content="noindex">');
const stub = (to: string) => page(`<meta http-equiv="refresh" content="0; url=${to}">`);

/** Writes a website that lists these URLs, which are below the homepage, and has these pages, and further files. */
function built(listed: string, pages: string, files: Readonly<Record<string, string>> = {}): string {
  const site = mkdtempSync(path.join(folder, "site-"));
  const urls = listed === "" ? [] : listed.split(" ");
  const entries = urls.map((name) => {
    const [, own, german] = /^(.*)\+(.*)$/.exec(name) ?? [];
    const link = german && `<xhtml:link rel="alternate" hreflang="de" href="${home}${german}"/>`;
    return `<url><loc>${home}${own ?? name.replace(/^\/$/, "")}</loc>${link ?? ""}</url>\n`;
  });
  const all = {
    "robots.txt": `User-agent: *\nDisallow: /private/\nSitemap: ${home}sitemap.xml\n`,
    "sitemap.xml":
      '<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n' +
      `${entries.join("")}</urlset>`,
    ...Object.fromEntries(pages.split(" ").flatMap((name) => (name === "" ? [] : [[name, page()]]))),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    const file = path.join(site, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return site;
}

interface Example {
  readonly url?: string;
  readonly value?: string;
  readonly file?: string;
  readonly line?: number;
}

/** What the rules about pages find, sorted: `page-noindex a.html:5 a`, with the file and the end of the URL. */
async function found(site: string, ...flags: string[]): Promise<string[]> {
  const { stdout, stderr } = await sitegrove(["check", site, "--url", home, "-f", "json", ...flags]);
  if (stdout === "") throw new Error(stderr);
  const { findings, notJudged } = JSON.parse(stdout);
  const lines = findings.flatMap(({ rule, count, examples }: { rule: string; count: number; examples: Example[] }) => {
    if (!rule.startsWith("page-")) return [];
    expect(examples).toHaveLength(count);
    return examples.map(({ url, value, file, line }) => {
      const place = file === undefined ? [] : [path.relative(site, file) + (line === undefined ? "" : `:${line}`)];
      const said = rule === "page-redirect" || /case/.test(value ?? "") ? [value] : [];
      return [rule, ...place, url?.slice(home.length), ...said].join(" ");
    });
  });
  const reasons = notJudged.map(({ reason }: { reason: string }) => reason);
  return [...lines, ...reasons.filter((reason: string) => /understood|HTML files/.test(reason))].sort();
}

const notUnderstood = (place: string) => `not all redirects are understood (${place})`;
const netlify = `[build]
  publish = "x"
[[redirects]]
  from = "/old/:name"
  to = "/new/:name" # moved
  status = 302
[[redirects]]
  from = "/c"
  to = "/d"
  conditions = {Country = ["de"]}
`;
const vercel = JSON.stringify({
  cleanUrls: true,
  trailingSlash: false,
  redirects: [
    { source: "/old", destination: "/a", permanent: true },
    { source: "/(.*)", destination: "/a" },
  ],
});
const redirects = `# comment
/old /new 302
/blog/* /posts/:splat
/app/* /index.html 200
/kept /x
/forced /y 301!
/z /de 302 Country=de
`;
const notPages = {
  "assets/part.html": "<p>part</p>",
  "google1.html": "google-site-verification: google1.html",
  "n.html": noindex,
  "s.html": stub("/"),
  "copy.html": canonical(home),
  "elsewhere.html": canonical("https://other.org/"),
};
const heads = { "a.html": noindex, "b.html": canonical("/other"), "c.html": stub("/d"), "self.html": stub("/self") };
const german = (to: string) => page(`<link rel="alternate" hreflang="de" href="/de/${to}">`);

test.each<[string, string, string, Record<string, string>, string[]]>([
  ["clean URLs", "/ a b b/ c.html d.pdf a?x=1", "index.html a.html b/index.html c.html", { "d.pdf": "%PDF" }, []],
  ["percent-encoding", "caf%C3%A9 a%20b/ %zz", "café.html", { "a b/index.html": page() }, ["page-missing-file %zz"]],
  ["no file", "/ gone gone/", "index.html", {}, ["page-missing-file gone", "page-missing-file gone/"]],
  ["upper case", "a A", "a.html", {}, ["page-missing-file A the name of a.html differs in case"]],
  ["not listed", "a", "a.html b/index.html", {}, ["page-not-listed b/index.html b/"]],
  ["not listed, canonical", "a", "a.html", { "c.html": canonical("/c") }, ["page-not-listed c.html c"]],
  ["no pages by their names", "/", "index.html 404.html 404/index.html _app/a.html .well-known/a.html", {}, []],
  ["no pages by their content or robots.txt", "/", "index.html private/a.html", notPages, []],
  [
    "heads of listed pages",
    "a b c d self",
    "d.html",
    heads,
    ["page-canonical-other b.html:5 b", "page-noindex a.html:5 a", "page-redirect-stub c.html:5 c"],
  ],
  [
    "hreflang",
    "a+de/a b+de/b",
    "",
    { "a.html": german("a"), "b.html": german("other") },
    ["page-hreflang-differs b.html:5 b"],
  ],
  [
    "_redirects",
    "/ old blog/1 app/x kept forced",
    "index.html kept.html forced.html",
    { _redirects: redirects },
    [
      notUnderstood("_redirects:7"),
      "page-redirect blog/1 301 to /posts/1",
      "page-redirect forced 301 to /y",
      "page-redirect old 302 to /new",
    ],
  ],
  [
    "netlify.toml",
    "old/a b",
    "b.html",
    { "netlify.toml": netlify },
    [notUnderstood("netlify.toml:7"), "page-redirect old/a 302 to /new/a"],
  ],
  [
    "vercel.json",
    "a b.html c/ old",
    "a.html b.html c.html",
    { "vercel.json": vercel },
    [
      notUnderstood("vercel.json: redirects[1]"),
      "page-not-listed b.html b",
      "page-not-listed c.html c",
      "page-redirect b.html 308 to /b",
      "page-redirect c/ 308 to /c",
      "page-redirect old 308 to /a",
    ],
  ],
  ["a folder without pages", "a", "", {}, ["the folder has no HTML files"]],
])("%s", async (_, listed, pages, files, expected) => {
  expect(await found(built(listed, pages, files))).toEqual(expected);
});

test("--pages and --ignore narrow what is a page; a listed file that is left out is still there", async () => {
  const site = built("blog/a x", "blog/a.html blog/b.html blog/drafts/c.html y.html", { "x.html": noindex });
  expect(await found(site, "--pages", "blog/**", "--ignore", "drafts/")).toEqual([
    "page-not-listed blog/b.html blog/b",
  ]);
  const rest = ["--ignore", "blog/*.html", "--ignore", "drafts", "--ignore", "x.html"];
  expect(await found(site, ...rest)).toEqual(["page-not-listed y.html y"]);
});

test("links are followed inside of the folder only, and each folder once", async () => {
  const site = built("a linked outside", "a.html real/b.html");
  writeFileSync(path.join(folder, "secret.html"), page());
  symlinkSync("a.html", path.join(site, "linked.html"));
  symlinkSync(path.join(folder, "secret.html"), path.join(site, "outside.html"));
  symlinkSync("real", path.join(site, "again"));
  symlinkSync("..", path.join(site, "real/loop"));
  expect(await found(site)).toEqual(["page-missing-file outside", "page-not-listed real/b.html real/b"]);
});

test("all outputs name the file and its line; what is about a sitemap points into it", async () => {
  const site = path.basename(built("a gone", "", { "a.html": noindex }));
  const written = async (format: string) =>
    (await sitegrove(["check", site, "--url", home, "-f", format], { cwd: folder })).stdout;
  const text = await written("text");
  expect(text).toContain(`    ${site}/a.html:5: ${home}a`);
  expect(text).toContain(`    line 4: ${home}gone`);
  expect(await written("markdown")).toContain(`${site}/a.html:5: ${home}a`);
  const github = await written("github");
  expect(github).toContain(`::error file=${site}/a.html,line=5,title=page-noindex::`);
  expect(github).toContain(`::error file=${site}/sitemap.xml,line=4,title=page-missing-file::`);
  const { results } = JSON.parse(await written("sarif")).runs[0];
  const locations = results.map((result: { locations: unknown[] }) => result.locations[0]);
  for (const [uri, startLine] of [
    [`${site}/a.html`, 5],
    [`${site}/sitemap.xml`, 4],
  ]) {
    const physicalLocation = { artifactLocation: { uri, uriBaseId: "%SRCROOT%" }, region: { startLine } };
    expect(locations).toContainEqual(expect.objectContaining({ physicalLocation }));
  }
});

test("ls, report and diff take folders; diff takes the URL of the other side", async () => {
  const [one, two] = [built("a", "a.html"), built("a b", "a.html", { "b.html": noindex })];
  const archive = path.join(folder, "site.warc.gz");
  const run = async (...words: string[]) => (await sitegrove(words)).stdout;
  expect(await run("ls", one, "--url", home, "-f", "pages", "--save", archive)).toBe(`${home}a\n`);
  expect(await run("diff", one, two, "--url", home, "-f", "pages")).toBe(`${home}b\n`);
  expect(await run("diff", archive, two, "-f", "pages")).toBe(`${home}b\n`);
  const { findings } = JSON.parse(await run("report", two, "--url", home, "--json"));
  const examples = [{ file: path.join(two, "b.html"), line: 5 }];
  expect(findings[0]).toMatchObject({ rule: "page-noindex", examples });
  const unnamed = await sitegrove(["diff", one, two]);
  expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining("--url https://") });
});
