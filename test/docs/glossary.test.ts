// The glossary of docs/how-it-works.md is complete: a word in the name of a file or of a class is explained there, or is one that people
// of the field know. Who invents a word has to choose: a common one, or a row in the glossary.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { page, root } from "./pages.ts";

/** Words of programming, of the web, and names of formats and programs. Only those that are used. */
const common = `
about access address annotation answer attribute base32 bit blank block body bound build bull byte cancellation cell change character
charset client clock closed code collect column command common compare compiled completion compress confidence config connect connection content
context contract count create cross csv cursor damage data date declaration decode decompress delay description detect diff digest distinct
doctype earlier element engine entity error example exit fail feed fetch field figure file filter flag flatten folder follow footer form
format formed group gunzip gzip header html http id inflate info instant instruction join json language leading limit line link list live
load lock log lookup loop ls magic main make map markdown matched matrix media memory message name namespace ndjson next no open
option optional order ordinal outgoing output outside overview package pair parent parquet parse part pattern piece policy prefix
prepare print process program progress protocol proxy queue range read reason receive redirect repeat report resolve response result
resume retry revisit robots row running s3 same sarif save scan schedule schema script search secure server shape share sheet signal since
skipper small source space splitter status stop stopped storage stream strict strip style system table tabtree terminal text time timeline
token total transport treemap type undici unique unpack unreachable unzstd url urlset usage utf8 validator value version video view walk
warc website write xml zlib zone`
  .trim()
  .split(/\s+/);

const sources = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);
const code = sources.map((file) => readFileSync(path.join(root, "src", file), "utf8"));
const glossary = page("docs/how-it-works.md").text.split("\n## Glossary\n")[1] ?? "";
const explained = [...glossary.matchAll(/^\| (?!word \| meaning|---)([^|]+) \|/gm)].flatMap(([, term = ""]) =>
  term.toLowerCase().split(/[^a-z]+/),
);

const names = [
  ...sources.flatMap((file) => path.basename(file, ".ts").split("-")),
  ...code
    .flatMap((text) => [...text.matchAll(/^export (?:abstract )?class (\w+)/gm)])
    .flatMap(([, name = ""]) => name.split(/(?<=[a-z0-9])(?=[A-Z])/)),
].map((word) => word.toLowerCase());

/** Whether one is a form of the other: `fetcher` of `fetch`, `children` of `child`. */
function isForm(word: string, of: string): boolean {
  const stem = of.replace(/(?<=..)e$|(?<=[^aeiou])y$/, "");
  return (
    word.startsWith(stem) &&
    /^(|e|y|s|es|ies|d|ed|r|er|ers|or|ors|ren|ing|able|ation|izer?)$/.test(word.slice(stem.length))
  );
}

test("each word in the name of a file or a class is in the glossary, or a common one", () => {
  const known = [...common, ...explained];
  expect(names.filter((name) => !known.some((word) => isForm(name, word)))).toEqual([]);
});

test("each word of the glossary is used in the code", () => {
  const all = code.join("\n").toLowerCase();
  expect(explained.filter((word) => word !== "" && !all.includes(word))).toEqual([]);
});

test("no word is listed as a common one that is not used, or is explained", () => {
  expect(common.filter((word) => !names.some((name) => isForm(name, word)) || explained.includes(word))).toEqual([]);
});
