// Findings, counted for each sitemap and rule. Memory is limited, however much is wrong: counts continue, examples stop, and the last
// sitemaps of a rule are combined.
import { defined } from "../model/defined.ts";
import { detached, shortened } from "../model/text.ts";
import type { OccurrenceRows } from "./occurrence-rows.ts";
import type { FindingExample } from "./result.ts";
import type { Severity } from "./rule.ts";
import type { RuleId } from "./rule-id.ts";

type ExampleParts = { readonly [Name in keyof FindingExample]?: FindingExample[Name] | undefined };

/** The occurrences of earlier findings. Known ones are counted, but are not examples. */
export interface KnownPlaces {
  /** `isCase`: it counts as a case; others are only examples. */
  isKnown(rule: string, sitemap: string, place: string, isCase: boolean): boolean;
}

export interface FindingDraft {
  readonly rule: string;
  readonly severity: Severity;
  readonly sitemap: string;
  count: number;
  /** Their lines may be found later. */
  readonly examples: { -readonly [Name in keyof FindingExample]: FindingExample[Name] }[];
  /** How many more examples fit. */
  room: number;
  otherSitemaps?: number;
}

// For one finding; fewer after the first sitemaps of a rule, and none after those.
const mostExamples = 20;
const wellIllustrated = 5;
const fewExamples = 3;
const illustrated = 100;
/** Findings of one rule; further sitemaps are combined into one finding. */
const mostSitemaps = 1000;
// Characters of one example, and of all together: a website can have URLs of any length.
const longestText = 2048;
const allText = 8_000_000;

/** The severity of a rule; undefined if it is off for this sitemap. `own`: that of the case. */
export type Judge = (rule: string, sitemap: string, own: Severity | undefined) => Severity | undefined;

/** By sitemap. `others` is shared by all sitemaps after the first ones. */
type Group = { readonly drafts: Map<string, FindingDraft>; others?: FindingDraft };

/** What receives every occurrence, and whether findings keep all of them as examples. */
export interface FindingsOptions {
  readonly known?: KnownPlaces | undefined;
  readonly rows?: OccurrenceRows | undefined;
  readonly isUncapped?: boolean | undefined;
  readonly sentenceOf?: ((rule: string) => string) | undefined;
}

export class Findings {
  readonly #judge: Judge;
  readonly #known: KnownPlaces | undefined;
  readonly #sentenceOf: (rule: string) => string;
  /** Every occurrence, if it is wanted. */
  readonly rows: OccurrenceRows | undefined;
  readonly isUncapped: boolean;
  readonly #groups = new Map<string, Group>();
  #text = 0;

  constructor(judge: Judge, { known, rows, isUncapped = false, sentenceOf = String }: FindingsOptions = {}) {
    this.#judge = judge;
    this.#known = known;
    this.rows = rows;
    this.isUncapped = isUncapped;
    this.#sentenceOf = sentenceOf;
  }

  /** How many examples a finding has at most. */
  get mostExamples(): number {
    return this.isUncapped ? Number.POSITIVE_INFINITY : mostExamples;
  }

  /** Undefined if the rule is off. */
  severity(rule: string, sitemap: string): Severity | undefined {
    return this.#judge(rule, sitemap, undefined);
  }

  /** The finding of a rule in a sitemap, to be incremented; undefined if the rule is off. */
  draft(rule: string, sitemap: string, own?: Severity): FindingDraft | undefined {
    const severity = this.#judge(rule, sitemap, own);
    if (severity === undefined) return undefined;
    const key = `${rule} ${severity}`;
    const group: Group = this.#groups.get(key) ?? { drafts: new Map() };
    this.#groups.set(key, group);
    const known = group.drafts.get(sitemap);
    if (known !== undefined) return known;
    const number = group.drafts.size;
    if (number >= mostSitemaps && !this.isUncapped) {
      group.others ??= { rule, severity, sitemap, count: 0, examples: [], room: 0, otherSitemaps: 0 };
      group.others.otherSitemaps! += 1;
      group.drafts.set(sitemap, group.others);
      return group.others;
    }
    const isFirst = this.isUncapped || number < wellIllustrated;
    const room = isFirst ? this.mostExamples : number < illustrated ? fewExamples : 0;
    const draft = { rule, severity, sitemap, count: 0, examples: [], room };
    group.drafts.set(sitemap, draft);
    return draft;
  }

  /** Counts an occurrence, or many at once, of which one is listed. `own` overrides the severity of the row. */
  count(rule: string, sitemap: string, count: number, example: ExampleParts = {}, own?: Severity): void {
    const draft = this.draft(rule, sitemap, own);
    if (draft === undefined) return;
    draft.count += count;
    this.occur(draft, example, count === 1);
    this.illustrate(draft, example);
  }

  /** Lists an occurrence, unless it is known from the baseline. It is counted elsewhere. `isCase`: as one. */
  occur({ rule, severity, sitemap }: FindingDraft, example: ExampleParts, isCase: boolean): void {
    const isKnown = this.#isKnown(rule, sitemap, example, isCase);
    if (this.rows === undefined || isKnown) return;
    const { url, value, file, line } = example;
    const place = file === undefined ? undefined : line === undefined ? file : `${file}:${line}`;
    const shown = [place, value].filter((part) => part !== undefined).join(" · ");
    const message = this.#sentenceOf(rule);
    const own = { url: url && detached(url), value: shown === "" ? undefined : detached(shown) };
    this.rows.add({ rule, severity, ...own, sitemap, line: file === undefined ? line : undefined, message });
  }

  /** Keeps an example while there is room, unless it is known from the baseline. */
  illustrate(draft: FindingDraft, { url, value, file, line }: ExampleParts): void {
    if (this.#isKnown(draft.rule, draft.sitemap, { url, value, file, line }, false)) return;
    if (draft.room <= 0 || (this.#text > allText && !this.isUncapped)) return;
    const short = { url: url && copied(url), value: value && copied(value) };
    const kept: FindingDraft["examples"][number] = defined({ ...short, file, line });
    if (Object.keys(kept).length === 0) return;
    draft.room -= 1;
    this.#text += (kept.url?.length ?? 0) + (kept.value?.length ?? 0);
    draft.examples.push(kept);
  }

  #isKnown(rule: string, sitemap: string, { url, value = "", file, line }: ExampleParts, isCase: boolean): boolean {
    // What is about a whole document has figures in its value, which change.
    const place = file ?? url ?? (line !== undefined || /^https?:/i.test(value) ? value : "");
    return this.#known?.isKnown(rule, sitemap, place, isCase) === true;
  }

  *drafts(): Generator<FindingDraft, void> {
    for (const { drafts } of this.#groups.values())
      for (const draft of new Set(drafts.values())) if (draft.count > 0) yield draft;
  }
}

/** The findings of one sitemap: made for the many pages that it may have. */
export class SitemapFindings {
  readonly sitemap: string;
  readonly #findings: Findings;
  readonly #drafts = new Map<string, FindingDraft | undefined>();
  /** How many errors and warnings were counted one by one. */
  flaws = 0;

  constructor(findings: Findings, sitemap: string) {
    this.#findings = findings;
    this.sitemap = sitemap;
  }

  /** Whether a rule has room for all of its examples here, so that more of them are worth searching. */
  isWellIllustrated(rule: RuleId): boolean {
    const { room = 0, examples = [] } = this.#findings.draft(rule, this.sitemap) ?? {};
    return room > 0 && room + examples.length >= this.#findings.mostExamples;
  }

  /** Counts one more, and keeps it as an example while there is room. `own` overrides the severity of the row. */
  add(rule: RuleId, url?: string, value?: string, own?: Severity, place?: Pick<ExampleParts, "file" | "line">): void {
    const key = own === undefined ? rule : `${rule} ${own}`;
    if (!this.#drafts.has(key)) this.#drafts.set(key, this.#findings.draft(rule, this.sitemap, own));
    const draft = this.#drafts.get(key);
    if (draft === undefined) return;
    draft.count += 1;
    if (draft.severity !== "info") this.flaws += 1;
    const example = { url, value, ...place };
    this.#findings.occur(draft, example, true);
    this.#findings.illustrate(draft, example);
  }

  /** Counts many at once, with one example, which is the first of them. */
  addMany(rule: RuleId, count: number, example: ExampleParts): void {
    this.#findings.count(rule, this.sitemap, count, example);
  }

  /** Counts many, which are listed later. */
  countMany(rule: RuleId, count: number): void {
    const draft = this.#findings.draft(rule, this.sitemap);
    if (draft !== undefined) draft.count += count;
  }

  /** One of those that were counted before. `isExample`: worth an example, too. `isCase`: it is the only one. */
  another(rule: RuleId, example: ExampleParts, isExample: boolean, isCase = false): void {
    const draft = this.#findings.draft(rule, this.sitemap);
    if (draft === undefined) return;
    this.#findings.occur(draft, example, isCase);
    if (isExample) this.#findings.illustrate(draft, example);
  }
}

/** A copy that does not keep its document in memory, of a length that can be shown. */
function copied(text: string): string {
  return detached(shortened(text, longestText));
}
