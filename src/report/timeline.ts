// The timeline of last changes: bars by day, month or year, and a sentence about what is unusual.
import { dayLength } from "../check/instant.ts";
import { counted, grouped } from "../model/figures.ts";
import type { Collector } from "./collect.ts";
import type { DateCounts } from "./dates.ts";
import type { ReportTimeline } from "./facts.ts";
import { age, dayOf, percent } from "./text.ts";

const mostBars = 150;
const fewestBars = 12;
/** Days of a timeline by days. */
const mostDays = 62;
// The share of the oldest pages with a date, which are counted but not drawn.
const tail = 0.01;
// From this many pages and this share on, a shared time is reported.
const manyPages = 50;
const largeShare = 0.1;
// A day with this many times the pages of others; if pages are spread over few days, each of them has many.
const unusual = 4;

export function timelineOf({ dates, pages, receivedAt }: Collector): ReportTimeline {
  const { unit, bars, before } = barsOf(dates, receivedAt);
  const common = commonMoment(dates);
  return {
    ...sentences(dates, pages, common),
    unit,
    bars,
    before: before + dates.tooOld,
    future: dates.future,
    undated: pages - dates.dated,
    ...(common === undefined ? {} : { common }),
  };
}

type Unit = ReportTimeline["unit"];

function barsOf(dates: DateCounts, receivedAt: number): { unit: Unit; bars: ReportTimeline["bars"]; before: number } {
  const days = [...dates.days()];
  const [first] = days;
  if (first === undefined) return { unit: "month", bars: [], before: 0 };
  const end = Math.max(receivedAt, days.at(-1)!.day);
  const total = days.reduce((sum, { pages }) => sum + pages, 0);
  const unit = unitFor(oldestShown(days, total), end);
  const bars = new Map<string, number>();
  const oldest = oldestShown(days, total);
  let start = Math.max(startOf(oldest, unit), stepped(startOf(end, unit), unit, 1 - mostBars));
  start = Math.min(start, stepped(startOf(end, unit), unit, 1 - fewestBars));
  for (let at = start; at <= end; at = stepped(at, unit, 1)) bars.set(dayOf(at), 0);
  let before = 0;
  for (const { day, pages } of days) {
    const key = dayOf(startOf(day, unit));
    const known = bars.get(key);
    if (known === undefined) before += pages;
    else bars.set(key, known + pages);
  }
  return { unit, bars: [...bars].map(([from, pages]) => ({ from, pages })), before };
}

// A few pages that are much older than all others would push these to the edge.
function oldestShown(days: readonly { day: number; pages: number }[], total: number): number {
  let older = 0;
  for (const { day, pages } of days) if ((older += pages) > total * tail) return day;
  return days[0]!.day;
}

function unitFor(oldest: number, end: number): Unit {
  if (end - oldest <= mostDays * dayLength) return "day";
  return oldest >= stepped(startOf(end, "month"), "month", 1 - mostBars) ? "month" : "year";
}

function startOf(milliseconds: number, unit: Unit): number {
  const date = new Date(milliseconds);
  return Date.UTC(
    date.getUTCFullYear(),
    unit === "year" ? 0 : date.getUTCMonth(),
    unit === "day" ? date.getUTCDate() : 1,
  );
}

function stepped(milliseconds: number, unit: Unit, count: number): number {
  if (unit === "day") return milliseconds + count * dayLength;
  const date = new Date(milliseconds);
  if (unit === "month") date.setUTCMonth(date.getUTCMonth() + count);
  else date.setUTCFullYear(date.getUTCFullYear() + count);
  return date.getTime();
}

function commonMoment(dates: DateCounts): ReportTimeline["common"] {
  const { instant, count } = dates.common;
  if (count < manyPages || count < dates.dated * largeShare) return undefined;
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return undefined;
  const isDay = instant % dayLength === 0 && dates.dayOnly >= count;
  if (isDay && count < dates.dated / 2 && count < unusual * averageDay(dates)) return undefined;
  return { at: isDay ? dayOf(instant) : `${at.toISOString().slice(0, 19)}Z`, pages: count };
}

// Of the days that have pages.
function averageDay(dates: DateCounts): number {
  const days = [...dates.days()];
  return days.reduce((sum, { pages }) => sum + pages, 0) / Math.max(1, days.length);
}

function sentences(
  dates: DateCounts,
  pages: number,
  common: ReportTimeline["common"],
): Pick<ReportTimeline, "sentence" | "odd"> {
  const { dated, medianAge, newest, future, tooOld } = dates;
  if (pages === 0) return { sentence: "There are no pages." };
  if (dated === 0) {
    return {
      sentence: "Search engines cannot tell from the sitemaps what is new.",
      odd: "No page says when it changed.",
    };
  }
  const half = medianAge === undefined ? "" : `Half of the dated pages changed within ${age(medianAge)}. `;
  const latest = newest === undefined ? "" : `The newest change is from ${dayOf(newest)}.`;
  const odd = oddity(dates, pages, common);
  const old = tooOld > 0 ? ` ${counted(tooOld, "date")} from before the web.` : "";
  const later = future > 0 ? ` ${counted(future, "date")} from the future.` : "";
  return { sentence: `${half}${latest}${old}${later}`.trim(), ...(odd === undefined ? {} : { odd }) };
}

function oddity(dates: DateCounts, pages: number, common: ReportTimeline["common"]): string | undefined {
  const { dated, future, medianAge = 0 } = dates;
  if (common !== undefined) {
    const share = percent(common.pages, pages);
    return common.at.length === 10
      ? `${grouped(common.pages)} pages (${share}) carry the same day, ${common.at}: more likely that of a release than that of so many changes.`
      : `${grouped(common.pages)} pages (${share}) carry the same second, ${common.at}: that is when a file was made, not when pages changed.`;
  }
  if (future >= dated / 100)
    return `${counted(future, "page")} (${percent(future, pages)}) ${future === 1 ? "carries" : "carry"} a date in the future.`;
  if (dated < pages / 2) return `Only ${percent(dated, pages)} of the pages say when they changed.`;
  if (medianAge > 730) return "Most pages have not changed for more than two years.";
  return undefined;
}
