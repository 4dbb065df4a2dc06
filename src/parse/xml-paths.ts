// The paths through a document: which elements are open, what follows their texts, and which elements are open then. Learnt from
// what the scanner reads; entries that are like those before are then found by the matcher, all at once.
import { graphSize, graphStart, type MatchGraph } from "./matcher.ts";
import type { XmlAttributes } from "./xml-attributes.ts";
import type { XmlElements } from "./xml-elements.ts";
import type { XmlGlue } from "./xml-glue.ts";
import type { TextKind, XmlGlueHandler, XmlPlan } from "./xml-handler.ts";
import type { XmlName } from "./xml-name.ts";

/** A place at which reading may stop: everything that is known there. */
export interface XmlState {
  readonly last: XmlName;
  /** The open elements, the root first. */
  readonly names: readonly XmlName[];
  readonly generation: number;
  /** The text of the innermost element is wanted. */
  readonly wants: boolean;
  /** What the handler knows. */
  readonly position: object;
}

export interface XmlNode {
  readonly address: number;
  /** Undefined inside of a tag or a CDATA section. */
  readonly state: XmlState | undefined;
  readonly edges: XmlEdge[];
  /** What stands here is a URL. */
  readonly isUrl: boolean;
}

export interface XmlEdge {
  readonly kind: EdgeKind;
  readonly number: number;
  readonly look: string;
  readonly from: XmlNode;
  readonly target: XmlNode;
  /** Glues: what they do. */
  readonly plan: XmlPlan | undefined;
  /** Tags: what the element is for the handler, and whether it is empty. */
  readonly meaning: object | undefined;
  readonly isEmpty: boolean;
  /** The name of the attribute whose value comes before. */
  readonly name: string;
}

// What follows a text: a glue, after a text that is wanted or not; a tag or a CDATA section that begins; another attribute of the
// tag; its end; or the end of the CDATA section and a glue.
export type EdgeKind = 0 | 1 | 2 | 3 | 4 | 5;
export const glueAfterSpace = 0;
export const glueAfterText = 1;
export const beginning = 2;
export const attribute = 3;
export const tagEnd = 4;
export const glueAfterCdata = 5;

export class XmlPaths implements MatchGraph {
  readonly #memory = new Uint8Array(graphSize);
  readonly #words = new Int32Array(this.#memory.buffer);
  readonly #nodes: XmlNode[] = [];
  readonly #byLast = new Map<XmlName, XmlNode[]>();
  /** By the numbers that the matcher gives. */
  readonly edges: XmlEdge[] = [];
  version = 0;
  #used = looksStart;

  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#used);
  }

  nodeAt(address: number): XmlNode {
    return this.#nodes[(address - graphStart) / nodeSize]!;
  }

  /** The node for what is open at the moment. Undefined where there is none, and no room for another. */
  find(elements: XmlElements, handler: XmlGlueHandler, wants: boolean): XmlNode | undefined {
    const { last, namespaces } = elements;
    const { generation } = namespaces;
    // A hostile document may have any number of names.
    if (!last.shared || elements.depth > maxDepth) return undefined;
    let known = this.#byLast.get(last);
    if (known === undefined) this.#byLast.set(last, (known = []));
    for (const node of known) {
      const state = node.state!;
      if (state.generation === generation && state.wants === wants && elements.areOpen(state.names)) return node;
    }
    const state = { last, names: elements.openNames(), generation, wants, position: handler.position };
    const node = this.#addNode(state, lessThan);
    if (node !== undefined) known.push(node);
    return node;
  }

  addGlue(from: XmlNode, glue: XmlGlue, to: XmlNode): void {
    const kind = from.state!.wants ? glueAfterText : glueAfterSpace;
    this.#addEdge(from, { kind, look: glue.text, target: to, plan: glue.plan });
  }

  /** Where all of the text was one CDATA section. */
  addCdata(from: XmlNode, glue: XmlGlue, to: XmlNode): void {
    const section = this.#through(from, "<![CDATA[", squareBracket);
    if (section === undefined) return;
    this.#addEdge(section, { kind: glueAfterCdata, look: `]]>${glue.text}`, target: to, plan: glue.plan });
  }

  /** A tag with attributes, that stands in the buffer from `open` to `end`. */
  addTag(
    from: XmlNode,
    tag: { buffer: string; open: number; end: number; attributes: XmlAttributes; meaning: object },
    to: XmlNode,
  ): void {
    const { buffer, open, end, attributes, meaning } = tag;
    let node: XmlNode | undefined = from;
    let at = open;
    let name = "";
    for (let index = 0; index < attributes.count && node !== undefined; index++) {
      const { start, end } = attributes.place(index);
      const before = name;
      name = interned(attributes.name(index));
      node = this.#through(node, buffer.slice(at, start), buffer.charCodeAt(start - 1), before, name === "href");
      at = end;
    }
    if (node === undefined) return;
    const isEmpty = attributes.selfClosing;
    this.#addEdge(node, { kind: tagEnd, look: buffer.slice(at, end), target: to, meaning, isEmpty, name });
  }

  // The node inside of a tag or a CDATA section that this leads to.
  #through(from: XmlNode, look: string, delimiter: number, name = "", isUrl = false): XmlNode | undefined {
    const known = from.edges.find((edge) => edge.look === look && edge.target.state === undefined);
    if (known !== undefined) return known.target;
    if (!this.#hasRoom(from, look)) return undefined;
    const target = this.#addNode(undefined, delimiter, isUrl);
    if (target === undefined) return undefined;
    const kind = from.state === undefined ? attribute : beginning;
    return this.#addEdge(from, { kind, look, target, name }) ? target : undefined;
  }

  #addNode(state: XmlState | undefined, delimiter: number, isUrl = false): XmlNode | undefined {
    const index = this.#nodes.length;
    if (index >= maxNodes) return undefined;
    const at = (index * nodeSize) >> 2;
    this.#words[at] = delimiter;
    this.#words[at + 1] = 0;
    this.version++;
    const node: XmlNode = { address: graphStart + index * nodeSize, state, edges: [], isUrl };
    this.#nodes.push(node);
    return node;
  }

  #hasRoom(from: XmlNode, look: string): boolean {
    return (
      from.edges.length < maxEdgesOfNode &&
      this.edges.length < maxEdges &&
      look.length <= maxLook &&
      this.#used + look.length + padding <= graphSize
    );
  }

  #addEdge(
    from: XmlNode,
    parts: Omit<Partial<XmlEdge>, "from" | "number"> & Pick<XmlEdge, "kind" | "look" | "target">,
  ): boolean {
    const { kind, target, plan, meaning, isEmpty = false, name = "" } = parts;
    if (!this.#hasRoom(from, parts.look) || from.edges.some(({ look }) => look === parts.look)) return false;
    const { written } = encoder.encodeInto(parts.look, this.#memory.subarray(this.#used));
    if (written !== parts.look.length) return false;
    // A copy: a part of the buffer would keep all of it.
    const look = ` ${parts.look}`.slice(1);
    const index = this.edges.length;
    const address = edgesStart + index * edgeSize;
    // The last of its node, until now.
    const before = from.edges.at(-1);
    const link = before === undefined ? from.address - graphStart + 4 : edgesStart + before.number * edgeSize;
    this.#words[link >> 2] = graphStart + address;
    this.#words.set(
      [0, graphStart + this.#used, written, target.address, index, this.#todo(from, kind, look, plan)],
      address >> 2,
    );
    this.#used += (written + padding) & ~3;
    const edge: XmlEdge = { kind, number: index, look, from, target, plan, meaning, isEmpty, name };
    this.edges.push(edge);
    from.edges.push(edge);
    this.version++;
    return true;
  }

  // What the matcher has to find out about the text before.
  #todo(from: XmlNode, kind: EdgeKind, look: string, plan: XmlPlan | undefined): number {
    if (kind === beginning) return look === "<![CDATA[" ? mustBeEmpty : 0;
    if (kind === attribute || kind === tagEnd) return todoOf[from.isUrl ? "url" : "text"];
    return plan === undefined || kind === glueAfterSpace ? 0 : todoOf[plan.takes];
  }
}

// The same string as everywhere else where it is written: comparing it then takes no look at its characters.
function interned(name: string): string {
  return Object.keys({ [name]: true })[0]!;
}

const encoder = new TextEncoder();

// The same figures as in matcher.wat.
const nodeSize = 8;
const edgeSize = 24;
const mustBeEmpty = 1;
const todoOf: Readonly<Record<TextKind, number>> = { text: 0, url: 2, key: 2 + 8, date: 4 };
const padding = 19;

const maxNodes = 128;
const maxEdges = 256;
const maxEdgesOfNode = 12;
const maxLook = 512;
const maxDepth = 16;
const edgesStart = maxNodes * nodeSize;
const looksStart = edgesStart + maxEdges * edgeSize;
const lessThan = 0x3c;
const squareBracket = 0x5d;
