// What may be visited next, and what may not: ancestors, depth and budgets, and what was visited before. No I/O, and no
// decision that depends on when something arrived: all of it follows the declared order, so that two runs agree.
import type { Limits, Settings } from "../options.ts";
import { type Problem, problem } from "../problem.ts";
import type { SitemapResponse } from "../response.ts";
import type { IndexSitemap, Sitemap } from "../sitemap.ts";
import { Children } from "./children.ts";
import type { CandidateResult, Reference } from "./record.ts";
import type { DocumentFacts } from "./tally.ts";

/** An index whose children are being visited. */
export interface Frame {
  readonly node: Omit<IndexSitemap, "children">;
  readonly parent: Frame | undefined;
  /** 0 for the root of the tree. */
  readonly depth: number;
  /** The keys by which it is known: the URL it was declared with, and the one it was found at. */
  readonly keys: readonly string[];
  readonly references: Reference[];
  /** References that are not listed: there are more than the budget for documents can reach. */
  unlisted: number;
  /** The next reference to visit. */
  next: number;
  readonly children: Sitemap[];
  readonly facts: DocumentFacts;
}

/**
 * What was found at a URL before. Where `whole` is false, its subtree was cut off for reasons of where it stood, or does not
 * fit where it stands now: its children have to be visited again, from what is known of them.
 */
export interface Repeated {
  readonly node: Sitemap;
  readonly whole: boolean;
  readonly keys: readonly string[];
}

/** What a guess came to that left no node. */
export interface Abandoned {
  readonly url: string;
  readonly result: CandidateResult & { readonly reason: Problem };
  readonly keys: readonly string[];
  readonly response?: SitemapResponse | undefined;
}

export interface FrontierSettings extends Pick<Settings, "limits" | "recurse" | "recurseList"> {
  /** What the source does not hold is left out, and costs nothing. */
  readonly omitMissing?: boolean | undefined;
}

/** What a second visit has to know of a subtree. */
interface Subtree {
  /** The keys by which its top is known. */
  readonly keys: readonly string[];
  /** Nodes, its top included. */
  readonly size: number;
  /** Levels below its top. */
  readonly height: number;
  /** Whether a part of it was cut off for reasons of where it stood: an ancestor that repeats, or the depth. */
  readonly contextual: boolean;
}

export class Frontier {
  readonly #limits: Limits;
  readonly #settings: FrontierSettings;
  readonly #visited = new Map<string, Sitemap>();
  // Of indexes alone: there are far fewer of them than of other sitemaps.
  readonly #subtrees = new WeakMap<Sitemap, Subtree>();
  readonly #abandoned = new Map<string, Abandoned>();
  // The sitemap being read and its ancestors: where each was found, by the keys it is known by.
  readonly #active = new Map<string, string>();
  // Nodes of the tree, but for its root and robots.txt.
  #sitemaps = 0;
  #bytes = 0;
  #pages = 0;

  constructor(settings: FrontierSettings) {
    this.#limits = settings.limits;
    this.#settings = settings;
  }

  get pages(): number {
    return this.#pages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Why a document is not to be visited, if it is not. Depth counts from the candidates of discovery, which have depth 1. */
  refusal(key: string, depth: number): Problem | undefined {
    if (this.#active.has(key)) return problem("cycle");
    if (depth - 1 > this.#limits.depth) return problem("limit-depth", { limit: this.#limits.depth });
    return this.exhausted();
  }

  /** The budget that is spent, if one is. */
  exhausted(): Problem | undefined {
    const { documents, bytes, pages } = this.#limits;
    if (this.#sitemaps >= documents) return problem("limit-documents", { limit: documents });
    if (this.#bytes >= bytes) return problem("limit-bytes", { limit: bytes });
    if (this.#pages >= pages) return problem("limit-pages", { limit: pages });
    return undefined;
  }

  /** How many more documents may be visited. */
  get documentsLeft(): number {
    return this.#limits.documents - this.#sitemaps;
  }

  // How many references can be visited at most: each costs a document, and the one behind the last names what is cut off. In a
  // replay, what is not in the archive costs nothing.
  get #reach(): number {
    return this.#settings.omitMissing ? Number.POSITIVE_INFINITY : Math.max(0, this.documentsLeft) + 1;
  }

  /** Where the sitemap that is being read, or one of its ancestors, was found, if it has this key. */
  activeAt(key: string): string | undefined {
    return this.#active.get(key);
  }

  /** Whether what is there is known, or about to be: nothing has to be fetched for it. */
  isKnown(key: string): boolean {
    return this.#active.has(key) || this.#visited.has(key) || this.#abandoned.has(key);
  }

  /** How many of these pages the budget still allows. */
  takePages(count: number): number {
    const taken = Math.min(count, this.#limits.pages - this.#pages);
    this.#pages += taken;
    return taken;
  }

  takeBytes(count: number): void {
    this.#bytes += count;
  }

  /** Takes in the children of the index at this URL. `parent` is the frame that the index stands in. */
  children(index: string, parent: Frame): Children {
    const context = { parent: index, ancestors: [...urlsAbove(parent), index], depth: parent.depth + 2 };
    return new Children(this.#settings, context, this.#reach);
  }

  /** From now on the index is an ancestor of what is visited. robots.txt costs nothing of the budget for documents. */
  enter(frame: Frame): void {
    if (frame.node.format !== "robots") this.#sitemaps += 1;
    for (const key of frame.keys) this.#active.set(key, frame.node.url);
    // What comes after the children of this index comes within what they leave of the budget.
    let reach = this.#reach;
    for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) {
      const surplus = at.references.length - at.next - reach;
      if (surplus > 0) at.references.length -= surplus;
      if (surplus > 0) at.unlisted += surplus;
      reach = Math.max(1, reach - (at.references.length - at.next));
    }
  }

  /** The index is finished, as this node. */
  leave(frame: Frame, node: IndexSitemap): void {
    for (const key of frame.keys) this.#active.delete(key);
    this.#remember(node, frame.keys);
  }

  /** A sitemap without children to visit is finished: known from now on by these keys. */
  finish(node: Sitemap, keys: readonly string[]): void {
    // Shown twice, it counts twice, and so does what is refused: a few documents that name each other must not become an
    // endless tree. What is shown again shares its subtree, and costs no more than its node.
    this.#sitemaps += this.#remember(node, keys).size;
  }

  /** A guess came to nothing: it is not fetched again where something else leads there or declares it. */
  abandon(abandoned: Abandoned): void {
    for (const key of abandoned.keys) this.#abandoned.set(key, abandoned);
  }

  /** What a guess came to, if there was one. */
  abandoned(key: string): Abandoned | undefined {
    return this.#abandoned.get(key);
  }

  /** What was found there before, if it was visited. */
  again(key: string, depth: number): Repeated | undefined {
    const node = this.#visited.get(key);
    if (node === undefined) return undefined;
    const { size, height, contextual, keys } = this.#subtree(node);
    const whole =
      !contextual && depth - 1 + height <= this.#limits.depth && this.#sitemaps + size <= this.#limits.documents;
    return { node, whole, keys };
  }

  #remember(node: Sitemap, keys: readonly string[]): Subtree {
    for (const key of keys) if (!this.#visited.has(key)) this.#visited.set(key, node);
    if (node.kind !== "index") return this.#subtree(node);
    const subtree = { ...this.#measure(node), keys };
    this.#subtrees.set(node, subtree);
    return subtree;
  }

  #subtree(node: Sitemap): Subtree {
    if (node.kind === "index") return this.#subtrees.get(node) ?? this.#measure(node);
    return node.kind === "invalid" && isContextual(node.reason) ? cutLeaf : leaf;
  }

  #measure(node: IndexSitemap): Subtree {
    let [size, height, contextual] = [1, 0, false];
    for (const child of node.children) {
      const below = this.#subtree(child);
      size += below.size;
      height = Math.max(height, below.height + 1);
      contextual ||= below.contextual;
    }
    return { keys: [], size, height, contextual };
  }
}

const leaf: Subtree = { keys: [], size: 1, height: 0, contextual: false };
const cutLeaf: Subtree = { ...leaf, contextual: true };

function isContextual({ code }: Problem): boolean {
  return code === "cycle" || code === "limit-depth";
}

function urlsAbove(frame: Frame): string[] {
  const urls: string[] = [];
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) urls.unshift(at.node.url);
  return urls;
}
