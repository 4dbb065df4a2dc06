// docs/problems.md against src/problem.ts and src/errors.ts: every code, in order, and whether it is a loss.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { isLossy, problemCodes } from "../../src/problem.ts";
import { codeOf, page, pages, root, section, tableRows } from "./pages.ts";

const problems = page("docs/problems.md");
const groups = [
  "## On the way to a document",
  "## The bytes of a document",
  "## Lines",
  "## XML",
  "## Entries",
  "## The tree",
];
const rows = groups.flatMap((heading) =>
  tableRows(section(problems, heading)).filter(([code]) => !code?.startsWith("`http-") || code === "`http-protocol`"),
);
const errorCodes = [...readFileSync(path.join(root, "src/errors.ts"), "utf8").matchAll(/^ {2}\| "([a-z-]+)"/gm)].map(
  (match) => match[1] as string,
);
const codeRows = rows.filter(([code]) => codeOf(code) !== undefined);

test("every code is documented, in the order of the source, and no other", () => {
  expect(codeRows.map(([code]) => codeOf(code))).toEqual(problemCodes());
});

test.each(codeRows.map((row) => [codeOf(row[0]) as string, row] as const))("%s is complete", (code, row) => {
  const [, loss, ...sentences] = row;
  expect(loss === "yes", "whether it is a loss").toBe(isLossy(code as never));
  expect(sentences).toHaveLength(3);
  for (const sentence of sentences) expect(sentence).toMatch(/\.$/);
});

test("every code of an error is documented, and no other", () => {
  expect(errorCodes.length).toBeGreaterThan(0);
  expect(tableRows(section(problems, "## Errors")).map(([code]) => codeOf(code))).toEqual(errorCodes);
});

test("no page names a problem of a family that does not exist", () => {
  const families =
    /^(dns|timeout|connection|tls|redirect|body|coding|charset|robots|xml|url|limit|archive|protocol)-[a-z-]+$/;
  const known = new Set<string>([...problemCodes(), ...errorCodes]);
  // The changelog names codes that were.
  const words = pages
    .filter(({ file }) => file !== "CHANGELOG.md")
    .flatMap(({ file, text }) =>
      [...text.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map((match) => ({ file, word: match[1] as string })),
    );
  expect(words.filter(({ word }) => families.test(word) && !known.has(word))).toEqual([]);
});
