// The help. Of a command: the flags that people use, on one screen; --help-all shows every flag, except that those about the network, which
// commands have in common, are described by `sitegrove ls --help-all` alone.
import { type Command, Help, Option } from "commander";

interface HelpParts {
  /** The flags that --help shows, with spaces between them. */
  readonly flags: string;
  readonly examples: string;
  /** What --help-all says besides. */
  readonly more: string;
}

/** Of commands with filters. */
export const patternHelp = `
A pattern is text that occurs anywhere in the URL (blog), a wildcard pattern for the whole URL
('*/blog/*', '*.pdf'), or a regular expression between slashes.
`;

const helpParts = new WeakMap<Command, HelpParts>();

/** Says what the help of a command shows. A command without it shows everything. */
export function addHelp(command: Command, parts: HelpParts): Command {
  helpParts.set(command, parts);
  return command;
}

/** Every option of a command, `--help` among them. */
export function allOptions(command: Command): Option[] {
  return new Help().visibleOptions(command);
}

/** Prepares the help of a command; `isWhole`: for --help-all. */
export function arrangeHelp(command: Command, isWhole: boolean): void {
  const parts = helpParts.get(command);
  const isShort = parts !== undefined && !isWhole;
  const path =
    command.parent === null || command.parent.parent === null
      ? command.name()
      : `${command.parent.name()} ${command.name()}`;
  const isElsewhere = (option: Option) => path !== "ls" && option.helpGroupHeading?.startsWith("Network") === true;
  const isShown = (option: Option) =>
    isShort ? `${parts.flags} --help`.split(/\s+/).includes(option.long ?? "") : !isElsewhere(option);
  command.helpOption(
    "-h, --help",
    parts === undefined ? "print this help" : "print this help; --help-all shows all flags",
  );
  command.configureHelp({
    showGlobalOptions: false,
    // Terminals have widths of their own: where a line ends in the source means nothing.
    commandDescription: (each) => each.description().replaceAll(/(?<!\n)\n(?!\n)/g, " "),
    visibleOptions: (each) => allOptions(each).filter(isShown),
    optionDescription,
    subcommandTerm: (each) => each.name(),
    ...(isShort
      ? {
          groupItems: <T>(_: T[], shown: T[]) =>
            new Map([[shown[0] instanceof Option ? "Flags:" : "Commands:", shown]]),
        }
      : {}),
  });
  if (parts !== undefined)
    command.addHelpText("after", (isShort ? parts.examples : parts.examples + parts.more).trimEnd());
  if (!isShort && command.options.some(isElsewhere))
    command.addHelpText("after", "\nFlags about the network are those of ls: sitegrove ls --help-all");
}

function optionDescription({ description, argChoices = [], defaultValue, defaultValueDescription }: Option): string {
  const choices = argChoices.length === 0 ? "" : `: ${argChoices.join(", ")}`;
  const usual = defaultValueDescription ?? (typeof defaultValue === "boolean" ? undefined : defaultValue);
  return `${description}${choices}${usual === undefined ? "" : ` (default: ${usual})`}`;
}
