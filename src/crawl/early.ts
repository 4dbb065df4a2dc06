// `order: "arrival"`: documents are read as soon as they arrive, and their pages are reported at once. The walk still visits all documents
// in declared order, and alone decides about the tree: if a document was read before its visit, the walk takes the result. Only declared
// documents are read early. Guesses and links of the homepage must wait, because they are compared with everything declared.
import type { Content } from "./content.ts";
import type { CrawlContext } from "./context.ts";
import { type Declaration, type Frame, frameOf } from "./frame.ts";
import type { Plan } from "./plan.ts";
import type { Prefetcher } from "./prefetch.ts";
import { type FoundDocument, follow, type Hop } from "./redirects.ts";
import type { Visitor } from "./visit.ts";

/**
 * Returns a function that reads the document of a reference once it arrives, unless it must wait for the walk. `onError` is called if
 * reading throws, for example because a function of the caller does. It ends the crawl.
 */
export function earlyReader(
  context: CrawlContext,
  plan: Plan,
  prefetcher: Prefetcher,
  visitor: Visitor,
  onError: (error: unknown) => void,
): (entry: Declaration, first: Hop) => void {
  const { budget, visited, filter, settings } = context;
  const started = new Set<string>();
  const queue: (() => void)[] = [];
  let readers = 0;

  async function readOnArrival(entry: Declaration, first: Hop): Promise<void> {
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
    // As many documents are read at once as may be requested at once, because some may stall.
    if (readers >= settings.concurrency.total) await new Promise<void>((resolve) => queue.push(resolve));
    readers += 1;
    try {
      await read(found, entry, first);
    } catch (error) {
      onError(error);
    } finally {
      readers -= 1;
      queue.shift()?.();
    }
  }

  async function read(found: FoundDocument, entry: Declaration, first: Hop): Promise<void> {
    if (visited.isKnown(first.key) || !budget.reserve(first.key)) return;
    const reading = visitor.readEarly(found, entry);
    prefetcher.stopWaiting(first);
    if (reading === undefined) return void budget.unreserve(first.key);
    const frame = frameAfter(await reading, found.url, entry);
    if (frame === undefined) return;
    plan.addEarly(frame);
    prefetcher.fill();
  }

  return (entry, first) => {
    const isDeclared = entry.by === undefined || entry.by === "given";
    if (!isDeclared || started.has(first.key)) return;
    started.add(first.key);
    void readOnArrival(entry, first);
  };
}

// Returns a frame for the references that a document leads to, if any: the children of an index, or the next page of a feed.
function frameAfter({ listed, next }: Content, url: string, { parent }: Declaration): Frame | undefined {
  if (next !== undefined) return frameOf(parent.node, { parent: parent.parent, references: [next] });
  const node = { kind: "index", format: "xml", url, complete: true, problems: [] } as const;
  return listed.references.length === 0 ? undefined : frameOf(node, { parent, ...listed });
}
