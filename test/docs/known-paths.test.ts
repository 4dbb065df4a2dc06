// The list of well-known paths in docs/options.md, and their number in README.md, against those that are tried.
import { expect, test } from "vitest";
import { knownPaths } from "../../src/discover/known-paths.ts";
import { blocksOf, page, section } from "./pages.ts";

test("the well-known paths are counted right, and listed in the order in which they are tried", () => {
  expect(page("README.md").text).toContain(`at ${knownPaths.length} [well-known paths]`);
  const text = section(page("docs/options.md"), "## Well-known paths");
  expect(blocksOf({ file: "docs/options.md", text })[0]?.code.split("\n")).toEqual(knownPaths);
});
