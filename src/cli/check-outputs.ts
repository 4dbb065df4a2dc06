// Several results of one check: `-f sarif -o findings.sarif -f json -o findings.json -f text`. A format belongs to the
// file next to it; one without a file goes to standard output.
import { InvalidArgumentError, Option } from "commander";
import { type CheckFormat, checkFormats } from "./check-formats.ts";
import { UsageError } from "./exit-codes.ts";

export interface ChosenOutput {
  readonly format: CheckFormat;
  /** Absent for standard output. */
  readonly file?: string | undefined;
}

type Word = { readonly format: CheckFormat } | { readonly file: string };

/** The flags -f and -o, in the order in which they were given. */
export class OutputFlags {
  readonly #words: Word[] = [];

  get format(): Option {
    return new Option("-f, --format <format>", "text for people, data, or annotations; repeatable (default: text)")
      .choices(checkFormats)
      .argParser((value: string) => {
        if (!checkFormats.includes(value as CheckFormat)) {
          throw new InvalidArgumentError(`Allowed choices are ${checkFormats.join(", ")}.`);
        }
        this.#words.push({ format: value as CheckFormat });
        return value;
      });
  }

  get output(): Option {
    return new Option(
      "-o, --output <file>",
      "file for the format that is named next to it, whole or not at all; an existing one needs --force (repeatable)",
    ).argParser((value: string) => {
      this.#words.push({ file: value });
      return value;
    });
  }

  chosen(): readonly ChosenOutput[] {
    return pairsOf(this.#words);
  }
}

/** Throws a `UsageError` if a file has no format, or two results would go to standard output. */
export function pairsOf(words: readonly Word[]): readonly ChosenOutput[] {
  const chosen: ChosenOutput[] = [];
  let format: CheckFormat | undefined;
  let file: string | undefined;
  const end = () => {
    if (format !== undefined || file !== undefined) chosen.push({ format: format ?? "text", file });
    [format, file] = [undefined, undefined];
  };
  for (const word of words) {
    if ("format" in word) {
      if (format !== undefined) end();
      format = word.format;
    } else {
      if (file !== undefined) end();
      file = word.file;
    }
    // One of each: they belong together in either order.
    if (format !== undefined && file !== undefined) end();
  }
  end();
  const loose = words.filter((word) => "file" in word).length - words.filter((word) => "format" in word).length;
  if (chosen.length > 1 && loose > 0)
    throw new UsageError("every -o needs the -f of its own: -f json -o findings.json");
  if (chosen.filter((output) => output.file === undefined).length > 1) {
    throw new UsageError(
      "only one format can go to standard output: name a file for the others, -f json -o findings.json",
    );
  }
  return chosen.length === 0 ? [{ format: "text" }] : chosen;
}
