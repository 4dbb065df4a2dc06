import { test } from "vitest";
import { fuzz } from "./support/fuzz.ts";
import { some } from "./support/long.ts";

// `npm run fuzz -- COUNT FIRST` runs others, or one of these again.
const part = some(1250, 60);

test.each([0, 1, 2, 3])(
  "whatever happens to a document, reading it throws nothing, ends soon, and does not depend on how it is cut (part %i)",
  async (index) => {
    await fuzz(part, 1 + index * part);
  },
);

// A document that is nested deeper than the tokenizer's table of open elements, after one that left other bytes behind that table.
test("cases that failed once do not fail again", async () => {
  await fuzz(3, 1_604_152_194);
});
