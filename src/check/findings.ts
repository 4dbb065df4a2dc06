// Findings, counted for each sitemap and rule. Memory is limited, however much is wrong: counts continue, examples stop, and the last
// sitemaps of a rule are combined.
import { defined } from "../model/defined.ts";
import { detached } from "../model/text.ts";
import type { Severity } from "./rule.ts";
import type { RuleId } from "./rule-table.ts";

/** A finding of a rule in one sitemap. */
export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  /** The URL of the sitemap, or of the homepage if the finding is about the website as a whole. */
  readonly sitemap: string;
  readonly count: number;
  readonly examples: readonly FindingExample[];
  /** How many sitemaps are combined in this finding, if a rule found something in very many. */
  readonly otherSitemaps?: number;
  /** The number of other cases that are in the baseline. */
  readonly known?: number;
}

/** One case of a finding. */
export interface FindingExample {
  /** The page concerned. */
  readonly url?: string;
  /** The wrong value, or what it was compared with. */
  readonly value?: string;
  /** For a static site, the path of the file concerned. */
  readonly file?: string;
  /** Its line in that file, or in the decoded sitemap, from 1. */
  readonly line?: number;
}

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
export const mostExamples = 20;
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

/** By sitemap; `others`: those of further sitemaps together. */
type Group = { readonly drafts: Map<string, FindingDraft>; others?: FindingDraft };

export class Findings {
  readonly #judge: Judge;
  readonly #known: KnownPlaces | undefined;
  readonly #groups = new Map<string, Group>();
  #text = 0;

  constructor(judge: Judge, known?: KnownPlaces) {
    this.#judge = judge;
    this.#known = known;
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
    if (number >= mostSitemaps) {
      group.others ??= { rule, severity, sitemap, count: 0, examples: [], room: 0, otherSitemaps: 0 };
      group.others.otherSitemaps! += 1;
      return group.others;
    }
    const room = number < wellIllustrated ? mostExamples : number < illustrated ? fewExamples : 0;
    const draft = { rule, severity, sitemap, count: 0, examples: [], room };
    group.drafts.set(sitemap, draft);
    return draft;
  }

  /** Counts many at once, with one example. */
  count(rule: string, sitemap: string, count: number, example?: ExampleParts, own?: Severity): void {
    const draft = this.draft(rule, sitemap, own);
    if (draft === undefined) return;
    draft.count += count;
    if (example !== undefined) this.illustrate(draft, example, count === 1);
  }

  illustrate(draft: FindingDraft, { url, value, file, line }: ExampleParts, isCase: boolean = false): void {
    const place = file ?? url ?? value;
    if (place !== undefined && this.#known?.isKnown(draft.rule, draft.sitemap, place, isCase)) return;
    if (draft.room <= 0 || this.#text > allText) return;
    draft.room -= 1;
    const short = { url: url && shortened(url), value: value && shortened(value) };
    const kept: FindingDraft["examples"][number] = defined({ ...short, file, line });
    this.#text += (kept.url?.length ?? 0) + (kept.value?.length ?? 0);
    draft.examples.push(kept);
  }

  *drafts(): Generator<FindingDraft, void> {
    for (const { drafts, others } of this.#groups.values()) {
      for (const draft of [...drafts.values(), ...(others === undefined ? [] : [others])])
        if (draft.count > 0) yield draft;
    }
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

  /** Whether a rule already has the maximum number of examples here. */
  isWellIllustrated(rule: RuleId): boolean {
    const { room = 0, examples = [] } = this.#findings.draft(rule, this.sitemap) ?? {};
    return room > 0 && room + examples.length === mostExamples;
  }

  /** Counts one more, and keeps it as an example while there is room. `own` overrides the severity of the row. */
  add(rule: RuleId, url?: string, value?: string, own?: Severity, place?: Pick<ExampleParts, "file" | "line">): void {
    const key = own === undefined ? rule : `${rule} ${own}`;
    if (!this.#drafts.has(key)) this.#drafts.set(key, this.#findings.draft(rule, this.sitemap, own));
    const draft = this.#drafts.get(key);
    if (draft === undefined) return;
    draft.count += 1;
    if (draft.severity !== "info") this.flaws += 1;
    this.#findings.illustrate(draft, { url, value, ...place }, true);
  }

  /** Counts many at once, with one example. */
  addMany(rule: RuleId, count: number, example: ExampleParts): void {
    this.#findings.count(rule, this.sitemap, count, example);
  }
}

/** A truncated copy that does not keep its document in memory. */
function shortened(text: string): string {
  return detached(text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text);
}

/** The findings by rule and severity, in their order. */
export function groupedByRule(findings: readonly Finding[]): (readonly [Finding, ...Finding[]])[] {
  const groups = new Map<string, [Finding, ...Finding[]]>();
  for (const finding of findings) {
    const key = `${finding.severity} ${finding.rule}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return [...groups.values()];
}
