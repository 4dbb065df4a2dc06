// What stands in two places is the same: speed in README.md and docs/inside/performance.md, the well-known paths, the oldest Node.js.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { knownPaths } from "../../src/discover/known-paths.ts";
import { blocksOf, page, root, section, tableRows } from "./pages.ts";

const readme = page("README.md");

test("the comparison is the one that was measured", () => {
  const measured = new Map(
    tableRows(section(page("docs/inside/performance.md"), "### A website of a million pages")).map(
      ([name, , floor, peak]) => [name, { floor, peak }],
    ),
  );
  const claimed = tableRows(section(readme, "## How it compares"));
  expect(claimed.length).toBeGreaterThan(3);
  for (const [name, floor, peak] of claimed) expect({ floor, peak }, name).toEqual(measured.get(name));
});

test("the well-known paths are counted right, and listed in the order in which they are tried", () => {
  expect(readme.text).toContain(`at ${knownPaths.length} [well-known paths]`);
  const text = section(page("docs/options.md"), "## Well-known paths");
  expect(blocksOf({ file: "docs/options.md", text })[0]?.code.split("\n")).toEqual(knownPaths);
});

test("the oldest Node is the one of the package", () => {
  const { engines } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  expect(engines.node).toBe(">=20.19.0");
  expect(readme.text).toContain("Node.js 20.19 and newer");
});
