// Every name that the package exports says what it is, where an editor shows it.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "./pages.ts";

const exported = readdirSync(path.join(root, "api")).flatMap((file) => {
  const listing = readFileSync(path.join(root, "api", file), "utf8");
  const declarations = listing.matchAll(
    /(?:^|\n\n)((?:(?!\n\n)[\s\S])*?)export (?:declare )?(?:interface|type|class|function|const) (\w+)/g,
  );
  return [...declarations].map(([, comment = "", name = ""]) => [name, comment] as const);
});

test("the package exports names", () => {
  expect(exported.length).toBeGreaterThan(100);
});

test.each(exported)("%s has a doc comment of its own", (_, comment) => {
  expect(comment).toMatch(/\/\*\* .{10,}|\/\*\*\n \* .{10,}/);
});
