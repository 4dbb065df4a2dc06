// The worked example of docs/fast-path.md is what happens: the document there is read, and every step is written down.
import { expect, test } from "vitest";
import { ProblemLog } from "../../src/model/problem.ts";
import { createDocumentParser } from "../../src/parse/document-parser.ts";
import { fastPathWith } from "../../src/parse/fast/create-fast-path.ts";
import { layout } from "../../src/parse/fast/layout.ts";
import { createMatcher, type Matcher } from "../../src/parse/fast/matcher.ts";
import { page, section, tableRows } from "./pages.ts";

const document = page("docs/fast-path.md");
const [, example = ""] = /```xml\n(.*?)```/s.exec(document.text) ?? [];

const noticed = [
  "hasReferences",
  "isDecoded",
  "isUnaccepted",
  "isAccepted",
  "isUsualDate",
  "isNewWord",
  "isKnownWord",
] as const;

interface Run {
  readonly from: number;
  readonly texts: string;
  readonly steps: readonly (readonly [string, string, string])[];
}

// What a matcher does while the example is read.
function runsOf(text: string): Run[] {
  const matcher = createMatcher() as Matcher;
  const runs: Run[] = [];
  let literals: readonly { readonly literal: string }[] = [];
  const use = matcher.use.bind(matcher);
  matcher.use = (graph) => {
    literals = (graph as unknown as { edges: { literal: string }[] }).edges;
    use(graph);
  };
  const run = matcher.run.bind(matcher);
  matcher.run = (at, node, limits) => {
    const length = run(at, node, limits);
    const steps: [string, string, string][] = [];
    for (let step = 0; step < length; step += layout.stepSize / 4) {
      const word = (offset: number) => matcher.trace[step + offset / 4]!;
      const flags = word(layout.stepFlags);
      steps.push([
        JSON.stringify(matcher.decode(word(layout.stepStart), word(layout.stepEnd))),
        JSON.stringify(literals[word(layout.stepEdge)]!.literal),
        noticed.filter((name) => (flags & layout[name]) !== 0).join(", "),
      ]);
    }
    runs.push({ from: at - layout.documentStart, texts: JSON.stringify(matcher.narrow), steps });
    return length;
  };
  const parser = createDocumentParser({ problems: new ProblemLog(), fastPath: fastPathWith(matcher) });
  const pages = [...parser.write(text).pages, ...parser.end().pages];
  expect(pages).toHaveLength(3);
  return runs;
}

test("the example has three entries, and its trace is the one of the page", () => {
  expect(example.match(/<url>/g)).toHaveLength(3);
  const [run, ...others] = runsOf(example);
  expect(others).toEqual([]);
  const rows = tableRows(section(document, "### The trace"));
  expect(
    rows.map(([, text, literal, facts]) => [text, literal, facts].map((cell) => cell?.replaceAll("`", ""))),
  ).toEqual(run?.steps);
  expect(document.text).toContain(`\`${run?.texts}\``);
  expect(document.text).toContain(`byte ${run?.from}`);
});
