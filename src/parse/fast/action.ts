// The calls that a tag run leads to, looked up once by the rules of the open elements.
import type { ElementRule, RuleReader } from "../element-rule.ts";
import { noFacts } from "../text-facts.ts";
import type { noAttributes } from "../xml-attributes.ts";
import type { TagRun } from "./tag-run.ts";

export type Rule = ElementRule<never>;

/** How a text is used: as it is, as a URL, as the URL of an entry (each taken once), or as a date. */
export type TextKind = "text" | "url" | "key" | "date";

export interface Action {
  /** The kind of the text before the run. */
  readonly takes: TextKind;
  /** The rule of the element that the run closes first, if its text is wanted. */
  readonly textRule: Rule | undefined;
  /** Of the text, only whether it is valid counts. */
  readonly isChecked: boolean;
  readonly calls: readonly Call[];
  /** Where in the run the tags of the calls begin. */
  readonly offsets: readonly number[];
}

type Call = (target: never, attributes: typeof noAttributes) => void;

/** `rules`: those of the elements that are open before the run. */
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
    // The first end tag closes the element whose text comes from the trace; later ones have empty texts.
    if (index === 0) textRule = text === undefined ? undefined : closed;
    else if (text !== undefined) add((target) => text(target, "", noFacts), index);
    add(closed.close, index);
  });
  const isChecked = reader.urlsOnly && textRule?.isDetail === true;
  return { takes: kindOf(textRule), textRule, isChecked, calls, offsets };
}

function kindOf(rule: Rule | undefined): TextKind {
  if (rule?.isKey) return "key";
  if (rule?.isUrl) return "url";
  return rule?.isDate ? "date" : "text";
}
