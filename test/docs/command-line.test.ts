// docs/command-line.md and docs/output.md against the program: every exit code and column. Its tables of flags come from the
// program itself: tables.test.ts.
import { expect, test } from "vitest";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { csvColumns } from "../../src/write/csv.ts";
import { page, section, tableRows } from "./pages.ts";

const commandLine = page("docs/command-line.md");

test("every exit code is documented", () => {
  const documented = [...section(commandLine, "## Exit codes").matchAll(/^\| (\d+) \||\((\d+):/gm)];
  expect(documented.map(([, code, inner]) => Number(code ?? inner)).sort()).toEqual(Object.values(exitCodes).sort());
});

test("every column of the format csv is documented in its order", () => {
  const columns = tableRows(section(page("docs/output.md"), "## csv")).flatMap(([cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1]),
  );
  expect(columns).toEqual(csvColumns);
});
