// Reads a document by the table of its format: finds the rule of each element and hands its text to it.
//   Lenient: names in another case are taken for those of the format.
import { trimUrl } from "../url.ts";
import { type ElementRule, rule, ruleKey } from "./element-rule.ts";
import { decodeHtml } from "./entities.ts";
import { noMark, type TextMark } from "./text-mark.ts";
import { type Vocabulary, vocabularyOf } from "./vocabulary.ts";
import { noAttributes, type XmlAttributes } from "./xml-attributes.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { XmlGlue } from "./xml-glue.ts";
import type { TextKind, XmlGlueHandler, XmlHandler, XmlPlan } from "./xml-handler.ts";
import type { XmlName } from "./xml-name.ts";
import type { XmlScanner } from "./xml-scanner.ts";
import type { XmlText } from "./xml-text.ts";

/** What a table's rules write to. */
export interface TableTarget {
  /** The text of a field could not be used, so that the whole entry is not to be trusted. */
  invalidate(): void;
}

type Call<Target> = (target: Target, attributes: XmlAttributes) => void;

/** What a glue does, where the same elements are open. */
interface Plan<Target> extends XmlPlan {
  /** The rule of the element in which it stands, when those that it closes are closed. */
  readonly base: ElementRule<Target>;
  /** The rule of the element that it closes first, where its text is wanted. */
  readonly top: ElementRule<Target> | undefined;
  readonly calls: readonly Call<Target>[];
  /** Where in the glue the tags of the calls begin. */
  readonly offsets: readonly number[];
  /** The rules of the elements that stay open, outermost first. */
  readonly stays: readonly ElementRule<Target>[];
  /** The text of the last of them is wanted. */
  readonly wants: boolean;
  /** The state of the namespaces for which it holds. */
  readonly generation: number;
}

export class TableReader<Target extends TableTarget> implements XmlHandler, XmlGlueHandler {
  readonly #target: Target;
  readonly #cursor: XmlCursor;
  readonly #text: XmlText;
  readonly #vocabulary: Vocabulary;
  readonly #namespace: string;
  readonly #maxUrlLength: number;
  readonly #onEnd: () => void;
  readonly #skipped: ElementRule<Target> = rule("", {});
  // The rules of the open elements, from the root of the format on.
  readonly #rules: ElementRule<Target>[];
  #depth = 0;
  // The rule of the element that was opened last.
  #opened: ElementRule<Target> = this.#skipped;
  // What was reported already: each mistaken spelling and namespace once.
  readonly #reported = new Set<string>();

  constructor(options: {
    root: ElementRule<Target>;
    name: XmlName;
    vocabulary: Vocabulary;
    target: Target;
    scanner: XmlScanner;
    maxUrlLength: number;
    /** The root was closed. */
    onEnd: () => void;
  }) {
    this.#rules = [options.root];
    this.#vocabulary = options.vocabulary;
    this.#namespace = options.name.namespace;
    this.#target = options.target;
    this.#cursor = options.scanner.cursor;
    this.#text = options.scanner.text;
    this.#maxUrlLength = options.maxUrlLength;
    this.#onEnd = options.onEnd;
    this.#checkNamespace(options.name);
  }

  get follower(): this {
    return this;
  }

  open(name: XmlName, attributes: XmlAttributes): boolean {
    const found = this.#ruleOf(this.#rules[this.#depth]!, name);
    this.#rules[++this.#depth] = found;
    this.#opened = found;
    if (found.open !== undefined) found.open(this.#target, attributes);
    return found.text !== undefined;
  }

  follow(glue: XmlGlue, text: string | undefined): boolean {
    const base = this.#depth - glue.closes.length;
    let plan = glue.plan as Plan<Target> | undefined;
    // The scanner has looked at the names of the elements that are closed: their rules follow from that of the outer one.
    if (plan === undefined || plan.base !== this.#rules[base] || plan.generation !== glue.generation) {
      plan = this.#plan(glue);
      glue.plan = plan;
    }
    this.repeat(plan, text);
    const { stays, wants } = plan;
    for (let index = 0; index < stays.length; index++) this.#rules[base + 1 + index] = stays[index]!;
    this.#depth = base + stays.length;
    return wants;
  }

  repeat(plan: XmlPlan, text: string | undefined): void {
    const { top } = plan as Plan<Target>;
    if (top !== undefined) {
      if (text === undefined) this.#unusable(top);
      else top.text!(this.#target, this.#clean(text, top), noMark);
    }
    this.#call(plan as Plan<Target>);
  }

  repeatClean(plan: XmlPlan, text: string, mark: TextMark): void {
    const { top } = plan as Plan<Target>;
    if (top !== undefined) top.text!(this.#target, text, mark);
    this.#call(plan as Plan<Target>);
  }

  get meaning(): object {
    return this.#opened;
  }

  repeatTag(meaning: object, attributes: XmlAttributes, isEmpty: boolean): void {
    const { open, close } = meaning as ElementRule<Target>;
    if (open !== undefined) open(this.#target, attributes);
    if (isEmpty && close !== undefined) close(this.#target);
  }

  get position(): readonly ElementRule<Target>[] {
    return this.#rules.slice(0, this.#depth + 1);
  }

  resume(position: object): void {
    const rules = position as readonly ElementRule<Target>[];
    for (let depth = 0; depth < rules.length; depth++) this.#rules[depth] = rules[depth]!;
    this.#depth = rules.length - 1;
  }

  #call({ calls, offsets }: Plan<Target>): void {
    for (let index = 0; index < calls.length; index++) {
      this.#cursor.offsetInGlue = offsets[index]!;
      calls[index]!(this.#target, noAttributes);
    }
    this.#cursor.offsetInGlue = 0;
  }

  // What the elements of a glue do, one after the other, from where we are.
  #plan(glue: XmlGlue): Plan<Target> {
    const closed: ElementRule<Target>[] = [];
    const stays: ElementRule<Target>[] = [];
    const calls: Call<Target>[] = [];
    const offsets: number[] = [];
    const add = (call: Call<Target> | undefined, index: number) => {
      if (call === undefined) return;
      calls.push(call);
      offsets.push(glue.offsets[index]!);
    };
    glue.names.forEach((name, index) => {
      this.#cursor.offsetInGlue = glue.offsets[index]!;
      if (glue.opens[index]) {
        const found = this.#ruleOf(stays.at(-1) ?? this.#rules[this.#depth - closed.length]!, name);
        stays.push(found);
        add(found.open, index);
        return;
      }
      const own = stays.pop();
      const found = own ?? this.#rules[this.#depth - closed.length]!;
      if (own === undefined) closed.push(found);
      const { text } = found;
      // An empty element. The text of the one that was open before is not known yet.
      if (own !== undefined && text !== undefined) add((target) => text(target, "", noMark), index);
      add(found.close, index);
    });
    this.#cursor.offsetInGlue = 0;
    const base = this.#rules[this.#depth - closed.length]!;
    const top = closed[0]?.text === undefined ? undefined : closed[0];
    const wants = stays.at(-1)?.text !== undefined;
    return { base, top, takes: kindOf(top), calls, offsets, stays, wants, generation: glue.generation };
  }

  close(_name: XmlName, text: string | undefined): void {
    if (this.#depth === 0) {
      this.#onEnd();
      return;
    }
    const closed = this.#rules[this.#depth--]!;
    if (closed.text !== undefined) {
      if (text === undefined) this.#unusable(closed);
      else closed.text(this.#target, this.#clean(text, closed), noMark);
    }
    if (closed.close !== undefined) closed.close(this.#target);
  }

  #clean(text: string, closed: ElementRule<Target>): string {
    if (this.#text.isPlain) return trimUrl(text);
    const decoded = decodeHtml(text);
    if (closed.isUrl && decoded !== text) this.#cursor.report("url-double-escaped", text);
    return trimUrl(decoded);
  }

  #unusable(closed: ElementRule<Target>): void {
    const flaw = this.#text.flaw;
    if (flaw === "reference") this.#target.invalidate();
    else if (flaw === "too-long") {
      if (closed.isUrl) this.#cursor.report("limit-url-length", undefined, this.#maxUrlLength);
      else this.#cursor.report("limit-text-length", closed.name, this.#text.maxLength);
    }
  }

  #ruleOf(parent: ElementRule<Target>, name: XmlName): ElementRule<Target> {
    if (parent === this.#skipped) return parent;
    const { memo } = name;
    if (memo.context === parent && memo.generation === name.generation) return memo.meaning as ElementRule<Target>;
    const found = this.#find(parent, name) ?? this.#skipped;
    memo.context = parent;
    memo.generation = name.generation;
    memo.meaning = found;
    return found;
  }

  #find(parent: ElementRule<Target>, name: XmlName): ElementRule<Target> | undefined {
    if (parent.children === undefined) return undefined;
    const { vocabulary } = vocabularyOf(name, this.#vocabulary, this.#namespace);
    const found = parent.children.get(ruleKey(vocabulary, name.lower));
    if (found === undefined) return undefined;
    this.#checkNamespace(name);
    if (found.name !== name.local) this.#reportOnce("xml-element-name", name.raw);
    return found;
  }

  #checkNamespace(name: XmlName): void {
    if (vocabularyOf(name, this.#vocabulary, this.#namespace).exact) return;
    this.#reportOnce("xml-namespace", name.bound ? name.namespace || "none" : `${name.prefix}:`);
  }

  #reportOnce(code: "xml-namespace" | "xml-element-name", value: string): void {
    const key = `${code} ${value}`;
    if (this.#reported.has(key) || this.#reported.size >= reportedSpellings) return;
    this.#reported.add(key);
    this.#cursor.report(code, value);
  }
}

function kindOf(rule: Pick<ElementRule<unknown>, "isUrl" | "isKey" | "isDate"> | undefined): TextKind {
  if (rule?.isKey) return "key";
  if (rule?.isUrl) return "url";
  return rule?.isDate ? "date" : "text";
}

// A hostile document may have any number of them.
const reportedSpellings = 100;
