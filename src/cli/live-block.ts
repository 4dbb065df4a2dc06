// A few lines on a terminal that are redrawn in place. Whoever writes something else clears them first.
import type { WriteStream } from "node:tty";
import { printable } from "../write/printable.ts";
import { fitting, withoutSecrets } from "./messages.ts";

export class LiveBlock {
  readonly #stream: WriteStream;
  #height = 0;

  constructor(stream: WriteStream) {
    this.#stream = stream;
  }

  draw(lines: readonly string[]): void {
    const columns = (this.#stream.columns || 80) - 1;
    // A line that wraps could not be cleared.
    const shown = lines.map((line) => fitting(printable(withoutSecrets(line)), columns));
    this.#stream.write(`${this.#up()}${shown.map((line) => `\u001b[2K${line}\n`).join("")}\u001b[J`);
    this.#height = shown.length;
  }

  clear(): void {
    if (this.#height === 0) return;
    this.#stream.write(`${this.#up()}\u001b[J`);
    this.#height = 0;
  }

  #up(): string {
    return this.#height === 0 ? "" : `\u001b[${this.#height}A\r`;
  }
}
