// docs/options.md against src/options.ts: every option, timeout and limit, with its default.
import { expect, test } from "vitest";
import { knownPaths } from "../../src/discover/known-paths.ts";
import { resolveOptions, version } from "../../src/options.ts";
import { blocksOf, codeOf, page, section, tableRows } from "./pages.ts";

const options = page("docs/options.md");
const settings = resolveOptions();

const defaultsIn = (text: string) =>
  new Map(
    tableRows(text).flatMap(([name, value = ""]) => {
      const option = codeOf(name);
      return option === undefined ? [] : [[option, value] as const];
    }),
  );

test("every option is documented, and no other", () => {
  const beforeDetails = options.text.slice(0, options.text.indexOf("\n## Timeouts\n"));
  expect([...defaultsIn(beforeDetails).keys()].sort()).toEqual(Object.keys(settings).sort());
});

test("every default is the one in use", () => {
  const beforeDetails = options.text.slice(0, options.text.indexOf("\n## Timeouts\n"));
  for (const [name, shown] of defaultsIn(beforeDetails)) {
    if (shown.startsWith("see ")) continue;
    expect(defaultOf(shown), name).toEqual(settings[name as keyof typeof settings]);
  }
});

test.each([
  ["## Timeouts", settings.timeout],
  ["## Limits", settings.limits],
])("%s has every name in order, with its default", (heading, defaults) => {
  const documented = [...defaultsIn(section(options, heading))].map(([name, shown]) => [name, defaultOf(shown)]);
  expect(documented).toEqual(Object.entries(defaults));
});

test("the well-known paths are listed in the order in which they are tried", () => {
  const list = blocksOf({ file: options.file, text: section(options, "## Well-known paths") })[0];
  expect(list?.code.split("\n")).toEqual(knownPaths);
});

// A default is written as code: numbers with separators, objects without quotes.
function defaultOf(shown: string): unknown {
  if (shown === "none") return undefined;
  const code = codeOf(shown) ?? `not code: ${shown}`;
  if (code === "Infinity") return Number.POSITIVE_INFINITY;
  return JSON.parse(
    code
      .replaceAll(/(?<=\d)_(?=\d)/g, "")
      .replaceAll(/(\w+)(?=: )/g, '"$1"')
      .replace("<version>", version),
  );
}
