// The totals of a fleet: sums over the results of its websites.
import { problem } from "../model/problem.ts";
import { preferenceNames, type SiteOutcome, type SiteReason, type SiteSummary, siteOutcomes } from "./site-job.ts";

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
  /** How many rules failed, added up over all websites, by severity. */
  readonly findings?: Readonly<Record<string, number>>;
  /** AI preferences in robots.txt, such as `ai-train=no`, and on how many websites. */
  readonly preferences?: Readonly<Record<string, number>>;
}

/** Adds up summaries. */
export class FleetCounter {
  readonly #sums = { websites: 0, pages: 0, sitemaps: 0, requests: 0, wireBytes: 0 };
  readonly #outcomes = Object.fromEntries(siteOutcomes.map((outcome) => [outcome, 0])) as Record<SiteOutcome, number>;
  readonly #reasons = new Map<string, FleetTotals["reasons"][number]>();
  readonly #findings = new Map<string, number>();
  readonly #preferences = new Map<string, number>();
  #previousErrors = 0;

  see(summary: SiteSummary): void {
    const { outcome, previousError, reasons, findings = {} } = summary;
    this.#sums.websites += 1;
    for (const name of ["pages", "sitemaps", "requests", "wireBytes"] as const) this.#sums[name] += summary[name];
    this.#outcomes[outcome] += 1;
    if (previousError !== undefined) this.#previousErrors += 1;
    for (const { code, message } of reasons) {
      const { websites, message: before } = this.#reasons.get(code) ?? { websites: 0, message };
      this.#reasons.set(code, {
        code,
        message: before === message ? before : common(code, before),
        websites: websites + 1,
      });
    }
    for (const [severity, count] of Object.entries(findings)) add(this.#findings, severity, count);
    for (const name of preferenceNames(summary)) add(this.#preferences, name, 1);
  }

  totals(): FleetTotals {
    const preferences = [...this.#preferences].sort(([, one], [, other]) => other - one);
    return {
      ...this.#sums,
      outcomes: { ...this.#outcomes },
      reasons: [...this.#reasons.values()].sort((one, other) => other.websites - one.websites),
      ...(this.#previousErrors > 0 && { previousErrors: this.#previousErrors }),
      ...(this.#findings.size > 0 && { findings: Object.fromEntries(this.#findings) }),
      ...(preferences.length > 0 && { preferences: Object.fromEntries(preferences) }),
    };
  }
}

// Websites choose some of the names, so there is a limit.
function add(counts: Map<string, number>, name: string, more: number): void {
  if (counts.has(name) || counts.size < mostNames) counts.set(name, (counts.get(name) ?? 0) + more);
}

const mostNames = 1000;

// Returns a message for several websites, because the message of one names its own line or value.
function common(code: SiteReason["code"], message: string): string {
  const general = code === "internal" ? "Internal failure" : problem(code).message;
  return /unknown/.test(general) ? `For example: ${message.replace("For example: ", "")}` : general;
}
