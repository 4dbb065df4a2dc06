// A tree as one side of a diff: one of the caller's, or one that is built while its pages are read.
import { type ReadDocument, type Reading, type ReadSettings, read } from "../crawl/read.ts";
import type { OrderedEvent } from "../model/event.ts";
import { header } from "../model/exchange.ts";
import type { SitemapPage } from "../model/page.ts";
import type { PagesSitemap, Sitemap } from "../model/sitemap.ts";
import type { WhileBuilding } from "../tree/build.ts";
import { walkNodes } from "../tree/parts.ts";
import { documentsOf, type SitemapTree } from "../tree/tree.ts";
import type { Side, SideSitemap } from "./diff-side.ts";
import type { PageList, PageLists } from "./page-lists.ts";

/** Builds a tree, and reads its documents at the same time. */
export type MakeTree = (building: WhileBuilding) => Promise<SitemapTree>;

export class TreeSide implements Side {
  readonly kind = "tree";
  readonly hasFields = true;
  /** By URL: how its lists of pages were read while the tree was built. */
  readonly readings: Map<string, Reading> = new Map();
  readonly #source: SitemapTree | MakeTree;
  readonly #sitemaps = new Map<string, SideSitemap>();
  readonly #indexes = new Map<string | undefined, boolean>();
  /** By URL: the first node with it. */
  readonly #pages = new Map<string, PagesSitemap>();
  readonly #indexUrls = new Set<string>();
  readonly #lists = new Map<string, PageList>();
  #tree: SitemapTree | undefined;

  constructor(source: SitemapTree | MakeTree) {
    this.#source = source;
  }

  get homepage(): string {
    return this.#made.homepage;
  }

  get complete(): boolean {
    return this.#made.complete;
  }

  get sitemaps(): ReadonlyMap<string, SideSitemap> {
    return this.#sitemaps;
  }

  namesAll(index: string | undefined): boolean | undefined {
    return this.#indexes.get(index);
  }

  async scan(lists: PageLists, before: Side | undefined): Promise<void> {
    const other = before instanceof TreeSide ? before : undefined;
    if (typeof this.#source === "function") {
      this.#tree = await this.#source({
        onOrdered: (event: OrderedEvent) => (event.type === "pages" ? lists.add(event.url, event.pages) : undefined),
        read: other === undefined ? readAndKeep(this.readings) : readUnlessSame(other, lists),
      });
    } else {
      this.#tree = this.#source;
    }
    this.#look(this.#tree);
    if (typeof this.#source !== "function") await this.#walk(this.#tree, lists, other);
    for (const list of lists.lists) {
      const node = this.#pages.get(list.sitemap);
      // A URL that gave two documents, one of them to an anonymous request, can be read again once.
      if (node === undefined || this.#lists.has(list.sitemap)) {
        list.isVoid = true;
        continue;
      }
      if (node.pageCount !== list.count)
        throw new Error(`The pages of ${list.sitemap} were not read as they were counted`);
      list.key = node.declaredUrl ?? list.sitemap;
      this.#lists.set(list.sitemap, list);
    }
  }

  async *read(list: PageList): AsyncGenerator<readonly SitemapPage[], void> {
    const node = this.#pages.get(list.sitemap);
    if (node === undefined) return;
    for await (const step of this.#made.walk(node)) if (step.type === "pages") yield step.pages;
  }

  /**
   * Looks for a list that was read from a document with the same URL, bytes and headers, by the same rules: it has the same pages.
   * Where there is none, the document has to be read from `body`: its own may be used up.
   */
  async compare({ url = "", headers, body }: Document, settings: ReadSettings): Promise<Compared> {
    const node = this.#pages.get(url);
    const list = this.#lists.get(url);
    const documents = documentsOf(this.#made);
    if (node === undefined || list === undefined || !areSame(settings, documents.settings)) return { body };
    // An index that also lists pages has to be read for its sitemaps.
    if (this.#indexUrls.has(url)) return { body };
    const own = await documents.find(url);
    if (own.outcome !== "found" || own.body.problem !== undefined) return { body };
    const isSaidTheSame = (name: string) => header(own.headers, name) === header(headers, name);
    if (!isSaidTheSame("content-type") || !isSaidTheSame("content-encoding")) return { body };
    const compared = await compareBytes(own.body, body);
    if (compared.same && body.problem === undefined) return { list };
    const bytes = compared.same ? own.body : compared.others;
    return {
      body: {
        [Symbol.asyncIterator]: () => bytes[Symbol.asyncIterator](),
        get problem() {
          return body.problem;
        },
      },
    };
  }

  /** Closes the tree, unless it is the caller's. */
  async close(): Promise<void> {
    if (typeof this.#source === "function") await this.#tree?.close();
  }

  get #made(): SitemapTree {
    if (this.#tree === undefined) throw new Error("The side was not read yet");
    return this.#tree;
  }

  // The root and robots.txt are not sitemaps with pages: they only name others.
  #look(tree: SitemapTree): void {
    const isComplete = (sitemap: Sitemap) => sitemap.kind !== "invalid" && sitemap.complete;
    this.#indexes.set(undefined, isComplete(tree.root));
    const parents: (string | undefined)[] = [];
    const visit = (sitemap: Sitemap, depth: number) => {
      parents.length = depth;
      const parent = parents.at(-1);
      const key = sitemap.declaredUrl ?? sitemap.url;
      const isOwnPages = sitemap.kind === "pages" && key === parent;
      if (sitemap.kind === "pages" && !this.#pages.has(sitemap.url)) this.#pages.set(sitemap.url, sitemap);
      if (sitemap.kind === "index" && depth > 0) {
        this.#indexUrls.add(sitemap.url);
        if (!this.#indexes.has(key)) this.#indexes.set(key, sitemap.complete);
      }
      const isNamed = depth > 0 && !isOwnPages && !(sitemap.kind === "index" && sitemap.format === "robots");
      if (isNamed && !this.#sitemaps.has(key)) {
        this.#sitemaps.set(key, { reason: sitemap.kind === "invalid" ? sitemap.reason : undefined, parent });
      }
      parents.push(depth === 0 ? undefined : key);
    };
    for (const { type, sitemap, depth } of walkNodes(tree.root)) if (type === "enter") visit(sitemap, depth);
  }

  async #walk(tree: SitemapTree, lists: PageLists, other: TreeSide | undefined): Promise<void> {
    const documents = documentsOf(tree);
    for (const node of this.#pages.values()) {
      const document = other && (await documents.find(node.url));
      const compared = document?.outcome === "found" ? await other?.compare(document, documents.settings) : undefined;
      if (compared?.list !== undefined && compared.list.count === node.pageCount) {
        lists.addSame(node.url, compared.list);
        continue;
      }
      for await (const step of tree.walk(node)) if (step.type === "pages") await lists.add(node.url, step.pages);
    }
  }
}

type Document = Parameters<ReadDocument>[0];
type Compared =
  | { readonly list: PageList; readonly body?: undefined }
  | { readonly list?: undefined; readonly body: Document["body"] };

function readAndKeep(readings: Map<string, Reading>): ReadDocument {
  return async function* (document, settings) {
    const reading = yield* read(document, settings);
    const { url = "", anonymous } = document;
    if (reading.outcome.kind === "pages" && !anonymous) readings.set(url, reading);
    return reading;
  };
}

// A document with the same bytes as on the other side is not read: its pages are known.
function readUnlessSame(other: TreeSide, lists: PageLists): ReadDocument {
  return async function* (document, settings) {
    const { url = "" } = document;
    const reading = other.readings.get(url);
    if (reading === undefined) return yield* read(document, settings);
    const { list, body } = await other.compare(document, settings);
    if (list === undefined) return yield* read({ ...document, body }, settings);
    lists.addSame(url, list);
    return { ...reading, untoldPages: list.count };
  };
}

// A budget of the whole website can end a document early.
function areSame(one: ReadSettings, other: ReadSettings): boolean {
  const { pages, bytes, ...limits } = one.limits;
  const { pages: otherPages, bytes: otherBytes, ...otherLimits } = other.limits;
  if ([pages, otherPages, bytes, otherBytes].some(Number.isFinite) || one.strict !== other.strict) return false;
  const [all, otherAll] = [
    { ...limits, time: 0, rewrite: one.rewrite },
    { ...otherLimits, time: 0, rewrite: other.rewrite },
  ];
  return JSON.stringify(all) === JSON.stringify(otherAll);
}

/**
 * Compares bytes that can be read any number of times with others that can be read once. Cheaper than a digest of both: most
 * differences are near the beginning, and the rest is then not compared. If they differ, it returns the
 * others again: the equal part comes from the first.
 */
async function compareBytes(
  known: AsyncIterable<Uint8Array>,
  others: AsyncIterable<Uint8Array>,
): Promise<{ readonly same: true } | { readonly same: false; readonly others: AsyncIterable<Uint8Array> }> {
  const ones = known[Symbol.asyncIterator]();
  const rest = others[Symbol.asyncIterator]();
  let left = nothing;
  let right = nothing;
  let passed = 0;
  try {
    for (;;) {
      if (left.length === 0) left = await next(ones);
      if (right.length === 0) right = await next(rest);
      const length = Math.min(left.length, right.length);
      if (length === 0 && left.length === right.length) return { same: true };
      const isSame = length > 0 && Buffer.compare(left.subarray(0, length), right.subarray(0, length)) === 0;
      if (!isSame) return { same: false, others: joined(known, passed, right, rest) };
      left = left.subarray(length);
      right = right.subarray(length);
      passed += length;
    }
  } catch (error) {
    await rest.return?.();
    throw error;
  } finally {
    await ones.return?.();
  }
}

/** The first bytes of one, then a piece, then the rest of another. */
async function* joined(
  known: AsyncIterable<Uint8Array>,
  length: number,
  piece: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  try {
    let left = length;
    if (left > 0) {
      for await (const bytes of known) {
        yield bytes.subarray(0, left);
        left -= bytes.length;
        if (left <= 0) break;
      }
    }
    if (piece.length > 0) yield piece;
    for (let bytes = await next(rest); bytes.length > 0; bytes = await next(rest)) yield bytes;
  } finally {
    await rest.return?.();
  }
}

// Empty at the end, and only there.
async function next(bytes: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  for (;;) {
    const step = await bytes.next();
    if (step.done) return nothing;
    if (step.value.length > 0) return step.value;
  }
}

const nothing: Uint8Array = new Uint8Array(0);
