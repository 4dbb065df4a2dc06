// The program: commands, help, and messages about mistakes on the command line.
import { Command, CommanderError } from "commander";
import { SitemapError } from "../model/errors.ts";
import { version } from "../model/options.ts";
import { isSystemError, systemReason } from "../model/system-reason.ts";
import { printable } from "../write/printable.ts";
import { type Context, type Done, discardUnfinished } from "./context.ts";
import { exitCodes, Stopped, UsageError } from "./exit-codes.ts";
import { Output, OutputClosed, OutputFailed } from "./output/stdout.ts";

/** Runs one command line, without the name of the program. Returns the exit code; nothing is thrown. */
export async function run(words: readonly string[], context: Context): Promise<number> {
  const output = new Output(context.stdout);
  let exitCode: number = exitCodes.complete;
  try {
    exitCode = await perform(words, context);
    if (exitCode >= exitCodes.hungUp) return exitCode;
    // The help, and whatever else was written without waiting: a disk that is full says so a moment later.
    await new Promise((resolve) => setImmediate(resolve));
    await output.flush();
    return exitCode;
  } catch (error) {
    if (error instanceof OutputClosed) return exitCode;
    if (error instanceof Stopped) {
      // Before anything could be written.
      context.stderr.write("sitegrove: stopped: nothing was written\n");
      return error.exitCode;
    }
    return explain(error, words.includes("-vv"), context);
  } finally {
    discardUnfinished(context);
  }
}

async function perform(words: readonly string[], context: Context): Promise<number> {
  let exitCode: number = exitCodes.complete;
  const typed = withCommand(words);
  const done = (code: number) => {
    exitCode = code;
  };
  try {
    const program = await createProgram(context, done, typed[0]);
    await program.parseAsync(typed, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.complete : exitCodes.usage;
  }
}

// `sitegrove example.org` means `sitegrove ls example.org`. A word that could be a mistyped command is not taken for a website.
function withCommand(words: readonly string[]): readonly string[] {
  const [first] = words;
  if (words.includes("--version") || first === "version") return ["--version"];
  if (first === "help") return helpWords(words.slice(1));
  if (first === undefined || Object.hasOwn(commands, first)) return words;
  const isFlag = first.startsWith("-") && !/^(-h|--help|-V|--version)$/.test(first);
  return isFlag || /[.:/\\]/.test(first) || first === "localhost" ? ["ls", ...words] : words;
}

// `sitegrove help fleet status` means `sitegrove fleet status --help`. What is no command is named, as without `help`.
function helpWords(words: readonly string[]): readonly string[] {
  const names = words.filter((word) => !word.startsWith("-"));
  const isKnown = names[0] === undefined || Object.hasOwn(commands, names[0]);
  return isKnown ? [...names, "--help"] : names;
}

const commands: Readonly<Record<string, (context: Context, done: Done) => Promise<Command>>> = {
  ls: async (...run) => (await import("./commands/ls.ts")).lsCommand(...run),
  parse: async (...run) => (await import("./commands/parse.ts")).parseCommand(...run),
  diff: async (...run) => (await import("./commands/diff.ts")).diffCommand(...run),
  changes: async (...run) => (await import("./commands/changes.ts")).changesCommand(...run),
  check: async (...run) => (await import("./commands/check.ts")).checkCommand(...run),
  report: async (...run) => (await import("./commands/report.ts")).reportCommand(...run),
  fleet: async (...run) => (await import("./fleet/command.ts")).fleetCommand(...run),
  completion: async (context, done) => {
    const { completionCommand } = await import("./commands/completion.ts");
    return completionCommand(context, () => createProgram(context, done));
  },
};

/**
 * The program with all its commands, or with the one that is named, where there is such a one: describing hundreds of flags takes longer
 * than reading a command line, and so does loading what a command needs. `done` gets the exit code of the command that ran.
 */
export async function createProgram(context: Context, done: Done, name?: string): Promise<Command> {
  const program = new Command("sitegrove")
    .description("From a website's homepage to every page its sitemaps declare.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help; `sitegrove ls --help` lists the flags of a command")
    .helpCommand(false)
    // `fleet` and its subcommands have flags with the same names.
    .enablePositionalOptions()
    .addHelpText(
      "after",
      "\nExamples:\n  sitegrove ls example.org\n  sitegrove ls example.org -f pages\n  sitegrove parse sitemap.xml\n  sitegrove diff old.warc.gz new.warc.gz\n  sitegrove report example.org -o report.html\n",
    );
  const named = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;
  for (const create of named === undefined ? Object.values(commands) : [named])
    program.addCommand(await create(context, done));
  for (const command of [program, ...program.commands.flatMap((each) => [each, ...each.commands])]) {
    command
      .exitOverride()
      .configureHelp({
        showGlobalOptions: false,
        // Terminals have widths of their own: where a line ends in the source means nothing.
        commandDescription: (each) => each.description().replaceAll(/(?<!\n)\n(?!\n)/g, " "),
      })
      .configureOutput({
        writeOut: (text) => context.stdout.write(text),
        writeErr: (text) => context.stderr.write(text),
        outputError: (text, write) => write(oneLine(text)),
      });
    if (command !== program) command.helpOption("-h, --help", "print this help");
  }
  return program;
}

// `error: unknown option '--fromat'` and, on a second line, `(Did you mean --format?)`.
function oneLine(text: string): string {
  const words = text
    .trim()
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ");
  return `sitegrove: ${printable(words)}\n`;
}

function explain(error: unknown, withStack: boolean, { stderr }: Context): number {
  const isMachine = error instanceof SitemapError && error.code === "storage-failed";
  const isUsage = error instanceof UsageError || (error instanceof SitemapError && !isMachine);
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  const said =
    isUsage || isMachine || error instanceof OutputFailed
      ? message
      : isSystemError(error)
        ? `${error.path === undefined ? error.syscall : error.path}: ${systemReason(error)}`
        : `unexpected: ${systemReason(error)}`;
  stderr.write(`sitegrove: ${printable(said)}\n`);
  if (withStack && !isUsage && stack !== undefined) {
    for (const line of stack.split("\n").slice(1)) stderr.write(`${printable(line)}\n`);
  }
  return isUsage ? exitCodes.usage : exitCodes.unexpected;
}
