// Shell completion. The three scripts only ask the hidden command `complete`, which reads commands, subcommands, flags and their
// values from commander's data.
import { Argument, Command, type Option } from "commander";
import type { Context } from "../context.ts";
import { allOptions } from "../help.ts";

type Program = () => Promise<Command>;

export function completionCommand({ stdout }: Context): Command {
  return new Command("completion")
    .summary("print a shell completion script")
    .description("Prints a script that makes the shell complete commands, flags and their values.")
    .addArgument(new Argument("<shell>", "shell to complete in").choices(Object.keys(scripts)))
    .addHelpText("after", examples)
    .action((shell: keyof typeof scripts) => void stdout.write(scripts[shell]));
}

const examples = `
Examples:
  source <(sitegrove completion bash)                                      # in ~/.bashrc
  sitegrove completion zsh > "\${fpath[1]}/_sitegrove"
  sitegrove completion fish > ~/.config/fish/completions/sitegrove.fish`;

// Each script sends the words up to the cursor, and gets one line for each completion: `WORD<tab>description`. If there is none, the shell
// offers files.
const scripts = {
  bash: `_sitegrove() {
  local IFS=$'\\n'
  COMPREPLY=($(sitegrove complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _sitegrove sitegrove
`,
  zsh: `#compdef sitegrove
_sitegrove() {
  local -a lines=("\${(@f)$(sitegrove complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}") found
  local line
  for line in $lines; do found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}"); done
  if (( $#found )); then _describe sitegrove found; else _files; fi
}
if [[ "$funcstack[1]" == "_sitegrove" ]]; then _sitegrove "$@"; else compdef _sitegrove sitegrove; fi
`,
  fish: `complete -c sitegrove -a '(sitegrove complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

/** The hidden command that the scripts call. */
export function completeCommand({ stdout }: Context, program: Program): Command {
  return new Command("complete").argument("[words...]").action(async (words: readonly string[]) => {
    const lines = completions(words, await program());
    stdout.write(lines.map(([word, text]) => `${word}\t${text}\n`).join(""));
  });
}

type Completion = readonly [word: string, description: string];

/** Returns what the last word may be completed to. */
export function completions(words: readonly string[], program: Command): Completion[] {
  const before = words.slice(0, -1);
  const start = words.at(-1) ?? "";
  const fitting = (found: readonly Completion[]) => found.filter(([word]) => word.startsWith(start));
  const help = ["help", "print the help of a command"] as const;
  if (before.length === 0 && !start.startsWith("-")) return fitting([...commandsOf(program), help]);
  const names = before[0] === "help" ? before.slice(1) : before;
  // A website without a command means `ls`.
  let command = before[0] === "help" ? program : (named(program, before[0]) ?? named(program, "ls") ?? program);
  for (const name of names) command = named(command, name) ?? command;
  if (before[0] === "help") return fitting(commandsOf(command));
  const options = allOptions(command);
  const asked = options.find((option) => spellings(option).includes(before.at(-1) ?? ""));
  if (asked?.required || asked?.optional) return fitting(values(asked.argChoices));
  if (start.startsWith("-"))
    return fitting(options.flatMap((option) => spellings(option).map((word) => [word, option.description] as const)));
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return fitting([...commandsOf(command), ...values(choices)]);
}

function named(command: Command, name: string | undefined): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}

function commandsOf(command: Command): Completion[] {
  const shown = command.createHelp().visibleCommands(command);
  return shown.map((each) => [each.name(), each.summary()] as const);
}

function values(choices: readonly string[] = []): Completion[] {
  return choices.map((choice) => [choice, ""] as const);
}

function spellings({ short, long }: Option): string[] {
  return [short, long].flatMap((spelling) => spelling ?? []);
}
