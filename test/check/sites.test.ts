// Checks every website of test/fixtures/sites twice, in all formats, and expects the same output. Findings, outputs and time are bounded
// even for hostile websites.

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { checkTree } from "../../src/check/check-tree.ts";
import { FileLocations } from "../../src/check/findings/file-locations.ts";
import { Findings, SitemapFindings } from "../../src/check/findings/findings.ts";
import { checkFormats, isRowFormat, writeCheck } from "../../src/check/findings/formats.ts";
import { ruleOf } from "../../src/check/findings/problem-rules.ts";
import { type CheckResult, tally } from "../../src/check/findings/result.ts";
import { checkRules } from "../../src/check/rules/rule-table.ts";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import { problem, problemRows } from "../../src/model/problem.ts";
import type { Sitemap } from "../../src/model/sitemap.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { some } from "../support/long.ts";
import { home, robots, site, urlset } from "../support/site.ts";
import { parseSiteFile } from "../support/site-file.ts";

const folder = path.join(import.meta.dirname, "../fixtures/sites");
const schema = JSON.parse(readFileSync(path.join(import.meta.dirname, "../../schema/check.json"), "utf8"));
const isResult = new Ajv2020().compile(schema);
const now = "2026-06-15T12:00:00Z";
// Trying hundreds of well-known paths would take most of the time.
const crawl = { retries: 0, knownPaths: "if-needed" } as const;

type Routes = Parameters<typeof site>[0];

async function checked(routes: Routes, options: object = {}): Promise<CheckResult> {
  await using tree = await sitemapTreeForHomepage(home, { client: site(routes).client, ...crawl, ...options });
  return await checkTree(tree, { now });
}

const written = (result: CheckResult, all = false) =>
  checkFormats
    .filter((format) => !isRowFormat(format))
    .map((format) => writeCheck(result, { format, all, color: false, places: new FileLocations([]) }));

describe.each(readdirSync(folder))("%s", (file) => {
  const { routes, options } = parseSiteFile(readFileSync(path.join(folder, file), "utf8"));

  test("two checks give the same valid output, and a partial read makes no claim that needs a complete one", async () => {
    await using tree = await sitemapTreeForHomepage(home, { client: site(routes).client, ...crawl, ...options });
    const result = await checkTree(tree, { now });
    const texts = written(result, true);
    expect(written(await checkTree(tree, { now }), true)).toEqual(texts);
    expect(isResult(JSON.parse(texts[1] as string)), JSON.stringify(isResult.errors)).toBe(true);
    for (const text of texts)
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    const judged = new Set(result.findings.map(({ rule }) => rule));
    if (!result.complete) {
      const needy = checkRules.filter(({ needs }) => needs?.includes("complete") && !needs.includes("files"));
      const ids = needy.map(({ id }) => id);
      expect(ids.filter((id) => judged.has(id))).toEqual([]);
      expect(result.notChecked.map(({ rule }) => rule)).toEqual(expect.arrayContaining(ids));
    }
  });
});

// Problems of our own limits and files, and those that come with another problem.
const unsaid =
  /^(?:limit|archive|homepage|known-path)-|^(?:https-missing|robots-unknown|not-local|proxy-failed|proxy-refused|client-failed|url-damaged|xml-doctype|no-entries|sitemap-ignored|crawl-delay|body-no-length|feed-next|image-license)$/;

test("every problem of a website belongs to a rule; problems with our own limits and files do not", () => {
  const sitemaps = (code: string): Sitemap[] => [
    { kind: "invalid", url: home, reason: problem(code as "empty", { value: "html" }) },
    ...(["website", "robots", "xml"] as const).map(
      (format) => ({ kind: "index", format, url: home, complete: true, problems: [], children: [] }) as Sitemap,
    ),
    { kind: "pages", format: "xml", url: home, complete: true, problems: [], pageCount: 0 },
    { kind: "pages", format: "text", url: home, complete: true, problems: [], pageCount: 0 },
  ];
  const ids = new Set<string>(checkRules.map(({ id }) => id));
  const silent = [...problemRows.keys()].filter((code) => {
    const rules = sitemaps(code).map((sitemap) => ruleOf(problem(code, { value: "html" }), sitemap));
    expect(rules.filter((rule) => rule !== undefined && !ids.has(rule))).toEqual([]);
    return rules.every((rule) => rule === undefined);
  });
  expect(
    silent.filter((code) => !unsaid.test(code)),
    "name it in a rule of src/check/rules/, or in `unsaid`",
  ).toEqual([]);
});

test("a heuristic is never an error; every rule has a sentence, a fix and a link", () => {
  for (const { id, basis, severity, sentence, fix, link } of checkRules) {
    if (basis === "heuristic") expect(severity, id).not.toBe("error");
    expect(sentence, id).toMatch(/^[A-Z\w`].*[.!]$/);
    expect(fix, id).toMatch(/^[A-Z`].*[.!]$/);
    expect(link, id).toMatch(/^https:\/\//);
  }
});

describe("a hostile website", () => {
  const size = Number(process.env["SITEGROVE_HOSTILE"] ?? some(3000, 500));

  test("whose URLs of 100 kB have many faults gets a short output", async () => {
    const long = `https://u:p@other.test/${"%zz//\u202e\u001b]0;x\u0007 ä?utm_a=1&PHPSESSID=".repeat(2500)}`;
    const routes = { "/robots.txt": robots("/s.xml"), "/s.xml": urlset(...many(some(50), (number) => long + number)) };
    const texts = written(await checked(routes, { limits: withFixedLimits({ urlLength: 200_000 }) }), true);
    for (const text of texts) {
      expect(text.length).toBeLessThan(3_000_000);
      expect(text).not.toMatch(/[\u001b\u0007\u202e]/);
    }
    expect(texts.join("").includes("u:p@")).toBe(false);
  });

  test("with different faults on every page has them counted, but not kept in memory", async () => {
    const entries = many(
      size,
      (number) =>
        `<url><loc>http://h${number}.example/${number}#${number}</loc><lastmod>1970-01-01T00:00:0${number % 10}Z</lastmod>` +
        `<xhtml:link rel="alternate" hreflang="x${number}" href="/${number}"/></url>`,
    );
    const routes = {
      "/robots.txt": robots("/s.xml"),
      "/s.xml": `<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml">${entries.join("")}</urlset>`,
    };
    const result = await checked(routes);
    expect(result.findings.find(({ rule }) => rule === "url-fragment")?.count).toBe(size);
    expect(result.findings.length).toBeLessThan(60);
    expect(JSON.stringify(result).length).toBeLessThan(500_000);
  });

  test("with a fault in each of very many sitemaps gets a bounded number of findings", async () => {
    // The first thousand sitemaps have their own findings.
    const count = 1010;
    const all = new Findings(() => "warning");
    for (const place of many(count, (number) => `${home}${number}.xml`)) {
      const findings = new SitemapFindings(all, place);
      findings.add("url-fragment", `${home}a#b`);
      // A sitemap with two occurrences still counts once.
      all.count("url-fragment", place, 1);
    }
    const own = [...all.drafts()].map(({ room: _, ...finding }) => finding);
    expect(own).toHaveLength(1001);
    expect(own.reduce((sum, finding) => sum + finding.count, 0)).toBe(2 * count);
    expect(own.at(-1)?.otherSitemaps).toBe(count - 1000);
    const result = { ...(await checked({})), findings: own, ...tally(own) };
    const inWords = (number: number) => number.toLocaleString("en-US");
    const [text = ""] = written(result);
    expect(text).toContain(`${inWords(2 * count)} occurrences in ${inWords(count)} sitemaps`);
    expect(text.length).toBeLessThan(20_000);
  });
});

function many(count: number, make: (number: number) => string): string[] {
  return Array.from({ length: count }, (_, number) => make(number));
}

test("the only finding about an unreachable website is that it is unreachable", async () => {
  const client = { request: async () => problem("connection-refused") };
  await using tree = await sitemapTreeForHomepage(home, { client, retries: 0 });
  const result = await checkTree(tree, { now });
  expect(result.findings.map(({ rule }) => rule)).toEqual(["robots-unreachable"]);
  expect(result.notChecked).toContainEqual({ rule: "sitemap-none", reason: "robots.txt could not be read" });
  expect(written(result)[0]).toContain("1 error (1 occurrence): there is no sitemap to check.");
});
