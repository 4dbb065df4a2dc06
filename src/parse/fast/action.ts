// What a tag run does, looked up once: the calls that its tags lead to, by the rules of the open elements.
import type { ElementRule, RuleReader } from "../element-rule.ts";
import { noFacts } from "../text-facts.ts";
import type { noAttributes } from "../xml-attributes.ts";
import type { TagRun } from "./tag-run.ts";

export type Rule = ElementRule<never>;

/** What a text is used for: as it is, as a URL, as the URL of an entry, of which each is taken once, or as a date. */
export type TextKind = "text" | "url" | "key" | "date";

export interface Action {
  /** What the text before the run is. */
  readonly takes: TextKind;
  /** The rule of the element that the run closes first, where its text is wanted. */
  readonly textRule: Rule | undefined;
  readonly calls: readonly Call[];
  /** Where in the run the tags of the calls begin. */
  readonly offsets: readonly number[];
}

type Call = (target: never, attributes: typeof noAttributes) => void;

/** `rules` are those of the elements that are open before the run. */
export function actionOf(run: TagRun, rules: readonly Rule[], reader: RuleReader): Action {
  const open = rules.slice();
  const calls: Call[] = [];
  const offsets: number[] = [];
  let textRule: Rule | undefined;
  const add = (call: Call | undefined, index: number) => {
    if (call === undefined) return;
    calls.push(call);
    offsets.push(run.offsets[index]!);
  };
  run.names.forEach((name, index) => {
    if (run.opens[index]) {
      const found = reader.ruleOf(open.at(-1)!, name);
      open.push(found);
      add(found.open, index);
      return;
    }
    const closed = open.pop()!;
    const { text } = closed;
    // The first tag closes the element whose text is not known yet; later ones are empty.
    if (index === 0) textRule = text === undefined ? undefined : closed;
    else if (text !== undefined) add((target) => text(target, "", noFacts), index);
    add(closed.close, index);
  });
  return { takes: kindOf(textRule), textRule, calls, offsets };
}

function kindOf(rule: Rule | undefined): TextKind {
  if (rule?.isKey) return "key";
  if (rule?.isUrl) return "url";
  return rule?.isDate ? "date" : "text";
}
