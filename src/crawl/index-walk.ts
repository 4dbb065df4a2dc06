// Visits everything below an index, depth first and in declared order. It keeps a stack of its own instead of calling itself:
// a website chooses how deep its indexes go.
import type { OrderedEvent } from "../model/event.ts";
import type { IndexSitemap } from "../model/sitemap.ts";
import { takeTurn } from "./event-loop.ts";
import type { Frame, Frontier } from "./frontier.ts";
import type { Recorder } from "./record.ts";
import type { Tally } from "./tally.ts";
import type { TimeBudget } from "./time-budget.ts";
import type { Visitor } from "./visit.ts";

export interface IndexWalkOptions {
  readonly signal: AbortSignal | undefined;
  readonly frontier: Frontier;
  readonly time: TimeBudget;
  readonly recorder: Recorder;
  readonly visitor: Visitor;
  readonly tally: Tally;
  /** Called before each visit, so that the documents after it are fetched meanwhile. */
  readonly lookAhead: () => void;
}

export class IndexWalk {
  readonly #options: IndexWalkOptions;
  readonly #stack: Frame[] = [];

  constructor(options: IndexWalkOptions) {
    this.#options = options;
  }

  /** The indexes whose children are being visited, from the outermost to the innermost. */
  get stack(): readonly Frame[] {
    return this.#stack;
  }

  /** Returns the finished index, with its children. */
  async *run(top: Frame): AsyncGenerator<OrderedEvent, IndexSitemap> {
    const { signal, frontier, time, recorder, visitor, tally, lookAhead } = this.#options;
    const stack = this.#stack;
    stack.push(top);
    frontier.enter(top);
    for (;;) {
      const frame = stack.at(-1) as Frame;
      const reference = frame.references[frame.next];
      await takeTurn(signal);
      const spent = reference && (time.over ?? frontier.exhausted());
      if (spent !== undefined) {
        frame.children.push(yield* recorder.cutOff(frame, spent));
        frame.next = frame.references.length;
      } else if (reference !== undefined) {
        frame.next += 1;
        lookAhead();
        const first = yield* visitor.visit(reference, { parent: frame });
        const visit = yield* visitor.goOn(first, frame, frame.references);
        if (visit.type === "node") frame.children.push(visit.node);
        if (visit.type === "frame") {
          stack.push(visit.frame);
          frontier.enter(visit.frame);
        }
        continue;
      }
      stack.pop();
      const node: IndexSitemap = { ...frame.node, children: frame.children };
      frontier.leave(frame, node);
      yield* tally.finish(node, frame.depth, frame.facts);
      const parent = stack.at(-1);
      if (parent === undefined) return node;
      parent.children.push(node);
    }
  }
}
