// Help, version and completion start quickly, without the network code.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { completions } from "../../src/cli/commands/completion.ts";
import { processContext } from "../../src/cli/context.ts";
import { createProgram } from "../../src/cli/program.ts";
import { shell, sitegrove } from "./program.ts";

// Names the packages and modules of Node.js that are loaded, on standard error.
const hooks = `import { writeSync } from "node:fs";
export async function resolve(name, context, next) {
  if (!name.startsWith(".")) writeSync(2, "loaded " + name + "\\n");
  return next(name, context);
}`;
const register = `import { register } from "node:module";
register("data:text/javascript,${encodeURIComponent(hooks)}");`;
const watched = { node: ["--import", `data:text/javascript,${encodeURIComponent(register)}`] };
const networkCode = /^loaded (?:node:https?|node:net|node:tls)/m;

test.each([
  ["completion bash", false],
  ["parse - -f pages", false],
  ["ls http://127.0.0.1:1/", true],
])("%s loads network code: %s; and no code that no run needs", async (words, isLoaded) => {
  const { stderr } = await sitegrove(words, { ...watched, input: "https://example.org/a\n" });
  expect(stderr).toMatch(/^loaded node:fs$/m);
  expect(networkCode.test(stderr)).toBe(isLoaded);
  expect(stderr).not.toMatch(/^loaded (?:bullmq|ioredis|aws4fetch|hyparquet-writer|node:child_process)/m);
});

test.each([
  ["help", "--help"],
  ["help --help", "--help"],
  ["help ls", "ls --help"],
  ["help fleet status", "fleet status --help"],
  ["version", "--version"],
])("%s is the same as %s", async (words, usual) => {
  const expected = await sitegrove(usual);
  expect(expected).toMatchObject({ code: 0, stderr: "" });
  expect(await sitegrove(words)).toEqual(expected);
});

test("--help-all shows examples and every exit code, on standard output", async () => {
  const { code, stdout, stderr } = await sitegrove(["ls", "--help-all"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("sitegrove ls example.org -f pages");
  const listed = stdout.split("Exit codes:")[1]?.match(/^ {2}\d+(?= {2,}\S)/gm);
  expect(listed?.map(Number)).toEqual([0, 1, 2, 3, 4, 5, 130]);
});

test("bash completion knows commands, flags and formats, and offers file names for anything else", async () => {
  const complete = (words: string[]) => `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})
    COMP_CWORD=${words.length - 1}; COMPREPLY=(); _sitegrove; echo "\${COMPREPLY[*]}"`;
  const { stdout, stderr } = await shell(
    [
      'sitegrove() { eval "$SITEGROVE" \'"$@"\'; }',
      "source <(sitegrove completion bash)",
      complete(["sitegrove", "l"]),
      complete(["sitegrove", "ls", "--max-b"]),
      complete(["sitegrove", "ls", "example.org", "--format", ""]),
      complete(["sitegrove", "ls", "exam"]),
      "complete -p sitegrove",
    ].join("\n"),
  );
  expect(stderr).toBe("");
  const formats = "tabtree pages pages-json json ndjson csv sitemaps sitemaps-csv parquet";
  expect(stdout).toBe(`ls\n--max-bytes\n${formats}\n\ncomplete -o default -F _sitegrove sitegrove\n`);
});

test.each([
  ["ls -f nd", "ndjson"],
  ["diff a b --format r", "rss"],
  ["completion z", "zsh"],
  ["help fl", "fleet"],
  ["fleet stat", "status"],
  ["fleet worker --log-format j", "json"],
  ["ls --version --help-all --no-rob", "--no-robots"],
  ["example.org --format nd", "ndjson"],
])("%s is completed with %s", async (words, expected) => {
  const { stdout } = await sitegrove(["complete", "--", ...words.split(" ")]);
  expect(stdout.split("\n").map((line) => line.split("\t")[0])).toEqual([expected, ""]);
});

test.each(["zsh", "fish"])("the script for %s calls the program, and its shell accepts it", async (name) => {
  const { stdout, code } = await sitegrove(["completion", name]);
  expect(code).toBe(0);
  expect(stdout).toContain("sitegrove complete -- ");
  const found = spawnSync(name, ["--version"]);
  // Not every machine has these shells.
  if (found.error === undefined) expect(spawnSync(name, ["-n"], { input: stdout }).stderr.toString()).toBe("");
});

test("completion knows every command, subcommand and flag in the help", async () => {
  const program = await createProgram(processContext(), () => {});
  const wordsFor = (words: string[]) => completions(words, program).map(([word]) => word);
  expect(wordsFor([""])).toEqual([...program.commands.map((command) => command.name()), "help"]);
  for (const command of program.commands) {
    const below = command.createHelp().visibleCommands(command);
    for (const each of [command, ...below]) {
      const flags = wordsFor([command.name(), ...(each === command ? [] : [each.name()]), "--"]);
      for (const { long } of each.options) expect(flags).toContain(long);
    }
    expect(wordsFor([command.name(), ""])).toEqual(expect.arrayContaining(below.map((each) => each.name())));
  }
});
