// docs/leniency.md against the `Lenient:` tags of the sources: each place that accepts more than its specification asks for
// stands on the page in the words of its tag, with its file and the problems that it is reported as.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { problemCodes } from "../../src/model/problem.ts";
import { page, root, tableRows } from "./pages.ts";

const tags = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .sort()
  .flatMap((file) => tagsOf(`src/${file}`));
const rows = tableRows(page("docs/leniency.md").text).map(([sentence = "", reported = "", source = ""]) => ({
  sentence: words(sentence),
  reported,
  file: /\(\.\.\/(.+)\)$/.exec(source)?.[1] ?? source,
}));

test("every leniency of the sources is on the page", () => {
  const missing = tags.filter((tag) => !rows.some((row) => row.sentence === tag.sentence && row.file === tag.file));
  expect(missing.map(({ sentence, file }) => `| ${sentence} | … | [${path.basename(file)}](../${file}) |`)).toEqual([]);
});

test("everything on the page is a leniency of the sources", () => {
  const gone = rows.filter((row) => !tags.some((tag) => row.sentence === tag.sentence && row.file === tag.file));
  expect(gone).toEqual([]);
});

test("what is reported is reported as a problem that exists", () => {
  const known = new Set<string>(problemCodes());
  for (const { sentence, reported } of rows) {
    const codes = [...reported.matchAll(/`([a-z-]+)`/g)].map((match) => match[1] as string);
    expect(codes.length > 0 || /^not reported: /.test(reported), sentence).toBe(true);
    expect(codes.filter((code) => !known.has(code))).toEqual([]);
  }
});

// The first sentence after each tag, over as many lines of the comment as it takes.
function tagsOf(file: string): { file: string; sentence: string }[] {
  const lines = readFileSync(path.join(root, file), "utf8").split("\n");
  return lines.flatMap((line, at) => {
    const found = /(?:\/\/|\*).*?Lenient: (.*)$/.exec(line);
    if (found === null) return [];
    let text = found[1] as string;
    for (let next = at + 1; !/\.(\s|$)/.test(text) && /^\s*(\/\/|\*)/.test(lines[next] ?? ""); next += 1) {
      text += ` ${(lines[next] as string).replace(/^\s*(\/\/|\*)\s*/, "")}`;
    }
    const sentence = /^(.*?)\.?(?=\s*\*\/|\.\s|\.$|$)/.exec(text)?.[1] ?? text;
    return [{ file, sentence: words(sentence) }];
  });
}

// The page may say in bold what the sentence is about, and marks as code what may be bare in a comment.
function words(text: string): string {
  return text
    .replace(/^\*\*[^*]+\*\*/, "")
    .replaceAll(/[`\\]/g, "")
    .trim();
}
