// Which languages link to which: how many pages of each language have an alternate page in each other language, and how
// many of those lack a return link, or are in no sitemap. On the page: rows link to columns.
import type { AlternateSet, LanguageChoice } from "../check/rules/languages.ts";
import { counted, grouped } from "../model/figures.ts";
import { detached } from "../model/text.ts";
import { caps, type Html, html, part, percent, shortened, table } from "./html.ts";
import type { ReportFacts, ReportLanguages } from "./report-tree.ts";

/** A language and its pages. */
export interface LanguageCount {
  /** As written; absent for pages with alternate pages that do not include themselves. */
  readonly language?: string | undefined;
  readonly pages: number;
}

/** Links of pages in one language to alternate pages in another. */
export interface LanguageLinks {
  readonly links: number;
  /** Alternate pages without a return link. */
  readonly noReturn: number;
  /** Alternate pages that no sitemap lists: their return links are unknown. */
  readonly unlisted: number;
}

// Websites have a hundred or two.
const mostLanguages = 500;
const stride = 1024;
// Languages beyond the bound.
const others = mostLanguages + 1;
/** The number of pages that do not list themselves. */
const unnamed = 0;
const mostChoices = 5000;

type Counts = { -readonly [Name in keyof LanguageLinks]: number };

export class LanguageMatrix {
  // By the language in lower case; the first spelling is shown.
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [""];
  readonly #pages = new Map<number, number>();
  readonly #cells = new Map<number, Counts>();
  // How many pages have them.
  readonly #choices = new Map<LanguageChoice, number>();
  #defaultPages = 0;
  #allPages = 0;

  /** A page with alternate pages. */
  add({ choice }: AlternateSet): void {
    this.#allPages += 1;
    if (this.#choices.size >= mostChoices) this.#settle();
    this.#choices.set(choice, (this.#choices.get(choice) ?? 0) + 1);
  }

  pair(own: string | undefined, language: string): number {
    return (own === undefined ? unnamed : this.#number(own)) * stride + this.#number(language);
  }

  miss(pair: number, outcome: "noReturn" | "unlisted"): void {
    this.#settle();
    const cell = this.#cells.get(pair);
    if (cell !== undefined) cell[outcome] += 1;
  }

  /** The languages with the most pages first. `judged`: whether return links were checked. */
  facts(judged: boolean): ReportLanguages {
    this.#settle();
    // A language may occur only in links, without a page.
    const numbers = new Set(this.#pages.keys());
    for (const pair of this.#cells.keys()) numbers.add(pair % stride);
    const sorted = [...numbers].sort(
      (one, two) =>
        Number(one === unnamed) - Number(two === unnamed) ||
        (this.#pages.get(two) ?? 0) - (this.#pages.get(one) ?? 0) ||
        (this.#nameOf(one) < this.#nameOf(two) ? -1 : 1),
    );
    const languages = sorted.map((number) => ({
      language: number === unnamed ? undefined : this.#nameOf(number),
      pages: this.#pages.get(number) ?? 0,
    }));
    const links = sorted.map((from) => sorted.map((to) => this.#cells.get(from * stride + to) ?? null));
    return { languages, others: 0, links, judged, defaultPages: this.#defaultPages, pages: this.#allPages };
  }

  // Into the cells.
  #settle(): void {
    for (const [{ own, others, hasDefault }, pages] of this.#choices) {
      const number = own === undefined ? unnamed : this.#number(own);
      if (number !== unnamed || others.length > 0) this.#pages.set(number, (this.#pages.get(number) ?? 0) + pages);
      if (hasDefault) this.#defaultPages += pages;
      for (const other of others) {
        const pair = this.pair(own, other);
        const cell = this.#cells.get(pair) ?? { links: 0, noReturn: 0, unlisted: 0 };
        this.#cells.set(pair, cell);
        cell.links += pages;
      }
    }
    this.#choices.clear();
  }

  #number(language: string): number {
    // Not half of a character.
    const name = language.slice(0, longestName).replace(/[\ud800-\udbff]$/, "");
    const key = name.toLowerCase();
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.#names.length > mostLanguages) return others;
    this.#numbers.set(detached(key), this.#names.length);
    return this.#names.push(detached(name)) - 1;
  }

  #nameOf(number: number): string {
    return this.#names[number] ?? "other";
  }
}

const longestName = 35;

/** The languages that the page shows. */
export function shownLanguages(facts: ReportLanguages): ReportLanguages {
  const languages = facts.languages.slice(0, caps.languages);
  const links = facts.links.slice(0, caps.languages).map((row) => row.slice(0, caps.languages));
  return { ...facts, languages, links, others: facts.languages.length - languages.length };
}

export function languagesPart({ languages: facts, figures }: ReportFacts): Html | undefined {
  const { languages, links, judged, pages, defaultPages, others } = facts;
  const rows = languages.flatMap((_, index) => (links[index]?.some((cell) => cell !== null) ? [index] : []));
  const columns = languages.flatMap((_, index) => (links.some((row) => row[index] != null) ? [index] : []));
  if (rows.length === 0) return undefined;
  const what = judged
    ? "Percentage of links from row to column that are returned. Search engines ignore links that are not."
    : "Links from row to column. Return links were not checked, because not everything could be read.";
  const odd = judged ? worst(facts) : undefined;
  const defaults =
    defaultPages === pages
      ? `${pages === 1 ? "It has" : "All of them have"} an x-default page.`
      : defaultPages === 0
        ? "None has an x-default page."
        : `${grouped(defaultPages)} of them ${defaultPages === 1 ? "has" : "have"} an x-default page.`;
  return part(
    "languages",
    "Languages",
    html`<p class="lead">${odd !== undefined && html`<strong>${odd}</strong> `}${counted(pages, "page")} (${percent(pages, figures.pages)}) ${pages === 1 ? "names" : "name"} alternate pages. ${defaults}</p>
${matrix(facts, rows, columns)}
<p class="note">${what}${others > 0 && ` Not shown: other (${counted(others, "language")}).`}</p>`,
  );
}

function matrix(
  { languages, links, judged }: ReportLanguages,
  rows: readonly number[],
  columns: readonly number[],
): Html {
  const head = html`<th scope="col">Language</th><th scope="col" class="number">Pages</th>${columns.map((column) => html`<th scope="col"><bdi>${nameOf(languages[column]!.language)}</bdi></th>`)}`;
  const lines = rows.map(
    (row) =>
      html`<tr><th scope="row"><bdi>${nameOf(languages[row]!.language)}</bdi></th><td class="number">${grouped(languages[row]!.pages)}</td>${columns.map((column) => cell(links[row]?.[column] ?? undefined, row === column, judged))}</tr>`,
  );
  return table("Links between languages", head, lines, "matrix");
}

function nameOf(language: string | undefined): string {
  return language === undefined ? "not said" : shortened(language, 20);
}

function cell(links: LanguageLinks | undefined, isSame: boolean, judged: boolean): Html {
  if (links === undefined) return html`<td class="same">${isSame ? "·" : "–"}</td>`;
  if (!judged) return html`<td>${grouped(links.links)}</td>`;
  const known = links.links - links.unlisted;
  if (known <= 0) return html`<td class="same">?</td>`;
  const returned = known - links.noReturn;
  const tone = links.noReturn === 0 ? "" : returned / known < 0.8 ? "many" : "some";
  return html`<td class="${tone}">${percent(returned, known).replace(" %", "")}</td>`;
}

// The pair of languages with the most missing return links.
function worst({ languages, links }: ReportLanguages): string | undefined {
  let found: { text: string; count: number } | undefined;
  for (const [row, cells] of links.entries()) {
    for (const [column, each] of cells.entries()) {
      if (each === null || each.noReturn <= (found?.count ?? 0)) continue;
      const from = languages[row]?.language;
      const to = nameOf(languages[column]?.language);
      const text = `${counted(each.noReturn, "page")}${from === undefined ? "" : ` in ${nameOf(from)}`} ${each.noReturn === 1 ? "links to an alternate page" : "link to alternate pages"} in ${to} that ${each.noReturn === 1 ? "does" : "do"} not link back.`;
      found = { text, count: each.noReturn };
    }
  }
  return found?.text;
}
