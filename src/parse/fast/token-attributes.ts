// The attributes of a tag that the tokenizer read.
import { detached } from "../../model/detached.ts";
import { TextFacts } from "../table.ts";
import { normalizeSpace } from "../xml/attributes.ts";
import { decodeReferences, type ReferenceWatcher } from "../xml/entities.ts";
import type { ElementAttributes } from "../xml/names.ts";

export class TokenAttributes implements ElementAttributes {
  readonly #watcher: ReferenceWatcher;
  count = 0;
  readonly #names: string[] = [];
  readonly #values: string[] = [];
  readonly #isRaw: boolean[] = [];
  readonly #facts: TextFacts[] = [];

  constructor(watcher: ReferenceWatcher) {
    this.#watcher = watcher;
  }

  /** Starts over with the next tag. */
  clear(): void {
    this.count = 0;
  }

  /** `isRaw`: the value is as written. The caller adds what is known of it to the returned facts. */
  add(name: string, value: string, isRaw: boolean): TextFacts {
    const index = this.count++;
    this.#names[index] = name;
    this.#values[index] = value;
    this.#isRaw[index] = isRaw;
    return (this.#facts[index] ??= new TextFacts());
  }

  name(index: number): string {
    return this.#names[index]!;
  }

  get(name: string): string | undefined {
    const index = this.find(name);
    return index === -1 ? undefined : this.value(index);
  }

  find(name: string): number {
    for (let index = 0; index < this.count; index++) if (this.#names[index] === name) return index;
    return -1;
  }

  value(index: number): string {
    const value = this.#values[index]!;
    return this.#isRaw[index] ? detached(decodeReferences(normalizeSpace(value), this.#watcher)) : value;
  }

  facts(index: number): TextFacts {
    return this.#facts[index]!;
  }
}
