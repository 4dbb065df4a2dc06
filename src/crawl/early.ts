// `order: "arrival"`: documents are read as soon as they arrive, and their pages are reported at once. The walk still visits all documents
// in declared order, and alone decides about the tree: if a document was read before its visit, the walk takes the result. Only declared
// documents are read early. Guesses and links of the homepage must wait, because they are compared with everything declared.
import type { Budget } from "./budget.ts";
import type { Content } from "./content.ts";
import { type Declaration, type Frame, frameOf } from "./frame.ts";
import type { PageFilter } from "./page-filter.ts";
import type { Plan } from "./plan.ts";
import type { Prefetcher } from "./prefetch.ts";
import { type FoundDocument, follow, type Hop } from "./redirects.ts";
import type { Visited } from "./visited.ts";

export interface EarlyReaderOptions {
  readonly plan: Plan;
  readonly budget: Budget;
  readonly visited: Visited;
  readonly prefetcher: Prefetcher;
  readonly filter: PageFilter | undefined;
  /** Reads a document. Returns undefined if it was already read. */
  readonly read: (found: FoundDocument, entry: Declaration) => Promise<Content> | undefined;
  /** How many documents are read at once: as many as may be requested at once, because some may stall. */
  readonly readers: number;
  /** Called if reading throws, for example because a function of the caller does. Ends the crawl. */
  readonly onError: (error: unknown) => void;
}

export class EarlyReader {
  readonly #options: EarlyReaderOptions;
  readonly #started = new Set<string>();
  #reading = 0;
  readonly #queue: (() => void)[] = [];

  constructor(options: EarlyReaderOptions) {
    this.#options = options;
  }

  /** Reads the document of a reference once it arrives, unless it must wait for the walk. */
  readOnArrival(entry: Declaration, first: Hop): void {
    const isDeclared = entry.by === undefined || entry.by === "given";
    if (!isDeclared || this.#started.has(first.key)) return;
    this.#started.add(first.key);
    void this.#readOnArrival(entry, first);
  }

  async #readOnArrival(entry: Declaration, first: Hop): Promise<void> {
    const { visited, prefetcher, filter, onError } = this.#options;
    // Failures are ignored here, because the walk reports them.
    const found = await follow(
      first,
      (hop) => prefetcher.peek(hop),
      (hop) => visited.isPointless(hop) || undefined,
    ).catch(() => undefined);
    if (typeof found !== "object" || found.outcome !== "found") return prefetcher.stopWaiting(first);
    // Leaves a document to the walk if its result depends on which reference is visited first: that decides whether credentials are sent,
    // and under which URL the document is listed.
    const dependsOnOrder = found.request.anonymous || (found.hops.length > 0 && filter?.choosesSitemaps);
    if (dependsOnOrder) return;
    if (this.#reading >= this.#options.readers) await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#reading += 1;
    try {
      await this.#read(found, entry, first);
    } catch (error) {
      onError(error);
    } finally {
      this.#reading -= 1;
      this.#queue.shift()?.();
    }
  }

  async #read(found: FoundDocument, entry: Declaration, first: Hop): Promise<void> {
    const { plan, budget, visited, prefetcher, read } = this.#options;
    if (visited.isKnown(first.key) || !budget.reserve(first.key)) return;
    const reading = read(found, entry);
    prefetcher.stopWaiting(first);
    if (reading === undefined) return void budget.unreserve(first.key);
    const frame = frameAfter(await reading, found.url, entry);
    if (frame === undefined) return;
    plan.addEarly(frame);
    prefetcher.fill();
  }
}

// Returns a frame for the references that a document leads to, if any: the children of an index, or the next page of a feed.
function frameAfter({ listed, next }: Content, url: string, { parent }: Declaration): Frame | undefined {
  if (next !== undefined) return frameOf(parent.node, { parent: parent.parent, references: [next] });
  const node = { kind: "index", format: "xml", url, complete: true, problems: [] } as const;
  return listed.references.length === 0 ? undefined : frameOf(node, { parent, ...listed });
}
