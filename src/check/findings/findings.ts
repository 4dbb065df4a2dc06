// Counts findings for each sitemap and rule. Unless all examples are wanted, memory is limited, however much is wrong: after a while only
// counts grow, and the remaining sitemaps of a rule are combined.
import { defined } from "../../model/defined.ts";
import { detached, shortened } from "../../model/text.ts";
import type { Severity } from "../rules/rule.ts";
import type { RuleId } from "../rules/rule-id.ts";
import type { Baseline } from "./baseline.ts";
import type { OccurrenceRows } from "./occurrence-rows.ts";
import type { ExampleParts, FindingExample } from "./result.ts";

/** A finding whose occurrences are still being counted. */
export interface FindingDraft {
  readonly rule: string;
  readonly severity: Severity;
  readonly sitemap: string;
  count: number;
  /** Examples to show. Their lines may be added later. */
  readonly examples: { -readonly [Name in keyof FindingExample]: FindingExample[Name] }[];
  /** How many more examples fit. */
  room: number;
  otherSitemaps?: number;
}

// The first sitemaps of a rule have many examples, the next ones a few, and all others none.
const mostExamples = 20;
const wellIllustrated = 5;
const fewExamples = 3;
const illustrated = 100;
// How many sitemaps of a rule get their own finding. The others share one.
const mostSitemaps = 1000;
// The most characters of one URL or value, and of all examples together, because a website can have URLs of any length.
const longestText = 2048;
const allText = 8_000_000;

/** Returns the severity of a rule for a sitemap; undefined if it is off there. `own` overrides the rule's default severity. */
export type SeverityFor = (rule: string, sitemap: string, own: Severity | undefined) => Severity | undefined;

/** The findings of a rule with one severity, by sitemap. All sitemaps after the first `mostSitemaps` share `others`. */
type Group = { readonly drafts: Map<string, FindingDraft>; others?: FindingDraft };

/**
 * Options of `Findings`. Occurrences in the baseline `known` are counted, but not shown. `rows` receives all others. With `isUncapped`,
 * findings keep all of them as examples.
 */
export interface FindingsOptions {
  readonly known?: Baseline | undefined;
  readonly rows?: OccurrenceRows | undefined;
  readonly isUncapped?: boolean | undefined;
}

export class Findings {
  readonly #severityFor: SeverityFor;
  readonly #known: Baseline | undefined;
  readonly #isUncapped: boolean;
  readonly #groups = new Map<string, Group>();
  #text = 0;
  /** Receives the occurrences that are not in the baseline, if the caller wants them. */
  readonly rows: OccurrenceRows | undefined;

  constructor(severityFor: SeverityFor, { known, rows, isUncapped = false }: FindingsOptions = {}) {
    this.#severityFor = severityFor;
    this.#known = known;
    this.#isUncapped = isUncapped;
    this.rows = rows;
  }

  /** How many examples a finding has at most. */
  get mostExamples(): number {
    return this.#isUncapped ? Number.POSITIVE_INFINITY : mostExamples;
  }

  /** The severity of a rule for a sitemap; undefined if the rule is off. */
  severity(rule: string, sitemap: string): Severity | undefined {
    return this.#severityFor(rule, sitemap, undefined);
  }

  /** The finding of a rule in a sitemap, to be incremented; undefined if the rule is off. */
  draft(rule: string, sitemap: string, own?: Severity): FindingDraft | undefined {
    const severity = this.#severityFor(rule, sitemap, own);
    if (severity === undefined) return undefined;
    const key = `${rule} ${severity}`;
    const group: Group = this.#groups.get(key) ?? { drafts: new Map() };
    this.#groups.set(key, group);
    const known = group.drafts.get(sitemap);
    if (known !== undefined) return known;
    const number = group.drafts.size;
    if (number >= mostSitemaps && !this.#isUncapped) {
      group.others ??= { rule, severity, sitemap, count: 0, examples: [], room: 0, otherSitemaps: 0 };
      group.others.otherSitemaps! += 1;
      group.drafts.set(sitemap, group.others);
      return group.others;
    }
    const isFirst = this.#isUncapped || number < wellIllustrated;
    const room = isFirst ? this.mostExamples : number < illustrated ? fewExamples : 0;
    const draft = { rule, severity, sitemap, count: 0, examples: [], room };
    group.drafts.set(sitemap, draft);
    return draft;
  }

  /** Counts an occurrence, or many at once, and shows one. `own` overrides the rule's default severity. */
  count(rule: string, sitemap: string, count: number, example: ExampleParts = {}, own?: Severity): void {
    const draft = this.draft(rule, sitemap, own);
    if (draft === undefined) return;
    draft.count += count;
    this.show(draft, example, count === 1);
  }

  /**
   * Shows an occurrence that was counted, unless it is known from the baseline: as a row, and as an example while there is room. `isCase`
   * is true if it was counted on its own, not as one of many.
   */
  show(draft: FindingDraft, example: ExampleParts, isCase: boolean, isExample: boolean = true): void {
    const { url, value = "", file, line } = example;
    // If an occurrence is about a whole document, its value may contain figures, which change from run to run.
    const place = file ?? url ?? (line !== undefined || /^https?:/i.test(value) ? value : "");
    if (this.#known?.isKnown(draft.rule, draft.sitemap, place, isCase)) return;
    if (isExample) this.#keep(draft, example);
    this.rows?.add(draft, example);
  }

  /** Whether a finding may have the full number of examples, and has room left, so that searching for more is worthwhile. */
  wantsExamples({ room, examples }: FindingDraft): boolean {
    return room > 0 && room + examples.length >= this.mostExamples;
  }

  #keep(draft: FindingDraft, { url, value, file, line }: ExampleParts): void {
    if (draft.room <= 0 || (this.#text > allText && !this.#isUncapped)) return;
    const short = { url: url && copied(url), value: value && copied(value) };
    const kept: FindingDraft["examples"][number] = defined({ ...short, file, line });
    if (Object.keys(kept).length === 0) return;
    draft.room -= 1;
    this.#text += (kept.url?.length ?? 0) + (kept.value?.length ?? 0);
    draft.examples.push(kept);
  }

  *drafts(): Generator<FindingDraft, void> {
    for (const { drafts } of this.#groups.values())
      for (const draft of new Set(drafts.values())) if (draft.count > 0) yield draft;
  }
}

/** The findings of one sitemap. Looks up each rule once, because a sitemap may have many pages. */
export class SitemapFindings {
  readonly sitemap: string;
  readonly #findings: Findings;
  readonly #drafts = new Map<string, FindingDraft | undefined>();
  /** How many errors and warnings `add` has counted. */
  flaws = 0;

  constructor(findings: Findings, sitemap: string) {
    this.#findings = findings;
    this.sitemap = sitemap;
  }

  /** Counts an occurrence, and shows it. `own` overrides the rule's default severity. */
  add(rule: RuleId, url?: string, value?: string, own?: Severity, place?: Pick<ExampleParts, "file" | "line">): void {
    const key = own === undefined ? rule : `${rule} ${own}`;
    if (!this.#drafts.has(key)) this.#drafts.set(key, this.#findings.draft(rule, this.sitemap, own));
    const draft = this.#drafts.get(key);
    if (draft === undefined) return;
    draft.count += 1;
    if (draft.severity !== "info") this.flaws += 1;
    this.#findings.show(draft, { url, value, ...place }, true);
  }
}

/** Returns a short copy that does not keep the text of its document in memory. */
function copied(text: string): string {
  return detached(shortened(text, longestText));
}
