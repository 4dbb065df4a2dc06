// Every example of the documentation is compiled and run, by the built package and, in a shell, the built program, in a folder of its own
// that holds sitemap.xml, sitemap.xml.gz and, unless the example saves them, site.warc.gz and old.warc.gz. `https://example.org/` is served on loopback.
// TypeScript is checked by one run of the compiler, which also makes the JavaScript that runs. A block of `text` right after
// an example is its output.
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended as CommandEnded, sitegrove } from "../cli/program.ts";
import { hasPython } from "../support/installed.ts";
import { newFolder } from "../support/test-folder.ts";
import { words } from "../support/words.ts";
import { type Block, blocksOf, pages, root } from "./pages.ts";
import { pagesSitemap, type Stand, startWebsites } from "./websites.ts";

const program = path.join(root, "dist/cli/main.js");
const folder = newFolder();
const saved = newFolder();
const archives = { "site.warc.gz": "https://example.org", "old.warc.gz": "https://old.example" };
const runner = path.join(folder, "runner.mjs");
const endMark = "-- end of example --";

interface Example extends Block {
  readonly name: string;
  /** Its output, if the documentation shows it. */
  readonly output: string | undefined;
}

const examples: readonly Example[] = pages.flatMap((page) => {
  const blocks = blocksOf(page);
  return blocks.map((block, index) => {
    const next = blocks[index + 1];
    const between = page.text.split("\n").slice(endOf(block), next === undefined ? 0 : next.line - 2);
    const isOutput = next?.language === "text" && between.length > 0 && between.every((line) => line.trim() === "");
    return { ...block, name: `${block.page}:${block.line}`, output: isOutput ? next.code : undefined };
  });
});
const scripts = examples.filter(({ language }) => language === "ts" || language === "js");
const commands = examples.filter(({ language }) => language === "sh" || language === "console");

let stand: Stand;
let typeErrors: string;
let ended: Ended;

beforeAll(async () => {
  stand = await startWebsites();
  symlinkPackages(path.join(folder, "node_modules"));
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
  for (const example of scripts) writeFileSync(path.join(folder, fileOf(example)), example.code);
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(compilerSettings));
  typeErrors = compile(folder);
  for (const [name, website] of Object.entries(archives))
    await sitegrove(["ls", originOf(website), "--save", path.join(saved, name), "-f", "pages"]);
  ended = await runScripts();
});

afterAll(() => stand?.close());

test("the documentation has examples of scripts and of commands", () => {
  expect(scripts.length).toBeGreaterThan(10);
  expect(commands.length).toBeGreaterThan(5);
});

test("every fenced block has a known language", () => {
  // test/cli/tables.test.ts runs examples with DuckDB and pandas, test/end-to-end/tools.test.ts those with other tools ("javascript").
  const known = words("ts js sh console text json xml csv html http sql python yaml bash javascript");
  expect(examples.filter(({ language }) => !known.includes(language)).map(({ name }) => name)).toEqual([]);
});

describe("scripts", () => {
  test("all examples compile with the types of the package", () => {
    expect(typeErrors).toBe("");
  });

  test("all examples finish without an error", () => {
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
  });

  test.each(scripts.map((example, index) => ({ ...example, index })))("$name prints what the page shows", (example) => {
    const printed = ended.stdout.split(`${endMark}\n`)[example.index] ?? "";
    if (example.output === undefined) expect(printed).not.toBe("");
    else expect(plain(printed)).toBe(plain(example.output));
  });
});

describe("commands", () => {
  test.each(commands)("$name runs", async (example) => {
    const place = freshFolder(example);
    for (const { line, shown } of commandLines(example)) {
      if (isOnlyNamed(line)) continue;
      const missing = programsOf(line).filter((name) => !isInstalled(name));
      expect(missing, `programs that ${example.name} needs`).toEqual([]);
      // The old addresses are in an archive: of a private network, such as loopback, they are not requested otherwise.
      const local = stand.toLocal(line).replace(" --follow ", " --follow --allow-private ");
      const { code, stdout, stderr } = await runLine(local, place);
      expect(code, `${line}\n${stdout}\n${stderr}`).toBe(exitCodeOf(line));
      if (shown !== undefined) expect(plain(stdout)).toBe(plain(shown));
      else if (!/>| (-o|--output) /.test(line)) expect(stdout, line).not.toBe("");
    }
  });

  test("only one page says how to install from the registry, and the file name of the package is right", () => {
    const naming = pages.filter(({ text }) => /npm (?:install|i|add)\b[^\n#]* sitegrove\b/.test(text));
    expect(naming.map(({ file }) => file)).toEqual(["docs/getting-started.md"]);
    const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    const packed = pages.flatMap(({ text }) => text.match(/sitegrove-\d[\w.-]*\.tgz/g) ?? []);
    expect(new Set(packed)).toEqual(new Set([`sitegrove-${version}.tgz`]));
  });

  test("every npm script named in the docs exists", () => {
    const { scripts: known } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    const named = pages.flatMap(({ text }) => [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1]));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => known[name as string] === undefined)).toEqual([]);
    const files = pages.flatMap(({ text }) => text.match(/(?<=node )(?:bench|scripts)\/[\w.-]+/g) ?? []);
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });
});

// The steps of workflows, which run on a first and on a second day.
const daily = examples.flatMap((example) => {
  const { language, code } = example;
  const steps = [...code.matchAll(/^( *)- run: \|\n((?:\1 {4}.*\n)+)/gm)];
  return language === "yaml" ? steps.map(([, , script = ""]) => ({ ...example, script: `set -e\n${script}` })) : [];
});
test("the documentation has a daily workflow", () => {
  expect(daily).not.toEqual([]);
});
test.each(daily)("$name works on two days in a row", async (example) => {
  const place = freshFolder({ ...example, code: "save" });
  const script = path.join(place, "every-day.sh");
  writeFileSync(script, `npx() { "$@"; }\n${stand.toLocal(example.script)}`);
  for (const lines of [8, 2]) {
    const { code, stderr } = await run("bash", [script], place);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(readFileSync(path.join(place, "changes.csv"), "utf8").split("\n")).toHaveLength(lines);
  }
});

const python = examples.filter(({ language, code }) => language === "python" && !code.includes("pandas"));
test.runIf(hasPython()).each(python)("$name runs", async (example) => {
  const script = path.join(freshFolder(example), "example.py");
  writeFileSync(script, stand.toLocal(example.code));
  const { code, stdout, stderr } = await run("python3", [script], path.dirname(script));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toBe("");
});

// Runs all examples in one process, each in its folder. If one of them left something open, the process would not end.
function runScripts(): Promise<Ended> {
  const imports = scripts.map((example) => {
    const place = freshFolder(example);
    const compiled = fileOf(example).replace(/\.ts$/, ".js");
    const code = readFileSync(path.join(folder, "compiled", compiled), "utf8");
    writeFileSync(path.join(place, compiled), stand.toLocal(code));
    return `process.chdir(${JSON.stringify(place)});
      await import(${JSON.stringify(path.join(place, compiled))}).catch((error) => console.error("${example.name}", error));
      console.log("${endMark}");`;
  });
  writeFileSync(runner, imports.join("\n"));
  return run("node", [runner], folder);
}

// Runs a line in a shell, unless it is a plain command of the program: that runs inside this process, with the output of an `echo` before it
// as its input, and a command behind `|` reads its output.
async function runLine(line: string, place: string, input = ""): Promise<Ended | CommandEnded> {
  const [, said, reader = ""] = /^echo (\S+) \| (.*)$/.exec(line) ?? [];
  if (said !== undefined) return runLine(reader, place, `${said}\n`);
  const word = /'[^']*'|"[^"$`\\]*"|[\w@%+=:,./-]+/g;
  const [, settings = "", bare = ""] = /^((?:[A-Z_]+=\S+ )*)(.*)$/.exec(line.replace(/\s+#.*$/, "")) ?? [];
  const env = Object.fromEntries(settings.split(" ").flatMap((each) => (each === "" ? [] : [each.split("=", 2)])));
  const [, command = "", operator, rest = ""] = /^(.*?)(?: ([>|]) (.*))?$/.exec(bare) ?? [];
  const words = command.match(word) ?? [];
  const isOurs = words[0] === "sitegrove" && words.join(" ") === command;
  if (!isOurs || (operator === ">" && !/^[\w.-]+$/.test(rest)))
    return run("bash", ["-o", "pipefail", "-c", line], place, input);
  const given = words.slice(1).map((each) => each.replaceAll(/^['"]|['"]$/g, ""));
  const listed = await sitegrove(given, { cwd: place, env: { HOME: place, ...env }, input });
  if (operator === undefined || listed.code !== 0) return listed;
  if (operator === "|") return run("bash", ["-o", "pipefail", "-c", rest], place, listed.stdout);
  writeFileSync(path.join(place, rest), listed.stdout);
  return { ...listed, stdout: "" };
}

// Lines that install, build, take minutes or are for another shell are not run.
function isOnlyNamed(line: string): boolean {
  return /^(npm (install|pack|ci|test|run|start)\b|node (bench|scripts)\/|git |cd |bunx |deno )|\bsource\b/.test(line);
}

// `# exit code 3` after a command says how it ends.
function exitCodeOf(line: string): number {
  return Number(/#.*\bexit code (\d+)/.exec(line)?.[1] ?? 0);
}

const installed = new Map<string, boolean>();
function isInstalled(name: string): boolean {
  const known = installed.get(name) ?? spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;
  installed.set(name, known);
  return known;
}

function programsOf(line: string): string[] {
  return line
    .replaceAll(/'[^']*'|"[^"]*"/g, "")
    .replace(/#.*/, "")
    .split(/\|\|?|&&|;/)
    .map((part) => part.trim().split(/\s+/)[0] ?? "")
    .filter((name) => /^[a-z][\w-]*$/.test(name) && name !== "sitegrove");
}

// In `console` blocks commands start with `$ `, and what follows is their output; in `sh` blocks every line is a command.
function commandLines({ language, code }: Example): { line: string; shown?: string }[] {
  const lines = code.replaceAll(/\\\n\s*/g, "").split("\n");
  if (language === "sh") return lines.filter((line) => /^[^#\s]/.test(line)).map((line) => ({ line }));
  const found: { line: string; shown: string }[] = [];
  for (const line of lines) {
    const last = found.at(-1);
    if (line.startsWith("$ ")) found.push({ line: line.slice(2), shown: "" });
    else if (last !== undefined) last.shown += `${line}\n`;
  }
  return found;
}

function fileOf({ page, line, code, language }: Block): string {
  const isCommonJs = language === "js" && /\brequire\(/.test(code);
  return `${page.replaceAll(/\W/g, "-")}-${line}.${isCommonJs ? "cjs" : language}`;
}

function endOf({ line, code }: Block): number {
  return line + code.split("\n").length;
}

function freshFolder({ page, line, code }: Block): string {
  const place = path.join(folder, "run", `${page.replaceAll(/\W/g, "-")}-${line}`);
  mkdirSync(place, { recursive: true });
  const sitemap = pagesSitemap(originOf("https://example.org"));
  writeFileSync(path.join(place, "sitemap.xml"), sitemap);
  writeFileSync(path.join(place, "sitemap.xml.gz"), gzipSync(sitemap));
  for (const name of Object.keys(archives))
    if (!/\bsave\b/.test(code.split(name)[0] as string)) copyFileSync(path.join(saved, name), path.join(place, name));
  return place;
}

function originOf(website: string): string {
  return stand.origins.get(website) as string;
}

// Ignores trailing spaces, which editors remove, and writes tabs as spaces, because tabs are hard to see in the documentation.
function plain(text: string): string {
  return stand
    .toDocumented(text)
    .split("\n")
    .map((line) => line.trimEnd().replaceAll("\t", "    "))
    .join("\n")
    .trim();
}

const compilerSettings = {
  compilerOptions: {
    target: "es2022",
    lib: ["es2023", "esnext.disposable"],
    types: ["node"],
    module: "nodenext",
    moduleDetection: "force",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowJs: true,
    skipLibCheck: true,
    rootDir: ".",
    outDir: "compiled",
  },
  include: ["*.ts", "*.js", "*.cjs"],
  exclude: ["compiled"],
};

function compile(project: string): string {
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  // For one small project, threads and garbage collection cost more than they save.
  const how = { encoding: "utf8", cwd: project, env: { ...process.env, GOGC: "off" } } as const;
  const { stdout, stderr } = spawnSync(process.execPath, [compiler, "--singleThreaded", "-p", project], how);
  return `${stdout}${stderr}`;
}

// Makes the package look installed: it can be imported by its name, and its program is in `.bin`.
function symlinkPackages(modules: string): void {
  mkdirSync(path.join(modules, ".bin"), { recursive: true });
  mkdirSync(path.join(modules, "@types"));
  symlinkSync(root, path.join(modules, "sitegrove"));
  symlinkSync(path.join(root, "node_modules/@types/node"), path.join(modules, "@types/node"));
  symlinkSync(program, path.join(modules, ".bin/sitegrove"));
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[], cwd: string, input = ""): Promise<Ended> {
  expect(existsSync(program), "the program is built: npm run build").toBe(true);
  const { PATH = "" } = process.env;
  const places = [path.join(folder, "node_modules/.bin"), path.dirname(process.execPath), PATH];
  const env = { ...process.env, PATH: places.join(path.delimiter), HOME: cwd };
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: 170_000 };
    const child = execFile(command === "node" ? process.execPath : command, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : ((error.code as number | undefined) ?? null), stdout, stderr });
    });
    // `head` closes its input early.
    child.stdin?.on("error", () => undefined).end(input);
  });
}
