// Counts the changes of a diff by sitemap, by section of the website and by field, and keeps the first examples of each kind. There can
// be any number of sitemaps and sections, so those beyond a limit are counted together.
import type {
  ChangeCounts,
  ChangedField,
  ChangeGroup,
  ChangeKind,
  DiffSummary,
  DiffTotals,
  PageChange,
  SitemapChange,
  TreeChange,
} from "../model/change.ts";
import { sectionOf } from "../model/url.ts";

const mostGroups = 10_000;
const mostSitemaps = 20;
const mostExamples = 5;
/** The name of the group that counts everything beyond the limit. */
const elsewhere = "elsewhere";

type Counts = { -readonly [Kind in keyof ChangeCounts]: number };

export class Summarizer {
  readonly #sitemaps: SitemapChange[] = [];
  readonly #bySitemap = new Map<string, Counts>();
  readonly #bySection = new Map<string, Counts>();
  readonly #byField = new Map<ChangedField, number>();
  readonly #examples = new Map<ChangeKind, PageChange[]>();

  see(changes: readonly TreeChange[]): void {
    for (const change of changes) {
      if (change.kind === "sitemap") {
        if (this.#sitemaps.length < mostSitemaps) this.#sitemaps.push(change);
        continue;
      }
      const { kind, page, sitemap } = change;
      countsOf(this.#bySitemap, sitemap)[kind] += 1;
      countsOf(this.#bySection, sectionOf(page.url))[kind] += 1;
      if (kind === "changed") {
        for (const field of change.fields) this.#byField.set(field, (this.#byField.get(field) ?? 0) + 1);
      }
      const examples = this.#examples.get(kind) ?? [];
      if (examples.length < mostExamples) this.#examples.set(kind, [...examples, change]);
    }
  }

  finish(
    names: Pick<DiffSummary, "before" | "after">,
    kinds: ReadonlySet<ChangeKind>,
    totals: DiffTotals,
  ): DiffSummary {
    return {
      ...names,
      totals,
      kinds,
      sitemaps: this.#sitemaps,
      bySitemap: sorted(this.#bySitemap),
      bySection: sorted(this.#bySection),
      byField: this.#byField,
      examples: [...kinds].flatMap((kind) => this.#examples.get(kind) ?? []),
    };
  }
}

function countsOf(groups: Map<string, Counts>, name: string): Counts {
  const key = groups.has(name) || groups.size < mostGroups ? name : elsewhere;
  const counts = groups.get(key) ?? { added: 0, removed: 0, changed: 0, moved: 0, unknown: 0, expired: 0 };
  groups.set(key, counts);
  return counts;
}

// Sorts groups by their number of changes, largest first. Groups with equally many changes keep their order.
function sorted(groups: ReadonlyMap<string, ChangeCounts>): ChangeGroup[] {
  const total = ({ changes }: ChangeGroup) => Object.values(changes).reduce((sum, count) => sum + count, 0);
  return [...groups].map(([name, changes]) => ({ name, changes })).sort((one, other) => total(other) - total(one));
}
