// What comes from the tables of options and problems is what they say: `npm run tables` would change nothing.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { generatedFiles } from "../../scripts/tables.ts";
import { root } from "./pages.ts";

test.each([...(await generatedFiles())])("%s is what `npm run tables` writes", (file, text) => {
  expect(readFileSync(path.join(root, file), "utf8")).toBe(text);
});
