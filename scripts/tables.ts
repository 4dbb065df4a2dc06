// npm run tables: writes what comes from the tables of options, problems, rules and page fields into the files that repeat it: the types
// of their names and the tables of the documentation. test/docs/tables.test.ts fails where a file differs.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { engines, type Rule, severities } from "../src/check/rule.ts";
import { checkRules, ruleGroups } from "../src/check/rule-table.ts";
import { processContext } from "../src/cli/context.ts";
import { type ExitCodeName, exitCodes, exitCodeTexts } from "../src/cli/exit-codes.ts";
import { failLevels } from "../src/cli/output/findings.ts";
import { createProgram } from "../src/cli/program.ts";
import { knownPaths } from "../src/discover/known-paths.ts";
import { comparedFields } from "../src/model/change.ts";
import { fixedLimits } from "../src/model/fixed-limits.ts";
import { limitOptions, type OptionRow, optionSections, pageOptions } from "../src/model/option-table.ts";
import {
  alternateFields,
  type FieldType,
  type FieldTypes,
  idFields,
  imageFields,
  newsFields,
  pageFieldRows,
  priceFields,
  restrictionFields,
  segmentFields,
  tvShowFields,
  videoFields,
} from "../src/model/page-fields.ts";
import { type ProblemRow, type ProblemRows, problemGroups, statusProblems } from "../src/model/problem-table.ts";
import { apiListings } from "./api.mjs";
import { problemFixes, statusFixes } from "./problem-fixes.ts";

const root = path.join(import.meta.dirname, "..");

/** The files as they should be, by path. */
export async function generatedFiles(): Promise<Map<string, string>> {
  return new Map([
    ["schema/config.json", configSchema()],
    ["schema/output.json", outputSchema()],
    ["docs/check.md", filled("docs/check.md", ruleTables())],
    ["docs/problems.md", filled("docs/problems.md", problemTables())],
    ["docs/options.md", filled("docs/options.md", optionTables().set("well-known paths", pathList()))],
    ["docs/command-line.md", filled("docs/command-line.md", await flagTables())],
    ...(await apiListings()),
  ]);
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
      $schema: { description: "The URL or path of this schema.", type: "string" },
      rules: {
        description: "The severity of a rule, or off.",
        type: "object",
        properties: Object.fromEntries(
          checkRules.map((rule) => [rule.id, { ...severity, description: rule.sentence, default: rule.severity }]),
        ),
        additionalProperties: false,
      },
      failOn: { description: "The lowest severity that makes the exit code 6.", enum: failLevels, default: "error" },
      agents: {
        ...list("Crawlers that robots.txt should allow; blocking the first is an error.", text("A product token.")),
        minItems: 1,
      },
      engines: { ...list("The search engines whose rules apply.", { enum: engines }), minItems: 1 },
      crossSubmit: list("Hosts whose pages may be in the sitemaps of this website.", text("A host, with its port.")),
      forbidden: list("Pages that no sitemap may list.", text("A path or a URL; `*` is a wildcard.")),
      ignore: list("Findings that are known and accepted.", {
        type: "object",
        properties: {
          rule: { description: "The id of a rule.", enum: checkRules.map(({ id }) => id) },
          sitemap: text("The URL of a sitemap; `*` is a wildcard. If omitted, all sitemaps."),
          reason: text("Why it is accepted."),
          date: date("When that was decided."),
          until: date("The day from which it is no longer ignored."),
        },
        required: ["rule", "reason"],
        additionalProperties: false,
      }),
    },
    additionalProperties: false,
  };
  return formatted(`${JSON.stringify(schema, null, 2)}\n`, "schema/config.json");
}

// The schema of JSON output: what it says about pages comes from the table of page fields and the comments of page.ts.
function outputSchema(): string {
  const schema = JSON.parse(readFileSync(path.join(root, "schema/output.json"), "utf8"));
  const page = objectSchema(
    "SitemapPage",
    pageFieldRows.map(({ name, type, schema = {} }) => [name, { ...typeSchema(type), ...schema }]),
  );
  const { description, ...pageLine } = schema.$defs.pageLine;
  const { sitemap } = pageLine.properties;
  Object.assign(schema.$defs, {
    page,
    pageLine: {
      ...page,
      description,
      properties: { ...page.properties, sitemap },
      required: [...page.required, "sitemap"],
    },
  });
  for (const [def, types] of definitions) schema.$defs[def] = fieldsSchema(types);
  schema.$defs.changedPage.properties.fields.items.enum = comparedFields;
  return formatted(`${JSON.stringify(schema, null, 2)}\n`, "schema/output.json");
}

// The objects that have a name in the schema, and the interfaces of all of them.
const definitions: ReadonlyMap<string, FieldTypes> = new Map<string, FieldTypes>([
  ["newsStory", newsFields],
  ["image", imageFields],
  ["video", videoFields],
  ["videoRestriction", restrictionFields],
  ["alternate", alternateFields],
]);
const interfaces: ReadonlyMap<FieldTypes, string> = new Map<FieldTypes, string>([
  [newsFields, "NewsStory"],
  [imageFields, "SitemapImage"],
  [videoFields, "SitemapVideo"],
  [restrictionFields, "VideoRestriction"],
  [alternateFields, "AlternatePage"],
  [priceFields, "VideoPrice"],
  [segmentFields, "VideoSegment"],
  [idFields, "VideoId"],
  [tvShowFields, "VideoTvShow"],
]);

function typeSchema(type: FieldType): object {
  if (type === "page" || type === "url") return { type: "string", minLength: 1 };
  if (type === "date") return { type: "string", pattern: datePattern };
  if (type === "texts") return { type: "array", items: { type: "string" } };
  if (typeof type === "string") return { type: type === "text" ? "string" : type };
  if ("oneOf" in type) return { enum: type.oneOf };
  return "items" in type ? { type: "array", items: refSchema(type.items), minItems: 1 } : refSchema(type.fields);
}

const datePattern = "^\\d{4}(-\\d{2}(-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:\\d{2}))?)?)?$";

function refSchema(types: FieldTypes): object {
  const def = [...definitions].find(([, each]) => each === types)?.[0];
  return def === undefined ? fieldsSchema(types) : { $ref: `#/$defs/${def}` };
}

function fieldsSchema(types: FieldTypes) {
  const name = interfaces.get(types);
  if (name === undefined) throw new Error("A table of page-fields.ts lacks its interface in scripts/tables.ts");
  return objectSchema(
    name,
    Object.entries(types).map(([field, type]) => [field, typeSchema(type)]),
  );
}

function objectSchema(name: string, fields: readonly (readonly [field: string, schema: object])[]) {
  const code = readFileSync(path.join(root, "src/model/page.ts"), "utf8");
  const comment = "(?:\\/\\*\\* ((?:(?!\\*\\/).)*) \\*\\/\\n *)?";
  const [, description, body = ""] = new RegExp(`${comment}export interface ${name} \\{([^}]*)`).exec(code) ?? [];
  const rows = fields.map(([field, schema]) => {
    const [, text, optional] = new RegExp(`${comment}readonly ${field}(\\??):`).exec(body) ?? [];
    return {
      field,
      schema: text === undefined ? schema : { description: text, ...schema },
      isRequired: optional === "",
    };
  });
  return {
    ...(description !== undefined && { description }),
    type: "object",
    properties: Object.fromEntries(rows.map(({ field, schema }) => [field, schema])),
    required: rows.filter(({ isRequired }) => isRequired).map(({ field }) => field),
    additionalProperties: false,
  };
}

function pathList(): string {
  return `\`\`\`text\n${knownPaths.join("\n")}\n\`\`\``;
}

function ruleTables(): Map<string, string> {
  return new Map(
    [...ruleGroups].map(([group, rows]) => [
      `rules: ${group}`,
      table(
        ["rule", "what is wrong, and what to do"],
        rows.map((rule) => [
          `<a id="${rule.id}"></a>\`${rule.id}\`<br>${rule.severity}, [${rule.basis}](${rule.link})${enginesShown(rule)}`,
          `${escapedProse(rule.sentence)}<br>${escapedProse(rule.fix)}`,
        ]),
      ),
    ]),
  );
}

// Named unless it is all of them, or none.
function enginesShown({ engines }: Rule): string {
  if (engines.length === 3) return "";
  return engines.map((engine) => `, ${engine[0]?.toUpperCase()}${engine.slice(1)}`).join("");
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
  const fixes: Readonly<Record<string, string>> = { ...problemFixes, ...statusFixes };
  return new Map(
    Object.entries(groups).map(([group, rows]) => {
      const cells = Object.entries(rows).map(([code, { loss, temporary, message, messageFor }]) => {
        const traits = [loss && "loss", temporary && "retried"].filter(Boolean).join(", ");
        return [`\`${code}\`${traits && `<br>${traits}`}`, `${messageShown(message, messageFor)}<br>${fixes[code]}`];
      });
      return [`problems: ${group}`, table(["code", "message, and what to do"], cells)];
    }),
  );
}

// `{limit ms}` is shown as *limit*. Of the sentences for special values, the first stands for all.
function messageShown(message: string, messageFor: ProblemRow["messageFor"] = {}): string {
  const general = message.replaceAll(/[[\]]/g, "").replaceAll(/\{(\w+)(?: \w+)?\}/g, "*$1*");
  return escaped([...Object.values(messageFor).slice(0, 1), general].join(" · "));
}

function formatted(code: string, file: string): string {
  const biome = path.join(root, "node_modules/@biomejs/biome/bin/biome");
  return execFileSync(process.execPath, [biome, "format", `--stdin-file-path=${file}`], {
    cwd: root,
    input: code,
    encoding: "utf8",
  });
}

/** What the comments of src/model/options.ts and fixed-limits.ts say of each option, by its interface and name: `Limits.depth`. */
export const optionComments: ReadonlyMap<string, OptionComment> = new Map(
  ["options.ts", "fixed-limits.ts"]
    .map((file) => readFileSync(path.join(root, "src/model", file), "utf8"))
    .join("\n")
    .split(/^export interface /m)
    .flatMap((part) => {
      const [holder] = /^\w+/.exec(part) ?? [];
      const members = part.matchAll(/^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}(?:readonly )?(\w+)/gm);
      return [...members].map(([, comment = "", name]) => [`${holder}.${name}`, parsedComment(comment)] as const);
    }),
);

interface OptionComment {
  readonly text: string;
  readonly default: string | undefined;
  readonly example: string | undefined;
}

function parsedComment(comment: string): OptionComment {
  const line = comment.replaceAll(/\s*\n\s*\*?\s*/g, " ").trim();
  const [text = "", ...tags] = line.split(/ (?=@(?:default|example) )/);
  const tag = (name: string) => tags.find((each) => each.startsWith(`@${name} `))?.slice(name.length + 2);
  return { text, default: tag("default"), example: tag("example") };
}

function optionTables(): Map<string, string> {
  const optionRows = optionSections.flatMap(({ rows }) => rows);
  const tables: [name: string, what: string, holder: string, readonly OptionRow[]][] = [
    ...optionSections
      .filter(({ heading }) => heading !== "Limits")
      .map(({ heading, rows }): (typeof tables)[number] => {
        return [heading, "option", rows === pageOptions ? "PageFilters" : "Options", rows];
      }),
    ["Timeouts", "timeout", "Timeouts", optionRows.find(({ name }) => name === "timeout")?.members ?? []],
    ["Limits", "limit", "Limits", limitOptions],
    ["Fixed limits", "limit", "FixedLimits", Object.keys(fixedLimits).map((name) => ({ name }))],
  ];
  return new Map(
    tables.map(([name, what, holder, rows]) => [
      `options: ${name}`,
      table(
        [what, "default", "meaning"],
        rows.map((row) => [
          [`\`${row.name}\``, ...flagsOf(row)].join("<br>"),
          ...documented(`${holder}.${row.name}`, row),
        ]),
      ),
    ]),
  );
}

function documented(name: string, { more }: OptionRow): [value: string, meaning: string] {
  const comment = optionComments.get(name);
  if (comment === undefined) throw new Error(`src/model/options.ts says nothing about ${name}`);
  const { text, example, default: value } = comment;
  const elsewhere = name === "Options.timeout" ? "[below](#timeouts)" : "";
  const shown = example === undefined ? text : `${text} Example: \`${example}\`.`;
  const meaning = (more === undefined ? shown : `${shown} ${more}`).replaceAll("|", "\\|");
  return [value === undefined ? elsewhere : `\`${value}\``, meaning];
}

function flagsOf({ flags = [], members = [] }: OptionRow): string[] {
  const own = flags.map(({ flags }) => `\`${longName(flags)}\``);
  return own.length > 0 || members.length > 5 ? own : members.flatMap(flagsOf);
}

function longName(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags;
}

// From what commander knows: what the help says is what the page says.
// Groups of `ls` that other commands share have a table of their own; a flag that means the same in a later command is not repeated.
const commonGroups: Readonly<Record<string, string>> = {
  Filters: "Filters",
  Discovery: "Discovery",
  "Local files": "Discovery",
  Network: "Network",
  Limits: "Limits",
  Parsing: "Limits",
  Messages: "Messages",
};

async function flagTables(): Promise<Map<string, string>> {
  const groups = new Map<string, string[][]>();
  const listed = new Set<string>();
  for (const command of (await createProgram(processContext(), () => {})).commands) {
    for (const { flags, description, argChoices, helpGroupHeading = "" } of command.options) {
      const heading = helpGroupHeading.replace(/:$/, "");
      if (listed.has(`${flags} ${description}`)) continue;
      listed.add(`${flags} ${description}`);
      const common = command.name() === "ls" ? commonGroups[heading] : undefined;
      const group = common === undefined ? command.name() : `common: ${common}`;
      const names = flags.replaceAll(/<([\w=-]+)>|\[([\w-]+)\]/g, (_, required, given) =>
        (required ?? given).toUpperCase(),
      );
      const choices = argChoices ? `: ${argChoices.map((choice) => `\`${choice}\``).join(", ")}` : "";
      const cells = [`\`${names.replaceAll(", ", "`, `")}\``, markdown(description) + choices];
      groups.set(group, [...(groups.get(group) ?? []), cells]);
    }
  }
  const tables = new Map([...groups].map(([group, cells]) => [group, table(["flag", "meaning"], cells)]));
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

/** A page with its tables in place: each below its `<!-- table: name -->`. */
function filled(file: string, tables: ReadonlyMap<string, string>): string {
  const unused = new Set(tables.keys());
  const text = readFileSync(path.join(root, file), "utf8").replaceAll(
    /<!-- table: (.+) -->\n+(?:(?:\|.*\n)+|```text\n(?:(?!```).*\n)*```\n)?\n*/g,
    (_, name: string) => {
      const found = tables.get(name);
      if (found === undefined) throw new Error(`${file}: there is no table "${name}"`);
      unused.delete(name);
      return `<!-- table: ${name} -->\n\n${found}\n\n`;
    },
  );
  if (unused.size > 0) throw new Error(`${file} lacks <!-- table: ${[...unused].join(" -->, <!-- table: ")} -->`);
  return `${text.trimEnd()}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of await generatedFiles()) writeFileSync(path.join(root, file), text);
}
