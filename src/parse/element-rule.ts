// Formats as tables: what an element means, by the element that it stands in.
import type { TextFacts } from "./text-facts.ts";
import type { Vocabulary } from "./vocabulary.ts";
import type { ElementAttributes } from "./xml-handler.ts";
import type { XmlName } from "./xml-name.ts";

/** What to do with an element. `Target` is what collects its values. */
export interface ElementRule<Target> {
  /** How the format writes the name. */
  readonly name: string;
  /** Its children, by vocabulary and name in lower case: `image loc`. */
  readonly children: ReadonlyMap<string, ElementRule<Target>> | undefined;
  /** The rules of other children, of the format's own namespace and of foreign ones. Without one they are skipped, with all they hold. */
  readonly others: ElementRule<Target> | undefined;
  readonly foreign: ElementRule<Target> | undefined;
  /** It is an entry: the next one ends it, and whatever is open in it. */
  readonly isEntry: boolean;
  readonly open: ((target: Target, attributes: ElementAttributes) => void) | undefined;
  /** Takes the element's text: decoded, trimmed, perhaps empty. */
  readonly text: ((target: Target, text: string, facts: TextFacts) => void) | undefined;
  /** The text is a URL. */
  readonly isUrl: boolean;
  /** That URL names the entry. */
  readonly isKey: boolean;
  /** The text is a date as https://www.w3.org/TR/NOTE-datetime has them. */
  readonly isDate: boolean;
  readonly close: ((target: Target) => void) | undefined;
}

/** What reads elements by their rules, and does nothing else. */
export interface RuleReader<Target = never> {
  readonly target: Target;
  /** The rules of the open elements, from the root of the format on. Setting them says which elements are open. */
  rules: readonly ElementRule<Target>[];
  /** Whether the root of the format is open. */
  readonly isInRoot: boolean;
  /** The rule of an element in an element with the rule `parent`. Spellings that differ from the format's are reported. */
  ruleOf(parent: ElementRule<Target>, name: XmlName): ElementRule<Target>;
  /** Whether entries have this name. Whether an element inside of an entry is another one, only what follows it can tell. */
  isEntryName(name: XmlName): boolean;
  /** Hands the text of an element to its rule: undefined where it cannot be used. `isDetached`: it is no part of a longer text. */
  takeText(rule: ElementRule<Target>, text: string | undefined, isDetached?: boolean): void;
}

export type Part<Target> = Partial<Omit<ElementRule<Target>, "name">>;

/** A table of children, all of one vocabulary. All rules get one shape: it is cheaper to look into. */
export function elements<Target>(
  vocabulary: Vocabulary,
  parts: Readonly<Record<string, Part<Target>>>,
): Map<string, ElementRule<Target>> {
  const rules = Object.entries(parts).map(([name, part]) => rule(name, part));
  return new Map(rules.map((entry) => [ruleKey(vocabulary, entry.name.toLowerCase()), entry]));
}

export function rule<Target>(name: string, part: Part<Target>): ElementRule<Target> {
  const { children, others, foreign, isEntry = false, open, text, isUrl = false, isKey = false, isDate = false } = part;
  return { name, children, others, foreign, isEntry, open, text, isUrl, isKey, isDate, close: part.close };
}

/**
 * A rule for elements that nobody knows, which may hold these children at any depth. `foreign`: the rule of those in it that are of
 * another namespace; the same, unless something else is said.
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
