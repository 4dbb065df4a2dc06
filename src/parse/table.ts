// Reads a document by the table of its format: finds the rule of each element and hands its text to it.
//   Lenient: names in another case are taken for those of the format.
//   Lenient: an entry's start tag ends what was not closed before it: an entry, and all that is open in it.
import { detached } from "../model/text.ts";
import { isHttpUrl, trimUrl } from "../model/url.ts";
import { unwrapUrl } from "../model/url-forms.ts";
import { type Vocabulary, vocabularyOf } from "./namespaces.ts";
import type { XmlCursor } from "./xml/cursor.ts";
import { decodeHtml, decodeReferences } from "./xml/entities.ts";
import type { ElementAttributes, XmlHandler, XmlName } from "./xml/names.ts";
import type { XmlScanner } from "./xml/scanner.ts";
import type { XmlText } from "./xml/text.ts";

/** What the rules of a table write to. */
export interface TableTarget {
  /** Of pages, only the URLs are wanted. */
  readonly urlsOnly?: boolean;
  /** The entry has a URL that cannot be used; the reason was reported. */
  refuseUrl(): void;
  /** A text of a rule with `isFallback` cannot be used: `report` says why. */
  missFallback?(name: string, report: () => void): void;
  /** The root was closed. */
  endRoot(): void;
}

export class TableReader<Target extends TableTarget> implements XmlHandler, RuleReader<Target> {
  readonly target: Target;
  readonly #cursor: XmlCursor;
  readonly #text: XmlText;
  readonly #vocabulary: Vocabulary;
  readonly #namespace: string;
  readonly #maxUrlLength: number;
  readonly #entryNames: readonly string[];
  readonly #skipped: ElementRule<Target> = rule("", {});
  // The rules of the open elements, from the format's root.
  readonly #rules: ElementRule<Target>[];
  #depth = 0;
  readonly #scanner: XmlScanner;
  readonly #rootDepth: number;
  // Reported already: each wrong spelling and namespace is reported once.
  readonly #reported = new Set<string>();

  constructor(options: {
    root: ElementRule<Target>;
    name: XmlName;
    vocabulary: Vocabulary;
    target: Target;
    scanner: XmlScanner;
    maxUrlLength: number;
    /** The names of entries, in lower case. */
    entryNames: readonly string[];
  }) {
    this.#rules = [options.root];
    this.#vocabulary = options.vocabulary;
    this.#namespace = options.name.namespace;
    this.target = options.target;
    this.#scanner = options.scanner;
    this.#rootDepth = options.scanner.elements.depth;
    this.#cursor = options.scanner.cursor;
    this.#text = options.scanner.text;
    this.#maxUrlLength = options.maxUrlLength;
    this.#entryNames = options.entryNames;
    this.#checkNamespace(options.name);
  }

  get byRules(): RuleReader {
    return this as unknown as RuleReader;
  }

  get urlsOnly(): boolean {
    return this.target.urlsOnly === true;
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
    // What comes after the root is read as if it were inside.
    if (this.#depth === 0) {
      this.target.endRoot();
      return;
    }
    const closed = this.#rules[this.#depth--]!;
    if (closed.text !== undefined) this.takeText(closed, text);
    if (closed.close !== undefined) closed.close(this.target);
  }

  get isInRoot(): boolean {
    return this.#scanner.elements.depth === this.#rootDepth + this.#depth;
  }

  unclosedBefore(name: XmlName): number {
    if (this.#depth === 0 || !this.isEntryName(name)) return 0;
    for (let depth = this.#depth; depth > 0; depth--) {
      if (this.#rules[depth]!.isEntry) return this.#depth - depth + 1;
    }
    // Something may be left open between any two entries.
    return this.#depth > mostWrappers ? this.#depth : 0;
  }

  get isInEntry(): boolean {
    return this.rules.some(({ isEntry }) => isEntry);
  }

  isEntryName(name: XmlName): boolean {
    if (!this.#entryNames.includes(name.lower)) return false;
    return vocabularyOf(name, this.#vocabulary, this.#namespace).vocabulary === this.#vocabulary;
  }

  get takesStray(): boolean {
    return this.isInRoot && this.#rules[this.#depth]!.stray !== undefined;
  }

  takeStray(text: string, at: number): void {
    for (const { 0: word, index } of text.matchAll(/\S+/g)) this.#takeWord(this.#rules[this.#depth]!, word, at + index);
  }

  #takeWord({ stray }: ElementRule<Target>, word: string, at: number): void {
    const bare = unwrapUrl(word.replace(/[,;]$/, ""));
    if (this.#cursor.stopped || !httpScheme.test(bare)) return;
    this.#cursor.at = at;
    stray!(this.target, detached(decodeReferences(bare, this.#cursor)));
  }

  takeText(closed: ElementRule<Target>, text: string | undefined, isDetached = false): void {
    if (text === undefined || (closed.isUrl && this.#text.isMixed)) {
      this.#unusable(closed);
      return;
    }
    const clean = this.#clean(text, closed);
    if (closed.isUrl && this.#text.hasChildren && clean !== "") {
      // The title of a link is not its URL.
      if (this.#text.isOfChild && !isHttpUrl(clean)) {
        this.#unusable(closed);
        return;
      }
      this.#cursor.report("url-repaired", clean);
    }
    const facts = this.#text.endsInSplit ? exactFacts : noFacts;
    closed.text!(this.target, isDetached ? clean : detached(clean), facts);
  }

  #clean(text: string, closed: ElementRule<Target>): string {
    if (this.#text.isPlain) return trimUrl(text);
    const decoded = decodeHtml(text);
    if (closed.isUrl && decoded !== text) this.#cursor.report("url-double-escaped", text);
    return trimUrl(decoded);
  }

  // Only this value is dropped; the rest of the entry is kept.
  #unusable(closed: ElementRule<Target>): void {
    const { flaw, maxLength, whole } = this.#text;
    if (flaw === "unclosed") return;
    const report = () => {
      if (closed.isUrl && flaw === "too-long") this.#cursor.report("limit-url-length", undefined, this.#maxUrlLength);
      else if (closed.isUrl) this.#cursor.report("url-invalid", whole.trim());
      else if (flaw === "too-long") this.#cursor.report("limit-text-length", closed.name, maxLength);
    };
    if (closed.isFallback) this.target.missFallback?.(closed.name, report);
    else report();
    if (closed.isKey) this.target.refuseUrl();
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
    if (found === undefined) return vocabulary === this.#vocabulary ? parent.others : parent.foreign;
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

const httpScheme = /^https?:\/\//i;
// Unknown elements around entries.
const mostWrappers = 32;
// A hostile document may have any number of them.
const reportedSpellings = 100;

// Formats as tables: what an element means, by its parent element.

/** What to do with an element. `Target` collects its values. */
export interface ElementRule<Target> {
  /** The name as the format spells it. */
  readonly name: string;
  /** Its children, by vocabulary and name in lower case: `image loc`. */
  readonly children: ReadonlyMap<string, ElementRule<Target>> | undefined;
  /**
   * The rules for other children, in the format's own namespace and in foreign ones. Without one they are skipped with
   * their content.
   */
  readonly others: ElementRule<Target> | undefined;
  readonly foreign: ElementRule<Target> | undefined;
  /** It is an entry: the start of the next entry ends it, with everything open in it. */
  readonly isEntry: boolean;
  readonly open: ((target: Target, attributes: ElementAttributes) => void) | undefined;
  /** Receives the element's text: decoded, trimmed, perhaps empty. */
  readonly text: ((target: Target, text: string, facts: TextFacts) => void) | undefined;
  /** The text is a URL. */
  readonly isUrl: boolean;
  /** The URL is that of the entry. */
  readonly isKey: boolean;
  /** The text is a date as https://www.w3.org/TR/NOTE-datetime has them. */
  readonly isDate: boolean;
  /** Needed only where another element is missing: then the target reports why it cannot be used. */
  readonly isFallback: boolean;
  /** Only who wants to have it needs the text, or the URL among the attributes; others need to know that it is valid. */
  readonly isDetail: boolean;
  readonly close: ((target: Target) => void) | undefined;
  /** Entries stand in it: receives a URL that stands there as text. */
  readonly stray: ((target: Target, url: string) => void) | undefined;
}

/** Reads elements by their rules, and does nothing else. */
export interface RuleReader<Target = never> {
  readonly target: Target;
  /** Of pages, only the URLs are wanted. */
  readonly urlsOnly: boolean;
  /** The rules of the open elements, from the format's root. Setting them changes which elements are open. */
  rules: readonly ElementRule<Target>[];
  /** Whether the root of the format is open. */
  readonly isInRoot: boolean;
  /** The rule of an element below one with the rule `parent`. Reports a spelling that differs from the format's. */
  ruleOf(parent: ElementRule<Target>, name: XmlName): ElementRule<Target>;
  /** Whether entries have this name. Inside an entry, only what follows tells whether the element is another entry. */
  isEntryName(name: XmlName): boolean;
  /**
   * Passes the text of an element to its rule; undefined if it cannot be used. `isDetached`: the string is not a slice
   * of a longer one.
   */
  takeText(rule: ElementRule<Target>, text: string | undefined, isDetached?: boolean): void;
}

export type Part<Target> = Partial<Omit<ElementRule<Target>, "name">>;

/** A table of children, all of one vocabulary. All rules have the same object shape, which makes lookups faster. */
export function elements<Target>(
  vocabulary: Vocabulary,
  parts: Readonly<Record<string, Part<Target>>>,
): Map<string, ElementRule<Target>> {
  const rules = Object.entries(parts).map(([name, part]) => rule(name, part));
  return new Map(rules.map((entry) => [ruleKey(vocabulary, entry.name.toLowerCase()), entry]));
}

export function rule<Target>(name: string, part: Part<Target>): ElementRule<Target> {
  return { ...noRule, ...part, name };
}

const noRule = {
  name: "",
  children: undefined,
  others: undefined,
  foreign: undefined,
  isEntry: false,
  open: undefined,
  text: undefined,
  isUrl: false,
  isKey: false,
  isDate: false,
  isDetail: false,
  isFallback: false,
  close: undefined,
  stray: undefined,
};

/**
 * A rule for unknown elements, which may hold these children at any depth. `foreign`: the rule for elements of other
 * namespaces inside it; by default the same.
 */
export function wrapper<Target>(
  children: ReadonlyMap<string, ElementRule<Target>>,
  foreign?: ElementRule<Target>,
): ElementRule<Target> {
  const made: { -readonly [Key in keyof ElementRule<Target>]: ElementRule<Target>[Key] } = rule("", { children });
  made.others = made;
  made.foreign = foreign ?? made;
  return made;
}

function ruleKey(vocabulary: Vocabulary, lowerCaseName: string): string {
  return `${vocabulary} ${lowerCaseName}`;
}

// What is known about a text before it is read; usually nothing. Those of the fast path only save work: a reader that
// ignores them gives the same results.

/** Valid only during the call that passes the text. */
export class TextFacts {
  /** It is a URL as it is: ASCII, trimmed, not too long, and of an origin that was accepted before. */
  isUrl = false;
  /** The fingerprint of that URL, if it is the URL of an entry. */
  high = 0;
  low = 0;
  /** It is a URL as it is if its origin is valid: whoever accepts the origin calls this. */
  acceptOrigin: ((origin: string) => void) | undefined = undefined;
  /** It is a valid date as it is. */
  isDate = false;
  /** A `]]>` at its end belongs to it: it was written in two CDATA sections. */
  isExact = false;

  copy(facts: TextFacts): void {
    this.isUrl = facts.isUrl;
    this.high = facts.high;
    this.low = facts.low;
    this.acceptOrigin = facts.acceptOrigin;
    this.isDate = facts.isDate;
    this.isExact = facts.isExact;
  }
}

export const noFacts: TextFacts = new TextFacts();
const exactFacts: TextFacts = new TextFacts();
exactFacts.isExact = true;
