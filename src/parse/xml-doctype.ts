// A document type declaration: skipped, never interpreted. https://www.w3.org/TR/xml/#NT-doctypedecl It is only
// searched for entity declarations: a document that has one is refused, so nothing is ever expanded.
//   Lenient: any other document type declaration is skipped.

/** Finds the end of a document type declaration, chunk by chunk. */
export class XmlDoctype {
  /** It declares entities. */
  declaresEntities = false;
  #inSubset = false;
  // The end of the current comment, instruction or quoted text.
  #until = "";
  /** Its end was found. */
  done = false;

  /** Returns where to continue; a few characters may have to be examined again, with those that follow. */
  skip(buffer: string, from: number, final: boolean): number {
    let at = from;
    while (at < buffer.length && !this.declaresEntities) {
      if (this.#until !== "") {
        const end = buffer.indexOf(this.#until, at);
        if (end === -1) return Math.max(at, buffer.length - this.#until.length + 1);
        at = end + this.#until.length;
        this.#until = "";
        continue;
      }
      const character = buffer[at]!;
      // Longer than any of the words searched for.
      if (character === "<" && !final && buffer.length - at < 9) return at;
      at = this.#step(buffer, at, character);
      if (this.done) return at;
    }
    return at;
  }

  #step(buffer: string, at: number, character: string): number {
    switch (character) {
      case '"':
      case "'":
        this.#until = character;
        return at + 1;
      case "[":
        this.#inSubset = true;
        return at + 1;
      case "]":
        this.#inSubset = false;
        return at + 1;
      case ">":
        this.done = !this.#inSubset;
        return at + 1;
      case "<":
        return this.#markup(buffer, at);
      default:
        return at + 1;
    }
  }

  #markup(buffer: string, at: number): number {
    if (buffer.startsWith("<!--", at)) {
      this.#until = "-->";
      return at + 4;
    }
    if (buffer.startsWith("<?", at)) {
      this.#until = "?>";
      return at + 2;
    }
    if (buffer.slice(at, at + 8).toUpperCase() === "<!ENTITY") this.declaresEntities = true;
    return at + 1;
  }
}
