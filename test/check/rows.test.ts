// Tests that every occurrence is a row, in the library and in the formats of the program.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { checkTree } from "../../src/check/check-tree.ts";
import { Baseline } from "../../src/check/findings/baseline.ts";
import type { Occurrence } from "../../src/check/findings/occurrence-rows.ts";
import { streamOccurrences } from "../../src/check/occurrences.ts";
import type { CheckOptions } from "../../src/check/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { some } from "../support/long.ts";
import { parquetRows } from "../support/parquet.ts";
import { type Route, site } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";
import { dated, entry, files, home, index, sitemap } from "./cases/case.ts";

const folder = newFolder();

async function listed(routes: Readonly<Record<string, Route>>, options: CheckOptions = {}) {
  await using tree = await sitemapTreeForHomepage(home, { client: site(routes).client, knownPaths: "never" });
  const rows: Occurrence[] = [];
  const all = streamOccurrences(tree, { now: "2026-06-15", ...options });
  let step = await all.next();
  for (; !step.done; step = await all.next()) rows.push(step.value);
  return { rows, result: step.value };
}

const many = some(3000, 1000);
const numbers = Array.from({ length: many }, (_, number) => number);
const alternate = (url: string) => `<xhtml:link rel="alternate" hreflang="de" href="${url}"/>`;
/** Fails one rule of each kind, with more occurrences than a finding has examples. */
const { routes } = files({
  "/sitemap.xml": index("/fragments.xml", "/dates.xml", "/one.xml", "/two.xml", "/links.xml"),
  "/fragments.xml": sitemap(...numbers.map((number) => `/f${number}#x`)),
  "/dates.xml": sitemap(...numbers.map((number) => dated(`${home}d${number}`, `${number}. Mai`))),
  "/one.xml": sitemap(...numbers.map((number) => `/same/${number}`)),
  "/two.xml": sitemap(...numbers.map((number) => (number % 2 === 0 ? `/same/${number}` : `/Same/${number}`))),
  "/links.xml": sitemap(...numbers.map((number) => entry(`/l${number}`, alternate(`${home}f${number}#x`)))),
});

test("every occurrence is exactly one row, with its line number", async () => {
  const { rows, result } = await listed(routes);
  const counts = new Map<string, number>();
  for (const { rule, severity, sitemap } of rows) {
    const key = `${rule} ${severity} ${sitemap}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const expected = result.findings.map(({ rule, severity, sitemap, count }) => [
    `${rule} ${severity} ${sitemap}`,
    count,
  ]);
  expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(expected));
  const of = (rule: string) => rows.filter((row) => row.rule === rule);
  expect(of("url-fragment").map(({ url }) => url)).toEqual(numbers.map((number) => `${home}f${number}#x`));
  const lines = (rule: string) => {
    const [first, ...others] = of(rule).map(({ line = 0 }) => line);
    return [0, ...others.map((line) => line - (first ?? 0))];
  };
  expect(lines("url-fragment")).toEqual(numbers);
  expect(lines("lastmod-invalid")).toEqual(numbers);
  expect(lines("hreflang-no-return")).toEqual(numbers);
  expect(lines("url-duplicate")).toEqual(numbers.filter((number) => number % 2 === 0));
  const variants = of("url-variants");
  expect(variants.map(({ url, value }) => [url, value])).toEqual(
    numbers.filter((number) => number % 2 === 1).map((number) => [`${home}Same/${number}`, `${home}same/${number}`]),
  );
  expect(variants[7]?.line).toBe(of("url-duplicate")[7]!.line! + 1);
  expect(rows.every(({ message }) => message.length > 10)).toBe(true);
});

test("the rows about a page have the same order in every run", async () => {
  // Each page has four links without return links. The joins find them in a random order.
  const languages = ["de", "fr", "it", "nl"];
  const link = (language: string, at: number) =>
    `<xhtml:link rel="alternate" hreflang="${language}" href="${home}${language}${at}"/>`;
  const pages = numbers
    .slice(0, 50)
    .flatMap((at) => [
      entry(`/en${at}`, languages.map((language) => link(language, at)).join("")),
      ...languages.map((language) => `/${language}${at}`),
    ]);
  const { rows } = await listed(files({ "/sitemap.xml": sitemap(...pages) }).routes);
  const values = rows.filter(({ rule }) => rule === "hreflang-no-return").map(({ value }) => value);
  expect(values).toEqual(numbers.slice(0, 50).flatMap((at) => languages.map((language) => `${home}${language}${at}`)));
});

test("a row about a field of an entry names the page, even in a one-line document, unless the entry has no URL", async () => {
  const image = "<image:image><image:loc>http://[</image:loc></image:image>";
  const entries = [
    dated(`${home}a`, "soon"),
    `<url><lastmod>never</lastmod></url>`,
    dated(`${home}b`, "2026-06-01"),
    `<url><lastmod>later</lastmod><loc>${home}c</loc><priority>9</priority>${image}</url>`,
    dated(`${home}a`, "2026-06-01"),
    dated("http://[", "once"),
    dated(`${home}d`, "31.05.2024"),
  ];
  const { rows, result } = await listed(files({ "/sitemap.xml": sitemap(...entries).replaceAll("\n", "") }).routes);
  const of = (rule: string) => rows.filter((row) => row.rule === rule).map(({ url, value }) => [url, value]);
  expect(of("lastmod-invalid")).toEqual([
    [`${home}a`, "soon"],
    [undefined, "never"],
    [`${home}c`, "later"],
    [undefined, "once"],
  ]);
  expect(of("lastmod-form")).toEqual([[`${home}d`, "31.05.2024"]]);
  expect(of("url-repeated")).toEqual([[`${home}a`, `${home}a`]]);
  expect(of("url-invalid")).toEqual([
    [`${home}c`, "http://["],
    [undefined, "http://["],
  ]);
  expect(rows).toHaveLength(result.findings.reduce((sum, { count }) => sum + count, 0));
});

test("if the caller stops reading rows, the check stops, too", async () => {
  await using tree = await sitemapTreeForHomepage(home, { client: site(routes).client, knownPaths: "never" });
  for await (const { rule } of streamOccurrences(tree)) if (rule === "url-fragment") break;
  expect((await checkTree(tree)).findings.length).toBeGreaterThan(3);
});

test("with a baseline, the result and the rows have only new findings", async () => {
  const small = (...fragments: string[]) => files({ "/sitemap.xml": sitemap("/a", ...fragments) }).routes;
  const known = new Baseline();
  await using tree = await sitemapTreeForHomepage(home, { client: site(small("/b#x")).client, knownPaths: "never" });
  const document = known.toJson(await checkTree(tree, { baseline: known }), tree) as { findings: never };
  const { rows, result } = await listed(small("/b#x", "/c#y"), { baseline: new Baseline(document.findings) });
  expect(result.findings.map(({ rule, count }) => [rule, count])).toEqual([["url-fragment", 1]]);
  expect(rows.map(({ rule, url }) => [rule, url])).toEqual([["url-fragment", `${home}c#y`]]);
  await expect(listed(small(), { baseline: {} as Baseline })).rejects.toThrow("baseline");
});

const urls = numbers.map((number) => `<url><loc>{base}/${number}#x</loc></url>\n`).join("");
const website = await serve({
  "/robots.txt": "Sitemap: {base}/sitemap.xml\n",
  "/sitemap.xml": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}</urlset>`,
});
mkdirSync(folder, { recursive: true });
writeFileSync(path.join(folder, "empty"), "");

const check = (...words: string[]) =>
  sitegrove(["check", website.homepage, "--off", "lastmod-missing", ...words], { cwd: folder });

test("NDJSON, CSV and Parquet have one row per occurrence; the file name chooses the format", async () => {
  const { code, stdout } = await check(
    ...["-f", "text", "-o", "a.json", "-o", "rows.csv", "-o", "rows.parquet", "-o", "rows.jsonl"],
  );
  expect([code, stdout]).toEqual([0, ""]);
  const text = (name: string) => readFileSync(path.join(folder, name), "utf8");
  const [header, first, ...others] = text("rows.csv").trimEnd().split("\n");
  expect(header).toBe("rule,severity,url,value,sitemap,line,message");
  expect(first).toMatch(
    new RegExp(`^homepage-unlisted|^url-fragment,warning,${website.homepage}0#x,,${website.homepage}sitemap.xml,2,`),
  );
  expect(others.filter((line) => line.startsWith("url-fragment"))).toHaveLength(many - 1);
  const rows = text("rows.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(rows.filter(({ rule }) => rule === "url-fragment")).toHaveLength(many);
  const tables = await parquetRows(path.join(folder, "rows.parquet"));
  expect(tables.map(({ url }) => url).sort()).toEqual(rows.map(({ url }) => url).sort());
  expect(text("a.json")).toContain("url-fragment");
});

test("--all shows all occurrences in text and Markdown", async () => {
  for (const format of ["text", "markdown"]) {
    const { stdout } = await check("-f", format, "--all");
    const shown = new Set(Array.from(stdout.matchAll(/\/(\d+)#x/g), ([, number]) => Number(number)));
    expect(numbers.filter((number) => !shown.has(number))).toEqual([]);
    expect((await check("-f", format)).stdout).not.toContain(`/${many - 1}#x`);
  }
});
