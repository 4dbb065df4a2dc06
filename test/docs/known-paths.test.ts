// What the well-known paths cost is measured over the websites of the fixtures, and written down.
import path from "node:path";
import { expect, test } from "vitest";
import { knownPathsTable } from "../../scripts/known-paths.ts";
import { page, root } from "./pages.ts";

test("the table of the docs is what npm run known-paths prints", async () => {
  expect(page("docs/options.md").text).toContain(await knownPathsTable(path.join(root, "test/fixtures/sites")));
});
