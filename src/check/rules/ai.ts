// Rules about a website's information for AI: AI preferences in robots.txt (Content-Signal, Content-Usage and License lines), and
// llms.txt. No search engine uses them, so none is an error.
import type { RobotsPreference } from "../../model/sitemap.ts";
import { isHttpUrl } from "../../model/url.ts";
import { readPairs } from "../../parse/robots.ts";
import type { SitemapTree } from "../../tree/tree.ts";
import type { Findings } from "../findings.ts";
import { type RuleRow, ruleFor } from "../rule.ts";
import * as sources from "../sources.ts";

export const aiRules = {
  "robots-preference-invalid": ruleFor([], "warning", "practice", sources.contentSignals, {
    sentence: "robots.txt has an invalid Content-Signal, Content-Usage or License line.",
    fix: "Write `Content-Signal: search=yes, ai-train=no`, `Content-Usage: train-ai=n` or `License: https://example.org/license.xml`.",
  }) as RuleRow,
  "robots-preference-misplaced": ruleFor([], "info", "practice", sources.contentUsage, {
    sentence:
      "A Content-Signal or Content-Usage line comes before the first User-agent line; some programs ignore it there.",
    fix: "Move it below a User-agent line.",
  }) as RuleRow,
  "robots-preference-conflict": ruleFor([], "warning", "practice", sources.contentSignals, {
    sentence: "robots.txt both allows and forbids the same use of the same pages for a crawler.",
    fix: "Remove one of the lines.",
  }) as RuleRow,
  "llms-differs": ruleFor([], "info", "practice", sources.llms, {
    sentence: "A page is in llms.txt but in no sitemap, or vice versa. Search engines ignore llms.txt.",
    fix: "Add it if llms.txt should list all pages; remove links to pages that are gone.",
    needs: ["complete", "site"],
  }) as RuleRow,
};

export function judgePreferences(url: string, preferences: readonly RobotsPreference[], findings: Findings): void {
  const said = new Map<string, { readonly isYes: boolean; readonly line: number }>();
  for (const preference of preferences) {
    const { field, value, line, agents, path = "" } = preference;
    const add = (id: string, shown: string) => findings.count(id, url, 1, { value: `${field}: ${shown}`, line });
    if (!isReadable(preference)) add("robots-preference-invalid", value);
    if (field === "License") continue;
    if (agents === undefined) add("robots-preference-misplaced", value);
    const conflict = readPairs(field, value).pairs.find(([written, answer]) => {
      const isYes = /^y(?:es)?$/i.test(answer);
      if (!isYes && !/^no?$/i.test(answer)) return false;
      const earlier = (agents ?? [""]).map((agent) => {
        const key = JSON.stringify([agent.toLowerCase(), path, sameUse[written] ?? written]);
        const known = said.get(key);
        if (known === undefined) said.set(key, { isYes, line });
        return known;
      });
      return earlier.some((known) => known !== undefined && known.isYes !== isYes);
    });
    if (conflict !== undefined) add("robots-preference-conflict", conflict.join("="));
  }
}

// Content-Usage has its own name for what Content-Signal calls ai-train.
const sameUse: Readonly<Record<string, string>> = { "train-ai": "ai-train" };

function isReadable({ field, value }: RobotsPreference): boolean {
  if (field === "License") return isHttpUrl(value);
  const { pairs } = readPairs(field, value);
  const answers = field === "Content-Signal" ? /^(?:yes|no)$/i : /^[yn]$/;
  const isGood = (key: string, answer: string) =>
    knownUses.includes(key) ? answers.test(answer) : token.test(key) && answer !== "";
  return pairs.length > 0 && pairs.every(([key, answer]) => isGood(key, answer));
}

const knownUses = ["search", "ai-input", "ai-train", "train-ai"];
const token = /^[a-z*][a-z0-9_.*-]*$/;

/** Compares the links of llms.txt, if it was read, with the pages of the sitemaps. */
export class LlmsRule {
  readonly #links = new Map<string, { readonly url: string; isListed: boolean }>();
  #llms: string | undefined;
  #unlinked = 0;
  #example = "";

  async read(tree: SitemapTree): Promise<void> {
    for (const sitemap of tree.root.children) {
      if (sitemap.kind !== "pages" || sitemap.format !== "llms") continue;
      this.#llms = sitemap.url;
      for await (const { url } of tree.pages(sitemap)) this.#links.set(linkKey(url), { url, isListed: false });
    }
  }

  see(url: string): void {
    if (this.#llms === undefined) return;
    const link = this.#links.get(linkKey(url));
    if (link !== undefined) link.isListed = true;
    else if (this.#unlinked++ === 0) this.#example = `${url}`;
  }

  finish(findings: Findings): void {
    if (this.#llms === undefined) return;
    for (const { url, isListed } of this.#links.values()) {
      if (!isListed) findings.count("llms-differs", this.#llms, 1, { url, value: "only in llms.txt" });
    }
    if (this.#unlinked > 0) {
      const example = { url: this.#example, value: "only in the sitemaps" };
      findings.count("llms-differs", this.#llms, this.#unlinked, example);
    }
  }
}

// A page may have a Markdown version: `a.md` or `a.html.md`.
function linkKey(url: string): string {
  const bare = url.replace(/[?#].*$/s, "").replace(/^https?:\/\/(?:www\.)?/i, "");
  return bare.replace(/(?:\/index)?(?:\.html?)?(?:\.md)?\/?$/i, "");
}
