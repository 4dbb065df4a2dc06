// Languages × languages: rows link to columns, and each cell is the share of alternate pages with a return link.
import { counted, grouped } from "../../model/figures.ts";
import type { ReportFacts, ReportLanguages } from "../facts.ts";
import { type Html, html } from "../html.ts";
import type { LanguageLinks } from "../languages.ts";
import { percent, shortened } from "../text.ts";
import { part, table } from "./words.ts";

export function languagesPart({ languages: facts, figures }: ReportFacts): Html | undefined {
  const { languages, links, judged, pages, defaultPages, others } = facts;
  const rows = languages.flatMap((_, index) => (links[index]?.some((cell) => cell !== null) ? [index] : []));
  const columns = languages.flatMap((_, index) => (links.some((row) => row[index] != null) ? [index] : []));
  if (rows.length === 0) return undefined;
  const what = judged
    ? "Rows name columns: the share of alternate pages that name the page back, in percent. Search engines ignore what is not named back."
    : "Rows name columns: how many alternate pages are named. Whether they name the page back was not judged, because not everything could be read.";
  const odd = judged ? worst(facts) : undefined;
  const defaults =
    defaultPages === pages
      ? `${pages === 1 ? "It names" : "All of them name"} a page for all other languages, too (x-default).`
      : defaultPages === 0
        ? "None names a page for all other languages (x-default)."
        : `${grouped(defaultPages)} of them ${defaultPages === 1 ? "names" : "name"} a page for all other languages (x-default).`;
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
  return table("Languages that name each other", head, lines, "matrix");
}

function nameOf(language: string | undefined): string {
  return language === undefined ? "not said" : shortened(language, 20);
}

function cell(links: LanguageLinks | undefined, isSame: boolean, judged: boolean): Html {
  if (links === undefined) return html`<td class="same">${isSame ? "·" : "–"}</td>`;
  if (!judged) return html`<td>${grouped(links.links)}</td>`;
  const known = links.links - links.unlisted;
  if (known <= 0) return html`<td class="same">?</td>`;
  const share = ((known - links.noReturn) / known) * 100;
  // Never 100 or 0 unless it is exact.
  const shown = links.noReturn > 0 && share > 99 ? "> 99" : share > 0 && share < 1 ? "< 1" : String(Math.round(share));
  return html`<td class="${links.noReturn === 0 ? "" : share < 80 ? "many" : "some"}">${shown}</td>`;
}

// The pair of languages with the most missing return links.
function worst({ languages, links }: ReportLanguages): string | undefined {
  let found: { text: string; count: number } | undefined;
  for (const [row, cells] of links.entries()) {
    for (const [column, each] of cells.entries()) {
      if (each === null || each.noReturn <= (found?.count ?? 0)) continue;
      const from = languages[row]?.language;
      const to = nameOf(languages[column]?.language);
      const text = `${counted(each.noReturn, "page")}${from === undefined ? "" : ` in ${nameOf(from)}`} ${each.noReturn === 1 ? "names an alternate page" : "name alternate pages"} in ${to} that ${each.noReturn === 1 ? "does" : "do"} not name ${each.noReturn === 1 ? "it" : "them"} back.`;
      found = { text, count: each.noReturn };
    }
  }
  return found?.text;
}
