// Which sections the map shows: the largest, at most 600 of them. Smaller ones are counted together, and a section that would hold
// nothing else is shown as a whole.
import type { ReportSection } from "./facts.ts";
import type { Section } from "./sections.ts";
import { shortened } from "./text.ts";

export const mostTiles = 600;
// Of all pages: what is smaller cannot be seen.
const leastShare = 1 / 3000;
const longestName = 80;

/** `root` is the website, below it are hosts. */
export function mapSections(root: Section): ReportSection {
  const [only] = root.children;
  const start: Section = root.children.length === 1 && only?.kind === "section" ? only : root;
  for (let least = root.pages * leastShare; ; least = least * 1.5 + 1) {
    const map = pruned(start, Math.max(1, least));
    if (countTiles(map) <= mostTiles) return map;
  }
}

function pruned(section: Section, least: number): ReportSection {
  const { children } = section;
  const [only] = children;
  if (children.length === 1 && only?.kind === "section" && section.name !== "") {
    return pruned({ ...only, name: `${section.name}/${only.name}` }, least);
  }
  const large = children.filter(({ kind, pages }) => kind !== "rest" && pages >= least);
  const small = children.filter((child) => !large.includes(child));
  const whole = { ...numbers(section), name: shortened(section.name, longestName) };
  if (!large.some(({ kind }) => kind === "section")) return whole;
  const [single] = small;
  const last =
    single !== undefined && small.length === 1 && single.kind !== "rest" ? [leaf(single)] : together(small, section);
  return {
    ...whole,
    sections: [...large.map((child) => (child.kind === "own" ? leaf(child) : pruned(child, least))), ...last],
  };
}

function leaf(section: Section): ReportSection {
  return {
    name: shortened(section.name, longestName),
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
