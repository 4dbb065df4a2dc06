// The totals of a fleet: for summary.json, for the table at the end, and for `fleet status`.

import { type SiteOutcome, type SiteReason, type SiteSummary, siteOutcomes } from "../../fleet/site-job.ts";
import { counted, duration, grouped, size } from "../../model/figures.ts";
import { printable } from "../../write/printable.ts";

export interface FleetTotals {
  readonly websites: number;
  readonly outcomes: Readonly<Record<SiteOutcome, number>>;
  readonly pages: number;
  readonly sitemaps: number;
  readonly requests: number;
  readonly wireBytes: number;
  /** Why websites are not complete: the number of websites for each code, the most frequent first. */
  readonly reasons: readonly { readonly code: string; readonly message: string; readonly websites: number }[];
  /** Websites whose earlier archive could not be used; absent if there are none. */
  readonly previousErrors?: number;
  /** Findings of all websites, by severity. */
  readonly findings?: Readonly<Record<string, number>>;
  /** What robots.txt says about the use of pages, such as `ai-train=no`, and on how many websites. */
  readonly preferences?: Readonly<Record<string, number>>;
}

export class FleetCounter {
  readonly #outcomes = Object.fromEntries(siteOutcomes.map((outcome) => [outcome, 0])) as Record<SiteOutcome, number>;
  readonly #reasons = new Map<string, { message: string; websites: number }>();
  readonly #findings = new Map<string, number>();
  readonly #preferences = new Map<string, number>();
  #websites = 0;
  #pages = 0;
  #sitemaps = 0;
  #requests = 0;
  #wireBytes = 0;
  #previousErrors = 0;

  see(summary: SiteSummary): void {
    const { outcome, pages, sitemaps, requests, wireBytes, reasons, previousError, findings = {} } = summary;
    this.#websites += 1;
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    this.#pages += pages;
    this.#sitemaps += sitemaps;
    this.#requests += requests;
    this.#wireBytes += wireBytes;
    if (previousError !== undefined) this.#previousErrors += 1;
    for (const reason of reasons) this.#count(reason);
    for (const [severity, count] of Object.entries(findings)) {
      this.#findings.set(severity, (this.#findings.get(severity) ?? 0) + count);
    }
    for (const name of preferenceNames(summary)) {
      const count = this.#preferences.get(name) ?? 0;
      if (count > 0 || this.#preferences.size < mostPreferences) this.#preferences.set(name, count + 1);
    }
  }

  totals(): FleetTotals {
    const reasons = [...this.#reasons]
      .map(([code, reason]) => ({ code, ...reason }))
      .sort((one, other) => other.websites - one.websites);
    return {
      websites: this.#websites,
      outcomes: this.#outcomes,
      pages: this.#pages,
      sitemaps: this.#sitemaps,
      requests: this.#requests,
      wireBytes: this.#wireBytes,
      reasons,
      ...(this.#previousErrors === 0 ? {} : { previousErrors: this.#previousErrors }),
      ...(this.#findings.size === 0 ? {} : { findings: Object.fromEntries(this.#findings) }),
      ...(this.#preferences.size === 0 ? {} : { preferences: Object.fromEntries(byCount(this.#preferences)) }),
    };
  }

  #count({ code, message }: SiteReason): void {
    const known = this.#reasons.get(code);
    if (known === undefined) this.#reasons.set(code, { message, websites: 1 });
    else known.websites += 1;
  }
}

// Each once: `ai-train=no` may be said to several crawlers.
function preferenceNames({ preferences = [] }: SiteSummary): Set<string> {
  const names = preferences.flatMap(({ field, values = { [field]: "" } }) =>
    Object.entries(values).map(([key, value]) => (value === "" ? key : `${key}=${value}`)),
  );
  return new Set(names.filter(({ length }) => length < 50));
}

function byCount(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([, one], [, other]) => other - one);
}

// A website may invent keys.
const mostPreferences = 100;

/** The line of a website for `-v` and `--log-file`. */
export function siteLine({ site, outcome, pages, duration: took, reasons, previousError }: SiteSummary): string {
  const why = reasons[0] === undefined ? "" : `: ${reasons[0].message}`;
  const earlier = previousError === undefined ? "" : `; earlier archive not used: ${previousError}`;
  return `${site} ${outcome} ${counted(pages, "page")} ${duration(took)}${why}${earlier}`;
}

/** What one of several runs in a folder did. */
export interface RunFigures {
  readonly websites: number;
  readonly requests: number;
  /** In milliseconds. */
  readonly took: number;
  /** Websites that earlier runs read. */
  readonly before: number;
}

/** For people. `run`: the one that ends here; its figures stand beside those of all runs where earlier ones read something. */
export function fleetTable(totals: FleetTotals, run?: RunFigures): string {
  const { websites, outcomes, pages, requests, wireBytes, reasons, findings, preferences, previousErrors = 0 } = totals;
  const lines = [
    `${headline(websites, run)}: ${counted(pages, "page")}, ${counted(requests, "request")}, ${size(wireBytes)}`,
    "",
  ];
  const width = Math.max(6, ...Object.values(outcomes).map((count) => grouped(count).length));
  for (const outcome of siteOutcomes) {
    const count = outcomes[outcome];
    if (count > 0) lines.push(`${grouped(count).padStart(width)}  ${outcome}${remarks[outcome] ?? ""}`);
  }
  const list = (title: string, counts: Readonly<Record<string, number>> = {}) => {
    const rows = Object.entries(counts).slice(0, mostRows);
    if (rows.length > 0) lines.push("", title);
    for (const [name, count] of rows) lines.push(`${grouped(count).padStart(width)}  ${printable(name)}`);
  };
  list("Findings", findings);
  list("Preferences for AI in robots.txt, by number of websites", preferences);
  if (reasons.length > 0) {
    lines.push("", "Reasons, by number of websites");
    for (const { code, message, websites: count } of reasons.slice(0, mostReasons)) {
      lines.push(`${grouped(count).padStart(width)}  ${printable(message)} (${printable(code)})`);
    }
    if (reasons.length > mostReasons)
      lines.push(`${" ".repeat(width)}  and ${counted(reasons.length - mostReasons, "more reason")}`);
  }
  if (previousErrors > 0)
    lines.push(
      "",
      `${counted(previousErrors, "earlier archive")} could not be used, so everything was requested; previousError in the results says why`,
    );
  return `${lines.join("\n")}\n`;
}

function headline(websites: number, run: RunFigures | undefined): string {
  const all = counted(websites, "website");
  if (run === undefined) return all;
  if (run.before === 0) return `${all} in ${duration(run.took)}`;
  return `${counted(run.websites, "website")} in ${duration(run.took)}, ${counted(run.requests, "request")}; with earlier runs, ${all}`;
}

const mostReasons = 10;
const mostRows = 10;
const remarks: Partial<Record<SiteOutcome, string>> = {
  none: ": no sitemap",
  quarantined: ": the process died twice while nothing else was read",
};
