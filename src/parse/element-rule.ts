// Formats as tables: what an element means, by its parent element.
import type { TextFacts } from "./text-facts.ts";
import type { Vocabulary } from "./vocabulary.ts";
import type { ElementAttributes } from "./xml-handler.ts";
import type { XmlName } from "./xml-name.ts";

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
  const { children, others, foreign, open, text, close, stray } = part;
  const { isEntry = false, isUrl = false, isKey = false, isDate = false, isDetail = false, isFallback = false } = part;
  return {
    name,
    children,
    others,
    foreign,
    isEntry,
    open,
    text,
    isUrl,
    isKey,
    isDate,
    isDetail,
    isFallback,
    close,
    stray,
  };
}

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

export function ruleKey(vocabulary: Vocabulary, lowerCaseName: string): string {
  return `${vocabulary} ${lowerCaseName}`;
}
