// `sitegrove check` as a person or a script runs it.
import { execFileSync } from "node:child_process";
import { chownSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/cli/exit-codes.ts";
import { readBaseline } from "../../src/cli/input/check-files.ts";
import { sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { blocksOf, pages } from "../docs/pages.ts";
import { index, urlset } from "../support/documents.ts";
import { saidOfChecks as said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();

const website = await serve({
  "/robots.txt": "Sitemap: {base}/sitemap.xml\n",
  "/sitemap.xml": urlset("{base}/", "{base}/a#b", "https://other.org/\u202ex"),
  "/": "home",
});
mkdirSync(path.join(folder, "public"));
writeFileSync(path.join(folder, "secret.xml"), urlset("https://example.org/secret"));
symlinkSync(path.join(folder, "secret.xml"), path.join(folder, "public/link.xml"));
writeFileSync(
  path.join(folder, "public/robots.txt"),
  "Sitemap: https://example.org/sitemap.xml\nSitemap: https://example.org/link.xml\n",
);
writeFileSync(path.join(folder, "public/sitemap.xml"), urlset("https://example.org/", "https://example.org/a#b"));

const rulesIn = (json: string, list = "findings"): string[] =>
  JSON.parse(json)[list].map(({ rule }: { rule: string }) => rule);

test("check prints a verdict and findings, each with a fix and a link, and exits with 6", async () => {
  const { code, stdout, stderr } = await sitegrove(["check", website.homepage]);
  expect(code).toBe(6);
  expect(stdout).toContain("1 error, 1 warning");
  expect(stdout).toContain("url-other-host");
  expect(stdout).toContain("Fix: Remove the fragment.");
  expect(stdout).not.toContain("\u202e");
  expect(stderr).toContain(said.failedOnError);
});

test("the reason why a website cannot be reached comes before its findings", async () => {
  const terminal = { columns: 80 };
  const { stdout } = await sitegrove("check http://127.0.0.1:1/ --retries 0", { terminal });
  expect(stdout).toMatch(/Nothing could be read[\s\S]*robots-unreachable/);
});

test("what was lost of a file without a URL is said of its name", async () => {
  const file = path.join(folder, "cut-off.xml");
  writeFileSync(file, urlset("https://example.org/").replace("</urlset>", ""));
  const { stdout, stderr } = await sitegrove(["check", file]);
  expect(stderr).toContain(`sitegrove: ${file}: `);
  expect(stdout + stderr).not.toContain("local.invalid");
});

test("relative URLs in a file without a URL are shown as the file says them", async () => {
  const file = path.join(folder, "relative.xml");
  const date = "<lastmod>2999-01-01</lastmod>";
  writeFileSync(
    file,
    urlset(...["a?utm_source=x", "/b?utm_source=x", "/"].map((url) => `<url><loc>${url}</loc>${date}</url>`)),
  );
  const { stdout, stderr } = await sitegrove(["check", file, "-v", "-f", "ndjson"]);
  const urls = stdout.split("\n").flatMap((line) => (line.includes("future") ? [JSON.parse(line).url] : []));
  expect(urls).toEqual(["a?utm_source=x", "/b?utm_source=x", "/"]);
  const json = await sitegrove(["check", file, "-f", "json"]);
  const sitemaps = path.join(folder, "relative-index.xml");
  writeFileSync(sitemaps, index("child.xml"));
  const ofIndex = await sitegrove(["check", sitemaps, "-v", "-f", "json"]);
  expect(ofIndex.stdout).toContain("every sitemap is needed, and child.xml could not be read");
  expect(ofIndex.stderr).toContain("problem child.xml not-local");
  for (const said of [stdout, stderr, json.stdout, json.stderr, ofIndex.stdout, ofIndex.stderr])
    expect(said).not.toContain("local.invalid");
});

test("--fail-on decides the exit code", async () => {
  const codes = ["never", "error", "warning"].map(async (level) => {
    const { code } = await sitegrove(["check", website.homepage, "--off", "url-other-host", "--fail-on", level]);
    return code;
  });
  expect(await Promise.all(codes)).toEqual([0, 0, 6]);
});

test("JSON is one document; two checks of one archive give the same bytes", async () => {
  const archive = path.join(folder, "site.warc.gz");
  await sitegrove(["ls", website.homepage, "--save", archive]);
  const [one, two] = await Promise.all([1, 2].map(() => sitegrove(["check", archive, "-f", "json"])));
  expect(one?.stdout).toBe(two?.stdout);
  const document = JSON.parse(one?.stdout ?? "");
  expect(document.findings).toContainEqual({
    rule: "url-fragment",
    severity: "warning",
    sitemap: `${website.homepage}sitemap.xml`,
    count: 1,
    examples: [expect.objectContaining({ url: `${website.homepage}a#b` })],
  });
  expect(document.rules.map((rule: { id: string }) => rule.id)).toContain("url-fragment");
});

test("a folder is read without the network, and nothing outside of it is read", async () => {
  const place = path.join(folder, "public");
  const words = ["check", place, "--map", `https://example.org/=${place}`, "-f", "json"];
  const { code, stdout, stderr } = await sitegrove(words);
  expect(code).toBe(3);
  expect(stderr).toContain(said.outsideFolder("link.xml"));
  expect(rulesIn(stdout)).toContain("url-fragment");
  expect(stdout).not.toContain("example.org/secret");
});

test("rules about the location of a file are skipped if its URL is unknown", async () => {
  const file = path.join(folder, "public/sitemap.xml");
  const { stdout } = await sitegrove(["check", file, "-f", "json"]);
  expect(rulesIn(stdout, "notChecked")).toContain("url-other-host");
  expect(rulesIn(stdout)).not.toContain("url-other-host");
  const words = ["check", "-", "--url", "https://other.org/sitemap.xml", "-f", "json"];
  const given = await sitegrove(words, { input: readFileSync(file) });
  expect(rulesIn(given.stdout)).toContain("url-other-host");
});

test("check, report, --fail-on and JSON agree on the number of findings and occurrences", async () => {
  const site = await serve({
    "/robots.txt": "Sitemap: {base}/1.xml\nSitemap: {base}/2.xml\n",
    "/1.xml": urlset("{base}/a#1", "{base}/a#2", "https://other.org/1"),
    "/2.xml": urlset("{base}/b#1", "https://other.org/2", "https://other.org/3"),
  });
  const off = ["--off", "lastmod-missing", "--no-known", "--no-homepage"];
  const run = (...words: string[]) => sitegrove([...words, site.homepage, ...off]);
  const [text, json, report] = [
    await run("check", "--fail-on", "warning"),
    JSON.parse((await run("check", "-f", "json")).stdout),
    JSON.parse((await run("report", "--json")).stdout),
  ];
  const all = { rulesFailed: { error: 1, warning: 1, info: 0 }, occurrences: { error: 3, warning: 3, info: 0 } };
  expect(json).toMatchObject(all);
  expect(report).toMatchObject(all);
  for (const words of [text.stdout, text.stderr, json.verdict, report.verdict])
    expect(words).toContain(said.sixOccurrences);
});

test("sitegrove.json is also found in parent folders, and errors in it are reported", async () => {
  const place = path.join(folder, "configured/below");
  mkdirSync(place, { recursive: true });
  const file = path.join(folder, "configured/sitegrove.json");
  const words = ["check", "-", "-f", "json"];
  const input = urlset("https://example.org/a#b");
  const rules = { "url-fragment": "error", "lastmod-missing": "off" };
  writeFileSync(file, JSON.stringify({ rules, failOn: "error" }));
  const found = await sitegrove(words, { cwd: place, input });
  expect(found).toMatchObject({ code: 6, stderr: expect.stringContaining(said.configuration("../sitegrove.json")) });
  expect(JSON.parse(found.stdout).findings).toMatchObject([{ rule: "url-fragment", severity: "error" }]);
  writeFileSync(file, JSON.stringify({ failon: "error" }));
  const mistaken = await sitegrove(words, { cwd: place, input });
  expect(mistaken.code).toBe(2);
  expect(mistaken.stderr).toContain(said.meantFailOn);
});

test.each([
  ["check", "text", "--all"],
  ["check", "markdown", "--all"],
  ["parse", "pages"],
  ["parse", "json"],
  ["parse", "ndjson"],
])("%s -f %s cannot give commands to GitHub's runner", async (command, format, ...flags) => {
  const input = urlset("https://example.org/##[add-mask]a", "https://example.org/#::stop-commands::a");
  const words = [command, "-", "-f", format, ...flags];
  const elsewhere = await sitegrove(words, { input, env: { GITHUB_ACTIONS: "" } });
  expect(elsewhere.stdout).toContain("##[add-mask]a");
  const { stdout } = await sitegrove(words, { input, env: { GITHUB_ACTIONS: "true" } });
  expect(stdout).toContain("\\u0023#[add-mask]a");
  expect(stdout).not.toMatch(/##\[|^\s*::/m);
});

test.runIf(process.getuid?.() === 0)(
  "a sitegrove.json that belongs to another user or is a pipe is ignored, with a warning",
  async () => {
    const place = path.join(folder, "strange/below");
    mkdirSync(place, { recursive: true });
    const file = path.join(folder, "strange/sitegrove.json");
    const check = () => sitegrove(["check", "-"], { cwd: place, input: urlset("https://example.org/a#b") });
    const plain = await check();
    writeFileSync(file, '{"failOn":"info"}');
    expect((await check()).code).toBe(6);
    chownSync(file, 1234, 1234);
    const { code } = plain;
    expect(await check()).toMatchObject({ code, stderr: expect.stringContaining(said.ofAnotherUser) });
    rmSync(file);
    execFileSync("mkfifo", [file]);
    expect(await check()).toMatchObject({ code, stderr: expect.stringContaining(said.notRegularFile) });
    // A configuration above the repository is not used, either.
    mkdirSync(path.join(place, ".git"));
    expect(await check()).toEqual(plain);
    expect(plain.code).toBe(0);
  },
);

test.skipIf(process.platform === "win32")("a pipe in place of _redirects is not read", async () => {
  const place = path.join(folder, "pipe");
  mkdirSync(place);
  writeFileSync(path.join(place, "sitemap.xml"), urlset("https://example.org/"));
  execFileSync("mkfifo", [path.join(place, "_redirects")]);
  expect((await sitegrove(["check", place, "--url", "https://example.org/", "--fail-on", "never"])).code).toBe(0);
});

test("a baseline hides known findings, and fails when a new occurrence appears", async () => {
  const file = path.join(folder, "baseline.json");
  const words = ["check", "-", "-f", "json", "--fail-on", "warning", "--baseline", file];
  const one = urlset("https://example.org/a#b");
  expect((await sitegrove(words, { input: one })).code).toBe(2);
  expect((await sitegrove([...words, "--update-baseline"], { input: one })).code).toBe(0);
  const same = await sitegrove(words, { input: one });
  expect([same.code, JSON.parse(same.stdout)]).toEqual([
    0,
    expect.objectContaining({
      findings: [],
      known: 2,
      verdict: "No new findings (2 occurrences in the baseline) in 1 sitemap with 1 page.",
    }),
  ]);
  const more = await sitegrove(words, { input: urlset("https://example.org/a#b", "https://example.org/c#d") });
  expect(more.code).toBe(6);
  const [finding] = JSON.parse(more.stdout).findings;
  expect(finding).toMatchObject({ count: 1, known: 1, examples: [{ url: "https://example.org/c#d" }] });
  // The count is the same, but the occurrence is another one.
  const moved = await sitegrove(words.toSpliced(3, 1, "text"), { input: urlset("https://example.org/c#d") });
  expect([moved.code, moved.stdout]).toEqual([6, expect.stringContaining("line 1: https://example.org/c#d")]);
  const fewer = await sitegrove(words, { input: urlset("https://example.org/a") });
  expect(fewer.code).toBe(0);
  expect(fewer.stderr).toContain(said.baselineOutdated);
  // The new file is written beside the old one and renamed, so nobody can read half of it.
  const before = readFileSync(file, "utf8");
  linkSync(file, `${file}.old`);
  await sitegrove([...words, "--update-baseline"], { input: urlset("https://example.org/a") });
  expect(readFileSync(`${file}.old`, "utf8")).toBe(before);
  expect(readFileSync(file, "utf8")).not.toBe(before);
});

test("what could not be read changes the exit code only if that is not in the baseline", async () => {
  const routes: Record<string, string> = {
    "/robots.txt": "Sitemap: {base}/a.xml\nSitemap: {base}/dead.xml\nSitemap: {base}/cut.xml\n",
    "/a.xml": urlset("{base}/a"),
    "/cut.xml": urlset("{base}/cut").replace("</urlset>", ""),
  };
  const partial = await serve(routes);
  const file = path.join(folder, "dead.json");
  const words = ["check", partial.homepage, "--no-known", "--baseline", file];
  const run = async (...more: string[]) => (await sitegrove([...words, ...more])).code;
  // The new baseline is itself not complete.
  expect(await run("--update-baseline")).toBe(3);
  expect(await run()).toBe(0);
  const { stdout } = await sitegrove([...words, "-f", "json"]);
  expect(JSON.parse(stdout)).toMatchObject({ complete: false, findings: [] });
  expect(await run("--max-time", "1ms")).not.toBe(0);
  delete routes["/a.xml"];
  expect([await run("--fail-on", "never"), await run()]).toEqual([3, 6]);
});

test("if a finding does not list its occurrences, its baseline fails when their share grows", async () => {
  const file = path.join(folder, "share.json");
  const words = ["check", "-", "--fail-on", "info", "--baseline", file];
  const lastmod = (at: number) => `<lastmod>2026-01-01T0${at}:00:00Z</lastmod>`;
  const page = (at: number, dated: number) =>
    `<loc>https://example.org/${at}</loc>${at < dated ? lastmod(at) : "<lastmod>soon</lastmod>"}`;
  const pages = (dated: number, undated: number) =>
    urlset(...Array.from({ length: dated + undated }, (_, at) => `<url>${page(at, dated)}</url>`));
  const outcome = async (input: string) => {
    const { code, stdout } = await sitegrove(words, { input });
    return [code, /\d+ new of \d+ occurrences/.exec(stdout)?.[0]];
  };
  await sitegrove([...words, "--update-baseline"], { input: pages(2, 6) });
  expect(await outcome(pages(4, 12))).toEqual([0, undefined]);
  expect(await outcome(pages(1, 5))).toEqual([0, undefined]);
  expect(await outcome(pages(2, 12))).toEqual([6, "2 new of 12 occurrences"]);
});

test("a file that is not a baseline is a usage error; a byte order mark is ignored", () => {
  const file = path.join(folder, "odd-baseline.json");
  const read = (text: string) => {
    writeFileSync(file, text);
    return readBaseline(file);
  };
  const findings = (value: unknown) => JSON.stringify({ version: 2, findings: value });
  const entries = { "https://example.org/a.xml": { "url-invalid": { count: 2, places: [] } } };
  expect(read(`\ufeff${findings(entries)}`)).toEqual(entries);
  for (const text of [
    ...["", "null", "[]", "{}", "5", '"x"', '{"version":3,"findings":{}}'],
    ...[null, [], 5, { x: null }, { x: 5 }, { x: [] }].map(findings),
    ...["many", null, -1, 0.5, {}].map((count) => findings({ x: { "url-invalid": { count } } })),
  ]) {
    expect(() => read(text), text).toThrow(UsageError);
  }
});

// Runs the commands of the recipes for GitHub Actions and pre-commit, on a static site in the folder.
describe("recipes", async () => {
  const place = path.join(folder, "recipes");
  const commands = pages
    .flatMap(blocksOf)
    .filter(({ language }) => language === "yaml")
    .flatMap(({ code }) => [...code.matchAll(/(?:run|entry): npx (?:--no-install )?sitegrove (check .*)$/gm)])
    .map(([, words = ""]) => words);

  const served = await serve({
    "/robots.txt": "Sitemap: {base}/sitemap.xml\n",
    "/sitemap.xml": urlset("{base}/", "{base}/a"),
    "/": "home",
    "/a": "a",
  });
  mkdirSync(path.join(place, "public"), { recursive: true });
  writeFileSync(path.join(place, "public/robots.txt"), "Sitemap: https://example.org/sitemap.xml\n");
  for (const name of ["index", "a"]) writeFileSync(path.join(place, `public/${name}.html`), "<title>home</title>");

  const run = (words: string) =>
    sitegrove(words.replaceAll(/(?<=^check )https:\/\/example\.org\//g, served.homepage).split(" "), {
      cwd: place,
      env: { GITHUB_STEP_SUMMARY: path.join(place, "summary.md") },
    });

  test("there are recipes for a built website, a served one and a Git hook", () => {
    expect(commands).toHaveLength(3);
  });

  test.each(commands)("sitegrove %s works as the recipe says", async (words) => {
    const built = (...urls: string[]) => writeFileSync(path.join(place, "public/sitemap.xml"), urlset(...urls));
    if (words.includes("--baseline")) await run(`${words} --update-baseline`);
    built("https://example.org/", "https://example.org/a");
    const good = await run(words);
    expect(good.code, good.stdout + good.stderr).toBe(0);
    if (words.includes("public/")) {
      built("https://example.org/", "https://staging.example.com/a");
      const bad = await run(words);
      expect(bad.code, bad.stdout + bad.stderr).toBe(6);
      expect(bad.stdout).toContain("url-private-host");
    }
    if (words.includes("sarif")) {
      const { runs } = JSON.parse(readFileSync(path.join(place, "sitemaps.sarif"), "utf8"));
      expect(runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe("public/sitemap.xml");
      expect(readFileSync(path.join(place, "summary.md"), "utf8")).toContain("url-private-host");
    }
  });
});
