// The timeline of last changes: bars, of which very high ones are cut and show their number, and the share that changed
// since.
import { counted, grouped } from "../../model/figures.ts";
import type { ReportFacts, ReportTimeline } from "../facts.ts";
import { type Html, html } from "../html.ts";
import { percentage, type StyleSheet } from "../style-sheet.ts";
import { brief, percent } from "../text.ts";
import { part, table } from "./words.ts";

const step = 10;
const height = 100;
// A line through fewer pages is meaningless.
const fewPages = 20;
// A bar this many times as high as the next one is cut.
const dwarfs = 2.2;

export function timelinePart({ timeline, figures }: ReportFacts, sheet: StyleSheet): Html | undefined {
  if (figures.pages === 0) return undefined;
  const { sentence, odd, bars } = timeline;
  const lead = html`<p class="lead">${odd !== undefined && html`<strong>${odd}</strong> `}${sentence}</p>`;
  if (bars.length === 0) return part("changes", "When they last changed", lead);
  return part(
    "changes",
    "When they last changed",
    html`${lead}${chart(timeline, sheet)}${rest(timeline)}${asTable(timeline)}`,
  );
}

function chart(timeline: ReportTimeline, sheet: StyleSheet): Html {
  const { bars, unit, common } = timeline;
  const { top, cut } = heights(bars);
  const odd = bars.findLastIndex(({ from }) => common !== undefined && from <= common.at.slice(0, 10));
  const width = bars.length * step;
  const total = bars.reduce((sum, { pages }) => sum + pages, 0);
  const gap = bars.length > 60 ? 1.2 : 2;
  const rectangles = bars.map(({ from, pages }, index) => {
    if (pages === 0) return undefined;
    const shown = Math.max(0.8, (Math.min(pages, top) / top) * height);
    const label = `${inWords(from, unit)}: ${grouped(pages)}`;
    return html`<rect${cut.has(index) || index === odd ? html` class="odd"` : ""} x="${index * step + gap / 2}" y="${short(height - shown)}" width="${step - gap}" height="${short(shown)}"><title>${label}</title></rect>`;
  });
  let left = total;
  const line = bars.map(({ pages }, index) => {
    const y = height - (left / total) * height;
    left -= pages;
    return `${index * step},${short(y)}`;
  });
  line.push(`${width},${height}`);
  const described = `Pages by ${unit} of their last change, from ${bars[0]!.from} to ${bars.at(-1)!.from}. The same is in the table below.`;
  return html`<figure class="chart"><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${described}"><line class="base" x1="0" x2="${width}" y1="${height}" y2="${height}"/><g class="bars">${rectangles}</g>${total >= fewPages && html`<polyline class="since" points="${line.join(" ")}"/>`}</svg>${marks(bars, cut, odd, sheet)}${axis(bars, unit, sheet)}</figure>`;
}

// Bars that would make all others invisible are cut a bit above the highest of those.
function heights(bars: ReportTimeline["bars"]): { top: number; cut: ReadonlySet<number> } {
  const sorted = bars.map(({ pages }, index) => ({ pages, index })).sort((one, two) => two.pages - one.pages);
  const cut = new Set<number>();
  for (let at = 0; at < 3; at++) {
    const next = sorted[at + 1]?.pages ?? 0;
    if (next > 0 && sorted[at]!.pages > next * dwarfs) {
      for (const { index } of sorted.slice(0, at + 1)) cut.add(index);
      return { top: next * 1.18, cut };
    }
  }
  return { top: sorted[0]!.pages, cut };
}

function marks(bars: ReportTimeline["bars"], cut: ReadonlySet<number>, odd: number, sheet: StyleSheet): Html {
  const highest = bars.reduce((best, { pages }, index) => (pages > bars[best]!.pages ? index : best), 0);
  const named = cut.size > 0 ? [...cut] : [...new Set([highest, ...(odd < 0 ? [] : [odd])])];
  return html`<div class="marks" aria-hidden="true">${named.map((index) => {
    const at = (index + 0.5) / bars.length;
    sheet.add(`#m${index}`, `left:${percentage(at)}`);
    const side = at < 0.08 ? "first" : at > 0.92 ? "last" : "";
    return html`<span id="m${index}" class="${cut.has(index) || index === odd ? "odd" : ""} ${side}">${brief(bars[index]!.pages)}</span>`;
  })}</div>`;
}

function axis(bars: ReportTimeline["bars"], unit: ReportTimeline["unit"], sheet: StyleSheet): Html {
  const places = bars.flatMap(({ from }, index) => (isLabeled(from, unit, bars.length) ? [index] : []));
  const every = Math.ceil(places.length / 12);
  const shown = places.filter((_, position) => (places.length - 1 - position) % every === 0);
  return html`<div class="axis" aria-hidden="true">${shown.map((index, position) => {
    const at = (index + (unit === "month" ? 0 : 0.5)) / bars.length;
    sheet.add(`#x${index}`, `left:${percentage(at)}`);
    const side = at < 0.03 ? "first" : at > 0.97 ? "last" : "";
    const isFew = shown.length > 6 && (shown.length - 1 - position) % 2 === 1;
    return html`<span id="x${index}" class="${side}${isFew ? " few" : ""}">${label(bars[index]!.from, unit, bars.length)}</span>`;
  })}</div>`;
}

function isLabeled(from: string, unit: ReportTimeline["unit"], count: number): boolean {
  if (unit === "year") return true;
  if (unit === "month") return count <= 24 ? /-(01|04|07|10)-01$/.test(from) : from.endsWith("-01-01");
  return count <= 14 || new Date(from).getUTCDay() === 1;
}

function label(from: string, unit: ReportTimeline["unit"], count: number): string {
  if (unit === "year") return from.slice(0, 4);
  if (unit === "month") return count <= 24 ? from.slice(0, 7) : from.slice(0, 4);
  return from.slice(5);
}

function inWords(from: string, unit: ReportTimeline["unit"]): string {
  return unit === "day" ? from : unit === "month" ? from.slice(0, 7) : from.slice(0, 4);
}

function rest(timeline: ReportTimeline): Html {
  const { before, future, undated, bars, unit } = timeline;
  const total = bars.reduce((sum, { pages }) => sum + pages, 0);
  const parts = [
    ...(before > 0 ? [`${counted(before, "page")} before ${inWords(bars[0]!.from, unit)}`] : []),
    ...(future > 0 ? [`${counted(future, "page")} in the future`] : []),
    ...(undated > 0 ? [`${counted(undated, "page")} without a date`] : []),
  ];
  const left = parts.length === 0 ? "" : ` Not shown: ${parts.join(", ")}.`;
  return html`<p class="note">Pages by ${unit} of lastmod.${total >= fewPages && " The dotted line is the share of pages that changed since."}${left}</p>`;
}

function asTable({ bars, unit }: ReportTimeline): Html {
  const total = bars.reduce((sum, { pages }) => sum + pages, 0);
  const head = html`<th scope="col">${unit === "day" ? "Day" : unit === "month" ? "Month" : "Year"}</th><th scope="col" class="number">Pages</th><th scope="col" class="number">Share</th>`;
  const rows = bars
    .filter(({ pages }) => pages > 0)
    .reverse()
    .map(
      ({ from, pages }) =>
        html`<tr><th scope="row">${inWords(from, unit)}</th><td class="number">${grouped(pages)}</td><td class="number">${percent(pages, total)}</td></tr>`,
    );
  return html`<details class="more"><summary>The same as a table</summary>${table("Pages by their last change", head, rows)}</details>`;
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}
