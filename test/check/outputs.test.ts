// Tests the outputs of `sitegrove check` for programs: against their schemas, several at a time, and on GitHub.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FileLocations } from "../../src/check/findings/file-locations.ts";
import type { CheckFormat } from "../../src/check/findings/formats.ts";
import { pairsOf } from "../../src/cli/commands/check.ts";
import { readCheckConfig } from "../../src/cli/input/check-files.ts";
import { sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { urlset } from "../support/documents.ts";
import { saidOfChecks as said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { sarifSchema } from "./sarif-schema.ts";

const root = path.join(import.meta.dirname, "../..");
const folder = newFolder();
const publicFolder = path.join(folder, "public");
const mapped = ["check", "public", "--map", "https://example.org/=public/"];

const formats = {
  uri: URL.canParse,
  "uri-reference": (text: string) =>
    /^[\w\-.~!$&'()*+,;=:@/?#%]*$/.test(text) &&
    !/%(?![0-9a-f]{2})/i.test(text) &&
    URL.canParse(text, "https://a.example/"),
  "date-time": (text: string) => !Number.isNaN(Date.parse(text)),
};
const isSarif = new Ajv2020({ formats, allErrors: true }).compile(sarifSchema);
const schema = (name: string) => JSON.parse(readFileSync(path.join(root, "schema", name), "utf8"));
const isResult = new Ajv2020({ allErrors: true }).compile(schema("check.json"));
const isConfig = new Ajv2020({ allErrors: true }).compile(schema("config.json"));

const website = await serve({
  "/robots.txt": "Sitemap: {base}/sitemap.xml\nSitemap: {base}/a%20b%C3%A4:c.xml\nSitemap: {base}/gone.xml\n",
  "/sitemap.xml": urlset("{base}/", "{base}/a#b", "https://other.org/\u202ex", "{base}/%zz", "{base}/`|<x>"),
  "/a%20b%C3%A4:c.xml": urlset("{base}/#::error::x%0A", "https://::1/\u001b]0;x\u0007"),
  "/": "home",
});
mkdirSync(path.join(publicFolder, "deep er"), { recursive: true });
writeFileSync(path.join(publicFolder, "robots.txt"), "Sitemap: https://example.org/sitemap.xml\n");
writeFileSync(
  path.join(publicFolder, "sitemap.xml"),
  `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>https://example.org/deep%20er/pages.xml</loc></sitemap>
<sitemap><loc>https://cdn.example.net/pages.xml</loc></sitemap>
</sitemapindex>`,
);
writeFileSync(path.join(publicFolder, "deep er/pages.xml"), urlset("https://example.org/deep%20er/a#b"));

const checked = (words: readonly string[], env: Record<string, string> = {}) => sitegrove(words, { cwd: folder, env });

test("SARIF and text list no example twice, even for a one-line document with long URLs", async () => {
  const long = "x".repeat(3000);
  const entries = Array.from(
    { length: 9 },
    (_, at) => `<url><loc>https://example.org/${long}#${at}</loc><lastmod>31.05.2024</lastmod></url>`,
  );
  const input = urlset(...entries).replaceAll("\n", "");
  const { stdout } = await sitegrove(["check", "-", "-f", "sarif"], { input });
  const sarif = JSON.parse(stdout);
  expect(isSarif(sarif), JSON.stringify(isSarif.errors?.slice(0, 3))).toBe(true);
  const dates = sarif.runs[0].results.find(({ ruleId }: { ruleId: string }) => ruleId === "lastmod-form");
  expect(dates.properties).toMatchObject({ count: 9, examples: [{ line: 1, value: "31.05.2024" }] });
  expect(dates.properties.examples).toHaveLength(1);
});

test("SARIF is valid for a website, for files, and if there are no findings", async () => {
  const empty = await serve({ "/": "home" });
  const [own, nothing] = [website.homepage, empty.homepage].map((homepage) => ["check", homepage, "--no-known"]);
  const unreachable = ["check", "http://127.0.0.1:9/", "--retries", "0"];
  const runs = await Promise.all(
    [own!, mapped, nothing!, unreachable].map((words) => checked([...words, "-f", "sarif"])),
  );
  for (const { stdout } of runs) {
    const document = JSON.parse(stdout);
    expect(isSarif(document), JSON.stringify(isSarif.errors)).toBe(true);
    const [{ results, tool, originalUriBaseIds, invocations }] = document.runs;
    const notes = invocations[0].toolExecutionNotifications.map(({ message }: { message: { text: string } }) =>
      message.text.replace(/^(Not checked, because .*): .*/, "$1"),
    );
    expect(notes, "one note for each reason").toEqual([...new Set(notes)]);
    for (const { ruleId, ruleIndex, partialFingerprints, locations } of results) {
      expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
      expect(partialFingerprints.primaryLocationLineHash).toMatch(/^[0-9a-f]{16}:1$/);
      const { uri, uriBaseId } = locations[0].physicalLocation.artifactLocation;
      expect(uri).not.toMatch(/^\w+:/);
      if (uriBaseId !== "%SRCROOT%") expect(originalUriBaseIds[uriBaseId].uri).toMatch(/^http:.*\/$/);
    }
    const hashes = results.map((result: { partialFingerprints: object }) => JSON.stringify(result.partialFingerprints));
    expect(new Set(hashes).size).toBe(hashes.length);
  }
  const { results } = JSON.parse(runs[1]?.stdout ?? "").runs[0];
  const artifactLocation = { uri: "public/deep%20er/pages.xml", uriBaseId: "%SRCROOT%" };
  const physicalLocation = expect.objectContaining({ artifactLocation });
  expect(results.map(({ locations }: { locations: object[] }) => locations[0])).toContainEqual(
    expect.objectContaining({ physicalLocation }),
  );
});

test("SARIF locates a sitemap by a relative reference, whatever its URL", () => {
  const unit = fc.constantFrom(..."aä%2F0Z:/?#[]@!$&'()*+,;= \"<>\\^`{|}\ud800\u202e");
  const base = fc.constantFrom("https://example.org/", "https://example.org/b/", "http://o.org", "nothing");
  const folders = fc.constantFrom([], [{ url: "https://example.org/", path: path.join(process.cwd(), "pub lic") }]);
  fc.assert(
    fc.property(base, fc.string({ unit, maxLength: 20 }), folders, (start, rest, mapping) => {
      const { uri } = new FileLocations(mapping).of(start + rest);
      expect(uri).toMatch(/^(?!\/\/|[a-z][a-z0-9+.-]*:)(?:[\w\-.~!$&'()*+,;=:@/?]|%[0-9a-f]{2})+$/i);
    }),
    { numRuns: 2000 },
  );
});

test("SARIF locates a file without a URL by its name", async () => {
  const { stdout } = await checked(["check", "public/sitemap.xml", "-f", "json", "--fail-on", "never"]);
  expect(JSON.parse(stdout).homepage).toBe("public/sitemap.xml");
  expect(stdout).not.toContain("local.invalid/");
  const file = path.join("public", "deep er", "pages.xml");
  const sarif = JSON.parse((await checked(["check", file, "-f", "sarif"])).stdout);
  expect(isSarif(sarif), JSON.stringify(isSarif.errors)).toBe(true);
  expect(sarif.runs[0].results[0].locations[0].physicalLocation.artifactLocation).toEqual({
    uri: "public/deep%20er/pages.xml",
    uriBaseId: "%SRCROOT%",
  });
});

test("JSON is valid, and lists the rules that were not checked", async () => {
  const { code, stdout } = await checked([...mapped, "-f", "json", "--fail-on", "never"]);
  const { complete, notChecked } = JSON.parse(stdout);
  expect(isResult(JSON.parse(stdout)), JSON.stringify(isResult.errors)).toBe(true);
  expect(complete).toBe(false);
  expect(notChecked.map(({ rule }: { rule: string }) => rule)).toContain("homepage-unlisted");
  expect(code).toBe(3);
});

const known = { rule: "url-fragment", reason: "known" };
test.each<[config: object, isRight: boolean]>([
  [{}, true],
  [{ $schema: "x", rules: { "url-fragment": "off" }, failOn: "never", agents: ["Googlebot"], engines: ["bing"] }, true],
  [{ crossSubmit: ["a.org"], ignore: [{ ...known, date: "2026-01-01", until: "2027-01-01" }] }, true],
  [{ ignore: [{ ...known, sitemap: "https://example.org/*" }] }, true],
  [{ rule: {} }, false],
  [{ rules: { "url-fragmnt": "off" } }, false],
  [{ rules: { "url-fragment": "fatal" } }, false],
  [{ failOn: "errors" }, false],
  [{ engines: ["altavista"] }, false],
  [{ ignore: [{ rule: "url-fragment" }] }, false],
  [{ ignore: [{ ...known, untill: "2027-01-01" }] }, false],
  [{ agents: "Googlebot" }, false],
  [[], false],
])("the schema and the program agree about sitegrove.json %j", (config, isRight) => {
  expect(isConfig(config), JSON.stringify(isConfig.errors)).toBe(isRight);
  const file = path.join(mkdtempSync(path.join(folder, "config-")), "sitegrove.json");
  writeFileSync(file, JSON.stringify(config));
  if (isRight) expect(readCheckConfig(file)).toBeDefined();
  else expect(() => readCheckConfig(file)).toThrow(file);
});

test.each<[words: string, chosen: string[] | string]>([
  ["", ["text"]],
  ["-f json", ["json"]],
  ["-o a", ["text a"]],
  ["-o a -f json", ["json a"]],
  ["-f sarif -o a -f json -o b", ["sarif a", "json b"]],
  ["-f text -f json -o b", ["text", "json b"]],
  ["-f json -o b -f text", ["json b", "text"]],
  ["-f json -o a -o b", "each -o"],
  ["-f json -f text", "standard output"],
])("each -f applies to the -o next to it: %j", (words, chosen) => {
  const given = [...words.matchAll(/-(f|o) (\w+)/g)].map(([, flag, value = ""]) =>
    flag === "f" ? { format: value as CheckFormat } : { file: value },
  );
  if (typeof chosen === "string") expect(() => pairsOf(given)).toThrow(chosen);
  else expect(pairsOf(given).map(({ format, file = "" }) => `${format} ${file}`.trim())).toEqual(chosen);
});

test("one check writes several formats, each to its own file", async () => {
  const words = ["check", website.homepage, "-f", "sarif", "-o", "a.sarif", "-f", "text", "-f", "json", "-o", "a.json"];
  const { code, stdout } = await checked(words);
  expect(code).toBe(6);
  expect(stdout).toContain("url-fragment");
  expect(isSarif(JSON.parse(readFileSync(path.join(folder, "a.sarif"), "utf8")))).toBe(true);
  expect(isResult(JSON.parse(readFileSync(path.join(folder, "a.json"), "utf8")))).toBe(true);
  expect((await checked(words)).code).toBe(2);
});

test("annotations name files, and the step summary has every finding", async () => {
  const summary = path.join(folder, "summary.md");
  writeFileSync(summary, "before\n");
  const { stdout } = await checked([...mapped, "-f", "github"], { GITHUB_STEP_SUMMARY: summary });
  expect(stdout).toMatch(/^::warning file=public\/deep er\/pages.xml,line=\d+,title=url-fragment::/m);
  expect(readFileSync(summary, "utf8")).toMatch(/^before\n# Check of [\s\S]*url-fragment/);
  const hostile = await checked(["check", website.homepage, "-f", "github"], { GITHUB_STEP_SUMMARY: "/not/there" });
  expect(
    hostile.stdout.split("\n").filter((line) => /^::(?!(error|warning|notice) title=[\w-]+::)/.test(line)),
  ).toEqual([]);
  expect(hostile.stdout).not.toMatch(/[\u001b\u0007\u202e]/);
  expect(hostile.stderr).toContain(said.noStepSummary);
});

test("-o - is standard output", () => {
  expect(pairsOf([{ format: "json" }, { file: "-" }])).toEqual([{ format: "json", file: undefined }]);
});
