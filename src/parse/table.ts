// Reads a document by the table of its format: finds the rule for each element, and passes its text to it.
//   Lenient: element names are case-insensitive.
//   Lenient: an entry's start tag closes the previous entry, with everything that is still open in it.
import { detached } from "../model/text.ts";
import { isHttpUrl, trimUrl } from "../model/url.ts";
import { unwrapUrl } from "../model/url-forms.ts";
import { type Resolved, type Vocabulary, vocabularyOf } from "./namespaces.ts";
import type { XmlAttributes } from "./xml/attributes.ts";
import type { XmlCursor } from "./xml/cursor.ts";
import type { XmlHandler, XmlName } from "./xml/names.ts";
import type { XmlScanner } from "./xml/scanner.ts";
import type { XmlText } from "./xml/text.ts";
import { decodeHtml, decodeReferences } from "./xml/text.ts";

/** What the rules of a table write to. */
export interface TableTarget {
  /** Only the URLs of pages are needed. */
  readonly urlsOnly?: boolean;
  /** The URL of the entry cannot be used; the reason was reported. */
  refuseUrl?(): void;
  /** The text of a rule with `isFallback` cannot be used; `report` reports why. */
  missFallback?(name: string, report: () => void): void;
  /** The root was closed. */
  endRoot(): void;
}

export interface Format<Target> {
  readonly root: ElementRule<Target>;
  readonly vocabulary: Vocabulary;
  /** The names of entries, in lower case. */
  readonly entryNames: readonly string[];
}

export class TableReader<Target extends TableTarget> implements XmlHandler {
  readonly target: Target;
  readonly urlsOnly: boolean;
  readonly byRules = this as unknown as TableReader<never>;
  readonly #format: Format<Target>;
  readonly #namespace: string;
  readonly #cursor: XmlCursor;
  readonly #scanner: XmlScanner;
  readonly #depthAround: number;
  readonly #skipped = new ElementRule<Target>("", {});
  /** The rules of the open elements, from the format's root. */
  readonly rules: ElementRule<Target>[];
  // Each wrong spelling and namespace is reported once.
  readonly #reported = new Set<string>();

  /** `name`: that of the root. */
  constructor(format: Format<Target>, name: XmlName, target: Target, scanner: XmlScanner) {
    this.target = target;
    this.urlsOnly = target.urlsOnly === true;
    this.#format = format;
    this.#namespace = name.namespace;
    this.#cursor = scanner.cursor;
    this.#scanner = scanner;
    this.#depthAround = scanner.depth - 1;
    this.rules = [format.root];
    this.#checkNamespace(name);
  }

  open(name: XmlName, attributes: XmlAttributes): boolean {
    const found = this.ruleOf(this.rules[this.rules.length - 1]!, name);
    this.rules.push(found);
    if (found.open !== undefined) found.open(this.target, attributes);
    return found.text !== undefined;
  }

  close(_name: XmlName, text: string | undefined): void {
    // Anything after the root is read as if it were inside.
    if (this.rules.length === 1) {
      this.target.endRoot();
      return;
    }
    const closed = this.rules.pop()!;
    if (closed.text !== undefined) this.takeText(closed, text);
    if (closed.close !== undefined) closed.close(this.target);
  }

  /** Whether the root of the format is open. */
  get isInRoot(): boolean {
    return this.#scanner.depth === this.#depthAround + this.rules.length;
  }

  unclosedBefore(name: XmlName): number {
    const depth = this.rules.length - 1;
    if (depth === 0 || !this.isEntryName(name)) return 0;
    const entry = this.rules.findLastIndex(({ isEntry }) => isEntry);
    // Something may be left open between any two entries.
    if (entry <= 0) return depth > mostWrappers ? depth : 0;
    return depth - entry + 1;
  }

  get isInEntry(): boolean {
    return this.rules.some(({ isEntry }) => isEntry);
  }

  /** Whether entries have this name. Inside an entry, only the following text or tag shows whether it is another entry. */
  isEntryName(name: XmlName): boolean {
    const { vocabulary, entryNames } = this.#format;
    return entryNames.includes(name.lower) && this.#vocabularyOf(name).vocabulary === vocabulary;
  }

  #vocabularyOf(name: XmlName): Resolved {
    return vocabularyOf(name, this.#format.vocabulary, this.#namespace);
  }

  get takesStray(): boolean {
    return this.isInRoot && this.rules.at(-1)!.stray !== undefined;
  }

  takeStray(text: string, at: number): void {
    const { stray } = this.rules.at(-1)!;
    for (const { 0: word, index } of text.matchAll(/\S+/g)) {
      const bare = unwrapUrl(word.replace(/[,;]$/, ""));
      if (this.#cursor.stopped || !httpScheme.test(bare)) continue;
      this.#cursor.at = at + index;
      stray!(this.target, detached(decodeReferences(bare, this.#cursor)));
    }
  }

  /** Passes the text of an element to its rule; undefined if it cannot be used. `isDetached`: it is not a slice of a longer string. */
  takeText(closed: ElementRule<Target>, text: string | undefined, isDetached = false): void {
    const state = this.#scanner.text!;
    if (text === undefined || (closed.isUrl && state.isMixed)) {
      this.#unusable(closed, state);
      return;
    }
    // Lenient: a URL that was escaped twice (`&amp;amp;`) is decoded twice. Other text may be about escaping.
    const decoded = closed.isUrl && !state.isPlain ? decodeHtml(text) : text;
    if (decoded !== text) this.#cursor.report("url-double-escaped", text);
    const clean = trimUrl(decoded);
    if (closed.isUrl && state.hasChildren && clean !== "") {
      // The title of a link is not its URL.
      if (state.isOfChild && !isHttpUrl(clean)) {
        this.#unusable(closed, state);
        return;
      }
      this.#cursor.report("url-repaired", clean);
    }
    closed.text!(this.target, isDetached ? clean : detached(clean), state.endsInSplit ? exactFacts : noFacts);
  }

  // Only this value is dropped; the rest of the entry is kept.
  #unusable(closed: ElementRule<Target>, { flaw, maxLength, whole }: XmlText): void {
    if (flaw === "unclosed") return;
    const report = () => {
      const { urlLength } = this.#scanner.limits;
      if (closed.isUrl && flaw === "too-long") this.#cursor.report("limit-url-length", undefined, urlLength);
      else if (closed.isUrl) this.#cursor.report("url-invalid", whole.trim());
      else if (flaw === "too-long") this.#cursor.report("limit-text-length", closed.name, maxLength);
    };
    if (closed.isFallback) this.target.missFallback?.(closed.name, report);
    else report();
    if (closed.isKey) this.target.refuseUrl?.();
  }

  /** The rule of an element inside one with the rule `parent`. Reports a spelling that differs from the format's. */
  ruleOf(parent: ElementRule<Target>, name: XmlName): ElementRule<Target> {
    if (parent === this.#skipped) return parent;
    this.#scanner.namespaces.resolve(name);
    if (name.context === parent) return name.meaning as ElementRule<Target>;
    const found = this.#find(parent, name) ?? this.#skipped;
    name.context = parent;
    name.meaning = found;
    return found;
  }

  #find(parent: ElementRule<Target>, name: XmlName): ElementRule<Target> | undefined {
    if (parent.children === undefined) return undefined;
    const { vocabulary } = this.#vocabularyOf(name);
    const found = parent.children.get(ruleKey(vocabulary, name.lower));
    if (found === undefined) return vocabulary === this.#format.vocabulary ? parent.others : parent.foreign;
    this.#checkNamespace(name);
    if (found.name !== name.local) this.#reportOnce("xml-element-name", name.raw);
    return found;
  }

  #checkNamespace(name: XmlName): void {
    if (this.#vocabularyOf(name).exact) return;
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

// Formats as tables: the meaning of an element depends on its parent.

/** What to do with an element. `Target` collects its values. All have one object shape, which makes lookups faster. */
export class ElementRule<Target> {
  /** The name as spelled in the format. */
  readonly name: string;
  /** Its children, by vocabulary and name in lower case: `image loc`. */
  readonly children: ReadonlyMap<string, ElementRule<Target>> | undefined = undefined;
  /** The rules for other children, in the format's own namespace and in foreign ones. If absent, these are skipped with their content. */
  readonly others: ElementRule<Target> | undefined = undefined;
  readonly foreign: ElementRule<Target> | undefined = undefined;
  /** It is an entry: the start of the next entry ends it, with everything open in it. */
  readonly isEntry: boolean = false;
  readonly open: ((target: Target, attributes: XmlAttributes) => void) | undefined = undefined;
  /** Receives the element's text: decoded, trimmed, perhaps empty. */
  readonly text: ((target: Target, text: string, facts: TextFacts) => void) | undefined = undefined;
  /** The text is a URL. */
  readonly isUrl: boolean = false;
  /** The URL is that of the entry. */
  readonly isKey: boolean = false;
  /** What the text should be. A date is one of https://www.w3.org/TR/NOTE-datetime. */
  readonly form: "date" | "frequency" | "priority" | "number" | "boolean" | undefined = undefined;
  /** Needed only if another element is missing: then the target reports why it cannot be used. */
  readonly isFallback: boolean = false;
  /** With `urlsOnly`, the text (or the URL in an attribute) is checked, but not kept. */
  readonly isDetail: boolean = false;
  /** A bit that identifies it among its siblings. In an entry, it should occur once. */
  readonly mark: number = 0;
  /** The marks of its required children or attributes. 0: its content may be reported for other reasons. */
  readonly needs: number = 0;
  readonly close: ((target: Target) => void) | undefined = undefined;
  /** For elements that contain entries: receives URLs that occur there as text. */
  readonly stray: ((target: Target, url: string) => void) | undefined = undefined;

  constructor(name: string, part: Part<Target>) {
    this.name = name;
    Object.assign(this, part);
  }
}

export type Part<Target> = Partial<Omit<ElementRule<Target>, "name">>;

/** A table of children, all of one vocabulary. */
export function elements<Target>(
  vocabulary: Vocabulary,
  parts: Readonly<Record<string, Part<Target>>>,
): Map<string, ElementRule<Target>> {
  const rules = Object.entries(parts).map(([name, part]) => new ElementRule(name, part));
  return new Map(rules.map((entry) => [ruleKey(vocabulary, entry.name.toLowerCase()), entry]));
}

/** A rule for unknown elements, which may hold these children at any depth. `foreign`: the rule for other namespaces inside it, by default the same. */
export function wrapper<Target>(
  children: ReadonlyMap<string, ElementRule<Target>>,
  foreign?: ElementRule<Target>,
): ElementRule<Target> {
  const made = new ElementRule("", { children });
  return Object.assign(made, { others: made, foreign: foreign ?? made });
}

function ruleKey(vocabulary: Vocabulary, lowerCaseName: string): string {
  return `${vocabulary} ${lowerCaseName}`;
}

/** What the fast path knows about a text. It only saves work. Valid only during the call that passes the text. */
export class TextFacts {
  /** It is a valid URL as is: ASCII, trimmed, not too long, and of an origin that was accepted before. */
  isUrl = false;
  /** The fingerprint of that URL, if it is the URL of an entry. */
  high = 0;
  low = 0;
  /** It is a valid URL if its origin is: called once the origin was accepted. */
  acceptOrigin: ((origin: string) => void) | undefined = undefined;
  /** It is a valid date as is. */
  isDate = false;
  /** A `]]>` at its end belongs to it: it was written in two CDATA sections. */
  isExact = false;

  copy(facts: TextFacts): void {
    this.isUrl = facts.isUrl;
    this.high = facts.high;
    this.low = facts.low;
    this.acceptOrigin = facts.acceptOrigin;
    this.isExact = facts.isExact;
  }
}

export const noFacts: TextFacts = new TextFacts();
const exactFacts: TextFacts = new TextFacts();
exactFacts.isExact = true;
