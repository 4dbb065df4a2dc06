// Names of elements: each is made once for a document, found again without being cut out of the text, and resolved to
// its namespace once for each change of the declarations in scope.
// https://www.w3.org/TR/xml-names/
import { detached } from "../detached.ts";

/** The name of an element, as it stands in a document. */
export class XmlName {
  /** As written, prefix included. */
  readonly raw: string;
  readonly prefix: string;
  readonly local: string;
  /** `local` in lower case. */
  readonly lower: string;
  /** Whether this object stands for every element with this name. */
  readonly shared: boolean;
  /** The namespace at the moment; empty where there is none. */
  namespace = "";
  /** Whether the prefix has a declaration at the moment. */
  bound = true;
  /** To which state of the declarations `namespace` belongs. */
  generation = -1;
  /** Room for the reader to remember what it made of this name, in which context. */
  readonly memo: { context: object | undefined; generation: number; meaning: object | undefined } = {
    context: undefined,
    generation: -1,
    meaning: undefined,
  };

  constructor(raw: string, shared: boolean) {
    const colon = raw.indexOf(":");
    this.raw = raw;
    this.prefix = colon > 0 ? raw.slice(0, colon) : "";
    this.local = raw.slice(colon + 1);
    this.lower = this.local.toLowerCase();
    this.shared = shared;
  }
}

/** The names of one document. */
export class XmlNames {
  readonly #slots: XmlName[][] = Array.from({ length: slotCount }, () => []);
  #size = 0;

  find(buffer: string, start: number, end: number): XmlName {
    const length = end - start;
    // Length, first and last character tell nearly all names of these formats apart.
    const key = length * 7 + buffer.charCodeAt(start) * 3 + buffer.charCodeAt(end - 1) * 11;
    const slot = this.#slots[key & (slotCount - 1)]!;
    for (let index = 0; index < slot.length; index++) {
      const name = slot[index]!;
      if (name.raw.length === length && buffer.startsWith(name.raw, start)) return name;
    }
    const shared = this.#size < sharedNames;
    const name = new XmlName(detached(buffer.slice(start, end)), shared);
    if (shared) {
      this.#size++;
      slot.push(name);
    }
    return name;
  }
}

/** The declarations of namespaces that are in scope. */
export class XmlNamespaces {
  readonly #bindings = new Map<string, string[]>();
  // Prefix and depth of each declaration, in order.
  readonly #prefixes: string[] = [];
  readonly #depths: number[] = [];
  #deepest = 0;
  #states = 0;
  /** Which state of the declarations this is: equal numbers, equal meaning of all names. */
  generation = 0;

  declare(prefix: string, namespace: string, depth: number): void {
    const stack = this.#bindings.get(prefix);
    if (stack === undefined) this.#bindings.set(prefix, [namespace]);
    else stack.push(namespace);
    this.#prefixes.push(prefix);
    this.#depths.push(depth);
    this.#deepest = depth;
    this.generation = ++this.#states;
  }

  /** The innermost element that declares something; 0 where none does. */
  get deepest(): number {
    return this.#deepest;
  }

  /** Forgets what the element at this depth declared. */
  leave(depth: number): void {
    if (this.#deepest !== depth) return;
    while (this.#depths.length > 0 && this.#depths.at(-1) === depth) {
      this.#depths.pop();
      const prefix = this.#prefixes.pop()!;
      const stack = this.#bindings.get(prefix)!;
      if (stack.length > 1) stack.pop();
      else this.#bindings.delete(prefix);
    }
    this.#deepest = this.#depths.at(-1) ?? 0;
    this.generation = ++this.#states;
  }

  resolve(name: XmlName): void {
    if (name.generation === this.generation) return;
    const namespace = this.lookup(name.prefix);
    name.bound = namespace !== undefined || name.prefix === "";
    name.namespace = namespace ?? "";
    name.generation = this.generation;
  }

  lookup(prefix: string): string | undefined {
    if (prefix === "xml") return "http://www.w3.org/XML/1998/namespace";
    return this.#bindings.get(prefix)?.at(-1);
  }
}

// More different names than this are not remembered: a hostile document may have millions.
const sharedNames = 1000;
const slotCount = 256;
