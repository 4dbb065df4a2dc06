// Entries that are alike, one after the other: between their texts stand the same glues and tags, round and round.
import type { XmlGlue } from "./xml-glue.ts";
import type { XmlName } from "./xml-name.ts";

/** One step of a round: a glue and the text before it, or an empty element with attributes. */
export interface XmlStep {
  readonly glue: XmlGlue | undefined;
  /** What the handler made of the glue. As long as it is the same, the glue does the same. */
  readonly plan: object | undefined;
  /** The text before the glue is wanted. */
  readonly hasText: boolean;
  readonly tag: XmlName | undefined;
  /** What the handler makes of that element. */
  readonly meaning: object | undefined;
}

/** Notices that steps come in rounds. */
export class XmlRounds {
  // What was read since a glue after which a text is wanted; that glue is the first.
  readonly #trail: XmlStep[] = [];
  #trailDepth = 0;
  #depth = 0;
  #failures = 0;
  /** The steps of a round; the last is the glue that closes it. None where no round was found. */
  steps: readonly XmlStep[] = [];

  /** Something was read that is no step. */
  reset(): void {
    this.#trail.length = 0;
  }

  addTag(tag: XmlName, meaning: object | undefined): void {
    if (this.#trail.length === 0) return;
    if (this.#trail.length > maxSteps || !tag.shared || meaning === undefined) this.reset();
    else this.#trail.push({ glue: undefined, plan: undefined, hasText: false, tag, meaning });
  }

  /**
   * Takes a glue that was followed; `hasText`: the text before it was wanted; `wants`: that after it is. Returns whether a
   * round ends here, so that the next may be alike.
   */
  addGlue(glue: XmlGlue, hasText: boolean, wants: boolean, depth: number): boolean {
    const known = this.steps.at(-1);
    if (known !== undefined && wants && known.glue === glue && known.plan === glue.plan && this.#depth === depth)
      return true;
    const trail = this.#trail;
    const step: XmlStep = { glue, plan: glue.plan, hasText, tag: undefined, meaning: undefined };
    const first = trail[0];
    if (first !== undefined && wants && first.glue === glue && first.plan === glue.plan && this.#trailDepth === depth) {
      const steps = [...trail.slice(1), step];
      trail.length = 0;
      if (!staysAbove(steps, depth, depth - glue.stays.length)) return false;
      this.steps = steps;
      this.#depth = depth;
      this.#failures = 0;
      return true;
    }
    if (trail.length > maxSteps) trail.length = 0;
    if (trail.length > 0) trail.push(step);
    else if (wants) {
      trail.push(step);
      this.#trailDepth = depth;
    }
    return false;
  }

  /** A round went to its end. */
  succeed(): void {
    this.#failures = 0;
  }

  /** A round broke off. Where that happens again and again, another one is looked for. */
  fail(): void {
    this.reset();
    if (++this.#failures > maxFailures) this.steps = [];
  }
}

// Whether no step closes an element that was open before the last glue, which is the one that is looked at in every round.
function staysAbove(steps: readonly XmlStep[], depth: number, floor: number): boolean {
  let at = depth;
  for (const { glue } of steps) {
    if (glue === undefined) continue;
    const lowest = at - glue.closes.length;
    if (lowest < floor) return false;
    at = lowest + glue.stays.length;
  }
  return at === depth;
}

const maxSteps = 32;
const maxFailures = 8;
