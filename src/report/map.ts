// Draws the sections of the website as a treemap of HTML boxes, whose positions are in the style sheet, and lists them in a table. The area
// of a box shows its number of pages, the color their median age, and the hatched part the share of pages with errors or warnings.
import { noDate } from "../check/dates/date-counts.ts";
import { counted, grouped } from "../model/figures.ts";
import type { ReportFacts, ReportSection } from "./facts.ts";
import {
  brief,
  caps,
  fitted,
  type Html,
  html,
  part,
  percent,
  percentage,
  readableUrl,
  type StyleSheet,
  table,
} from "./html.ts";
import { totalOf } from "./sections.ts";

// A section with a smaller share of all pages would be too small to see.
const leastShare = 1 / 3000;

/**
 * Returns the largest sections, as far as the map has room. Smaller ones are counted together, and a section that has only small ones is
 * shown as a whole.
 */
export function largestSections(root: ReportSection): ReportSection {
  const least = Math.max(1, root.pages * leastShare);
  const start = merged(root);
  // Opens the largest sections first, while there is room for what they contain.
  const opened = new Map<ReportSection, readonly ReportSection[]>();
  const waiting = [start];
  for (let tiles = 1; waiting.length > 0; ) {
    const next = waiting.reduce((best, section) => (section.pages > best.pages ? section : best));
    waiting.splice(waiting.indexOf(next), 1);
    const content = contentOf(next, least);
    if (tiles + content.length > caps.tiles) continue;
    tiles += content.length;
    opened.set(next, content);
    waiting.push(...content.filter(({ kind }) => kind === undefined));
  }
  const drawn = (section: ReportSection): ReportSection => {
    const content = opened.get(section) ?? [];
    const sections = content.length === 0 ? undefined : content.map(drawn);
    return { ...section, name: fitted(section.name, caps.name), sections };
  };
  return drawn(start);
}

// Returns the large sections in a section, and the small ones together. Returns nothing if all of them are small.
function contentOf({ sections = [] }: ReportSection, least: number): ReportSection[] {
  const large = sections.filter(({ kind, pages }) => kind !== "other" && pages >= least);
  const small = sections.filter((section) => !large.includes(section));
  if (!large.some(({ kind }) => kind === undefined)) return [];
  const [first] = small;
  if (first === undefined || (small.length === 1 && first.kind !== "other")) return [...large.map(merged), ...small];
  // Sections that did not fit into memory were not counted.
  const count = small.some(({ kind }) => kind === "other") ? undefined : small.length;
  return [...large.map(merged), { name: "", ...totalOf(small), kind: "other", count }];
}

// Combines a section with the only section in it: `shop/items`.
function merged(section: ReportSection): ReportSection {
  const [only, ...others] = section.sections ?? [];
  if (only === undefined || others.length > 0 || only.kind !== undefined || section.name === "") return section;
  return merged({ ...only, name: `${section.name}/${only.name}` });
}

// The height of the map in pixels, by the number of its tiles.
const heights = [
  { tiles: 4, wide: 240, narrow: 280 },
  { tiles: 14, wide: 400, narrow: 480 },
  { tiles: Number.POSITIVE_INFINITY, wide: 600, narrow: 760 },
];
/** The height of a group's name in pixels. The style sheet hides the name in groups smaller than `leastGroup`. */
const nameHeight = 24;
const leastGroup = { width: 56, height: 66 };

interface Tile {
  readonly number: number;
  readonly section: ReportSection;
  readonly depth: number;
  readonly children: readonly Tile[];
}

export function mapPart({ sections }: ReportFacts, sheet: StyleSheet): Html | undefined {
  const all = tilesOf(sections);
  const [root, ...tiles] = all;
  // A map of a single tile would be useless.
  if (root === undefined || tiles.length === 0) return undefined;
  const height = heights.find((each) => tiles.length <= each.tiles)!;
  for (const [kind, width] of [
    ["wide", 1120],
    ["narrow", 358],
  ] as const) {
    sheet.add(".map", `height:${height[kind]}px`, kind);
    layOut(root, width, height[kind], (id, rule) => sheet.add(id, rule, kind));
  }
  const classes = new Set(all.map(({ section }) => medianAge(section)));
  return part(
    "map",
    "Where the pages are",
    html`<p class="lead">Area shows the number of pages, color the median time since they changed.${sections.flawed > 0 && " The hatched part of a tile is its share of pages with errors or warnings."}</p>
<ul class="legend" aria-label="Colors">${ageNames.map((name, index) => classes.has(index) && html`<li><i class="a${index}"></i>${name}</li>`)}${sections.flawed > 0 && html`<li><i class="hatch"></i>with problems</li>`}</ul>
<div class="map" id="map-tiles">${boxes(root.children, sheet)}</div>
<details class="more"><summary>Show as a table</summary>${sectionTable(root, tiles)}</details>`,
  );
}

const ageNames = ["up to 30 days", "90 days", "6 months", "1 year", "2 years", "older", "no date"];

// Returns all tiles in order, starting with the root.
function tilesOf(section: ReportSection, depth: number = 0, all: Tile[] = []): Tile[] {
  const children: Tile[] = [];
  all.push({ number: all.length, section, depth, children });
  for (const child of section.sections ?? []) {
    const number = all.length;
    children.push(tilesOf(child, depth + 1, all)[number]!);
  }
  return all;
}

function nameOf({ name, kind, count }: ReportSection): string {
  if (kind === "other") return count === undefined ? "other" : `other (${grouped(count)})`;
  const readable = readableUrl(name);
  return kind === "own" ? `${readable}/*` : readable;
}

// Screen readers skip the leaves, because the table has the same data.
function boxes(tiles: readonly Tile[], sheet: StyleSheet): Html {
  const [groups, leaves] = [true, false].map((isGroup) =>
    tiles.filter(({ children }) => children.length > 0 === isGroup).map((tile) => box(tile, sheet)),
  );
  return html`<div class="all" aria-hidden="true">${leaves}</div>${groups}`;
}

function box({ number, section, children }: Tile, sheet: StyleSheet): Html {
  const { pages, flawed } = section;
  const name = nameOf(section);
  if (children.length > 0) {
    return html`<div class="group" id="t${number}"><a class="name" href="#s${number}">${name} <span>${brief(pages)}</span></a><div class="in">${boxes(children, sheet)}</div></div>`;
  }
  const share = flawed === 0 ? 0 : Math.min(100, Math.max(1, Math.round((flawed / pages) * 100)));
  if (share > 0) sheet.add(`.p${share}`, `height:${share}%`);
  const age = medianAge(section);
  const when = age === noDate ? "no date" : `median age ${ageNames[age]}`;
  const title = `${name}: ${counted(pages, "page")}, ${when}${flawed > 0 ? `, ${grouped(flawed)} with problems` : ""}`;
  return html`<div class="leaf a${age}${share > 50 ? " full" : ""}" id="t${number}" title="${title}"><b>${name}</b><span>${brief(pages)}</span>${share > 0 && html`<i class="hatch p${share}"></i><em>${brief(flawed)} with problems</em>`}</div>`;
}

// Adds the position of each tile to the style sheet, in percent of the box around it.
function layOut(tile: Tile, width: number, height: number, add: (selector: string, rule: string) => void): void {
  if (tile.children.length === 0) return;
  const areas = tile.children.map(({ section }) => section.pages);
  const order = areas.map((_, index) => index).sort((one, two) => areas[two]! - areas[one]! || one - two);
  const rectangles = divided(
    order.map((index) => areas[index]!),
    { left: 0, top: 0, width, height },
  );
  for (const [at, rectangle] of rectangles.entries()) {
    const child = tile.children[order[at]!]!;
    const { left, top } = rectangle;
    const right = Math.max(0, width - left - rectangle.width);
    const bottom = Math.max(0, height - top - rectangle.height);
    const inset = [top / height, right / width, bottom / height, left / width].map(percentage);
    add(`#t${child.number}`, `inset:${inset.join(" ")}`);
    const isNamed = rectangle.width >= leastGroup.width && rectangle.height >= leastGroup.height;
    layOut(child, rectangle.width, rectangle.height - (isNamed ? nameHeight : 0), add);
  }
}

/** Returns the median age class of the pages with a date, or the class `noDate` if at least half of the pages have none. */
function medianAge({ ages }: Pick<ReportSection, "ages">): number {
  const dated = ages.slice(0, noDate);
  const total = dated.reduce((sum, count) => sum + count, 0);
  if (total <= ages[noDate]!) return noDate;
  let sum = 0;
  return dated.findIndex((count) => (sum += count) * 2 >= total);
}

function sectionTable(root: Tile, tiles: readonly Tile[]): Html {
  const rows = tiles.map(({ number, section, depth }) => {
    const { kind, pages, flawed } = section;
    const age = medianAge(section);
    const cells = [
      html`<bdi>${nameOf(section)}</bdi>`,
      grouped(pages),
      percent(pages, root.section.pages),
      html`<i class="a${age}"></i>${ageNames[age]}`,
      flawed === 0 ? "0" : `${grouped(flawed)} (${percent(flawed, pages)})`,
    ];
    return { id: `s${number}`, className: kind === "other" ? ("other" as const) : undefined, level: depth - 1, cells };
  });
  const columns = [["Section"], ["Pages"], ["Share", "minor"], ["Median age", "text"], ["With problems"]] as const;
  return table("Sections of the website", columns, rows);
}

export interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Fills `inside` with one rectangle for each area, in order. The areas must be positive and descending. Cuts the longer side in two, so that
 * both parts have about half of the area, and then each part in the same way.
 */
export function divided(areas: readonly number[], inside: Rectangle): Rectangle[] {
  if (areas.length < 2) return areas.map(() => inside);
  const total = areas.reduce((sum, area) => sum + area, 0);
  let [count, first] = [1, areas[0]!];
  // Takes another area if that brings the first part closer to the half.
  while (count < areas.length - 1 && first + areas[count]! / 2 < total / 2) first += areas[count++]!;
  const { left, top, width, height } = inside;
  const [along, down] = width > height ? [(width * first) / total, height] : [width, (height * first) / total];
  const rest =
    width > height
      ? { left: left + along, top, width: width - along, height }
      : { left, top: top + down, width, height: height - down };
  return [
    ...divided(areas.slice(0, count), { left, top, width: along, height: down }),
    ...divided(areas.slice(count), rest),
  ];
}
