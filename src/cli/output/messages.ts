// Messages to the user, on standard error. In pipes and logs they are plain lines. On a terminal they have colors, unless --no-color or
// NO_COLOR (https://no-color.org) is set, and the last lines can be redrawn. Every message is made printable here.

import { type Colors, createColors } from "../../write/colors.ts";
import { printable } from "../../write/printable.ts";
import type { Context, Stream } from "../context.ts";

export interface MessageFlags {
  readonly color: boolean;
  /** How often -v was given. `true` satisfies commander's types, which assume that a flag is given once. */
  readonly verbose?: number | true | undefined;
  readonly logFile?: string | undefined;
  /** Hides progress, notes and messages about success. */
  readonly quiet?: true | undefined;
}

export type Tone = "plain" | "good" | "warning" | "bad" | "quiet";

export class Messages {
  readonly isTerminal: boolean;
  /** Whether the log also goes to standard error, so that messages need not repeat it. */
  readonly hasLog: boolean;
  readonly #isQuiet: boolean;
  readonly #stream: Stream;
  readonly #colors: Colors;
  #live = "";

  constructor({ color, verbose = 0, logFile, quiet }: MessageFlags, { stderr: stream, environment }: Context) {
    const { TERM, NO_COLOR } = environment;
    this.#stream = stream;
    this.#isQuiet = quiet === true;
    this.hasLog = Number(verbose) > 0 && logFile === undefined;
    this.isTerminal = stream.isTTY === true && TERM !== "dumb";
    this.#colors = createColors(color && this.isTerminal && !NO_COLOR);
    // Continues if the reader of the messages is gone, because the result may still be wanted.
    stream.on("error", () => {});
  }

  /** Writes one line, unless --quiet hides it. If it does not go to a terminal, it begins with the name of the program. */
  say(text: string, tone: Tone = "plain"): void {
    if (this.#isQuiet && (tone === "good" || tone === "quiet")) return;
    this.clearLive();
    const line = printable(withoutSecrets(text));
    this.#stream.write(this.isTerminal ? `${this.#paint(line, tone)}\n` : `sitegrove: ${line}\n`);
  }

  /** Writes a line of the log, without the name of the program. */
  log(text: string): void {
    this.clearLive();
    this.#stream.write(`${printable(withoutSecrets(text))}\n`);
  }

  /** Shows lines that the next call replaces. Does nothing unless standard error is a terminal. */
  live(...texts: readonly string[]): void {
    const width = (this.#stream.columns || 80) - 1;
    const lines = texts.map((text) => fitting(printable(withoutSecrets(text)), width));
    const block = lines.map((line) => this.#paint(line, "quiet")).join("\n");
    if (block === this.#live || !this.isTerminal || this.#isQuiet) return;
    this.#stream.write(`${this.#clearing()}${block}`);
    this.#live = block;
  }

  clearLive(): void {
    if (this.#live === "") return;
    this.#stream.write(this.#clearing());
    this.#live = "";
  }

  // Returns the control sequences that clear the live lines, from the last one up to the first.
  #clearing(): string {
    return `\r\u001b[2K${"\u001b[1A\u001b[2K".repeat(this.#live.split("\n").length - 1)}`;
  }

  #paint(line: string, tone: Tone): string {
    const { green, yellow, red, dim } = this.#colors;
    return { plain: String, good: green, warning: yellow, bad: red, quiet: dim }[tone](line);
  }
}

/** The warning about --insecure. */
export const insecureWarning = "--insecure: certificates are NOT verified, so the server could be anyone";

/** Removes user names and passwords from the URLs in a text. */
export function withoutSecrets(text: string): string {
  return text.includes("@") ? text.replaceAll(/(\w:\/\/)[^\s/?#@]*(?:@[^\s/?#@]*)*@/g, "$1") : text;
}

/**
 * Cuts a line to the width of the terminal, because a line that wraps could not be cleared. A character that is not ASCII may be two
 * columns wide.
 */
function fitting(line: string, columns: number): string {
  let width = 0;
  let end = 0;
  for (const character of line) {
    width += character.charCodeAt(0) < 0x80 ? 1 : 2;
    if (width > columns) return line.slice(0, end);
    end += character.length;
  }
  return line;
}
