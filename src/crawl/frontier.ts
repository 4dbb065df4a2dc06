// What may be visited next, and what may not: ancestors, depth and budgets, and what was visited before. No I/O, and no
// decision that depends on when something arrived: all of it follows the declared order, so that two runs agree.
import type { Limits, RecurseContext, Settings } from "../options.ts";
import { type Problem, problem } from "../problem.ts";
import type { SitemapResponse } from "../response.ts";
import type { IndexSitemap, Sitemap, SitemapReference } from "../sitemap.ts";
import type { Trace } from "./record.ts";
import type { DocumentFacts } from "./tally.ts";

/** An index whose children are being visited. */
export interface Frame {
  readonly node: Omit<IndexSitemap, "children">;
  readonly parent: Frame | undefined;
  /** 0 for the root of the tree. */
  readonly depth: number;
  /** The keys by which it is known: the URL it was declared with, and the one it was found at. */
  readonly keys: readonly string[];
  readonly references: readonly SitemapReference[];
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
  readonly trace: Trace & { readonly reason: Problem };
  readonly keys: readonly string[];
  readonly response?: SitemapResponse | undefined;
}

/** Where a sitemap stands among those visited: what a second visit needs to know. */
interface Visited {
  readonly node: Sitemap;
  readonly keys: readonly string[];
  /** Nodes in its subtree, itself included. */
  readonly size: number;
  /** Levels below it. */
  readonly height: number;
  /** Whether a part of its subtree was cut off for reasons of where it stood: an ancestor that repeats, or the depth. */
  readonly contextual: boolean;
}

export class Frontier {
  readonly #limits: Limits;
  readonly #settings: Pick<Settings, "recurse" | "recurseList">;
  readonly #visited = new Map<string, Visited>();
  readonly #subtrees = new WeakMap<Sitemap, Visited>();
  readonly #abandoned = new Map<string, Abandoned>();
  // The sitemap being read and its ancestors: where each was found, by the keys it is known by.
  readonly #active = new Map<string, string>();
  #lastSpent: Problem | undefined;
  #sitemaps = 0;
  #bytes = 0;
  #pages = 0;

  constructor(settings: Pick<Settings, "limits" | "recurse" | "recurseList">) {
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
    if (this.#sitemaps >= documents) return this.#spent("limit-documents", documents);
    if (this.#bytes >= bytes) return this.#spent("limit-bytes", bytes);
    if (this.#pages >= pages) return this.#spent("limit-pages", pages);
    return undefined;
  }

  /** How many more documents may be visited. */
  get documentsLeft(): number {
    return this.#limits.documents - this.#sitemaps;
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

  /** The children of an index that the caller wants to follow. `parent` is the frame that the index stands in. */
  wanted(references: readonly SitemapReference[], index: string, parent: Frame): readonly SitemapReference[] {
    const context: RecurseContext = {
      parent: index,
      ancestors: [...urlsAbove(parent), index],
      depth: parent.depth + 2,
    };
    const { recurse, recurseList } = this.#settings;
    const listed = recurseList === undefined ? references : recurseList(references, context);
    return recurse === undefined ? listed : listed.filter((child) => recurse(child, context));
  }

  /** From now on the index is an ancestor of what is visited. robots.txt costs nothing of the budget for documents. */
  enter(frame: Frame): void {
    if (frame.node.format !== "robots") this.#sitemaps += 1;
    for (const key of frame.keys) this.#active.set(key, frame.node.url);
  }

  /** The index is finished, as this node. */
  leave(frame: Frame, node: IndexSitemap): void {
    for (const key of frame.keys) this.#active.delete(key);
    this.#remember(node, frame.keys);
  }

  /** A sitemap without children to visit is finished: known from now on by these keys. */
  finish(node: Sitemap, keys: readonly string[]): void {
    // Shown twice, it counts twice: a few documents that name each other must not become an endless tree.
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
    const visited = this.#visited.get(key);
    if (visited === undefined) return undefined;
    const whole =
      !visited.contextual &&
      depth - 1 + visited.height <= this.#limits.depth &&
      this.#sitemaps + visited.size <= this.#limits.documents;
    return { node: visited.node, whole, keys: visited.keys };
  }

  // One for all that it cuts off, which may be a million.
  #spent(code: "limit-documents" | "limit-bytes" | "limit-pages", limit: number): Problem {
    if (this.#lastSpent?.code !== code) this.#lastSpent = problem(code, { limit });
    return this.#lastSpent;
  }

  #remember(node: Sitemap, keys: readonly string[]): Visited {
    const visited = this.#measure(node, keys);
    this.#subtrees.set(node, visited);
    for (const key of keys) if (!this.#visited.has(key)) this.#visited.set(key, visited);
    return visited;
  }

  #measure(node: Sitemap, keys: readonly string[] = []): Visited {
    if (node.kind === "invalid") {
      return {
        node,
        keys,
        size: 1,
        height: 0,
        contextual: node.reason.code === "cycle" || node.reason.code === "limit-depth",
      };
    }
    let [size, height, contextual] = [1, 0, false];
    for (const child of node.kind === "index" ? node.children : []) {
      const below = this.#subtrees.get(child) ?? this.#measure(child);
      size += below.size;
      height = Math.max(height, below.height + 1);
      contextual ||= below.contextual;
    }
    return { node, keys, size, height, contextual };
  }
}

function urlsAbove(frame: Frame): string[] {
  const urls: string[] = [];
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) urls.unshift(at.node.url);
  return urls;
}
