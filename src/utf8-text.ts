// A piece of a text that came as UTF-8. Who wants characters gets them; who can read the bytes saves the decoding.

export class Utf8Text {
  /** Valid UTF-8, and whole characters. Only good until the next piece is asked for. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  toString(): string {
    return decoder.decode(this.bytes);
  }
}

/** Text as it comes in pieces. */
export type TextPiece = string | Utf8Text;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
