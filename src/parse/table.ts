// Reads a document by the table of its format: finds the rule for each element, and passes its text to it.
//   Lenient: element names are case-insensitive.
//   Lenient: an entry's start tag closes the previous entry, with everything that is still open in it.
import type { AllLimits } from "../model/options.ts";
import { detached } from "../model/text.ts";
import { isHttpUrl, trimUrl } from "../model/url.ts";
import { unwrapUrl } from "../model/url-forms.ts";
import type { EntrySink } from "./entries.ts";
import { type Resolved, type Vocabulary, vocabularyOf } from "./namespaces.ts";
import { exactHints, noHints, type TextHints } from "./text-hints.ts";
import type { XmlAttributes } from "./xml/attributes.ts";
import type { XmlCursor } from "./xml/cursor.ts";
import type { XmlHandler, XmlName, XmlNamespaces } from "./xml/names.ts";
import { decodeHtml, decodeReferences, type XmlText } from "./xml/text.ts";

/** What the rules of a table write to. */
export interface TableTarget {
  /** Whether only the URLs of pages are needed. */
  readonly urlsOnly?: boolean;
  /** Called if a URL cannot be used, after the reason was reported. */
  refuseUrl?(name: string, isKey: boolean): void;
  /** Called if the text of a rule with `isFallback` cannot be used; `report` reports why. */
  missFallback?(name: string, report: () => void): void;
  /** Takes pages about which there is nothing to report. */
  readonly pageSink?: Pick<EntrySink, "takeLine" | "addLines" | "takeBare"> | undefined;
  /** Ends an entry that has no end tag: another one begins, or the root was closed. */
  endImplied(): void;
}

export interface Format<Target> {
  readonly root: ElementRule<Target>;
  readonly vocabulary: Vocabulary;
  /** The names of entries, in lower case. */
  readonly entryNames: readonly string[];
  /** The names of entries and roots of other formats, in lower case. If they are in place of entries, that is a loss. */
  readonly otherNames: readonly string[];
}

/** The document that is being read. */
export interface TableContext {
  readonly cursor: XmlCursor;
  readonly namespaces: XmlNamespaces;
  readonly limits: Pick<AllLimits, "urlLength">;
}

export class TableReader<Target extends TableTarget> implements XmlHandler {
  readonly urlsOnly: boolean;
  readonly #target: Target;
  readonly #format: Format<Target>;
  readonly #namespace: string;
  readonly #cursor: XmlCursor;
  readonly #namespaces: XmlNamespaces;
  readonly #longestUrl: number;
  readonly #skipped = new ElementRule<Target>("", {});
  /** The rules of the open elements, from the format's root. */
  readonly rules: ElementRule<Target>[];
  // Each wrong spelling and namespace is reported at most once.
  readonly #reported = new Set<string>();
  #hasSkippedEntry = false;

  /** Whether the root of the format is open. */
  isInRoot = true;

  /** `name` is the name of the root. */
  constructor(format: Format<Target>, name: XmlName, target: Target, { cursor, namespaces, limits }: TableContext) {
    this.#target = target;
    this.urlsOnly = target.urlsOnly === true;
    this.#format = format;
    this.#namespace = name.namespace;
    this.#cursor = cursor;
    this.#namespaces = namespaces;
    this.#longestUrl = limits.urlLength;
    this.rules = [format.root];
    this.#checkNamespace(name);
  }

  open(name: XmlName, attributes: XmlAttributes): boolean {
    const rule = this.ruleOf(name);
    this.enter(rule, attributes);
    return rule.text !== undefined;
  }

  /** Opens an element whose rule is already known. */
  enter(rule: ElementRule<Target>, attributes: XmlAttributes): void {
    this.rules.push(rule);
    if (rule.open !== undefined) rule.open(this.#target, attributes);
  }

  /** Passes a finished text to the rule of the innermost element, if the rule wants it: decoded, trimmed, perhaps empty. */
  take(text: string, hints: TextHints): void {
    const rule = this.rules[this.rules.length - 1]!;
    if (rule.text !== undefined) rule.text(this.#target, text, hints);
  }

  close(): void {
    // Anything after the root is read as if it were inside.
    if (this.rules.length === 1) {
      this.isInRoot = false;
      this.#target.endImplied();
      return;
    }
    const { close } = this.rules.pop()!;
    if (close !== undefined) close(this.#target);
  }

  unclosedBefore(name: XmlName): number {
    const depth = this.rules.length - 1;
    if (depth === 0 || !this.isEntryName(name)) return 0;
    const entry = this.rules.findLastIndex(({ isEntry }) => isEntry);
    // Elements that are left open between entries add up. If there are too many, all of them are closed.
    if (entry <= 0) return depth > mostWrappers ? depth : 0;
    return depth - entry + 1;
  }

  /** Ends an entry that has no end tag. Returns the sink for pages about which there is nothing to report. */
  beginPages(): NonNullable<TableTarget["pageSink"]> {
    this.#target.endImplied();
    return this.#target.pageSink!;
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
      const isUrl = httpScheme.test(bare);
      // The tags of an entry may be escaped: `&lt;url&gt;&lt;loc&gt;https://example.org/`.
      if (this.#cursor.stopped || !(isUrl || entryStart.test(decodeHtml(word)))) continue;
      this.#cursor.at = at + index;
      if (isUrl) stray!(this.#target, detached(decodeReferences(bare, this.#cursor)));
      else this.#cursor.report("xml-entry-skipped", word);
    }
  }

  startsEntry(text: string): boolean {
    return entryStart.test(text);
  }

  text(text: XmlText): void {
    const rule = this.rules[this.rules.length - 1]!;
    const { value } = text;
    if (value === undefined || (rule.isUrl && text.isMixed)) {
      this.#unusable(rule, text);
      return;
    }
    // Lenient: a URL that was escaped twice (`&amp;amp;`) is decoded twice. Other text may be about escaping.
    const decoded = rule.isUrl && !text.isPlain ? decodeHtml(value) : value;
    if (decoded !== value) this.#cursor.report("url-double-escaped", value);
    const clean = trimUrl(decoded);
    if (rule.isUrl && text.hasChildren && clean !== "") {
      // The text of a child may be the title of a link instead of its URL.
      if (text.isOfChild && !isHttpUrl(clean)) {
        this.#unusable(rule, text);
        return;
      }
      this.#cursor.report("url-repaired", clean);
    }
    this.take(detached(clean), text.endsInSplit ? exactHints : noHints);
  }

  // Drops a value that cannot be used, and reports why, unless that was already reported.
  #unusable(closed: ElementRule<Target>, { flaw, maxLength, whole }: XmlText): void {
    if (flaw === "unclosed") return;
    const report = () => {
      if (closed.isUrl && flaw === "too-long") this.#cursor.report("limit-url-length", undefined, this.#longestUrl);
      else if (closed.isUrl) this.#cursor.report("url-invalid", whole.trim());
      else if (flaw === "too-long") this.#cursor.report("limit-text-length", closed.name, maxLength);
    };
    if (closed.isFallback) this.#target.missFallback?.(closed.name, report);
    else report();
    if (closed.isUrl) this.#target.refuseUrl?.(closed.name, closed.isKey);
  }

  /**
   * Returns the rule of an element inside the innermost open element, or inside an element with the rule `parent`. Reports a spelling that
   * differs from the format's.
   */
  ruleOf(name: XmlName, parent: ElementRule<Target> = this.rules[this.rules.length - 1]!): ElementRule<Target> {
    if (parent === this.#skipped) return parent;
    this.#namespaces.resolve(name);
    if (name.context === parent) return name.meaning as ElementRule<Target>;
    const found = this.#find(parent, name) ?? this.#skipped;
    name.context = parent;
    name.meaning = found;
    return found;
  }

  #find(parent: ElementRule<Target>, name: XmlName): ElementRule<Target> | undefined {
    if (parent.children === undefined) return undefined;
    const { vocabulary } = this.#vocabularyOf(name);
    const found = parent.children.get(ruleKey(vocabulary, name.lower)) ?? this.#findBare(parent, name, vocabulary);
    if (found === undefined) {
      if (!this.#hasSkippedEntry && this.#mayBeEntry(parent, name, vocabulary)) {
        this.#hasSkippedEntry = true;
        this.#cursor.report("xml-entry-skipped", `<${name.raw}>`);
      }
      return vocabulary === this.#format.vocabulary ? parent.others : parent.foreign;
    }
    this.#checkNamespace(name);
    if (found.name !== name.local) this.#reportOnce("xml-element-name", name.raw);
    return found;
  }

  // Lenient: an extension without its prefix (`<image><loc>`) is read.
  #findBare({ children, name }: ElementRule<Target>, { lower }: XmlName, vocabulary: Vocabulary) {
    if (vocabulary !== this.#format.vocabulary) return undefined;
    const found = children!.get(`${lower} ${lower}`) ?? children!.get(`${name} ${lower}`);
    if (found !== undefined) this.#reportOnce("xml-namespace", lower);
    return found;
  }

  // Whether an element may be an entry of another format, or one with a wrong prefix or namespace. An unknown namespace is an extension.
  #mayBeEntry({ children }: ElementRule<Target>, { lower, bound }: XmlName, vocabulary: Vocabulary): boolean {
    const { entryNames, otherNames } = this.#format;
    const isOwn = entryNames.includes(lower);
    if (!isOwn && !otherNames.includes(lower)) return false;
    if (bound && (vocabulary === "foreign" || !(isOwn || formatVocabularies.has(vocabulary)))) return false;
    return [...children!.values()].some(({ isEntry }) => isEntry);
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
// Matches a URL, or the start of an entry of any format, because entries of other formats are reported as a loss.
const entryStart = /^(?:<(?:[\w.-]+:)?(?:url|sitemap|item|entry)[\s>]|https?:\/\/)/i;
const formatVocabularies: ReadonlySet<Vocabulary> = new Set<Vocabulary>(["sitemap", "rss", "atom"]);
// The maximum number of unknown elements around entries.
const mostWrappers = 32;
// The maximum number of spellings that are reported, because a hostile document may have any number of them.
const reportedSpellings = 100;

// Formats as tables: the meaning of an element depends on its parent.

/** What to do with an element. `Target` collects its values. All rules have one object shape, which makes lookups faster. */
export class ElementRule<Target> {
  /** The name as spelled in the format. */
  readonly name: string;
  /** The rules for its children, by vocabulary and name in lower case: `image loc`. */
  readonly children: ReadonlyMap<string, ElementRule<Target>> | undefined = undefined;
  /** The rules for other children, in the format's own namespace and in foreign ones. Without a rule, they are skipped with their content. */
  readonly others: ElementRule<Target> | undefined = undefined;
  readonly foreign: ElementRule<Target> | undefined = undefined;
  /** Whether the element is an entry. The start of the next entry ends it, with everything open in it. */
  readonly isEntry: boolean = false;
  /** Whether the entry is a page, so that with `urlsOnly`, only its URL is needed. */
  readonly isPage: boolean = false;
  /** What the values of its attributes are, if the rule uses hints about them: a URL, or any text. */
  readonly attributes: ReadonlyMap<string, "any" | "url"> | undefined = undefined;
  readonly open: ((target: Target, attributes: XmlAttributes) => void) | undefined = undefined;
  /** Receives the element's text: decoded, trimmed, perhaps empty. */
  readonly text: ((target: Target, text: string, hints: TextHints) => void) | undefined = undefined;
  /** Whether the text is a URL. */
  readonly isUrl: boolean = false;
  /** Whether the URL is the URL of the entry. */
  readonly isKey: boolean = false;
  /** Which texts are always valid: any, dates (https://www.w3.org/TR/NOTE-datetime), or digits. */
  readonly form: "any" | "date" | "number" | undefined = undefined;
  /** Whether the element is needed only if another one is missing. Only then does the target report why it cannot be used. */
  readonly isFallback: boolean = false;
  readonly close: ((target: Target) => void) | undefined = undefined;
  /** For elements that contain entries: receives URLs that occur there as text. */
  readonly stray: ((target: Target, url: string) => void) | undefined = undefined;

  constructor(name: string, part: Part<Target>) {
    this.name = name;
    Object.assign(this, part);
  }
}

export type Part<Target> = Partial<Omit<ElementRule<Target>, "name">>;

/** Creates a table of children, all of one vocabulary. */
export function elements<Target>(
  vocabulary: Vocabulary,
  parts: Readonly<Record<string, Part<Target>>>,
): Map<string, ElementRule<Target>> {
  const rules = Object.entries(parts).map(([name, part]) => new ElementRule(name, part));
  return new Map(rules.map((entry) => [ruleKey(vocabulary, entry.name.toLowerCase()), entry]));
}

/**
 * Creates a rule for unknown elements, which may hold these children at any depth. `foreign` is the rule for other namespaces inside them;
 * by default, it is the same rule.
 */
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
