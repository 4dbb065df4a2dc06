// docs/command-line.md and docs/output.md against the program: every flag of each command, and every exit code.
import { expect, test } from "vitest";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { createProgram } from "../../src/cli/program.ts";
import { csvColumns } from "../../src/write/csv.ts";
import { page, section, tableRows } from "./pages.ts";

const commandLine = page("docs/command-line.md");
const program = createProgram(() => {});

test.each(["ls", "parse"])("every flag of `sitegrove %s` is documented in its order, and no other", (name) => {
  const command = program.commands.find((candidate) => candidate.name() === name);
  const flags = command?.options.map(({ short, long }) => [short, long].filter((flag) => flag !== undefined));
  const documented = tableRows(section(commandLine, `## \`sitegrove ${name}\``)).map(([cell = ""]) =>
    [...cell.matchAll(/`(--?[\w-]+)/g)].map((match) => match[1]),
  );
  expect(flags?.length).toBeGreaterThan(10);
  expect(documented).toEqual(flags);
});

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
