// The program: commands, help, and messages about errors.
import { Command, CommanderError, type Option } from "commander";
import { SitemapError, systemReason } from "../model/errors.ts";
import { suggestion } from "../model/option-checks.ts";
import { version } from "../model/options.ts";
import { printable } from "../write/printable.ts";
import { type Context, type Done, discardUnfinished } from "./context.ts";
import { type ExitCode, exitCodes, Stopped, UsageError } from "./exit-codes.ts";
import { withFlagName } from "./flags.ts";
import { configureHelp } from "./help.ts";
import { Output, OutputClosed, OutputFailed } from "./output/stdout.ts";

/** Runs the program with these arguments. Prints errors instead of throwing them. */
export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const output = new Output(context.stdout);
  let exitCode: ExitCode = exitCodes.complete;
  try {
    exitCode = await perform(args, context);
    if (exitCode >= exitCodes.hungUp) return exitCode;
    // Help and other output is written without waiting, so a full disk is reported a moment later.
    await new Promise((resolve) => setImmediate(resolve));
    await output.flush();
    return exitCode;
  } catch (error) {
    if (error instanceof OutputClosed) return exitCode;
    if (error instanceof Stopped) {
      // The user stopped the program before anything was written.
      context.stderr.write("sitegrove: stopped: nothing was written\n");
      return error.exitCode;
    }
    return explain(error, args.includes("-vv"), context);
  } finally {
    discardUnfinished(context);
  }
}

async function perform(args: readonly string[], context: Context): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.complete;
  const done = (code: ExitCode) => {
    exitCode = code;
  };
  // Commander knows only one kind of help, so --help-all is handled here.
  const isHelpAll = args.includes("--help-all") && args[0] !== "complete";
  const typed = withCommand(isHelpAll ? [...args.filter((arg) => arg !== "--help-all"), "--help"] : args);
  if (typed[0] === "--version" || typed[0] === "-V") {
    context.stdout.write(`${version}\n`);
    return exitCode;
  }
  try {
    const program = await createProgram(context, done, typed[0], isHelpAll);
    expectSubcommand(program, typed);
    await program.parseAsync(typed, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.complete : exitCodes.usage;
  }
}

// `sitegrove example.org` means `sitegrove ls example.org`. A word that could be a mistyped command is not taken for a website.
function withCommand(args: readonly string[]): readonly string[] {
  const [first] = args;
  if (first === "complete") return args;
  if (args.includes("--version") || first === "version") return ["--version"];
  if (first === "help") return helpArguments(args.slice(1));
  if (first === undefined || Object.hasOwn(commands, first)) return args;
  const isFlag = first.startsWith("-") && !/^(-h|--help|-V|--version)$/.test(first);
  return isFlag || /[.:/\\]/.test(first) || first === "localhost" ? ["ls", ...args] : args;
}

// `sitegrove help fleet status` means `sitegrove fleet status --help`. An unknown command is reported, as without `help`.
function helpArguments(args: readonly string[]): readonly string[] {
  const names = args.filter((arg) => !arg.startsWith("-"));
  const isKnown = names[0] === undefined || Object.hasOwn(commands, names[0]);
  return isKnown ? [...names, "--help"] : names;
}

// `fleet` also takes websites, so commander would take a mistyped subcommand for one. No website is a word without a dot.
function expectSubcommand({ commands: [command] }: Command, [, word = ""]: readonly string[]): void {
  const names = command?.commands.map((each) => each.name()) ?? [];
  if (names.includes(word) || !/^\w[\w-]*$/.test(word)) return;
  const hint = suggestion(word, names).replaceAll("`", "");
  if (hint !== "") throw new UsageError(`unknown command '${word}'${hint}`);
}

const commands: Readonly<Record<string, (context: Context, done: Done) => Promise<Command>>> = {
  ls: async (...run) => (await import("./commands/ls.ts")).lsCommand(...run),
  parse: async (...run) => (await import("./commands/parse.ts")).parseCommand(...run),
  diff: async (...run) => (await import("./commands/diff.ts")).diffCommand(...run),
  changes: async (...run) => (await import("./commands/changes.ts")).changesCommand(...run),
  check: async (...run) => (await import("./commands/check.ts")).checkCommand(...run),
  report: async (...run) => (await import("./commands/report.ts")).reportCommand(...run),
  fleet: async (...run) => (await import("./fleet/command.ts")).fleetCommand(...run),
  mcp: async (...run) => (await import("./commands/mcp.ts")).mcpCommand(...run),
  completion: async (context) => (await import("./commands/completion.ts")).completionCommand(context),
};

// The completion scripts call this command, which is not in the help.
const completeCommand: (typeof commands)[string] = async (context, done) =>
  (await import("./commands/completion.ts")).completeCommand(context, () => createProgram(context, done));

const examples = `
Examples:
  sitegrove example.org                          the tree
  sitegrove example.org -f pages > urls.txt      page URLs, one per line
  sitegrove check example.org                    what search engines would flag

sitegrove COMMAND --help shows the flags of a command, --version the version.`;

/**
 * Creates the program with all its commands or, if `name` is a command, with only that one, because loading commands and describing
 * hundreds of flags is slow.
 */
export async function createProgram(context: Context, done: Done, name = "", isHelpAll = false): Promise<Command> {
  const program = new Command("sitegrove")
    .usage("WEBSITE [flags] | COMMAND [flags]")
    .description("From a website's homepage to every page its sitemaps declare.")
    .version(version, "-V, --version", "print the version")
    .helpCommand(false)
    // `fleet` and its subcommands have flags with the same names.
    .enablePositionalOptions()
    .addHelpText("after", examples);
  let named = Object.hasOwn(commands, name) ? [commands[name]!] : Object.values(commands);
  if (name === "complete") named = [completeCommand];
  for (const create of named) program.addCommand(await create(context, done));
  for (const command of [program, ...program.commands.flatMap((each) => [each, ...each.commands])]) {
    configureHelp(command, isHelpAll);
    for (const option of command.options) command.on(`option:${option.name()}`, (value) => expectValue(option, value));
    requireLast(command);
    command.exitOverride().configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => context.stdout.columns as number,
      outputError: (text, write) => write(oneLine(text, command)),
    });
  }
  return program;
}

// An empty value is usually a shell variable that is not set. Only a text, such as that of --user-agent, may be empty.
function expectValue({ flags }: Option, value: unknown): void {
  if (value === "" && !flags.includes("<text>")) throw new UsageError(`missing value: ${flags}; see --help`);
}

// Checks for missing flags last. Commander does so first, but one may be missing because it is misspelled.
function requireLast(command: Command): void {
  const required = command.options.filter(({ mandatory }) => mandatory);
  for (const option of required) option.makeOptionMandatory(false);
  command.hook("preAction", (_, called) => {
    const missing = required.find((option) => called.getOptionValue(option.attributeName()) === undefined);
    if (missing !== undefined && called === command) throw new UsageError(`missing flag: ${missing.flags}; see --help`);
  });
}

// Rewords a message of commander like our own: `error: unknown option '--fromat'` and, on a second line, `(Did you mean --format?)`
// become `sitegrove: unknown flag '--fromat'; did you mean --format?`.
function oneLine(text: string, command: Command): string {
  let sentence = text
    .trim()
    .replace(/^error: /, "")
    .replace(/^unknown option/, "unknown flag")
    .replace(/^missing required argument '(.*)'$/, "missing argument: $1; see --help")
    .replace(/^option '(.*)' argument missing$/, "missing value: $1; see --help")
    .replace(/^option '(.*)' cannot be used with option '(.*)'$/, "$1 cannot be used with $2")
    .replace(/\s*\(Did you mean (.*)\?\)$/s, "; did you mean $1?")
    .replace(/^option '.*?(--[\w-]+).*?' argument '(.*)' is invalid\. (.*)\.$/s, 'Expected $1 to be $3, got "$2"')
    .replace(
      /^command-argument value '(.*)' is invalid for argument '(.*?)'\. (.*)\.$/s,
      'Expected $2 to be $3, got "$1"',
    )
    .replace(" to be Expected ", " to be ")
    .replace(" to be Allowed choices are ", " to be one of ");
  const [, what, name = ""] = /^unknown (flag|command) '(.*?)'/.exec(sentence) ?? [];
  const own = command.options.find(({ long }) => long !== undefined && long === otherNames[name])?.long;
  if (own !== undefined) sentence = `unknown flag '${name}'; did you mean ${own}?`;
  else if (what !== undefined && !sentence.includes("; did you mean "))
    sentence += what === "flag" ? "; see --help-all" : "; see --help";
  return `sitegrove: ${printable(sentence.replaceAll(/\s*\n\s*/g, " "))}\n`;
}

// What flags of `fleet` and of other programs are called elsewhere.
const otherNames: Readonly<Record<string, string>> = { "--max-pages": "--limit", "-n": "--limit" };

function explain(error: unknown, withStack: boolean, { stderr }: Context): ExitCode {
  const isStorageFailure = error instanceof SitemapError && error.code === "storage-failed";
  const isUsage = error instanceof UsageError || (error instanceof SitemapError && !isStorageFailure);
  const { message, stack = "" } = error instanceof Error ? error : { message: String(error) };
  let said = `unexpected: ${systemReason(error)}`;
  if (isSystemError(error)) said = `${error.path ?? error.syscall}: ${systemReason(error)}`;
  if (isUsage || isStorageFailure || error instanceof OutputFailed) said = withFlagName(message);
  const lines = withStack && !isUsage ? stack.split("\n").slice(1) : [];
  for (const line of [`sitegrove: ${said}`, ...lines]) stderr.write(`${printable(line)}\n`);
  return isUsage ? exitCodes.usage : exitCodes.unexpected;
}

// Whether an error comes from the operating system, such as one about a file or a folder.
function isSystemError(
  error: unknown,
): error is Error & { readonly code: string; readonly syscall: string; readonly path?: string } {
  return (
    error instanceof Error && "syscall" in error && /^E[A-Z0-9]+$/.test(String((error as { code?: unknown }).code))
  );
}
