// npm run tables: writes what comes from the tables of options, problems and rules into the files that repeat it: the types
// of their names and the tables of the documentation. test/docs/tables.test.ts fails where a file differs.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { engines, measuredOn, type Rule, severities } from "../src/check/rule.ts";
import { checkRules, ruleGroups } from "../src/check/rule-table.ts";
import { processContext } from "../src/cli/context.ts";
import { type ExitCodeName, exitCodes, exitCodeTexts } from "../src/cli/exit-codes.ts";
import { failLevels } from "../src/cli/output/findings.ts";
import { createProgram } from "../src/cli/program.ts";
import { deliveryLimits, documentLimits, websiteLimits } from "../src/model/options/limits.ts";
import { pageOptions } from "../src/model/options/pages.ts";
import { type OptionRow, typeOf } from "../src/model/options/row.ts";
import { optionSections } from "../src/model/options.ts";
import { problemCodes, problemGroups } from "../src/model/problem.ts";
import type { ProblemRows } from "../src/model/problems/row.ts";
import { statusProblems } from "../src/model/problems/status.ts";

const root = path.join(import.meta.dirname, "..");

/** The files as they should be, by path. */
export async function generatedFiles(): Promise<Map<string, string>> {
  return new Map([
    ["src/model/problem-code.ts", problemCodeType()],
    ["src/model/option-types.ts", optionTypes()],
    ["src/check/rule-id.ts", ruleIdType()],
    ["schema/config.json", configSchema()],
    ["docs/rules.md", filled("docs/rules.md", ruleTables())],
    ["docs/problems.md", filled("docs/problems.md", problemTables())],
    ["docs/options.md", filled("docs/options.md", optionTables())],
    ["docs/command-line.md", filled("docs/command-line.md", await flagTables())],
  ]);
}

function problemCodeType(): string {
  return `// Generated from src/model/problems/ by \`npm run tables\`.

/** What kind of problem it is. \`http-404\` and so on stand for every status that is not a document. */
export type ProblemCode =
${problemCodes()
  .map((code) => `  | "${code}"\n`)
  .join("")}  | \`http-\${number}\`;
`;
}

function ruleIdType(): string {
  return `// Generated from src/check/rules/ by \`npm run tables\`.

/** The id of a rule that is built in. Configurations and baselines name it. */
export type RuleId =
${checkRules.map(({ id }) => `  | "${id}"`).join("\n")};
`;
}

// The configuration of `sitegrove check`: editors offer the ids of the rules.
function configSchema(): string {
  const text = (description: string) => ({ description, type: "string", minLength: 1 });
  const date = (description: string) => ({ description, type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}" });
  const list = (description: string, items: object) => ({ description, type: "array", items });
  const severity = { enum: ["off", ...severities] };
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "sitegrove.json: the configuration of `sitegrove check`",
    type: "object",
    properties: {
      $schema: { description: "Where this schema is.", type: "string" },
      rules: {
        description: "Another severity for a rule, or off.",
        type: "object",
        properties: Object.fromEntries(
          checkRules.map((rule) => [rule.id, { ...severity, description: rule.sentence, default: rule.severity }]),
        ),
        additionalProperties: false,
      },
      failOn: { description: "The severity from which on the exit code is 6.", enum: failLevels, default: "error" },
      agents: {
        ...list("The crawlers for which robots.txt is read; the first one matters most.", text("A product token.")),
        minItems: 1,
      },
      engines: { ...list("Only rules that matter to one of these engines.", { enum: engines }), minItems: 1 },
      crossSubmit: list("Hosts whose pages may be in the sitemaps of this website.", text("A host, with its port.")),
      ignore: list("Findings that are known and accepted.", {
        type: "object",
        properties: {
          rule: { description: "The id of a rule.", enum: checkRules.map(({ id }) => id) },
          sitemap: text("The URL of a sitemap; `*` stands for anything. All, where it is absent."),
          reason: text("Why it is accepted."),
          date: date("When that was decided."),
          until: date("From this day on it is not ignored any more."),
        },
        required: ["rule", "reason"],
        additionalProperties: false,
      }),
    },
    additionalProperties: false,
  };
  return formatted(`${JSON.stringify(schema, null, 2)}\n`, "schema/config.json");
}

function ruleTables(): Map<string, string> {
  const { documents, websites } = measuredOn;
  const heuristics = table(
    ["heuristic", "fired on", "of", "wrong"],
    checkRules
      .filter(({ basis }) => basis === "heuristic")
      .map(({ id, firedOn = 0 }) => [`\`${id}\``, `${firedOn}`, `${documents + websites}`, "0"]),
  );
  return new Map([
    ["rules: heuristics", heuristics] as const,
    ...Object.entries(ruleGroups).map(([group, rows]): [string, string] => [
      `rules: ${group}`,
      table(
        ["rule", "severity", "basis", "engines", "what is wrong", "what to do"],
        rows.map((rule) => [
          `<a id="${rule.id}"></a>\`${rule.id}\``,
          rule.severity,
          `[${rule.basis}](${rule.link})`,
          enginesShown(rule),
          escapedProse(rule.sentence),
          escapedProse(rule.fix),
        ]),
      ),
    ]),
  ]);
}

function enginesShown({ engines }: Rule): string {
  if (engines.length === 0) return "none";
  return engines.length === 3 ? "all" : engines.map((engine) => engine[0]?.toUpperCase() + engine.slice(1)).join(", ");
}

// What is between ticks is code: nothing in it needs to be escaped.
function escapedProse(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : escaped(part)))
    .join("");
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

const optionRows = optionSections.flatMap(({ rows }) => rows);
const crawlRows = optionRows.filter((row) => !pageOptions.includes(row));
const membersOf = (name: string) => optionRows.find((row) => row.name === name)?.members ?? [];

function optionTypes(): string {
  return formatted(`// Generated from src/model/options/ by \`npm run tables\`.
import type { Client } from "./client.ts";
import type { CrawlEvent } from "./event.ts";
import type { NetworkPolicy, RecurseContext, StoreKind } from "./options.ts";
import type { Pattern } from "./pattern.ts";
import type { Rewrite } from "./rewrite.ts";
import type { SitemapReference } from "./sitemap.ts";

/** Options of \`sitemapTreeForHomepage\`, \`sitemapTreeFrom\`, \`streamPages\` and \`crawl\`. Times are milliseconds, sizes bytes. */
export interface Options {
${crawlRows.map((row) => `${comment(row)}  ${row.name}?: ${optional(typeOf(row))};\n`).join("")}}

/** How long to wait, in milliseconds. */
export interface Timeouts {
${members("timeout")}}

/** Limits of one document, on the way to one, and of one website (budgets). \`0\` means zero; \`Infinity\` means none. */
export interface Limits {
${members("limits")}}

/** The options as everything behind the call uses them: checked, and with everything present. */
export interface Settings {
${crawlRows.map((row) => `  readonly ${row.name}: ${settingType(row)};\n`).join("")}}

/** Which pages are listed: options of \`streamPages\`, \`crawl\` and \`tree.pages()\`. */
export interface PageFilters {
${pageOptions.map((row) => `${comment(row)}  ${row.name}?: ${optional(typeOf(row))};\n`).join("")}}

/** Checked, and with everything present. */
export interface PageFilterSettings {
${pageOptions.map((row) => `  readonly ${row.name}: ${settingType(row)};\n`).join("")}}
`);
}

function formatted(code: string, file = "src/model/option-types.ts"): string {
  const biome = path.join(root, "node_modules/@biomejs/biome/bin/biome");
  return execFileSync(process.execPath, [biome, "format", `--stdin-file-path=${file}`], {
    cwd: root,
    input: code,
    encoding: "utf8",
  });
}

function members(name: string): string {
  return membersOf(name)
    .map((row) => `${comment(row)}  readonly ${row.name}: ${typeOf(row)};\n`)
    .join("");
}

function optional(type: string): string {
  return `${type.includes("=>") ? `(${type})` : type} | undefined`;
}

function settingType(row: OptionRow): string {
  const { settingType, default: value, members } = row;
  const type = typeOf(row);
  return settingType ?? (value === undefined && members === undefined ? optional(type) : type);
}

function comment(row: OptionRow): string {
  const shown = defaultShown(row);
  const isElsewhere = shown === "none" || shown.startsWith("see ");
  const lines = [
    ...wrapped(row.text, 115),
    ...(isElsewhere ? [] : [`@default ${shown.slice(1, -1)}`]),
    ...(row.example === undefined ? [] : [`@example ${row.example}`]),
  ];
  const line = lines.join(" ");
  return line.length <= 112 ? `  /** ${line} */\n` : `  /**\n${lines.map((line) => `   * ${line}\n`).join("")}   */\n`;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length >= width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line];
}

function defaultShown(row: OptionRow): string {
  if (row.defaultShown !== undefined) return row.defaultShown;
  if (row.members !== undefined) {
    return `\`{ ${row.members.map((member) => `${member.name}: ${defaultShown(member).slice(1, -1)}`).join(", ")} }\``;
  }
  const { default: value } = row;
  if (value === undefined) return "none";
  if (typeof value !== "number") return `\`${JSON.stringify(value)}\``;
  return `\`${String(value).replaceAll(/\B(?=(\d{3})+$)/g, "_")}\``;
}

function optionTables(): Map<string, string> {
  const tables: [string, string, readonly OptionRow[]][] = [
    ...optionSections
      .filter(({ heading }) => heading !== "Limits")
      .map(({ heading, rows }): [string, string, readonly OptionRow[]] => [heading, "option", rows]),
    ["Timeouts", "timeout", membersOf("timeout")],
    ["Limits of one document", "limit", documentLimits],
    ["Limits on the way to a document", "limit", deliveryLimits],
    ["Limits of one website", "limit", websiteLimits],
  ];
  return new Map(
    tables.map(([name, what, rows]) => [
      `options: ${name}`,
      table(
        [what, "default", "meaning", "flag"],
        rows.map((row) => [`\`${row.name}\``, defaultShown(row), meaning(row), flagsOf(row)]),
      ),
    ]),
  );
}

function meaning({ text, more, example }: OptionRow): string {
  const shown = example === undefined ? text : `${text} Example: \`${example}\`.`;
  return (more === undefined ? shown : `${shown} ${more}`).replaceAll("|", "\\|");
}

function flagsOf({ flags = [], members = [] }: OptionRow): string {
  const own = flags.map(({ flags }) => `\`${longName(flags)}\``).join(", ");
  return own !== "" || members.length > 5
    ? own
    : members
        .map(flagsOf)
        .filter((names) => names !== "")
        .join(", ");
}

function longName(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

// From what commander knows: what the help says is what the page says.
// Flags that mean the same as for `ls` are listed once, in a table of their own for each of these groups.
const commonGroups = ["Filters", "Discovery", "Parsing", "Local files", "Network", "Limits", "Messages"];

async function flagTables(): Promise<Map<string, string>> {
  const tables = new Map<string, string>();
  const common = new Set<string>();
  for (const command of (await createProgram(processContext(), () => {})).commands) {
    const groups = new Map<string, string[][]>();
    for (const option of command.options) {
      const heading = (option.helpGroupHeading ?? "Other").replace(/:$/, "");
      const [flags, description] = [option.flags, option.description];
      const isCommon = command.name() === "ls" && commonGroups.includes(heading);
      if (isCommon) common.add(`${flags} ${description}`);
      else if (common.has(`${flags} ${description}`)) continue;
      const group = isCommon ? `common: ${heading}` : `${command.name()}: ${heading}`;
      const names = flags.replaceAll(/<([\w=-]+)>|\[([\w-]+)\]/g, (_, required, given) =>
        (required ?? given).toUpperCase(),
      );
      const cells = [
        names
          .split(", ")
          .map((name) => `\`${name}\``)
          .join(", "),
        markdown(description) +
          (option.argChoices ? `: ${option.argChoices.map((choice) => `\`${choice}\``).join(", ")}` : ""),
      ];
      groups.set(group, [...(groups.get(group) ?? []), cells]);
    }
    for (const [group, cells] of groups) tables.set(group, table(["flag", "meaning"], cells));
  }
  const codes = Object.entries(exitCodes).map(([name, code]) => [
    `${code}`,
    markdown(exitCodeTexts[name as ExitCodeName]),
  ]);
  return tables.set("exit codes", table(["code", "meaning"], codes));
}

// What is code in a terminal is code in Markdown: flags, names in capitals, quoted words.
function markdown(text: string): string {
  return escaped(text)
    .replaceAll(/(?<![\w`])(--[a-z][\w-]*)/g, "`$1`")
    .replaceAll(/"([^"]+)"/g, "`$1`")
    .replaceAll("|", "\\|");
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
    /(<!-- table: (.+) -->\n)([\s\S]*?)(<!-- end -->)/g,
    (_, start: string, name: string, before: string, end: string) => {
      const prose = before.split("\n").find((line) => /^[^|\s]/.test(line));
      if (prose !== undefined) throw new Error(`${file}: move this below <!-- end -->, or it is lost: ${prose}`);
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
  for (const [file, text] of await generatedFiles()) writeFileSync(path.join(root, file), text);
}
