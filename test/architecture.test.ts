// Who may import whom. The table is the rule; docs/data-flow.md explains it.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const mayImport: Record<string, readonly string[]> = {
  model: ["model"],
  discover: ["model"],
  fetch: ["model"],
  open: ["model"],
  parse: ["model"],
  store: ["model"],
  write: ["model"],
  crawl: ["model", "discover", "fetch", "open", "parse", "store"],
  tree: ["model", "crawl", "store"],
  cli: ["model", "discover", "fetch", "open", "parse", "store", "write", "crawl", "tree"],
};

const src = path.join(import.meta.dirname, "../src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
// The tables of options and problems are folders of the model.
const folderOf = (file: string) => /^(?!(?:options|problems)\/)([^/]+)\//.exec(file)?.[1] ?? "model";
const importsOf = (file: string) =>
  [...readFileSync(path.join(src, file), "utf8").matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );

test.each(files.filter((file) => file !== "index.ts"))("%s imports only what its folder may", (file) => {
  const own = folderOf(file);
  for (const target of importsOf(file).filter((name) => name.startsWith("."))) {
    const folder = folderOf(path.join(path.dirname(file), target));
    if (folder !== own) expect(mayImport[own], `${file} imports ${target}`).toContain(folder);
  }
});

test.each(files.filter((file) => ["parse", "model"].includes(folderOf(file)) && file !== "index.ts"))(
  "%s runs anywhere: nothing from node:",
  (file) => {
    expect(importsOf(file).filter((name) => name.startsWith("node:"))).toEqual([]);
  },
);

test("no file below src/ has a name that says nothing", () => {
  const nothing = /^(utils?|helpers?|common|types|misc|base|manager|internals|index)\.ts$/;
  expect(files.filter((file) => file.includes("/") && nothing.test(path.basename(file)))).toEqual([]);
});
