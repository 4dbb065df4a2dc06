// Reads a document by the table of its format: finds the rule of each element and hands its text to it.
//   Lenient: names in another case are taken for those of the format.
import { detached } from "../detached.ts";
import { trimUrl } from "../url.ts";
import { type ElementRule, type RuleReader, rule, ruleKey } from "./element-rule.ts";
import { decodeHtml } from "./entities.ts";
import { noFacts } from "./text-facts.ts";
import { type Vocabulary, vocabularyOf } from "./vocabulary.ts";
import type { XmlCursor } from "./xml-cursor.ts";
import type { ElementAttributes, XmlHandler } from "./xml-handler.ts";
import type { XmlName } from "./xml-name.ts";
import type { XmlScanner } from "./xml-scanner.ts";
import type { XmlText } from "./xml-text.ts";

/** What a table's rules write to. */
export interface TableTarget {
  /** The text of a field could not be used, so that the whole entry is not to be trusted. */
  invalidate(): void;
}

export class TableReader<Target extends TableTarget> implements XmlHandler, RuleReader<Target> {
  readonly target: Target;
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
    this.target = options.target;
    this.#cursor = options.scanner.cursor;
    this.#text = options.scanner.text;
    this.#maxUrlLength = options.maxUrlLength;
    this.#onEnd = options.onEnd;
    this.#checkNamespace(options.name);
  }

  get byRules(): RuleReader {
    return this as unknown as RuleReader;
  }

  get rules(): readonly ElementRule<Target>[] {
    return this.#rules.slice(0, this.#depth + 1);
  }

  set rules(rules: readonly ElementRule<Target>[]) {
    for (let depth = 0; depth < rules.length; depth++) this.#rules[depth] = rules[depth]!;
    this.#depth = rules.length - 1;
  }

  open(name: XmlName, attributes: ElementAttributes): boolean {
    const found = this.ruleOf(this.#rules[this.#depth]!, name);
    this.#rules[++this.#depth] = found;
    if (found.open !== undefined) found.open(this.target, attributes);
    return found.text !== undefined;
  }

  close(_name: XmlName, text: string | undefined): void {
    if (this.#depth === 0) {
      this.#onEnd();
      return;
    }
    const closed = this.#rules[this.#depth--]!;
    if (closed.text !== undefined) this.takeText(closed, text);
    if (closed.close !== undefined) closed.close(this.target);
  }

  takeText(closed: ElementRule<Target>, text: string | undefined, isDetached = false): void {
    if (text === undefined) {
      this.#unusable(closed);
      return;
    }
    const clean = this.#clean(text, closed);
    closed.text!(this.target, isDetached ? clean : detached(clean), noFacts);
  }

  #clean(text: string, closed: ElementRule<Target>): string {
    if (this.#text.isPlain) return trimUrl(text);
    const decoded = decodeHtml(text);
    if (closed.isUrl && decoded !== text) this.#cursor.report("url-double-escaped", text);
    return trimUrl(decoded);
  }

  #unusable(closed: ElementRule<Target>): void {
    const flaw = this.#text.flaw;
    if (flaw === "reference") this.target.invalidate();
    else if (flaw === "too-long") {
      if (closed.isUrl) this.#cursor.report("limit-url-length", undefined, this.#maxUrlLength);
      else this.#cursor.report("limit-text-length", closed.name, this.#text.maxLength);
    }
  }

  ruleOf(parent: ElementRule<Target>, name: XmlName): ElementRule<Target> {
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

// A hostile document may have any number of them.
const reportedSpellings = 100;
