// docs/output.md against the program: every column. The tables of docs/command-line.md come from the program: tables.test.ts.
import { expect, test } from "vitest";
import { csvColumns } from "../../src/write/csv.ts";
import { page, section, tableRows } from "./pages.ts";

test("every column of the format csv is documented in its order", () => {
  const columns = tableRows(section(page("docs/output.md"), "## csv")).flatMap(([cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1]),
  );
  expect(columns).toEqual(csvColumns);
});
