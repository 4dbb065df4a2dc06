// `sitegrove completion`: scripts for commands, flags and their values, made from commander's data, so that they always match the help.
import { Argument, Command, type Option } from "commander";
import type { Context } from "../context.ts";
import { allOptions } from "../help.ts";

const shells = { bash, zsh, fish };

export function completionCommand({ stdout }: Context, program: () => Promise<Command>): Command {
  return new Command("completion")
    .summary("print a shell completion script")
    .description("Prints a script that makes the shell complete commands, flags and their values.")
    .addArgument(new Argument("<shell>", "shell to complete in").choices(Object.keys(shells)))
    .addHelpText("after", examples)
    .action(async (shell: keyof typeof shells) => {
      const { commands } = await program();
      // Not among them: program.ts handles it.
      const names = new Argument("[command]").choices(commands.map((command) => command.name()));
      const help = new Command("help").summary("print the help of a command").helpOption(false).addArgument(names);
      stdout.write(shells[shell]([...commands, help].map(described)));
    });
}

const examples = `
Examples:
  source <(sitegrove completion bash)                                      # in ~/.bashrc
  sitegrove completion zsh > "\${fpath[1]}/_sitegrove"
  sitegrove completion fish > ~/.config/fish/completions/sitegrove.fish`;

/** `words`: the choices of the argument, if it has any. */
function described(command: Command) {
  const words = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return { name: command.name(), summary: command.summary(), options: allOptions(command), words };
}

type Described = readonly ReturnType<typeof described>[];

function bash(commands: Described): string {
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
  return `_sitegrove() {
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
complete -o default -F _sitegrove sitegrove
`;
}

function zsh(commands: Described): string {
  const cases = commands.map(({ name, options, words }) => {
    const last = words.length > 0 ? `'1:argument:(${words.join(" ")})'` : "'*:file or website:_files'";
    return `    ${name}) _arguments ${[...options.map(zshSpec), last].join(" \\\n      ")} ;;`;
  });
  return `#compdef sitegrove
_sitegrove() {
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
if [[ "$funcstack[1]" == "_sitegrove" ]]; then _sitegrove "$@"; else compdef _sitegrove sitegrove; fi
`;
}

function zshSpec(option: Option): string {
  const names = spellings(option);
  const described = `[${quoted(option.description).replaceAll(/[[\]:]/g, "\\$&")}]`;
  const values = option.argChoices ? `(${option.argChoices.join(" ")})` : "_files";
  // Both spellings in one set of braces would need no quotes around it.
  const shown = names.length === 1 ? `*${names[0]}` : `*'{${names.join(",")}}'`;
  return `'${shown}${described}${takesValue(option) ? `:value:${values}` : ""}'`;
}

function fish(commands: Described): string {
  const lines = commands.flatMap(({ name, summary, options, words }) => {
    const inside = `complete -c sitegrove -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c sitegrove -n __fish_use_subcommand -f -a ${name} -d '${quoted(summary)}'`,
      ...words.map((word) => `${inside} -f -a ${word}`),
      ...options.map((option) => {
        const short = option.short ? ` -s ${option.short.slice(1)}` : "";
        const long = option.long ? ` -l ${option.long.slice(2)}` : "";
        const value = option.argChoices ? ` -x -a '${option.argChoices.join(" ")}'` : takesValue(option) ? " -r" : "";
        return `${inside}${short}${long}${value} -d '${quoted(option.description)}'`;
      }),
    ];
  });
  return `${lines.join("\n")}\n`;
}

function spellings({ short, long }: Option): string[] {
  return [short, long].flatMap((spelling) => spelling ?? []);
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

// Inside single quotes; none of the descriptions needs more than this.
function quoted(text: string): string {
  return text.replaceAll("'", "’");
}
