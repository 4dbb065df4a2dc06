import { test } from "vitest";
import { fuzz } from "./support/fuzz.ts";
import { some } from "./support/long.ts";

// `npm run fuzz -- COUNT FIRST` runs others, or one of these again.
const part = some(1250, 60);

test.each([0, 1, 2, 3])(
  "reading a mutated document never throws, ends soon, and does not depend on how it is split (part %i)",
  async (index) => {
    await fuzz(part, 1 + index * part);
  },
);

// This document is nested deeper than the tokenizer's table of open elements, and the one before it left bytes behind that table.
test("inputs that failed once do not fail again", async () => {
  await fuzz(3, 1_604_152_194);
});
