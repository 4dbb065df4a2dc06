// The stack of open elements; calls the handler for each.
//   Lenient: where an element is not closed its text has no certain end, so it is not used.
import type { XmlAttributes } from "./attributes.ts";
import type { XmlCursor } from "./cursor.ts";
import { type ElementAttributes, type XmlHandler, type XmlName, XmlNamespaces } from "./names.ts";
import type { XmlText } from "./text.ts";

export class XmlElements {
  readonly #cursor: XmlCursor;
  readonly #text: XmlText;
  readonly #maxDepth: number;
  // The root is at 1; 0 is unused.
  readonly #open: XmlName[] = [];
  readonly namespaces: XmlNamespaces = new XmlNamespaces();
  /** Called from the next element on. */
  handler: XmlHandler;
  /** How many are open. */
  depth = 0;
  /** The element whose tag was read last. */
  last: XmlName;

  constructor(cursor: XmlCursor, text: XmlText, maxDepth: number, handler: XmlHandler, first: XmlName) {
    this.#cursor = cursor;
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.handler = handler;
    this.last = first;
  }

  /** The innermost element. */
  get top(): XmlName | undefined {
    return this.depth === 0 ? undefined : this.#open[this.depth];
  }

  open(name: XmlName, attributes: ElementAttributes): void {
    if (this.depth >= this.#maxDepth) {
      this.#cursor.limit("limit-xml-depth", this.#maxDepth);
      return;
    }
    const depth = ++this.depth;
    this.#open[depth] = name;
    this.last = name;
    this.namespaces.resolve(name);
    if (this.handler.open(name, attributes)) this.#text.begin(depth);
    else if (this.#text.depth !== 0 && depth === this.#text.depth + 1) this.#text.addChild();
  }

  /** `isImplied`: its end tag is missing. */
  close(isImplied = false): void {
    const { depth } = this;
    const name = this.#open[depth]!;
    if (this.#text.depth === depth) {
      if (isImplied) this.#text.spoil("unclosed");
      this.handler.close(name, this.#text.value);
      this.#text.finish();
    } else this.handler.close(name, undefined);
    this.last = name;
    this.depth = depth - 1;
    this.namespaces.leave(depth);
  }

  /** How many of the open elements were not closed, if this element starts an entry. */
  unclosedBefore(name: XmlName): number {
    if (this.handler.unclosedBefore === undefined) return 0;
    this.namespaces.resolve(name);
    return this.handler.unclosedBefore(name);
  }

  /** The innermost element that an end tag may close: with this name, or else with this name in another case. */
  depthOf({ raw, hash }: XmlName): number {
    let inOtherCase = 0;
    for (let depth = this.depth; depth > 0; depth--) {
      const name = this.#open[depth]!;
      // A limit, because a document can have any number of end tags that close nothing, with many elements open.
      if (name.hash !== hash) continue;
      if (name.raw === raw) return depth;
      if (inOtherCase === 0 && isAlike(name.raw, raw)) inOtherCase = depth;
    }
    return inOtherCase;
  }

  /** Takes the namespace declarations of an element that is about to be opened. */
  declare(attributes: XmlAttributes): void {
    for (let index = 0; index < attributes.count; index++) {
      const name = attributes.name(index);
      if (name !== "xmlns" && !name.startsWith("xmlns:")) continue;
      this.namespaces.declare(name.slice(6), attributes.value(index), this.depth + 1);
    }
  }

  /** The open elements, root first. Setting them opens and closes without a call of the handler. */
  get names(): readonly XmlName[] {
    return this.#open.slice(1, this.depth + 1);
  }

  set names(names: readonly XmlName[]) {
    for (let index = 0; index < names.length; index++) this.#open[index + 1] = names[index]!;
    this.depth = names.length;
  }
}

function isAlike(one: string, other: string): boolean {
  return one.length === other.length && one.toLowerCase() === other.toLowerCase();
}
