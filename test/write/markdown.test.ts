import { expect, test } from "vitest";
import { codeInTable, codeSpan, sentence } from "../../src/write/markdown.ts";

test("text from a website cannot end its code span or table cell", () => {
  expect(codeSpan("a`b``c")).toBe("``` a`b``c ```");
  expect(codeSpan("")).toBe("");
  expect(codeInTable("a|b")).toBe("`a\\|b`");
  expect(sentence("<script>|")).toBe("&lt;script>\\|");
});
