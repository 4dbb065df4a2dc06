// The rows of the table of problems, and docs/problems.md against src/model/errors.ts.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { problemFixes } from "../../scripts/problem-fixes.ts";
import { checkRules } from "../../src/check/rules/rule-table.ts";
import { isLossy, type ProblemCode, problemRows } from "../../src/model/problem.ts";
import { fetchingProblems, problemGroups } from "../../src/model/problem-table.ts";
import { codeOf, page, pages, root, section, tableRows } from "./pages.ts";

const problems = page("docs/problems.md");
const errorCodes = [
  ...readFileSync(path.join(root, "src/model/errors.ts"), "utf8").matchAll(/^ {2}\| "([a-z-]+)"/gm),
].map((match) => match[1] as string);

const rows = Object.values(problemGroups).flatMap((group) => Object.entries(group));

test.each(rows)("the table row of %s is complete", (code, { message, cutOff, loss }) => {
  expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
  expect(message).toMatch(/^(\w|\[).*[^.]$/);
  expect(problemFixes[code as keyof typeof problemFixes]).toMatch(/^[A-Z].*\.$/);
  // A document that ended too early is not complete.
  if (cutOff) expect(loss).toBe(true);
});

test("exceeding one of our limits is a loss; exceeding a limit of the protocol is not", () => {
  for (const code of problemRows.keys()) {
    if (code.startsWith("limit-")) expect({ code, loss: isLossy(code) }).toEqual({ code, loss: true });
    if (code.startsWith("protocol-")) expect({ code, loss: isLossy(code) }).toEqual({ code, loss: false });
  }
  expect([isLossy("http-404"), isLossy("http-999"), isLossy("xml-truncated")]).toEqual([true, true, true]);
  expect([isLossy("cycle"), isLossy("url-relative"), isLossy("xml-bare-ampersand")]).toEqual([false, false, false]);
});

test("a document that could not be read is a loss; a problem while fetching it is not", () => {
  const notes = ["redirect-encoding", "redirect-downgrade", "https-missing"];
  for (const code of Object.keys(fetchingProblems)) {
    expect({ code, loss: isLossy(code as ProblemCode) }).toEqual({ code, loss: !notes.includes(code) });
  }
});

test("every problem code is unique", () => {
  expect(problemRows.size).toBe(rows.length);
});

test("the docs list exactly the error codes that exist", () => {
  expect(errorCodes.length).toBeGreaterThan(0);
  expect(tableRows(section(problems, "## Errors")).map(([code]) => codeOf(code))).toEqual(errorCodes);
});

test("every problem code that a page mentions exists", () => {
  const families =
    /^(dns|timeout|connection|tls|redirect|body|coding|charset|robots|xml|url|limit|archive|protocol)-[a-z-]+$/;
  const known = new Set<string>([...problemRows.keys(), ...errorCodes, ...checkRules.map(({ id }) => id)]);
  // The changelog names codes of earlier versions.
  const words = pages
    .filter(({ file }) => file !== "CHANGELOG.md")
    .flatMap(({ file, text }) =>
      [...text.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map((match) => ({ file, word: match[1] as string })),
    );
  expect(words.filter(({ word }) => families.test(word) && !known.has(word))).toEqual([]);
});
