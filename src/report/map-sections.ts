// Chooses the sections of the map: the largest, as far as there is room. Smaller ones are counted together, and a
// section whose only content would be those is shown as a whole.
import type { ReportSection } from "./facts.ts";
import type { Room } from "./room.ts";
import type { Section } from "./sections.ts";
import { shortened } from "./text.ts";

// Share of all pages: smaller ones would be invisible.
const leastShare = 1 / 3000;

/** `root` is the website, below it are hosts. */
export function mapSections(root: Section, room: Room): ReportSection {
  const [only] = root.children;
  const start = merged(root.children.length === 1 && only?.kind === "section" ? only : root);
  const least = Math.max(1, root.pages * leastShare);
  // The largest are opened first, while there is room for their content.
  const opened = new Map<Section, Shown>();
  const waiting: Section[] = [start];
  for (let tiles = 1; waiting.length > 0; ) {
    const next = waiting.reduce((best, section) => (section.pages > best.pages ? section : best));
    waiting.splice(waiting.indexOf(next), 1);
    const shown = shownIn(next, least, room);
    if (shown === undefined || tiles + shown.large.length + shown.rest.length > room.tiles) continue;
    tiles += shown.large.length + shown.rest.length;
    opened.set(next, shown);
    waiting.push(...shown.large.filter(({ kind }) => kind === "section"));
  }
  return drawn(start, opened, room);
}

/** The content of an opened section: its larger sections, and the others together. */
interface Shown {
  readonly large: readonly Section[];
  readonly rest: readonly ReportSection[];
}

// Undefined if nothing in it is large enough to be visible.
function shownIn(section: Section, least: number, room: Room): Shown | undefined {
  const large = section.children.filter(({ kind, pages }) => kind !== "rest" && pages >= least);
  const small = section.children.filter((child) => !large.includes(child));
  if (!large.some(({ kind }) => kind === "section")) return undefined;
  const [single] = small;
  const isSingle = small.length === 1 && single !== undefined && single.kind !== "rest";
  return { large: large.map(merged), rest: isSingle ? [leaf(single, room)] : together(small, section) };
}

function drawn(section: Section, opened: ReadonlyMap<Section, Shown>, room: Room): ReportSection {
  const shown = opened.get(section);
  if (shown === undefined) return leaf(section, room);
  return {
    ...leaf(section, room),
    sections: [...shown.large.map((child) => drawn(child, opened, room)), ...shown.rest],
  };
}

// A section with a single section in it is shown as one: `shop/items`.
function merged(section: Section): Section {
  const [only] = section.children;
  if (section.children.length !== 1 || only?.kind !== "section" || section.name === "") return section;
  return merged({ ...only, name: `${section.name}/${only.name}` });
}

function leaf(section: Section, { name: longest }: Room): ReportSection {
  return {
    name: shortened(section.name, longest),
    ...numbers(section),
    ...(section.kind === "own" ? { kind: "own" as const } : {}),
  };
}

function together(small: readonly Section[], { ages }: Section): ReportSection[] {
  if (small.length === 0) return [];
  const sum = (value: (section: Section) => number) => small.reduce((total, section) => total + value(section), 0);
  return [
    {
      name: "",
      pages: sum(({ pages }) => pages),
      ages: ages.map((_, index) => sum((section) => section.ages[index]!)),
      flawed: sum(({ flawed }) => flawed),
      kind: "other",
      count: sum(({ kind, sections }) => (kind === "rest" ? (sections ?? 1) : 1)),
    },
  ];
}

function numbers({ pages, ages, flawed }: Section): Pick<ReportSection, "pages" | "ages" | "flawed"> {
  return { pages, ages, flawed };
}

export function countTiles({ sections = [] }: ReportSection): number {
  return 1 + sections.reduce((sum, section) => sum + countTiles(section), 0);
}
