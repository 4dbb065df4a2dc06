// Decides what may be visited: ancestors, depth, budgets, and what was visited before. No I/O; all decisions follow the declared order, never
// what arrived first, so that two runs agree.
import { documentKey } from "../model/exchange.ts";
import type { Limits } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { IndexSitemap, Sitemap } from "../model/sitemap.ts";
import type { PageFilter } from "./page-filter.ts";
import type { Reading } from "./read.ts";
import type { FollowFailure } from "./redirects.ts";
import type { CandidateResult, DocumentFacts, Reference } from "./visit.ts";

/** An index whose children are being visited. */
export interface Frame {
  readonly node: Omit<IndexSitemap, "children">;
  readonly parent: Frame | undefined;
  /** 0 for the root of the tree. */
  readonly depth: number;
  /** The keys of the URL that declared it and of the URL where it was found. */
  readonly keys: readonly string[];
  readonly references: Reference[];
  /** How many more there are, which the budget for documents cannot reach. */
  readonly unlisted: number;
  /** The next reference to visit. */
  next: number;
  readonly children: Sitemap[];
  readonly facts: DocumentFacts;
}

/** What an earlier visit found at a URL. Where it is not `whole`, its children are visited again: some were cut off there, or do not fit here. */
export interface Repeated {
  readonly node: Sitemap;
  readonly whole: boolean;
  readonly keys: readonly string[];
}

/** A URL without a sitemap. */
export type Missing = Omit<FollowFailure, "outcome"> & Pick<CandidateResult, "outcome">;

/** What is remembered of a subtree, in case it is declared again. */
interface Subtree {
  /** The keys of its top. */
  readonly keys: readonly string[];
  /** The number of nodes, including the top, and of levels below it. */
  readonly size: number;
  readonly height: number;
  /** Whether a part was cut off because of where it stands: a cycle, or the depth limit. */
  readonly contextual: boolean;
}

export class Frontier {
  /** Counted against the budgets. */
  pages = 0;
  bytes = 0;
  readonly #limits: Limits;
  readonly #filter: PageFilter | undefined;
  readonly #visited = new Map<string, Sitemap>();
  // For indexes only: there are far fewer of them than other sitemaps.
  readonly #subtrees = new WeakMap<Sitemap, Subtree>();
  // Guesses that found no sitemap.
  readonly #abandoned = new Map<string, Missing>();
  // The sitemap being read and its ancestors: from each key to the URL where it was found.
  readonly #active = new Map<string, string>();
  // Nodes of the tree, except its root and robots.txt.
  #sitemaps = 0;
  // By its content, the URL of a sitemap; and the first page of each, so that few candidates are read to their end before they are told.
  readonly #contents = new Map<string, string>();
  readonly #firstPages = new Set<string>();
  #hasUnread = false;

  /** `filter` may have enough pages. */
  constructor(limits: Limits, filter?: PageFilter) {
    this.#limits = limits;
    this.#filter = filter;
  }

  /** Why a document must not be visited, if so. Depth counts from the candidates of discovery, which have depth 1. */
  refusal(key: string, depth: number): Problem | undefined {
    if (this.#active.has(key)) return problem("cycle");
    if (depth - 1 > this.#limits.depth) return problem("limit-depth", { limit: this.#limits.depth });
    return this.exhausted();
  }

  /** The budget that is used up, if one is. */
  exhausted(): Problem | undefined {
    const { documents, bytes, pages } = this.#limits;
    if (this.#sitemaps >= documents) return problem("limit-documents", { limit: documents });
    if (this.bytes >= bytes) return problem("limit-bytes", { limit: bytes });
    if (this.pages >= pages) return problem("limit-pages", { limit: pages });
    if (this.#filter?.reached) return problem("limit-pages", { limit: this.#filter.settings.limit });
    return undefined;
  }

  /** How many more documents may be visited. */
  get documentsLeft(): number {
    return Math.max(0, this.#limits.documents - this.#sitemaps);
  }

  /** If this key belongs to the sitemap being read or one of its ancestors: the URL where that was found. */
  activeAt(key: string): string | undefined {
    return this.#active.get(key);
  }

  /** Whether the document with this key was visited or is being visited: it need not be fetched. */
  isKnown(key: string): boolean {
    return this.#active.has(key) || this.#visited.has(key) || this.#abandoned.has(key);
  }

  /** How many of these pages the budget still allows. */
  takePages(count: number): number {
    const taken = Math.min(count, this.#limits.pages - this.pages);
    this.pages += taken;
    return taken;
  }

  /** From now on the index is an ancestor of what is visited. robots.txt does not count against the budget for documents. */
  enter(frame: Frame): void {
    if (frame.node.format !== "robots") this.#sitemaps += 1;
    for (const key of keysOf(frame.node, frame.keys)) this.#active.set(key, frame.node.url);
  }

  /** The index is finished: `node` is its result. */
  leave(frame: Frame, node: IndexSitemap): void {
    for (const key of keysOf(frame.node, frame.keys)) this.#active.delete(key);
    this.#remember(node, frame.keys);
  }

  /** A sitemap without children to visit is finished. From now on these keys are known. */
  finish(node: Sitemap, keys: readonly string[]): void {
    // A sitemap that is declared twice counts twice, and so does one that is refused: a few documents that name each
    // other must not become an endless tree. A repeated node shares its subtree in memory.
    this.#sitemaps += this.#remember(node, keys).size;
  }

  /** Remembers a guess that found no sitemap, so that it is not fetched again. */
  abandon(missing: Missing): void {
    for (const key of missing.keys) this.#abandoned.set(key, missing);
  }

  /** The guess that found no sitemap at this key, if there was one. */
  missing(key: string): Missing | undefined {
    return this.#abandoned.get(key);
  }

  /** What an earlier visit found at this key, if there was one; with `readable`, if it found a sitemap. */
  again(key: string, depth: number, kind?: "readable"): Repeated | undefined {
    const node = this.#visited.get(key);
    if (node === undefined || (kind === "readable" && node.kind === "invalid")) return undefined;
    const { size, height, contextual, keys } = this.#subtree(node);
    const whole =
      !contextual && depth - 1 + height <= this.#limits.depth && this.#sitemaps + size <= this.#limits.documents;
    return { node, whole, keys };
  }

  /** A sitemap was read; `firstPage` is undefined if its pages were not. */
  contains(url: string, reading: Reading, firstPage: string | undefined): void {
    const content = contentOf(reading);
    if (content === undefined || this.#contents.size >= mostContents) return;
    if (!this.#contents.has(content)) this.#contents.set(content, url);
    if (firstPage !== undefined) this.#firstPages.add(firstPage);
    this.#hasUnread ||= reading.untoldPages !== undefined;
  }

  /** Whether a sitemap that begins with this page may be in the tree. */
  mayContain(firstPage: string): boolean {
    return this.#hasUnread || this.#firstPages.has(firstPage);
  }

  /** The URL of a sitemap in the tree with the same content, if there is one. From now on the keys lead to it. */
  sameAs(reading: Reading, keys: readonly string[]): string | undefined {
    const url = this.#contents.get(contentOf(reading) ?? "");
    const node = url === undefined ? undefined : this.#visited.get(documentKey({ url }));
    if (node === undefined) return undefined;
    for (const key of keys) if (!this.#visited.has(key)) this.#visited.set(key, node);
    return url;
  }

  #remember(node: Sitemap, keys: readonly string[]): Subtree {
    const all = node.kind === "invalid" ? keys : keysOf(node, keys);
    for (const key of all) if (!this.#visited.has(key)) this.#visited.set(key, node);
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

// What is declared after so many sitemaps is not compared with guesses.
const mostContents = 10_000;

// Relative URLs mean something else in another place.
function contentOf({ checksum, decodedBytes, problems }: Reading): string | undefined {
  if (checksum === undefined || problems.some(({ code }) => code === "url-relative")) return undefined;
  return `${checksum} ${decodedBytes}`;
}

function isContextual({ code }: Problem): boolean {
  return code === "cycle" || code === "limit-depth";
}

// However it was asked for, a document that was read is known by its URL, too: a tree has one document for each.
function keysOf({ url }: Pick<Sitemap, "url">, keys: readonly string[]): Set<string> {
  return new Set([...keys, documentKey({ url })]);
}
