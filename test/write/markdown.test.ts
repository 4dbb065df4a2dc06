import { expect, test } from "vitest";
import { codeInTable, codeSpan, sentence } from "../../src/write/markdown.ts";

test("text from a website cannot end its code span or table cell", () => {
  expect(codeSpan("a`b``c")).toBe("``` a`b``c ```");
  expect(codeSpan("")).toBe("");
  expect(codeInTable("a|b")).toBe("`a\\|b`");
  expect(sentence("<script>|")).toBe("&lt;script>\\|");
});

test("spec: a sentence is escaped only outside its code spans, in which Markdown decodes nothing", () => {
  // "Code span backticks have higher precedence than any other inline constructs except HTML tags and autolinks."
  // https://github.github.com/gfm/#code-spans
  expect(sentence("Escape `&`, `<`, `a|b` and ``a`<b>``, not <b>.")).toBe(
    "Escape `&`, `<`, `a|b` and ``a`<b>``, not &lt;b>.",
  );
  expect(sentence("`<a> ``<b>``` <c>")).toBe("`&lt;a> ``&lt;b>``` &lt;c>");
  expect(sentence("\\`<a>` \\<b>")).toBe("\\`&lt;a>` \\<b>");
  expect(sentence("\\\\`<a>`")).toBe("\\\\`<a>`");
});
