// `sitegrove completion`: scripts for commands, flags and their values, made from commander's data, so that they always match the help.
import { Argument, Command, type Option } from "commander";
import type { Context } from "../context.ts";

type Shell = "bash" | "zsh" | "fish";

export function completionCommand({ stdout }: Context, program: () => Promise<Command>): Command {
  return new Command("completion")
    .summary("print a shell completion script")
    .description("Prints a script that makes the shell complete commands, flags and their values.")
    .addArgument(new Argument("<shell>", "shell to complete in").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      `
Examples:
  source <(sitegrove completion bash)                                      # in ~/.bashrc
  sitegrove completion zsh > "\${fpath[1]}/_sitegrove"
  sitegrove completion fish > ~/.config/fish/completions/sitegrove.fish
`,
    )
    .action(async (shell: Shell) => {
      stdout.write(completion(shell, await program()));
    });
}

function completion(shell: Shell, program: Command): string {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    summary: command.summary(),
    options: command.createHelp().visibleOptions(command),
    words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  }));
  // Not a command of commander's: program.ts understands it.
  const help = {
    name: "help",
    summary: "print the help of a command",
    options: [],
    words: commands.map(({ name }) => name),
  };
  return { bash, zsh, fish }[shell](program.name(), [...commands, help]);
}

interface CommandFacts {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly Option[];
  /** The choices of the argument, if it has any. */
  readonly words: readonly string[];
}

function bash(program: string, commands: readonly CommandFacts[]): string {
  const flags = commands.map(
    ({ name, options, words }) => `    ${name}) words="${[...options.flatMap(spellings), ...words].join(" ")}" ;;`,
  );
  const values = commands.flatMap(({ name, options }) =>
    options.flatMap((option) => {
      if (option.argChoices === undefined) return [];
      const patterns = spellings(option).map((spelling) => `"${name} ${spelling}"`);
      return `    ${patterns.join("|")}) COMPREPLY=($(compgen -W "${option.argChoices.join(" ")}" -- "$current")); return ;;`;
    }),
  );
  return `_${program}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words
  case "\${COMP_WORDS[1]} $previous" in
${values.join("\n")}
  esac
  case "\${COMP_WORDS[1]}" in
${flags.join("\n")}
    *) words="${commands.map(({ name }) => name).join(" ")} --help --version" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${program} ${program}
`;
}

function zsh(program: string, commands: readonly CommandFacts[]): string {
  const cases = commands.map(({ name, options, words }) => {
    const specs = [
      ...options.map((option) => `'${zshSpec(option)}'`),
      words.length > 0 ? `'1:argument:(${words.join(" ")})'` : "'*:file or website:_files'",
    ];
    return `    ${name}) _arguments ${specs.join(" \\\n      ")} ;;`;
  });
  return `#compdef ${program}
_${program}() {
  if (( CURRENT == 2 )); then
    local -a commands=(${commands.map(({ name, summary }) => `'${name}:${quoted(summary)}'`).join(" ")})
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${cases.join("\n")}
  esac
}
if [[ "$funcstack[1]" == "_${program}" ]]; then _${program} "$@"; else compdef _${program} ${program}; fi
`;
}

function zshSpec(option: Option): string {
  const names = spellings(option);
  const described = `[${quoted(option.description).replaceAll(/[[\]:]/g, "\\$&")}]`;
  const value = takesValue(option) ? `:value:${option.argChoices ? `(${option.argChoices.join(" ")})` : "_files"}` : "";
  // Both spellings in one set of braces would need no quotes around it.
  return names.length === 1 ? `*${names[0]}${described}${value}` : `*'{${names.join(",")}}'${described}${value}`;
}

function fish(program: string, commands: readonly CommandFacts[]): string {
  const lines = commands.flatMap(({ name, summary, options, words }) => [
    `complete -c ${program} -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
    ...words.map((word) => `complete -c ${program} -n '__fish_seen_subcommand_from ${name}' -f -a ${word}`),
    ...options.map((option) => {
      const short = option.short ? ` -s ${option.short.slice(1)}` : "";
      const long = option.long ? ` -l ${option.long.slice(2)}` : "";
      const value = option.argChoices ? ` -x -a '${option.argChoices.join(" ")}'` : takesValue(option) ? " -r" : "";
      return `complete -c ${program} -n '__fish_seen_subcommand_from ${name}'${short}${long}${value} -d '${quoted(option.description)}'`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}

function spellings({ short, long }: Option): string[] {
  return [short, long].filter((spelling): spelling is string => spelling !== undefined && spelling !== null);
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

// Inside single quotes; none of the descriptions needs more than this.
function quoted(text: string): string {
  return text.replaceAll("'", "’");
}
