// npm run tables: writes what comes from the tables of options and problems into the files that repeat it: the type
// `ProblemCode` and the tables of the documentation. test/docs/tables.test.ts fails where a file differs.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { problemCodes, problemGroups } from "../src/problem.ts";
import type { ProblemRows } from "../src/problems/row.ts";
import { statusProblems } from "../src/problems/status.ts";

const root = path.join(import.meta.dirname, "..");

/** The files as they should be, by path. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    ["src/problem-code.ts", problemCodeType()],
    ["docs/problems.md", filled("docs/problems.md", problemTables())],
  ]);
}

function problemCodeType(): string {
  return `// Generated from src/problems/ by \`npm run tables\`.

/** What kind of problem it is. \`http-404\` and so on stand for every status that is not a document. */
export type ProblemCode =
${problemCodes()
  .map((code) => `  | "${code}"\n`)
  .join("")}  | \`http-\${number}\`;
`;
}

function problemTables(): Map<string, string> {
  const groups: Record<string, ProblemRows> = { ...problemGroups, "HTTP statuses": statusProblems };
  return new Map(
    Object.entries(groups).map(([group, rows]) => {
      const hasLosses = Object.values(rows).some(({ loss }) => loss);
      const hasRetries = Object.values(rows).some(({ temporary }) => temporary);
      const header = [
        "code",
        ...(hasLosses ? ["loss"] : []),
        ...(hasRetries ? ["retried"] : []),
        "message",
        "what to do",
      ];
      const cells = Object.entries(rows).map(([code, { loss, temporary, message, messageFor, fix }]) => [
        `\`${code}\``,
        ...(hasLosses ? [loss ? "yes" : ""] : []),
        ...(hasRetries ? [temporary ? "yes" : ""] : []),
        messageShown(message, messageFor),
        fix,
      ]);
      return [`problems: ${group}`, table(header, cells)];
    }),
  );
}

// `{limit ms}` is shown as *limit*. The sentences for special values come first.
function messageShown(message: string, messageFor: ProblemRows[string]["messageFor"] = {}): string {
  const general = message.replaceAll(/[[\]]/g, "").replaceAll(/\{(\w+)(?: \w+)?\}/g, "*$1*");
  return escaped([...new Set(Object.values(messageFor)), general].join(" · "));
}

function escaped(text: string): string {
  return text.replaceAll("<", "&lt;");
}

/** A table of Markdown. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `|${cells.map((cell) => (cell === "" ? " " : ` ${cell} `)).join("|")}|`;
  return [line(header), `|${header.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** A page with its tables in place: between `<!-- table: name -->` and `<!-- end -->`. */
function filled(file: string, tables: ReadonlyMap<string, string>): string {
  const unused = new Set(tables.keys());
  const text = readFileSync(path.join(root, file), "utf8").replaceAll(
    /(<!-- table: (.+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => {
      const found = tables.get(name);
      if (found === undefined) throw new Error(`${file}: there is no table "${name}"`);
      unused.delete(name);
      return `${start}\n${found}\n\n${end}`;
    },
  );
  if (unused.size > 0) throw new Error(`${file} lacks <!-- table: ${[...unused].join(" -->, <!-- table: ")} -->`);
  return text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of generatedFiles()) writeFileSync(path.join(root, file), text);
}
