// Draws when pages last changed, and says whether the dates can be trusted.
import { type DateCounts, pagesIn } from "../check/dates/date-counts.ts";
import { trustInWords } from "../check/findings/words.ts";
import { counted, grouped } from "../model/figures.ts";
import { dayLength } from "../model/instant.ts";
import type { ReportFacts, ReportTimeline } from "./facts.ts";
import { age, brief, dayOf, type Html, html, part, percent, percentage, type StyleSheet, table } from "./html.ts";

const mostBars = 150;
const fewestBars = 12;
/** A period of up to this many days is drawn day by day. */
const mostDays = 62;
// The oldest pages, up to this share of those with a date, are counted but not drawn: they would push all others to the edge.
const tail = 0.01;

export function timelineOf(dates: DateCounts, pages: number): ReportTimeline {
  const { unit, bars, before } = barsOf(dates);
  return {
    sentence: sentenceOf(dates),
    unit,
    bars,
    before: before + dates.tooOld,
    future: dates.future,
    undated: pages - dates.dated,
    common: dates.common,
  };
}

type Unit = ReportTimeline["unit"];

function barsOf(dates: DateCounts): Pick<ReportTimeline, "unit" | "bars" | "before"> {
  const days = dates.days();
  if (days.length === 0) return { unit: "month", bars: [], before: 0 };
  const end = Math.max(dates.receivedAt, days.at(-1)!.day);
  const oldest = oldestShown(days);
  const unit = unitFor(oldest, end);
  const bars = new Map<string, number>();
  const latest = startOf(end, unit, 1 - fewestBars);
  const start = Math.min(Math.max(startOf(oldest, unit), startOf(end, unit, 1 - mostBars)), latest);
  for (let at = start; at <= end; at = startOf(at, unit, 1)) bars.set(dayOf(at), 0);
  let before = 0;
  for (const { day, pages } of days) {
    const key = dayOf(startOf(day, unit));
    const known = bars.get(key);
    if (known === undefined) before += pages;
    else bars.set(key, known + pages);
  }
  return { unit, bars: [...bars].map(([from, pages]) => ({ from, pages })), before };
}

function oldestShown(days: readonly { day: number; pages: number }[]): number {
  const total = pagesIn(days);
  let older = 0;
  for (const { day, pages } of days) if ((older += pages) > total * tail) return day;
  return days[0]!.day;
}

function unitFor(oldest: number, end: number): Unit {
  if (end - oldest <= mostDays * dayLength) return "day";
  return oldest >= startOf(end, "month", 1 - mostBars) ? "month" : "year";
}

// Returns the first instant of the day, month or year that is `later` units after that of the given time.
function startOf(milliseconds: number, unit: Unit, later: number = 0): number {
  const date = new Date(milliseconds);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (unit === "day") return Date.UTC(year, month, day + later);
  return unit === "month" ? Date.UTC(year, month + later) : Date.UTC(year + later, 0);
}

function sentenceOf({ dated, medianAge, newest, future, tooOld }: DateCounts): string {
  if (dated === 0) return "No page has a date, so search engines cannot tell from the sitemaps what is new.";
  return [
    ...(medianAge === undefined ? [] : [`Half of the dated pages changed in the last ${age(medianAge)}.`]),
    ...(newest === undefined ? [] : [`The newest change is from ${dayOf(newest)}.`]),
    ...(tooOld > 0 ? [`${counted(tooOld, "date")} before the web existed.`] : []),
    ...(future > 0 ? [`${counted(future, "date")} in the future.`] : []),
  ].join(" ");
}

// The sizes of bars in the drawing, which is stretched to the width of the page.
const step = 10;
const gap = 2;
const height = 100;
// With fewer pages, bars would show nothing that the sentence does not say.
const fewPages = 10;

export function timelinePart({ timeline, figures, lastmodTrust }: ReportFacts, sheet: StyleSheet): Html | undefined {
  if (figures.pages === 0) return undefined;
  const { sentence, bars } = timeline;
  const trust = trustInWords(lastmodTrust);
  const lead = html`<p class="lead">${trust !== "" && html`<strong>${trust}</strong> `}${sentence}</p>`;
  if (pagesIn(bars) < fewPages) return part("changes", "When they last changed", lead);
  const content = html`${lead}${chart(timeline, sheet)}${rest(timeline)}${asTable(timeline)}`;
  return part("changes", "When they last changed", content);
}

function chart(timeline: ReportTimeline, sheet: StyleSheet): Html {
  const { bars, unit, common } = timeline;
  const top = Math.max(...bars.map(({ pages }) => pages));
  const odd = bars.findLastIndex(({ from }) => common !== undefined && from <= common.at.slice(0, 10));
  const width = bars.length * step;

  const rectangles = bars.map(({ from, pages }, index) => {
    if (pages === 0) return undefined;
    const shown = Math.max(0.8, (pages / top) * height);
    const label = `${periodName(from, unit)}: ${grouped(pages)}`;
    return html`<rect${index === odd ? html` class="odd"` : ""} x="${index * step + gap / 2}" y="${short(height - shown)}" width="${step - gap}" height="${short(shown)}"><title>${label}</title></rect>`;
  });
  const described = `Pages by ${unit} of their last change, from ${bars[0]!.from} to ${bars.at(-1)!.from}. The table below has the same data.`;
  return html`<figure class="chart"><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${described}"><line class="base" x1="0" x2="${width}" y1="${height}" y2="${height}"/><g class="bars">${rectangles}</g></svg>${marks(bars, odd, sheet)}${axis(bars, unit, sheet)}</figure>`;
}

// Writes numbers above the highest bar and the suspicious one.
function marks(bars: ReportTimeline["bars"], odd: number, sheet: StyleSheet): Html {
  const highest = bars.reduce((best, { pages }, index) => (pages > bars[best]!.pages ? index : best), 0);
  const labels = [...new Set([highest, ...(odd < 0 ? [] : [odd])])].map((index) => {
    const tone = index === odd ? "odd" : "";
    return label(`m${index}`, (index + 0.5) / bars.length, 0.08, tone, brief(bars[index]!.pages), sheet);
  });
  return html`<div class="marks" aria-hidden="true">${labels}</div>`;
}

function axis(bars: ReportTimeline["bars"], unit: Unit, sheet: StyleSheet): Html {
  const { length } = bars;
  const every = Math.ceil(length / 6);
  const labels = bars.map(({ from }, index) => {
    if ((length - 1 - index) % every !== 0) return undefined;
    const text = unit === "day" ? from.slice(5) : periodName(from, unit);
    return label(`x${index}`, (index + 0.5) / length, 0.05, "", text, sheet);
  });
  return html`<div class="axis" aria-hidden="true">${labels}</div>`;
}

// Creates a label at a share of the width. Labels in the `margin` on either side are aligned with the edge, so that they are not cut off.
function label(id: string, at: number, margin: number, tone: string, text: string, sheet: StyleSheet): Html {
  sheet.add(`#${id}`, `left:${percentage(at)}`);
  const side = at < margin ? "first" : at > 1 - margin ? "last" : "";
  return html`<span id="${id}" class="${`${tone} ${side}`.trim()}">${text}</span>`;
}

function periodName(from: string, unit: Unit): string {
  return from.slice(0, { day: 10, month: 7, year: 4 }[unit]);
}

function rest(timeline: ReportTimeline): Html {
  const { before, future, undated, bars, unit } = timeline;
  const parts = [
    ...(before > 0 ? [`${counted(before, "page")} before ${periodName(bars[0]!.from, unit)}`] : []),
    ...(future > 0 ? [`${counted(future, "page")} in the future`] : []),
    ...(undated > 0 ? [`${counted(undated, "page")} without a date`] : []),
  ];
  const left = parts.length === 0 ? "" : ` Not shown: ${parts.join(", ")}.`;
  return html`<p class="note">Pages by ${unit} of lastmod.${left}</p>`;
}

function asTable({ bars, unit }: ReportTimeline): Html {
  const total = pagesIn(bars);
  const rows = bars
    .filter(({ pages }) => pages > 0)
    .reverse()
    .map(({ from, pages }) => ({ cells: [periodName(from, unit), grouped(pages), percent(pages, total)] }));
  const name = { day: "Day", month: "Month", year: "Year" }[unit];
  return html`<details class="more"><summary>Show as a table</summary>${table("Pages by their last change", [[name], ["Pages"], ["Share"]], rows)}</details>`;
}

function short(value: number): string {
  return String(Number(value.toFixed(2)));
}
