// The help of a command: --help shows the flags that people use most, on one screen; --help-all shows all of them.
import { type Command, Help, Option } from "commander";

interface HelpParts {
  /** The flags that --help shows, with spaces between them. */
  readonly flags: string;
  readonly examples: string;
  /** The additional text of --help-all. */
  readonly more: string;
}

/** Explains patterns, in the help of `ls`, `parse` and `diff`. */
export const patternHelp = `
A pattern is a substring of the URL (blog), a wildcard pattern for the whole URL
('*/blog/*', '*.pdf'), or a regular expression between slashes ('/20\\d\\d/').
`;

const helpParts = new WeakMap<Command, HelpParts>();

/** Sets what the help of a command shows. Without it, --help shows the same as --help-all. */
export function addHelp(command: Command, parts: HelpParts): Command {
  helpParts.set(command, parts);
  return command;
}

/** All options of a command, including `--help`. */
export function allOptions(command: Command): Option[] {
  return new Help().visibleOptions(command);
}

/** Configures what --help prints for a command or, with `isHelpAll`, what --help-all prints. */
export function configureHelp(command: Command, isHelpAll: boolean): void {
  const { flags, examples, more } = helpParts.get(command) ?? { flags: undefined, examples: "", more: "" };
  const few = flags === undefined || isHelpAll ? undefined : `${flags} --help`.split(/\s+/);
  const isShown = (option: Option) => few?.includes(option.long ?? "") ?? true;
  const groupItems = <T>(_: T[], shown: T[]) => new Map([[shown[0] instanceof Option ? "Flags:" : "Commands:", shown]]);
  command.helpOption("-h, --help", `print this help${flags === undefined ? "" : "; --help-all shows all flags"}`);
  command.configureHelp({
    showGlobalOptions: false,
    // Also on a terminal of 60 columns, descriptions are wrapped under each other.
    minWidthToWrap: 20,
    commandUsage: (each) => new Help().commandUsage(each).replaceAll("[options]", "[flags]"),
    styleTitle: (title) => (title === "Options:" ? "Flags:" : title),
    // Terminals have different widths, so line breaks in the source do not count.
    commandDescription: (each) => each.description().replaceAll(/(?<!\n)\n(?!\n)/g, " "),
    // Hides options only while the help is formatted, because commander suggests only visible options for a misspelled one, and the user
    // may mean any.
    formatHelp(each, helper) {
      // The help of the program lists no flags, so that it fits a small terminal.
      helper.visibleOptions = () => (each.parent === null ? [] : allOptions(each).filter(isShown));
      return Help.prototype.formatHelp.call(helper, each, helper);
    },
    optionDescription,
    subcommandTerm: (each) => each.name(),
    ...(few === undefined ? {} : { groupItems }),
  });
  const after = few === undefined ? examples + more : examples;
  if (after !== "") command.addHelpText("after", after.trimEnd());
}

function optionDescription({ description, argChoices = [], defaultValue, defaultValueDescription }: Option): string {
  const choices = argChoices.length === 0 ? "" : `: ${argChoices.join(", ")}`;
  const defaultText = defaultValueDescription ?? (typeof defaultValue === "boolean" ? undefined : defaultValue);
  // If the description contains a default, moves it behind the choices.
  const [, what, written = ""] = /^(.*?)( \(default: [^)]*\))?$/s.exec(description) as unknown as [
    string,
    string,
    string?,
  ];
  return `${what}${choices}${written}${defaultText === undefined ? "" : ` (default: ${defaultText})`}`;
}
