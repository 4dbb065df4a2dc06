// The paths through a document, as a graph: from a set of open elements, over a text and the literal after it, to the
// next set of open elements. Learned from what the scanner reads, and followed by the matcher.
import type { XmlAttributes } from "../xml-attributes.ts";
import type { XmlElements } from "../xml-elements.ts";
import type { XmlName } from "../xml-name.ts";
import type { Action, Rule, TextKind } from "./action.ts";
import { layout } from "./layout.ts";
import type { MatchGraph } from "./matcher.ts";

/** The state of the scanner between two tokens. */
export interface PathState {
  /** The open elements, root first. */
  readonly names: readonly XmlName[];
  readonly generation: number;
  /** The text of the innermost element is wanted. */
  readonly wants: boolean;
  /** The rules of the open elements, for those that have one. */
  readonly rules: readonly Rule[];
}

export interface PathNode {
  readonly address: number;
  /** Undefined inside a tag or a CDATA section. */
  readonly state: PathState | undefined;
  /** Entries stand here: a URL that stands between them as text is one. */
  readonly takesStray: boolean;
  readonly edges: PathEdge[];
  /** Inside a tag: whether this attribute's value is needed, and whether it is a URL. */
  readonly isWanted: boolean;
  readonly isUrl: boolean;
  readonly isChecked: boolean;
}

export interface PathEdge {
  readonly kind: EdgeKind;
  readonly number: number;
  /** What follows the text in the document. */
  readonly literal: string;
  readonly from: PathNode;
  readonly target: PathNode;
  /** Of tag runs: the calls they lead to. */
  readonly action: Action | undefined;
  /** Of tags with attributes: the rule of the element, and whether it is empty. */
  readonly rule: Rule | undefined;
  readonly isEmpty: boolean;
  /** The name of the attribute whose value comes before the literal. */
  readonly name: string;
}

interface Inside {
  /** The character that ends the text or the value. */
  readonly delimiter: number;
  readonly isWanted?: boolean;
  readonly isUrl?: boolean;
  readonly isChecked?: boolean;
}

// What follows a text: a tag run, after white space or after a wanted text; the beginning of a tag or CDATA section;
// another attribute of the tag; the end of the tag; or the end of the CDATA section and a tag run.
export type EdgeKind = 0 | 1 | 2 | 3 | 4 | 5;
export const runAfterSpace = 0;
export const runAfterText = 1;
export const beginning = 2;
export const attribute = 3;
export const tagEnd = 4;
export const runAfterCdata = 5;

export class Paths implements MatchGraph {
  #memory = new Uint8Array(firstSize);
  #words = new Int32Array(this.#memory.buffer);
  readonly #nodes: PathNode[] = [];
  readonly #byTop = new Map<XmlName, PathNode[]>();
  /** By the numbers that appear in traces. */
  readonly edges: PathEdge[] = [];
  version = 0;
  #used = literalsStart;

  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#used);
  }

  nodeAt(address: number): PathNode {
    return this.#nodes[(address - graphStart) / nodeSize]!;
  }

  /** The node for the current state. Undefined if there is none, and no room for another. */
  find(elements: XmlElements, wants: boolean, rulesOf: () => readonly Rule[]): PathNode | undefined {
    const { top, depth, namespaces } = elements;
    const { generation } = namespaces;
    if (top === undefined || depth > maxDepth) return undefined;
    const known = this.#byTop.get(top) ?? [];
    for (const node of known) {
      const state = node.state!;
      if (state.generation === generation && state.wants === wants && elements.areOpen(state.names)) return node;
    }
    const names = elements.openNames();
    // A hostile document may have any number of names.
    if (!names.every(({ shared }) => shared)) return undefined;
    const node = this.#addNode({ names, generation, wants, rules: rulesOf() }, { delimiter: lessThan });
    if (node === undefined) return undefined;
    known.push(node);
    this.#byTop.set(top, known);
    return node;
  }

  addRun(from: PathNode, literal: string, action: Action, to: PathNode): void {
    const kind = from.state!.wants ? runAfterText : runAfterSpace;
    this.#addEdge(from, { kind, literal, target: to, action });
  }

  /** A run after a text that is one CDATA section. */
  addRunAfterCdata(from: PathNode, literal: string, action: Action, to: PathNode): void {
    const section = this.#through(from, "<![CDATA[", { delimiter: squareBracket });
    if (section === undefined) return;
    this.#addEdge(section, { kind: runAfterCdata, literal: `]]>${literal}`, target: to, action });
  }

  /** A tag with attributes, in the buffer from `open` to `end`. */
  addTag(
    from: PathNode,
    tag: { buffer: string; open: number; end: number; attributes: XmlAttributes; rule: Rule; isChecked: boolean },
    to: PathNode,
  ): void {
    const { buffer, open, end, attributes, rule, isChecked } = tag;
    let node: PathNode | undefined = from;
    let at = open;
    let name = "";
    for (let index = 0; index < attributes.count && node !== undefined; index++) {
      const { start, end } = attributes.place(index);
      const before = name;
      name = attributes.name(index);
      node = this.#through(node, buffer.slice(at, start), {
        delimiter: buffer.charCodeAt(start - 1),
        isWanted: rule.open !== undefined,
        isUrl: name === "href",
        isChecked: name === "href" && isChecked,
        name: before,
      });
      at = end;
    }
    if (node === undefined) return;
    const isEmpty = attributes.selfClosing;
    this.#addEdge(node, { kind: tagEnd, literal: buffer.slice(at, end), target: to, rule, isEmpty, name });
  }

  // The node inside a tag or a CDATA section that this leads to.
  #through(from: PathNode, literal: string, to: Inside & { readonly name?: string }): PathNode | undefined {
    const known = from.edges.find((edge) => edge.literal === literal && edge.target.state === undefined);
    if (known !== undefined) return known.target;
    if (!this.#hasRoom(from, literal)) return undefined;
    const target = this.#addNode(undefined, to);
    if (target === undefined) return undefined;
    const kind = from.state === undefined ? attribute : beginning;
    return this.#addEdge(from, { kind, literal, target, name: to.name ?? "" }) ? target : undefined;
  }

  #addNode(state: PathState | undefined, inside: Inside): PathNode | undefined {
    const { delimiter, isWanted = false, isUrl = false, isChecked = false } = inside;
    const index = this.#nodes.length;
    if (index >= maxNodes) return undefined;
    const address = index * nodeSize;
    this.#words[(address + layout.nodeDelimiter) >> 2] = delimiter;
    this.#words[(address + layout.nodeEdge) >> 2] = 0;
    this.version++;
    const takesStray = state?.wants === false && state.rules.at(-1)?.stray !== undefined;
    const node: PathNode = { address: graphStart + address, state, takesStray, edges: [], isWanted, isUrl, isChecked };
    this.#nodes.push(node);
    return node;
  }

  #hasRoom(from: PathNode, literal: string): boolean {
    return (
      from.edges.length < maxEdgesOfNode &&
      this.edges.length < maxEdges &&
      literal.length <= maxLiteral &&
      this.#used + literal.length * 3 + padding <= graphSize
    );
  }

  #addEdge(
    from: PathNode,
    parts: Omit<Partial<PathEdge>, "from" | "number"> & Pick<PathEdge, "kind" | "literal" | "target">,
  ): boolean {
    const { kind, target, action, rule, isEmpty = false, name = "" } = parts;
    if (!this.#hasRoom(from, parts.literal) || from.edges.some(({ literal }) => literal === parts.literal))
      return false;
    if (this.#used + parts.literal.length * 3 + padding > this.#memory.length) this.#grow();
    const { written } = encoder.encodeInto(parts.literal, this.#memory.subarray(this.#used));
    // A copy: a slice of the buffer would keep all of it alive.
    const literal = ` ${parts.literal}`.slice(1);
    const index = this.edges.length;
    const address = edgesStart + index * edgeSize;
    // The last edge of its node, so far.
    const before = from.edges.at(-1);
    const link =
      before === undefined
        ? from.address - graphStart + layout.nodeEdge
        : edgesStart + before.number * edgeSize + layout.edgeNext;
    const words = this.#words;
    words[link >> 2] = graphStart + address;
    words[(address + layout.edgeNext) >> 2] = 0;
    words[(address + layout.edgeLiteral) >> 2] = graphStart + this.#used;
    words[(address + layout.edgeLength) >> 2] = written;
    words[(address + layout.edgeTarget) >> 2] = target.address;
    words[(address + layout.edgeNumber) >> 2] = index;
    words[(address + layout.edgeTask) >> 2] = this.#taskOf(from, kind, literal, action);
    this.#used += (written + padding) & ~3;
    const made = { kind, number: index, literal, from, target, action, rule, isEmpty, name: interned(name) };
    const edge: PathEdge = made;
    this.edges.push(edge);
    from.edges.push(edge);
    this.version++;
    return true;
  }

  #grow(): void {
    const memory = new Uint8Array(Math.min(this.#memory.length * 2, graphSize));
    memory.set(this.#memory);
    this.#memory = memory;
    this.#words = new Int32Array(memory.buffer);
  }

  // The matcher's task for the text before the literal.
  #taskOf(from: PathNode, kind: EdgeKind, literal: string, action: Action | undefined): number {
    if (kind === beginning) return literal === "<![CDATA[" ? layout.mustBeEmpty : 0;
    if (kind === attribute || kind === tagEnd) {
      if (!from.isWanted) return 0;
      return taskOf[from.isUrl ? "url" : "text"] | layout.hasMarkup | (from.isChecked ? layout.isChecked : 0);
    }
    if (kind === runAfterSpace || action?.textRule === undefined) return 0;
    const task = taskOf[action.takes] | (action.isChecked ? layout.isChecked : 0);
    return kind === runAfterCdata ? task : task | layout.hasMarkup;
  }
}

// The same string object as for other occurrences: comparing it is then a pointer comparison.
function interned(name: string): string {
  return Object.keys({ [name]: true })[0]!;
}

const encoder = new TextEncoder();

// The matcher reads vectors beyond the end of a literal.
const padding = 19;

const { nodeSize, edgeSize, graphStart } = layout;
const graphSize = layout.graphEnd - graphStart;
const maxNodes = 256;
const maxEdges = 768;
const maxEdgesOfNode = 32;
const maxLiteral = 512;
const maxDepth = 16;
const edgesStart = maxNodes * nodeSize;
const literalsStart = edgesStart + maxEdges * edgeSize;
const firstSize = literalsStart + 8192;
const lessThan = 0x3c;
const squareBracket = 0x5d;
const taskOf: Readonly<Record<TextKind, number>> = {
  text: layout.isWanted,
  url: layout.isWanted | layout.isUrl,
  key: layout.isWanted | layout.isUrl | layout.isKey,
  date: layout.isWanted | layout.isDate,
};
