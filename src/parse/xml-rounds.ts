// Entries that are alike, one after the other: between their texts stand the same glues, round and round.
import type { XmlGlue, XmlGlues } from "./xml-glue.ts";

/** Notices that glues come in rounds, and finds the texts of the next round. */
export class XmlRounds {
  // The glues since the first of them was followed.
  #trail: XmlGlue[] = [];
  #depth = 0;
  #failures = 0;
  /** The glues of a round, in order. */
  glues: readonly XmlGlue[] = [];
  /** Where the texts before them stand. */
  readonly starts: Int32Array = new Int32Array(maxGlues);
  readonly ends: Int32Array = new Int32Array(maxGlues);

  /** Something else was read in between. */
  begin(): void {
    this.#trail.length = 0;
  }

  /** Takes a glue that was followed. Returns whether a round ends with it, so that the next may be the same. */
  closes(glue: XmlGlue, depth: number): boolean {
    const trail = this.#trail;
    if (glue === trail[0] && depth === this.#depth) {
      if (this.#failures >= maxFailures) return false;
      this.glues = [...trail.slice(1), glue];
      trail.length = 1;
      return true;
    }
    if (trail.length === maxGlues) trail.length = 0;
    if (trail.length === 0) this.#depth = depth;
    trail.push(glue);
    return false;
  }

  /** Finds the texts of a whole round; returns where it ends, or -1 where the document goes on in another way. */
  find(buffer: string, from: number, maxTextLength: number, all: XmlGlues): number {
    const { glues, starts, ends } = this;
    let at = from;
    for (let index = 0; index < glues.length; index++) {
      const glue = glues[index]!;
      const open = buffer.indexOf("<", at);
      if (open === -1 || open - at > maxTextLength || !all.standsAt(glue, buffer, open)) {
        // Not the end of a buffer, but the end of every other entry would make this a waste.
        if (open !== -1) this.#failures++;
        return -1;
      }
      starts[index] = at;
      ends[index] = open;
      at = open + glue.text.length;
    }
    if (this.#failures > 0) this.#failures--;
    return at;
  }
}

const maxGlues = 16;
const maxFailures = 64;
