// The stack of open elements; calls the handler for each.
//   Lenient: where an element is not closed its text has no certain end, so it is not used.
import type { Limits } from "../model/options.ts";
import type { XmlAttributes } from "./xml-attributes.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { ElementAttributes, XmlHandler } from "./xml-handler.ts";
import { type XmlName, XmlNamespaces } from "./xml-name.ts";
import type { XmlText } from "./xml-text.ts";

export class XmlElements {
  readonly #cursor: XmlCursor;
  readonly #text: XmlText;
  readonly #maxDepth: number;
  // The root is at 1; 0 is unused.
  readonly #open: XmlName[] = [];
  readonly namespaces: XmlNamespaces = new XmlNamespaces();
  handler: XmlHandler;
  /** How many are open. */
  depth = 0;
  /** The element whose tag was read last. */
  last: XmlName;

  constructor(options: { cursor: XmlCursor; text: XmlText; limits: Limits; handler: XmlHandler; first: XmlName }) {
    this.#cursor = options.cursor;
    this.#text = options.text;
    this.#maxDepth = options.limits.xmlDepth;
    this.handler = options.handler;
    this.last = options.first;
  }

  /** From the next element on, this handler is called. */
  useHandler(handler: XmlHandler): void {
    this.handler = handler;
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
      if (!attributes.declares(index)) continue;
      const name = attributes.name(index);
      if (name === "xmlns") this.namespaces.declare("", attributes.value(index), this.depth + 1);
      else if (name.startsWith("xmlns:")) {
        this.namespaces.declare(name.slice(6), attributes.value(index), this.depth + 1);
      }
    }
  }

  /** Whether these elements are open. */
  areOpen(names: readonly XmlName[]): boolean {
    if (names.length !== this.depth) return false;
    for (let index = 0; index < names.length; index++) {
      if (this.#open[index + 1] !== names[index]) return false;
    }
    return true;
  }

  /** The open elements, root first. */
  openNames(): readonly XmlName[] {
    return this.#open.slice(1, this.depth + 1);
  }

  /** From now on these elements are open. */
  resume(names: readonly XmlName[]): void {
    for (let index = 0; index < names.length; index++) this.#open[index + 1] = names[index]!;
    this.depth = names.length;
  }
}

function isAlike(one: string, other: string): boolean {
  return one.length === other.length && one.toLowerCase() === other.toLowerCase();
}
