// docs/options.md against what is in use. Its tables come from the rows: tables.test.ts.
import { expect, test } from "vitest";
import { knownPaths } from "../../src/discover/known-paths.ts";
import { blocksOf, page, section } from "./pages.ts";

const options = page("docs/options.md");

test("the well-known paths are listed in the order in which they are tried", () => {
  const list = blocksOf({ file: options.file, text: section(options, "## Well-known paths") })[0];
  expect(list?.code.split("\n")).toEqual(knownPaths);
});
