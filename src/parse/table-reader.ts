// Reads a document by the table of its format: finds the rule of each element and hands its text to it.
//   Lenient: names in another case are taken for those of the format.
import { trimUrl } from "../url.ts";
import { type ElementRule, rule, ruleKey } from "./element-rule.ts";
import { decodeHtml } from "./entities.ts";
import { type Vocabulary, vocabularyOf } from "./vocabulary.ts";
import type { XmlAttributes } from "./xml-attributes.ts";
import type { XmlName } from "./xml-name.ts";
import type { XmlHandler, XmlScanner } from "./xml-scanner.ts";

/** What a table's rules write to. */
export interface TableTarget {
  /** The text of a field could not be used, so that the whole entry is not to be trusted. */
  invalidate(): void;
}

export class TableReader<Target extends TableTarget> implements XmlHandler {
  readonly #target: Target;
  readonly #scanner: XmlScanner;
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
    this.#target = options.target;
    this.#scanner = options.scanner;
    this.#maxUrlLength = options.maxUrlLength;
    this.#onEnd = options.onEnd;
    this.#checkNamespace(options.name);
  }

  open(name: XmlName, attributes: XmlAttributes): boolean {
    const parent = this.#rules[this.#depth]!;
    let found = this.#skipped;
    if (parent !== found) {
      const { memo } = name;
      if (memo.context === parent && memo.generation === name.generation) found = memo.meaning as ElementRule<Target>;
      else {
        found = this.#find(parent, name) ?? found;
        memo.context = parent;
        memo.generation = name.generation;
        memo.meaning = found;
      }
    }
    this.#rules[++this.#depth] = found;
    if (found.open !== undefined) found.open(this.#target, attributes);
    return found.text !== undefined;
  }

  close(_name: XmlName, text: string | undefined): void {
    if (this.#depth === 0) {
      this.#onEnd();
      return;
    }
    const closed = this.#rules[this.#depth--]!;
    if (closed.text !== undefined) {
      if (text === undefined) this.#unusable(closed);
      else closed.text(this.#target, this.#clean(text, closed));
    }
    if (closed.close !== undefined) closed.close(this.#target);
  }

  #clean(text: string, closed: ElementRule<Target>): string {
    if (this.#scanner.textIsPlain) return trimUrl(text);
    const decoded = decodeHtml(text);
    if (closed.isUrl && decoded !== text) this.#scanner.report("url-double-escaped", text);
    return trimUrl(decoded);
  }

  #unusable(closed: ElementRule<Target>): void {
    const flaw = this.#scanner.textFlaw;
    if (flaw === "reference") this.#target.invalidate();
    else if (flaw === "too-long") {
      if (closed.isUrl) this.#scanner.report("url-too-long", undefined, this.#maxUrlLength);
      else this.#scanner.report("text-too-long", closed.name, this.#scanner.maxTextLength);
    }
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
    this.#scanner.report(code, value);
  }
}

// A hostile document may have any number of them.
const reportedSpellings = 100;
