// node scripts/ts.mjs scripts/messages.ts: prints every sentence of the program, so that somebody can read them in one sitting: the tables
// of problems and rules, the help of all commands, and every other text in src/ with at least two words.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Writable } from "node:stream";
import { parseAst } from "rolldown/parseAst";
import { ruleGroups } from "../src/check/rules/rule-table.ts";
import { processContext } from "../src/cli/context.ts";
import { createProgram } from "../src/cli/program.ts";
import type { ProblemRow } from "../src/model/problem-row.ts";
import { problemGroups, statusProblems } from "../src/model/problem-table.ts";
import { problemFixes, statusFixes } from "./problem-fixes.ts";

let count = 0;

function print(label: string, text: string): void {
  count += 1;
  console.log(`${label}: ${text.replaceAll("\n", "\\n")}`);
}

function printProblem(code: string, { message, messageFor = {}, hint, hintFor = {}, skipsEntry }: ProblemRow): void {
  print(code, message);
  for (const [value, text] of Object.entries(messageFor)) print(`  ${value}`, text);
  const { [code]: fix }: Readonly<Record<string, string>> = { ...problemFixes, ...statusFixes };
  if (fix !== undefined) print("  fix", fix);
  if (hint !== undefined) print("  hint", hint);
  for (const [value, text] of Object.entries(hintFor)) print(`  hint ${value}`, text);
  if (skipsEntry !== undefined) print("  N entries skipped", skipsEntry);
}

for (const [heading, rows] of Object.entries({ ...problemGroups, "HTTP statuses": statusProblems })) {
  console.log(`\n# Problems: ${heading}`);
  for (const [code, row] of Object.entries(rows)) printProblem(code, row);
}

for (const [heading, rows] of ruleGroups) {
  console.log(`\n# Rules: ${heading}`);
  for (const { id, sentence, fix } of rows) {
    print(id, sentence);
    print("  fix", fix);
  }
}

const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
const program = await createProgram({ ...processContext(), stderr }, () => {}, "", true);
for (const command of [program, ...program.commands.flatMap((each) => [each, ...each.commands])]) {
  const title = [command.parent?.parent?.name(), command.parent?.name(), command.name()].filter(Boolean).join(" ");
  console.log(`\n# Help: ${title} --help-all`);
  command.configureOutput({ writeOut: (text) => console.log(text.trimEnd()), getOutHelpWidth: () => 120 });
  command.outputHelp();
  count += command.options.length + 1;
}

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

// These contain no sentences (types, module names, patterns, code for browsers), or are tables, which are listed separately.
const skippedNodes = /^(?:TS\w*Type\w*|TSInterface\w*|Import\w*|Export(?:All|Named)\w*Source)$/;
const skippedFiles =
  /(?:problem-table|document-problems|assets|tokenizer-code|tokenizer\.as)\.ts$|^src\/check\/rules\//;

const names = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
for (const file of names.map((name) => `src/${name.split(path.sep).join("/")}`).sort()) {
  if (skippedFiles.test(file)) continue;
  const source = readFileSync(file, "utf8");
  const found: [line: number, text: string][] = [];
  collect(parseAst(source, { lang: "ts" }) as unknown as Node, source, found);
  if (found.length === 0) continue;
  console.log(`\n# ${file}`);
  for (const [line, text] of found) print(String(line), text);
}
console.log(`\n${count} sentences`);

function collect(node: Node, source: string, found: [line: number, text: string][]): void {
  if (skippedNodes.test(node.type)) return;
  const text = textOf(node, source);
  if (text !== undefined && /\p{L}{2,}[,;:.)]?\s+\S*\p{L}{2,}/u.test(text))
    found.push([source.slice(0, Number(node["start"])).split("\n").length, text]);
  for (const child of Object.values(node).flat())
    if (typeof child === "object" && child !== null && "type" in child) collect(child as Node, source, found);
}

// Returns the text of a literal. In a template, `${name}` stays as it is written.
function textOf(node: Node, source: string): string | undefined {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  return node.type === "TemplateLiteral" ? source.slice(Number(node["start"]) + 1, Number(node["end"]) - 1) : undefined;
}
