// Every rule finds what it must, and leaves alone what only looks alike; whole and in pieces.
// Needs more than a second.
import { describe, expect, test } from "vitest";
import { checkRules } from "../../src/check/rule-table.ts";
import { isLong } from "../support/long.ts";
import { aiCases } from "./cases/ai.ts";
import { type Case, files, index, site, sitemap } from "./cases/case.ts";
import { dateCases } from "./cases/dates.ts";
import { documentCases } from "./cases/documents.ts";
import { fetchingCases } from "./cases/fetching.ts";
import { languageCases } from "./cases/languages.ts";
import { goodMedia, mediaCases } from "./cases/media.ts";
import { urlCases } from "./cases/urls.ts";
import { checked, checkedInPieces } from "./checked.ts";

const cases: readonly Case[] = [
  ...fetchingCases,
  ...aiCases,
  ...documentCases,
  ...urlCases,
  ...dateCases,
  ...mediaCases,
  ...languageCases,
];

test("every rule has a case", () => {
  const covered = new Set(cases.map(({ rule }) => rule));
  // Those about pages are in sample.test.ts and folder.test.ts.
  const others = checkRules.filter(({ id }) => !id.startsWith("page-")).map(({ id }) => id);
  expect(others.filter((id) => !covered.has(id))).toEqual([]);
});

test("no rule fires on a plain website, or on one with an index", async () => {
  const indexed = files({ "/sitemap.xml": index("/a.xml"), "/a.xml": sitemap("/") });
  for (const plain of [site("/a", "/b"), indexed, site(...goodMedia)]) {
    expect((await checkedInPieces(plain)).findings.map(({ rule }) => rule)).toEqual(["lastmod-missing"]);
  }
});

describe.each(
  cases.map((each, at) => ({ ...each, at, name: each.what === undefined ? each.rule : `${each.rule}: ${each.what}` })),
)("$name", ({ rule, fires, near, count, severity, example, at }) => {
  test("fires", async () => {
    // A part of the cases shows that pieces change nothing.
    const { findings } = isLong || at % 6 === 0 ? await checkedInPieces(fires) : await checked(fires);
    const own = findings.filter((finding) => finding.rule === rule);
    const others = findings.map((finding) => `${finding.severity} ${finding.rule} ${finding.count}`);
    expect(own.length, `only ${others.join(", ")}`).toBeGreaterThan(0);
    expect(own.reduce((sum, finding) => sum + finding.count, 0)).toBe(count);
    if (severity !== undefined) expect(own[0]?.severity).toBe(severity);
    const [first] = own[0]?.examples ?? [];
    expect(first?.url ?? first?.value).toEqual(example instanceof RegExp ? expect.stringMatching(example) : example);
  });

  test.each(near)("does not fire on what looks alike", async (website) => {
    // What fires in pieces is what fires whole; that this does not, too, is for the long run.
    const { findings } = isLong ? await checkedInPieces(website) : await checked(website);
    expect(findings.filter((finding) => finding.rule === rule)).toEqual([]);
  });
});
