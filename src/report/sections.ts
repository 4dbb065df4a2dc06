// Counts the pages of each section of a website: its hosts, and the first directories of their paths. Memory is limited, however many
// directories a website generates: once the tree is full, new ones are counted as "other".
import { ageClasses } from "../check/dates/date-counts.ts";
import type { UrlScan } from "../check/rules/url-scan.ts";
import { detached } from "../model/text.ts";
import type { ReportSection } from "./facts.ts";

const depth = 3;
const mostNodes = 20_000;
// The last quarter of the nodes is reserved for hosts and first directories, which matter most.
const mostDeepNodes = 15_000;
// A directory accepts no more than this many directories, if they have fewer than `fewPages` pages on average, such as article numbers.
const manyChildren = 2000;
const fewPages = 3;
/** The maximum length of a name in characters. */
const longestName = 200;

interface Node {
  readonly number: number;
  readonly name: string;
  readonly level: number;
  /** Pages by age class, then flawed pages. */
  readonly counts: number[];
  children: Map<string, Node> | undefined;
  /** Counts the pages in children that were not accepted. */
  rest: Node | undefined;
  isClosed: boolean;
}

export class Sections {
  readonly #nodes: Node[] = [];
  readonly #root: Node = this.#create("", 0);

  /** Counts a page, and returns the number of its section, which fits into 16 bits. */
  add(url: string, scan: UrlScan, age: number): number {
    const { number, counts } = this.#find(url, scan);
    counts[age]! += 1;
    return number;
  }

  /** Counts a flawed page in the section with this number. The page itself was counted before. */
  addFlaw(number: number): void {
    this.#nodes[number]!.counts[ageClasses]! += 1;
  }

  /** Returns everything that was counted. The root is the website; below it are hosts. */
  toTree(): ReportSection {
    return sectionOf(this.#root);
  }

  #find(url: string, { hostEnd, query, fragment }: UrlScan): Node {
    const end = query >= 0 ? query : fragment >= 0 ? fragment : url.length;
    let node = this.#child(this.#root, url.slice(url.indexOf("//") + 2, hostEnd).toLowerCase());
    let start = hostEnd + 1;
    for (let level = 0; level < depth && start < end; level++) {
      const slash = url.indexOf("/", start);
      if (slash < 0 || slash >= end) break;
      // Two slashes in a row count as one.
      if (slash > start) node = this.#child(node, url.slice(start, Math.min(slash, start + longestName)));
      start = slash + 1;
    }
    // Pages of one program, such as `product.php?id=1`, belong together.
    if (query >= 0 && query > start && query - start <= longestName && url.indexOf("/", start) < 0) {
      return this.#child(node, `${url.slice(start, query)}?`);
    }
    return node;
  }

  #child(parent: Node, name: string): Node {
    const known = parent.children?.get(name);
    if (known !== undefined) return known;
    const { level } = parent;
    // Everything below an "other" section is counted there.
    if (parent.name === "" && level > 0) return parent;
    if (parent.isClosed || this.#nodes.length >= (level < 2 ? mostNodes : mostDeepNodes)) {
      parent.rest ??= this.#create("", level + 1);
      return parent.rest;
    }
    const node = this.#create(detached(name), level + 1);
    parent.children ??= new Map();
    parent.children.set(node.name, node);
    if (parent.children.size === manyChildren) {
      parent.isClosed = level > 0 && sectionOf(parent).pages < manyChildren * fewPages;
    }
    return node;
  }

  #create(name: string, level: number): Node {
    const counts = Array.from({ length: ageClasses + 1 }, () => 0);
    const number = this.#nodes.length;
    const node = { number, name, level, counts, children: undefined, rest: undefined, isClosed: false };
    this.#nodes.push(node);
    return node;
  }
}

function sectionOf({ name, counts, children, rest }: Node): ReportSection {
  const ages = counts.slice(0, ageClasses);
  const pages = ages.reduce((sum, count) => sum + count, 0);
  const own = { name, pages, ages, flawed: counts[ageClasses]! };
  const sections = [...(children?.values() ?? [])].map(sectionOf);
  if (rest !== undefined) sections.push({ ...sectionOf(rest), kind: "other" });
  if (sections.length === 0) return own;
  if (pages > 0) sections.push({ ...own, kind: "own" });
  // Names are compared by code units, so that the order does not depend on the locale.
  sections.sort((one, two) => two.pages - one.pages || (one.name < two.name ? -1 : one.name > two.name ? 1 : 0));
  return { name, ...totalOf(sections), sections };
}

/** Adds up the counts of several sections. */
export function totalOf(sections: readonly ReportSection[]): Pick<ReportSection, "pages" | "ages" | "flawed"> {
  const sum = (value: (section: ReportSection) => number) => sections.reduce((total, each) => total + value(each), 0);
  return {
    pages: sum(({ pages }) => pages),
    ages: Array.from({ length: ageClasses }, (_, age) => sum(({ ages }) => ages[age]!)),
    flawed: sum(({ flawed }) => flawed),
  };
}
