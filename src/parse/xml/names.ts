// The interface between the scanner and the reader of a format, and the element names that they share.
import type { XmlAttributes } from "./attributes.ts";
import type { XmlText } from "./text.ts";

export interface XmlHandler {
  /** Returns whether the element's text is wanted. `attributes` are valid only during the call. */
  open(name: XmlName, attributes: XmlAttributes): boolean;
  /** Takes the text of the innermost element, if it is wanted. Called right before `close`. */
  text?(text: XmlText): void;
  /** Called when the innermost element closes. */
  close(): void;
  /** If this element starts an entry, returns how many open elements lack their end tags, because an entry cannot be inside them. */
  unclosedBefore?(name: XmlName): number;
  /** Whether the innermost element contains entries, so that a URL that is written as text there is an entry. */
  readonly takesStray?: boolean;
  /** Takes text between entries, at this position of the buffer. */
  takeStray?(text: string, at: number): void;
  /** Whether text between entries starts with an entry or a URL. */
  startsEntry?(text: string): boolean;
  /** Whether an entry is open. */
  readonly isInEntry?: boolean;
}

/** The name of an element. Its namespace is resolved again only if the declarations in scope have changed. https://www.w3.org/TR/xml-names/ */
export class XmlName {
  /** The name as written, with its prefix. */
  readonly raw: string;
  readonly prefix: string;
  readonly local: string;
  /** `local` in lower case. */
  readonly lower: string;
  /** `raw` in lower case. */
  readonly folded: string;
  /** Whether this object is used for every element with this name. */
  readonly shared: boolean;
  /** The current namespace; empty if there is none. */
  namespace = "";
  /** Whether the prefix is declared at present. */
  bound = true;
  /** The version of the declarations that `namespace` belongs to. */
  generation = -1;
  /** A cache for the reader: what this name means in which context. */
  context: object | undefined = undefined;
  meaning: object | undefined = undefined;

  constructor(raw: string, shared: boolean) {
    const colon = raw.indexOf(":");
    this.raw = raw;
    this.prefix = colon > 0 ? raw.slice(0, colon) : "";
    this.local = raw.slice(colon + 1);
    this.lower = this.local.toLowerCase();
    this.folded = colon === -1 ? this.lower : raw.toLowerCase();
    this.shared = shared;
  }
}

/** The declarations of namespaces that are in scope. */
export class XmlNamespaces {
  readonly #bindings = new Map<string, string>();
  readonly #declared: { readonly key: string; depth: number; readonly outer: string | undefined }[] = [];
  /** The depth of the innermost element that declares something; 0 if none does. */
  deepest = 0;
  /** The version of the declarations: equal numbers mean equal namespaces for all names. */
  generation = 0;

  declare(prefix: string, namespace: string, depth: number): void {
    const key = hashSafeKey(prefix);
    this.#declared.push({ key, depth, outer: this.#bindings.get(key) });
    this.#bindings.set(key, namespace);
    this.deepest = depth;
    this.generation++;
  }

  /** Keeps the current declarations in scope, because anything after the root is read as if it were inside. */
  keep(): void {
    for (const declared of this.#declared) declared.depth = 0;
    this.deepest = 0;
  }

  /** Removes the declarations of the element at this depth. */
  leave(depth: number): void {
    if (this.deepest !== depth) return;
    while (this.#declared.at(-1)?.depth === depth) {
      const { key, outer } = this.#declared.pop()!;
      if (outer === undefined) this.#bindings.delete(key);
      else this.#bindings.set(key, outer);
    }
    this.deepest = this.#declared.at(-1)?.depth ?? 0;
    this.generation++;
  }

  resolve(name: XmlName): void {
    if (name.generation === this.generation) return;
    const namespace = this.lookup(name.prefix);
    name.bound = namespace !== undefined || name.prefix === "";
    name.namespace = namespace ?? "";
    name.generation = this.generation;
    name.context = undefined;
  }

  lookup(prefix: string): string | undefined {
    if (prefix === "xml") return "http://www.w3.org/XML/1998/namespace";
    return this.#bindings.get(hashSafeKey(prefix));
  }
}

// JavaScript engines hash strings with a random seed, but not numeric strings: an attacker could make those collide in a Map.
function hashSafeKey(prefix: string): string {
  return `:${prefix}`;
}
