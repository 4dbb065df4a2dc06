// Checks static sites in folders: small ones written by hand, and the output of generators.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { checkTree } from "../../src/check/check-tree.ts";
import { problem } from "../../src/model/problem.ts";
import { visibleContent } from "../../src/pages/visible-content.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { sitegrove } from "../cli/program.ts";
import { saidOfChecks as said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();

const home = "https://example.org/";
const page = (head = "") => `<!doctype html>\n<html>\n<head>\n<title>A page</title>\n${head}\n</head></html>`;
const canonical = (url: string) => page(`<link rel="canonical" href="${url}">`);
const noindex = page('<meta name="robots" content="noindex">');
const stub = (to: string) => page(`<meta http-equiv="refresh" content="0; url=${to}">`);

/** Writes a static site with a sitemap of the URLs `listed` (below the homepage), the HTML files `pages`, and other `files`. */
function built(listed: string, pages: string, files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const site = mkdtempSync(path.join(folder, "site-"));
  const urls = listed === "" ? [] : listed.split(" ");
  const entries = urls.map((name) => {
    const [, own, sign, other] = /^(.*?)([+!])(.*)$/.exec(name) ?? [];
    const link = sign === "+" ? `<xhtml:link rel="alternate" hreflang="de" href="${home}${other}"/>` : "";
    const image = sign === "!" ? `<i:image><i:loc>${home}${other}</i:loc></i:image>` : "";
    return `<url><loc>${home}${own ?? name.replace(/^\/$/, "")}</loc>${link}${image}</url>\n`;
  });
  const all = {
    "robots.txt": `User-agent: *\nDisallow: /private/\nSitemap: ${home}sitemap.xml\n`,
    "sitemap.xml":
      '<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">\n' +
      `${entries.join("")}</urlset>`,
    ...Object.fromEntries(pages.split(" ").flatMap((name) => (name === "" ? [] : [[name, page()]]))),
    ...files,
  };
  for (const [name, text] of Object.entries<string | Uint8Array>(all)) {
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

/** Returns the findings of the rules about pages, sorted: `page-noindex a.html:5 a`, with the file and the end of the URL. */
async function found(site: string, ...flags: string[]): Promise<string[]> {
  const { stdout, stderr } = await sitegrove(["check", site, "--url", home, "-f", "json", ...flags]);
  if (stdout === "") throw new Error(stderr);
  const { findings, notChecked } = JSON.parse(stdout);
  const lines = findings.flatMap(({ rule, count, examples }: { rule: string; count: number; examples: Example[] }) => {
    if (!rule.startsWith("page-")) return [];
    expect(examples).toHaveLength(count);
    return examples.map(({ url, value, file, line }) => {
      const place = file === undefined ? [] : [path.relative(site, file) + (line === undefined ? "" : `:${line}`)];
      const shown = /^page-(?:redirect|missing-file|image-missing)$/.test(rule) ? [value?.replace(home, "")] : [];
      return [rule, ...place, url?.slice(home.length), ...shown].join(" ").trim();
    });
  });
  const reasons = notChecked.map(({ reason }: { reason: string }) => reason);
  return [
    ...lines,
    ...[...new Set<string>(reasons)].filter((reason) =>
      /understood|HTML files|could not be read|rewritten|Vercel|service/.test(reason),
    ),
  ].sort();
}

const notUnderstood = (place: string) => `some redirects are not understood (${place})`;
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
    { source: "/(\\d+)", destination: "/a" },
  ],
});
const redirects = `# comment
/old /new 302
/blog/* /posts/:splat
/app/* /index.html 200
/kept /x
/forced /y 301!
/z /de 302 Country=de
/:a/:a/:1 /x
`;
const notPages = {
  "assets/part.html": "<p>part</p>",
  "google1.html": "google-site-verification: google1.html",
  "n.html": noindex,
  "s.html": stub("/"),
  "copy.html": canonical(home),
  "elsewhere.html": canonical("https://other.org/"),
};
const script = (code: string) => page(`<script>${code}</script>`);
const heads = { "a.html": noindex, "b.html": canonical("/other"), "c.html": stub("/d"), "self.html": stub("/self") };
const german = (to: string) => page(`<link rel="alternate" hreflang="de" href="/de/${to}">`);

const [little, big] = [1, 2].map(() => Buffer.from(`\ufeff${noindex}`, "utf16le"));
const wide = { "a.html": little!, "b.html": big!.swap16() };

test.each<[string, string, string, Record<string, string | Uint8Array>, string[]]>([
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
    "a noindex for one crawler, below that for another",
    "a",
    "",
    { "a.html": page('<meta name="otherbot" content="noindex">\n<meta name="googlebot" content="noindex">') },
    ["page-noindex a.html:6 a"],
  ],
  [
    "stubs by a script",
    "a b c d",
    "",
    {
      "a.html": script('window.location.replace("/x")'),
      "b.html": script("location.href = '/x' + location.search + location.hash;"),
      "c.html": script('if (location.hash) location = "/x"'),
      "d.html": script('location = "/d"'),
    },
    ["page-redirect-stub a.html:5 a", "page-redirect-stub b.html:5 b"],
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
      "page-redirect blog/1 301 to /posts/1",
      "page-redirect forced 301 to /y",
      "page-redirect old 302 to /new",
      "some pages are rewritten (_redirects:4)",
      notUnderstood("_redirects:7, _redirects:8, _redirects:5: choose --host"),
    ],
  ],
  [
    "netlify.toml",
    "old/a b",
    "b.html",
    { "netlify.toml": netlify },
    ["page-redirect old/a 302 to /new/a", notUnderstood("netlify.toml: redirects[1]")],
  ],
  [
    "vercel.json",
    "a b.html c/ old",
    "a.html b.html c.html",
    { "vercel.json": vercel },
    [
      "page-redirect b.html 308 to /b",
      "page-redirect c/ 308 to /c",
      "page-redirect old 308 to /a",
      notUnderstood("vercel.json: redirects[1]"),
    ],
  ],
  [
    "vercel.json, folders",
    "i j/index.html",
    "i/index.html j/index.html k/index.html",
    { "vercel.json": vercel },
    [
      "page-not-listed k/index.html k",
      "page-redirect j/index.html 308 to /j",
      notUnderstood("vercel.json: redirects[1]"),
    ],
  ],
  [
    "_headers",
    "a b",
    "a.html b.html",
    { _headers: "/*\n  X-Robots-Tag: noindex\n/a\n  ! X-Robots-Tag\n" },
    ["page-noindex b.html b", "some headers are not understood (_headers:4)"],
  ],
  [
    "several URLs of a file",
    "a.html a b b.html",
    "",
    { "a.html": noindex, "b.html": canonical("/b"), "wrangler.toml": "" },
    ["page-noindex a.html:5 a", "page-redirect a.html 308 to /a", "page-redirect b.html 308 to /b"],
  ],
  [
    "two URLs of a file, one of them canonical",
    "b b.html",
    "",
    { "b.html": canonical("/b") },
    ["page-canonical-other b.html:5 b.html"],
  ],
  [
    "a rewrite to a file",
    "app/x app/y",
    "b.html",
    {
      _redirects: "/app/* /app.html 200\n/b /c 200!\n",
      "app.html": page('<meta name="robots" content="noindex">\n<link rel="canonical" href="/">'),
    },
    [
      "page-noindex app.html:5 app/x",
      "page-noindex app.html:5 app/y",
      "page-not-listed b.html b.html",
      "some pages are rewritten (_redirects:1, _redirects:2)",
    ],
  ],
  [
    "a rewrite to another website",
    "api/x",
    "index.html",
    { _redirects: "/api/* https://other.org/:splat 200\n" },
    ["page-not-listed index.html", "some pages are rewritten (_redirects:1)"],
  ],
  [
    "Cloudflare Pages without 404.html",
    "/ a gone",
    "index.html a.html",
    { "wrangler.toml": "" },
    ["page-missing-file gone the homepage is sent instead, because there is no 404.html"],
  ],
  [
    "Cloudflare Pages with 404.html",
    "/ a gone",
    "index.html a.html 404.html",
    { "wrangler.toml": "" },
    ["page-missing-file gone"],
  ],
  [
    "an application on Cloudflare Pages",
    "/ gone",
    "",
    { "wrangler.toml": "", "index.html": noindex },
    [
      "page-noindex index.html:5 ",
      "page-noindex index.html:5 gone",
      "some pages are rewritten (there is no 404.html)",
    ].map((line) => line.trim()),
  ],
  [
    "functions on Cloudflare Pages",
    "/ gone",
    "index.html 404.html",
    { "wrangler.toml": "", "functions/[[path]].js": "" },
    [notUnderstood("functions")],
  ],
  [
    "edge functions on Netlify",
    "/ gone",
    "index.html",
    { "netlify.toml": '[[edge_functions]]\npath = "/*"\nfunction = "f"\n', "netlify/edge-functions/f.js": "" },
    [notUnderstood("netlify.toml: edge_functions, netlify/edge-functions")],
  ],
  [
    "middleware on Vercel",
    "/ gone",
    "index.html",
    { "vercel.json": '{ "cleanUrls": true }', "middleware.ts": "" },
    [notUnderstood("middleware.ts")],
  ],
  [
    "names without an extension on Vercel",
    "a b.html",
    "a.html b.html",
    { "vercel.json": "{}" },
    ["without `cleanUrls`, Vercel serves a.html only with its extension, unless a framework adds a route"],
  ],
  [
    "a header for the path without the extension",
    "b.html",
    "a.html b.html",
    { "netlify.toml": "", _headers: "/a\n  X-Robots-Tag: noindex\n" },
    [],
  ],
  ["proofs of ownership", "/", "index.html google0123456789abcdef.html yandex_0123456789abcdef.html", {}, []],
  [
    "pages whose names begin like those of proofs",
    "/",
    "index.html google.html",
    {},
    ["page-not-listed google.html google.html"],
  ],
  [
    "images",
    "a!a.png b!gone.png c!_vercel/image d!A.png",
    "a.html b.html c.html d.html",
    { "a.png": "x" },
    [
      "a service of the host may send files that are not in the folder",
      "page-image-missing b gone.png",
      "page-image-missing d A.png (the name of a.png differs in case)",
    ],
  ],
  ["error pages", "404 a/404 b", "404.html a/404.html b.html", {}, ["page-missing-file 404 404.html is an error page"]],
  ["UTF-16", "a b", "", wide, ["page-noindex a.html:5 a", "page-noindex b.html:5 b"]],
  ["a folder without pages", "a", "", {}, ["the folder has no HTML files"]],
])("a built folder gets exactly the expected findings: %s", async (_, listed, pages, files, expected) => {
  expect(await found(built(listed, pages, files))).toEqual(expected);
});

test("a page without a file is a warning if the host sends the homepage instead", async () => {
  const site = built("/ other/ gone", "index.html other/index.html", { "wrangler.toml": "" });
  for (const [flags, code] of [
    ["--ignore other", 0],
    ["--fail-on warning", 6],
    ["--host github-pages", 6],
  ] as const)
    expect((await sitegrove(`check ${site} --url ${home} ${flags}`)).code).toBe(code);
});

test("rules about servers are skipped for files", async () => {
  const site = built("a", "a.html");
  const file = path.join(site, "sitemap.xml");
  writeFileSync(file, readFileSync(file, "utf8").replace("</urlset>", `<!--${"x".repeat(1_100_000)}--></urlset>`));
  const { stdout } = await sitegrove(["check", site, "--url", home, "-f", "json"]);
  expect(JSON.parse(stdout).findings.map(({ rule }: { rule: string }) => rule)).toEqual(["lastmod-missing"]);
});

test("--files and --ignore choose the pages; a listed file that they exclude still exists", async () => {
  const site = built("blog/a x", "blog/a.html blog/b.html blog/drafts/c.html y.html", { "x.html": noindex });
  expect(await found(site, "--files", "blog/**", "--ignore", "drafts/")).toEqual([
    "page-not-listed blog/b.html blog/b",
  ]);
  const rest = ["--ignore", "blog/*.html", "--ignore", "drafts", "--ignore", "x.html"];
  expect(await found(site, ...rest)).toEqual(["page-not-listed y.html y"]);
});

test.each([
  [["--files", "zzz/*.html"], said.noFileMatches("'zzz/*.html'")],
  [["--files", "zzz", "--files", "y", "--ignore", "x"], said.noFileMatches("'zzz' or 'y'")],
  [["--files", "a.html", "--ignore", "**"], said.noFileRemains],
])("%j is refused, because it leaves no pages", async (flags, message) => {
  const { code, stderr } = await sitegrove(["check", built("a b", "a.html b.html"), "--url", home, ...flags]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("the library reports patterns that exclude all pages", async () => {
  const files = { folders: [{ url: home, path: built("a", "a.html") }], pages: ["zzz"] };
  const client = { request: async () => problem("connection-refused") };
  await using tree = await sitemapTreeForHomepage(home, { client, retries: 0 });
  const reason = "`files.pages` and `files.ignore` exclude all HTML files";
  expect((await checkTree(tree, { files })).notChecked).toContainEqual({ rule: "page-missing-file", reason });
});

test("findings that a build can fix fail the check by default, unless sitegrove.json says otherwise", async () => {
  const cases: [string, ReturnType<typeof built>][] = [
    ["page-not-listed", built("a", "a.html b.html")],
    ["page-redirect", built("a", "a.html", { _redirects: "/a /b 301!" })],
    ["page-redirect-stub", built("a", "", { "a.html": stub("/b") })],
    ["page-canonical-other", built("a", "", { "a.html": canonical("/b") })],
    ["url-forbidden", built("drafts/a", "drafts/a.html")],
  ];
  const config = path.join(folder, "config.json");
  writeFileSync(config, JSON.stringify({ forbidden: ["/drafts/*"] }));
  for (const [rule, site] of cases) {
    const words = ["check", site, "--url", home, "--config", config];
    expect([rule, (await sitegrove(words)).code]).toEqual([rule, 6]);
    expect([rule, (await sitegrove([...words, "--off", rule])).code]).toEqual([rule, 0]);
  }
});

test("symbolic links are followed only inside the folder, and each folder is read once; whatever is outside is unknown", async () => {
  const site = built("a linked outside", "a.html real/b.html");
  writeFileSync(path.join(folder, "secret.html"), page());
  symlinkSync("a.html", path.join(site, "linked.html"));
  symlinkSync(path.join(folder, "secret.html"), path.join(site, "outside.html"));
  symlinkSync("real", path.join(site, "again"));
  symlinkSync("..", path.join(site, "real/loop"));
  expect(await found(site)).toEqual([
    "page-not-listed real/b.html real/b",
    `some files could not be read (${path.join(site, "outside.html")}: it is outside its folder)`,
  ]);
});

test("every output format names the file and its line; findings about a sitemap point into the sitemap", async () => {
  const site = path.basename(built("a gone b", "", { "a.html": noindex, "b.html": noindex }));
  const written = async (format: string) =>
    (await sitegrove(["check", site, "--url", home, "-f", format], { cwd: folder })).stdout;
  const text = await written("text");
  expect(text).toContain(`    ${site}/a.html:5: ${home}a`);
  expect(text).toContain(`    line 4: ${home}gone`);
  const [markdown, github] = [await written("markdown"), await written("github")];
  for (const name of ["a", "b"]) {
    expect(markdown).toContain(`${site}/${name}.html:5: ${home}${name}`);
    expect(github).toContain(`::error file=${site}/${name}.html,line=5,title=page-noindex::`);
  }
  expect(github).toContain(`::error file=${site}/sitemap.xml,line=4,title=page-missing-file::`);
  // The annotation of a single occurrence has no count.
  expect(github).toContain(`a 404. ${home}sitemap.xml: line 4: ${home}gone. Fix`);
  expect(github).toContain(`2 occurrences, first ${home}sitemap.xml: ${site}/a.html:5`);
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

test("ls, report and diff accept folders; in diff, a folder gets its URL from the other side", async () => {
  const [one, two] = [built("a", "a.html"), built("a b", "a.html", { "b.html": noindex })];
  const archive = path.join(folder, "site.warc.gz");
  const run = async (...words: string[]) => (await sitegrove(words)).stdout;
  expect(await run("ls", one, "--url", home, "-f", "pages", "--save", archive)).toBe(`${home}a\n`);
  expect(await run("diff", one, two, "--url", home, "-f", "pages")).toBe(`${home}b\n`);
  expect(await run("diff", archive, two, "-f", "pages")).toBe(`${home}b\n`);
  const { findings } = JSON.parse(await run("report", two, "--url", home, "--json"));
  const examples = [{ file: path.join(two, "b.html"), line: 5 }];
  expect(findings[0]).toMatchObject({ rule: "page-noindex", examples });
  expect(await run("diff", one, two, "-f", "pages")).toBe(`${home}b\n`);
});

const moved = (site: string, from: string, to: string, names = /./) => {
  for (const name of readdirSync(site, { recursive: true, encoding: "utf8" })) {
    const file = path.join(site, name);
    if (!/\.(?:html|xml|txt)$/.test(name) || !names.test(name)) continue;
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(from, to));
  }
};

test("the URL comes from the folder's files if they agree, even if it has a path", async () => {
  const site = built("/ a", "a.html", { "index.html": canonical(home) });
  const run = (...flags: string[]) => sitegrove(["ls", site, "-f", "pages", ...flags]);
  expect(await run()).toMatchObject({
    stdout: `${home}\n${home}a\n`,
    stderr: expect.stringContaining(said.usingAddress(home)),
  });
  moved(site, home, `${home}docs/`);
  expect(await run()).toMatchObject({ code: 0, stdout: `${home}docs/\n${home}docs/a\n` });
  moved(site, home, "https://other.org/", /index.html/);
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining(said.addressesDiffer) });
  const empty = mkdtempSync(path.join(folder, "empty-"));
  expect((await sitegrove(["ls", empty])).code).toBe(2);
});

test.each([
  ["http://localhost:4321/", /./, "robots.txt"],
  ["https://www.example.org/", /./, "robots.txt"],
  ["http://example.org/", /xml/, "sitemap.xml"],
  ["https://my-site.example/", /./, "robots.txt"],
])("the wrong address %s is a single finding, listed first, that says where to set it", async (wrong, names, file) => {
  const site = built("/ a gone", "a.html", {
    "index.html": page(`<meta name="generator" content="Astro v5.1.0"><link rel="canonical" href="${home}">`),
  });
  moved(site, home, wrong, names);
  const { stdout, stderr } = await sitegrove(["check", site, "--url", home, "-f", "json", "--off", "lastmod-missing"]);
  const { findings, complete } = JSON.parse(stdout);
  const { origin } = new URL(wrong);
  const value = `your files name ${origin}, the website is https://example.org: set \`site\` in astro.config`;
  expect(findings[0]).toMatchObject({ rule: "address-wrong", severity: "error", count: 1 });
  expect(findings[0].examples).toEqual([{ value, file: path.join(site, file), line: expect.any(Number) }]);
  expect(findings.slice(1).map(({ rule }: { rule: string }) => rule)).toEqual(["page-missing-file"]);
  // Its line is found although the URL in the file has the wrong address.
  const lines = readFileSync(path.join(site, "sitemap.xml"), "utf8").split("\n");
  const line = lines.findIndex((text) => text.includes("gone")) + 1;
  expect(findings[1].examples).toMatchObject([{ url: `${home}gone`, line }]);
  const csv = await sitegrove(["check", site, "--url", home, "-f", "csv"]);
  expect(csv.stdout).toMatch(new RegExp(`^page-missing-file,.*,${line},`, "m"));
  expect([complete, stdout + stderr]).toEqual([true, expect.not.stringContaining(said.privateAddress)]);
});

test("an address on this machine is wrong, even if all files agree on it", async () => {
  const site = built("a", "a.html");
  moved(site, home, "http://localhost:3000/");
  const { code, stdout } = await sitegrove(["check", site, "--off", "lastmod-missing"]);
  expect([code, stdout]).toEqual([
    6,
    expect.stringContaining("your files name http://localhost:3000, which only your"),
  ]);
  expect(stdout).toContain("1 error (");
});

test("diff compares the visible content of two folders, unless --by says otherwise", async () => {
  const html = (text: string, asset: string, date = "") =>
    `<!doctype html><html><head><title>A</title><script nonce="${asset}">x${asset}</script><meta content="${date}"></head>` +
    `<body class="c-${asset}"><!-- ${asset} --><p>${text}<img src="/_astro/b.${asset}.webp" alt="b"></p></body></html>`;
  const sides = [
    built("a b c", "", {
      "a.html": html("one", "D8fk3_9a"),
      "b.html": html("one", "D8fk3_9a"),
      "c.html": html("1 &lt; 2", "x1"),
    }),
    built("a b c", "", {
      "a.html": html("one", "Zk29dd0w"),
      "b.html": html("two", "Zk29dd0w"),
      "c.html": html("1 &lt; 2", "x1"),
    }),
  ];
  const dated = (site: string, day: string) => moved(site, "/c</loc>", `/c</loc><lastmod>${day}</lastmod>`, /xml/);
  dated(sides[0]!, "2026-01-01");
  dated(sides[1]!, "2026-01-02");
  const run = async (...flags: string[]) => {
    const { stdout } = await sitegrove(["diff", ...(sides as [string, string]), "-f", "ndjson", ...flags]);
    const changes = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    return changes.map(({ page: { url }, fields }) => `${url.slice(home.length)} ${fields}`);
  };
  expect(await run()).toEqual(["b content"]);
  expect(await run("--by", "lastmod")).toEqual(["c lastModified"]);
  expect(await run("--by", "both")).toEqual(["b content", "c lastModified"]);
  const { code } = await sitegrove(["diff", sides[0]!, path.join(sides[1]!, "sitemap.xml"), "--by", "content"]);
  expect(code).toBe(2);
});

test.each([
  ["<p>a<!-- --> b</p>", "<p>a b</p>", true],
  ["<p>a</p>", "<h1>a</h1>", false],
  ['<a href="/x">a</a>', '<a href="/y">a</a>', false],
  ['<a href="/x-12345678.html">a</a>', '<a href="/x-12345679.html">a</a>', false],
  ['<img src="/a.1a2b3c4d.png">', '<img src="/a.9z8y7x6w.png">', true],
  ['<img src="/a.png?v=1">', '<img src="/a.png?v=2">', true],
  ['<img src="/a.png">', '<img src="/b.png">', false],
  ["<style>a</style>", "<style>b</style>", true],
  ["<script>if (1 < 2) '</p>'</script>x", "<script></script>x", true],
  ["<title>a</title>", "<title>b</title>", false],
  ["1 < 2", "1 < 3", false],
  ['<div title=">">a</div>', "<div>a</div>", true],
  ['<a title="x href=1" href="/a">a</a>', '<a title="x href=2" href="/a">a</a>', true],
  ["<style-guide>a</style-guide>", "<style-guide>b</style-guide>", false],
  ["<h1>a</h1>", "<h2>a</h2>", false],
])("%j and %j have the same visible content: %s", (one, two, isSame) => {
  expect(visibleContent(one) === visibleContent(two)).toBe(isSame);
});

test("visible content is extracted in linear time", () => {
  for (const part of ["<", "<!--", "<a href=", "<script", "<p a='", "</script"]) visibleContent(part.repeat(200_000));
});

// test/fixtures/built has the output of generators for a few pages, without scripts and styles. VitePress built a part of our documentation.
const generators: Record<string, { page: string; sitemap: string; listed: string }> = {
  vitepress: { page: "diff.html", sitemap: "sitemap.xml", listed: "diff" },
  astro: { page: "about/index.html", sitemap: "sitemap-0.xml", listed: "about/" },
  eleventy: { page: "blog/second/index.html", sitemap: "sitemap.xml", listed: "blog/second/" },
  hugo: { page: "posts/first/index.html", sitemap: "sitemap.xml", listed: "posts/first/" },
  docusaurus: { page: "docs/guide/index.html", sitemap: "sitemap.xml", listed: "docs/guide/" },
  next: { page: "blog/first.html", sitemap: "sitemap.xml", listed: "blog/first" },
};
// These are advice about all pages, or about the translation of a page that is no longer listed.
const notes = ["lastmod-missing", "hreflang-no-default", "priority-ignored", "hreflang-target-unlisted"];
const withoutCanonical = (html: string) => html.replace(/<link rel="canonical"[^>]*>/, "");

describe.each(Object.entries(generators))("a website built by %s", (name, { page: seeded, sitemap, listed }) => {
  const copied = () => {
    const site = mkdtempSync(path.join(folder, `${name}-`));
    cpSync(path.join(import.meta.dirname, "../fixtures/built", name), site, { recursive: true });
    return site;
  };

  test("has no findings without planted faults", async () => {
    const { code, stdout } = await sitegrove(["check", copied(), "--url", home, "-f", "json", "--fail-on", "warning"]);
    const rules = JSON.parse(stdout).findings.map(({ rule }: { rule: string }) => rule);
    expect([code, rules.filter((rule: string) => !notes.includes(rule))]).toEqual([0, []]);
  });

  const edited = (name: string, edit: (text: string) => string) => (site: string) => {
    const file = path.join(site, name);
    writeFileSync(file, edit(readFileSync(file, "utf8")));
  };
  const added = (name: string, text: string) => (site: string) => writeFileSync(path.join(site, name), text);
  const inHead = (tag: string) =>
    edited(seeded, (html) => withoutCanonical(html).replace(/<head>/, (head) => head + tag));
  const entry = new RegExp(`<url>\\s*<loc>${home}${listed}</loc>[^]*?</url>`);

  test.each<[string, string, (site: string) => void]>([
    ["page-noindex", "a tag", inHead('<meta name="robots" content="noindex">')],
    ["page-noindex", "a header", added("_headers", `/${listed}\n  X-Robots-Tag: noindex\n`)],
    ["page-canonical-other", "a link", inHead(`<link rel="canonical" href="${home}other">`)],
    ["page-redirect-stub", "a meta refresh", edited(seeded, () => stub("/other"))],
    ["page-redirect-stub", "a script", edited(seeded, () => script('location.replace("/other")'))],
    ["page-redirect", "a line of _redirects", added("_redirects", `/${listed} /other 301!\n`)],
    ["page-missing-file", "a page that was not built", (site) => rmSync(path.join(site, seeded))],
    ["page-not-listed", "a new page", added("added.html", page())],
    ["page-not-listed", "an entry that is gone", edited(sitemap, (xml) => xml.replace(entry, ""))],
    ["url-forbidden", "a listed draft", added("sitegrove.json", JSON.stringify({ forbidden: [`/${listed}`] }))],
    ["address-wrong", "localhost", (site) => moved(site, home, "http://localhost:4321/")],
  ])("gets %s reported once: %s", async (rule, _, seed) => {
    const site = copied();
    seed(site);
    const config = path.join(site, "sitegrove.json");
    const more = existsSync(config) ? ["--config", config] : [];
    const { code, stdout } = await sitegrove(["check", site, "--url", home, "-f", "json", ...more]);
    const findings = JSON.parse(stdout).findings as { rule: string; count: number }[];
    const told = findings.filter((each) => !notes.includes(each.rule)).map((each) => [each.rule, each.count]);
    expect([code, told]).toEqual([6, [[rule, 1]]]);
  });
});
