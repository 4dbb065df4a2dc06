// docs/inside/leniency.md against the `Lenient:` tags of the sources: every file that accepts more than its specification asks for is on the page,
// and what is reported is a problem that exists.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { problemRows } from "../../src/model/problem.ts";
import { page, root } from "./pages.ts";

const { text } = page("docs/inside/leniency.md");

test("the page lists exactly the files with a `Lenient:` comment", () => {
  const sources = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => readFileSync(path.join(root, "src", file), "utf8").includes("Lenient: "))
    .map((file) => `src/${file}`);
  const named = [...text.matchAll(/\((?:\.\.\/)+(src\/[^)]+)\)/g)].map(([, file]) => file);
  expect([...new Set(named)].sort()).toEqual(sources.sort());
});

test("every reported leniency names a problem that exists", () => {
  const known = new Set<string>(problemRows.keys());
  const items = text.match(/^- .+$/gm) ?? [];
  expect(items.length).toBeGreaterThan(50);
  const reported = items.flatMap((item) =>
    [...item.matchAll(/[:,] `([a-z]+(?:-[a-z]+)+)`/g)].map(([, code = ""]) => code),
  );
  expect(reported.length).toBeGreaterThan(50);
  expect(reported.filter((code) => !known.has(code))).toEqual([]);
});
