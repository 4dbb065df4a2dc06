// The sections of a website: hosts, and the first directories of their paths, as a tree with counters. Memory is
// limited, however many directories a website generates: when the tree is full, its smallest leaves are counted
// together with their siblings.
import type { Block } from "../archive/file.ts";
import { Scratch } from "../archive/scratch.ts";
import type { UrlScan } from "../check/url-scan.ts";
import { Marks } from "../join/marks.ts";
import type { ReportSection } from "./report-tree.ts";

/** The classes of age: at most 30 days, 90 days, half a year, one year, two years, longer; the last one is for no date. */
const ageClasses = 7;
export const noDate: number = ageClasses - 1;

const depth = 3;
const mostNodes = 20_000;
// The limit of numbers: if a website generates directories without end, the tree stops growing.
const mostNumbers = 200_000;
// Directories that are article numbers, with one page each, are not sections: a parent accepts no more of them.
const manyFolded = 2000;
const fewPages = 3;
/** Characters of a name that are kept. */
const longestName = 200;

// The counters of a node: pages by age class, then flawed pages.
const flawedAt = ageClasses;
const width = ageClasses + 1;

interface Node {
  readonly number: number;
  readonly name: string;
  readonly parent: Node | undefined;
  // Stands for nodes that were folded into one; has no children.
  readonly isRest: boolean;
  children: Map<string, Node> | undefined;
  // The folded nodes: their counters, how many nodes, how many pages.
  rest: Node | undefined;
  folded: number;
  foldedPages: number;
}

export class Sections {
  readonly #root: Node;
  #nodes = 0;
  #numbers = 0;
  #counters = new Int32Array(width * 1024);
  // By number: the node that counts the pages of a folded one.
  #redirects = new Int32Array(1024);
  // Most pages are in the section of the page before.
  #prefix = "";
  #prefixNode: Node | undefined;

  constructor() {
    this.#root = this.#create("", undefined);
  }

  /** Counts a page, and returns the number of its section. */
  add(url: string, { hostEnd, query, fragment }: UrlScan, age: number, isFlawed: boolean): number {
    const node = this.#find(url, hostEnd, query, fragment);
    const at = node.number * width;
    this.#counters[at + age]!++;
    if (isFlawed) this.#counters[at + flawedAt]!++;
    return node.number;
  }

  /** Adds one page with a finding to the section with this number. */
  addFlaw(number: number): void {
    this.#counters[this.#resolve(number) * width + flawedAt]!++;
  }

  /** Everything that was counted. The root is the website; below it are hosts. */
  toTree(): ReportSection {
    return this.#section(this.#root);
  }

  #find(url: string, hostEnd: number, query: number, fragment: number): Node {
    const end = query >= 0 ? query : fragment >= 0 ? fragment : url.length;
    const prefix = this.#prefix;
    if (
      this.#prefixNode !== undefined &&
      query < 0 &&
      fragment < 0 &&
      url.startsWith(prefix) &&
      url.indexOf("/", prefix.length) < 0
    ) {
      return this.#prefixNode;
    }
    let node = this.#child(this.#root, url.slice(url.indexOf("//") + 2, hostEnd).toLowerCase());
    let start = hostEnd + 1;
    for (let level = 0; level < depth && start < end; level++) {
      const slash = url.indexOf("/", start);
      if (slash < 0 || slash >= end) break;
      // Two slashes in a row are one.
      if (slash > start) node = this.#child(node, url.slice(start, Math.min(slash, start + longestName)));
      start = slash + 1;
    }
    // Pages of one program, such as `product.php?id=1`, belong together.
    if (query >= 0 && query > start && query - start <= longestName && url.indexOf("/", start) < 0) {
      return this.#child(node, `${url.slice(start, query)}?`);
    }
    if (query < 0 && fragment < 0 && start <= end) {
      // Not copied: it keeps the text of at most one document alive a little longer.
      this.#prefix = url.slice(0, start);
      this.#prefixNode = node;
    }
    return node;
  }

  #child(parent: Node, name: string): Node {
    const known = parent.children?.get(name);
    if (known !== undefined) return known;
    if (parent.isRest) return parent;
    if (this.#nodes >= mostNodes && this.#numbers < mostNumbers) this.#fold(parent);
    if (this.#nodes >= mostNodes || this.#numbers >= mostNumbers || takesNoMore(parent)) {
      parent.folded += 1;
      parent.foldedPages += 1;
      return this.#rest(parent);
    }
    const node = this.#create(copied(name), parent);
    parent.children ??= new Map();
    parent.children.set(node.name, node);
    return node;
  }

  #create(name: string, parent: Node | undefined, isRest: boolean = false): Node {
    const number = this.#numbers++;
    this.#nodes += 1;
    if ((number + 1) * width > this.#counters.length) this.#counters = grown(this.#counters);
    if (number >= this.#redirects.length) this.#redirects = grown(this.#redirects);
    this.#redirects[number] = number;
    return { number, name, parent, isRest, children: undefined, rest: undefined, folded: 0, foldedPages: 0 };
  }

  #rest(parent: Node): Node {
    parent.rest ??= this.#create("", parent, true);
    return parent.rest;
  }

  // The smaller half of all leaves, each into the rest of its parent. Hosts stay as long as there are other leaves.
  // So does `used`, which is about to get a child.
  #fold(used: Node): void {
    const leaves: { node: Node; pages: number; isHost: boolean }[] = [];
    const visit = (node: Node) => {
      for (const child of node.children?.values() ?? []) {
        if (child.children !== undefined) visit(child);
        else if (child !== used) leaves.push({ node: child, pages: this.#pages(child), isHost: node === this.#root });
      }
    };
    visit(this.#root);
    // Of two with equal pages, the later one is folded.
    leaves.sort(
      (one, two) =>
        Number(one.isHost) - Number(two.isHost) || one.pages - two.pages || two.node.number - one.node.number,
    );
    for (const { node, pages } of leaves.slice(0, Math.ceil(leaves.length / 2))) {
      const parent = node.parent as Node;
      const rest = this.#rest(parent);
      this.#moveTo(rest, node);
      if (node.rest !== undefined) this.#moveTo(rest, node.rest);
      parent.children?.delete(node.name);
      if (parent.children?.size === 0) parent.children = undefined;
      parent.folded += 1 + node.folded;
      parent.foldedPages += pages;
    }
    this.#prefixNode = undefined;
  }

  #moveTo(rest: Node, node: Node): void {
    for (let index = 0; index < width; index++) {
      this.#counters[rest.number * width + index]! += this.#counters[node.number * width + index]!;
    }
    this.#redirects[node.number] = rest.number;
    this.#nodes -= 1;
  }

  #resolve(number: number): number {
    let at = number;
    while (this.#redirects[at] !== at) at = this.#redirects[at]!;
    return at;
  }

  // With those that were folded into it.
  #pages(node: Node): number {
    let sum = node.rest === undefined ? 0 : this.#pages(node.rest);
    for (let index = 0; index < flawedAt; index++) sum += this.#counters[node.number * width + index]!;
    return sum;
  }

  #section(node: Node): ReportSection {
    const at = node.number * width;
    const { name } = node;
    const ages = [...this.#counters.subarray(at, at + flawedAt)];
    const pages = ages.reduce((sum, count) => sum + count, 0);
    const own = { name, pages, ages, flawed: this.#counters[at + flawedAt]! };
    const sections = [...(node.children?.values() ?? [])].map((child) => this.#section(child));
    if (node.rest !== undefined) sections.push({ ...this.#section(node.rest), kind: "other", count: node.folded });
    if (sections.length === 0) return own;
    if (pages > 0) sections.push({ ...own, kind: "own" });
    // By size, then by name in code units, so that the order is the same everywhere.
    sections.sort((one, two) => two.pages - one.pages || (one.name < two.name ? -1 : one.name > two.name ? 1 : 0));
    return { name, ...totalOf(sections), sections };
  }
}

/** The counts of several sections together. */
export function totalOf(sections: readonly ReportSection[]): Pick<ReportSection, "pages" | "ages" | "flawed"> {
  const sum = (value: (section: ReportSection) => number) => sections.reduce((total, each) => total + value(each), 0);
  return {
    pages: sum(({ pages }) => pages),
    ages: Array.from({ length: ageClasses }, (_, age) => sum(({ ages }) => ages[age]!)),
    flawed: sum(({ flawed }) => flawed),
  };
}

function takesNoMore({ folded, foldedPages }: Node): boolean {
  return folded >= manyFolded && foldedPages < folded * fewPages;
}

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

/** A copy that keeps nothing alive of the document that it was cut from. */
function copied(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

// Four bytes a page.
const blockLength = 16_384;
// The top bit: the page has a finding already.
const flawedBit = 0x8000_0000;

/**
 * The section of each page, by its number: rules across sitemaps name pages by number after the last page. On disk if
 * there are many.
 */
export class PageSections {
  readonly #scratch = new Scratch();
  readonly #pieces: Block[] = [];
  #full: Uint32Array[] = [];
  #block = new Uint32Array(blockLength);
  #fill = 0;
  #count = 0;
  #flawed: Marks | undefined;

  add(section: number, isFlawed: boolean): void {
    if (this.#fill === blockLength) {
      this.#full.push(this.#block);
      this.#block = new Uint32Array(blockLength);
      this.#fill = 0;
    }
    this.#block[this.#fill++] = isFlawed ? section | flawedBit : section;
    this.#count += 1;
  }

  async flush(): Promise<void> {
    if (this.#full.length === 0) return;
    const full = this.#full;
    this.#full = [];
    for (const block of full) this.#pieces.push(await this.#scratch.put(new Uint8Array(block.buffer)));
  }

  /** Must be called after the last page. */
  flaw(ordinal: number): void {
    this.#flawed ??= new Marks(this.#count);
    this.#flawed.set(ordinal);
  }

  /** The section of each page that `flaw` named and that was not flawed before. Ends the use of this object. */
  async *newlyFlawed(): AsyncGenerator<number, void> {
    try {
      await this.flush();
      const flawed = this.#flawed;
      if (flawed === undefined) return;
      let ordinal = 0;
      for (let index = 0; index <= this.#pieces.length; index++) {
        const piece = this.#pieces[index];
        const bytes = piece === undefined ? undefined : await this.#scratch.get(piece);
        const words =
          bytes === undefined
            ? this.#block.subarray(0, this.#fill)
            : new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
        for (const word of words) {
          if (flawed.get(ordinal) !== 0 && word < flawedBit) yield word;
          ordinal += 1;
        }
      }
    } finally {
      await this.#scratch.close();
    }
  }

  async close(): Promise<void> {
    await this.#scratch.close();
  }
}
