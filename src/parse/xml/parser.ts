// Parses an XML document: its root element determines the format.
//   Lenient: a sitemap or feed inside something else, such as an HTML page, is read.
//   Lenient: elements before the root, such as a PHP warning in HTML, are skipped.

import type { DocumentProblemCode } from "../../model/problem-code.ts";
import type { Problem } from "../../model/problem-facts.ts";
import { documentProblem, notSitemap } from "../../model/problem-log.ts";
import type { TextPiece } from "../../model/text.ts";
import { type Entries, type EntryParser, EntrySink, type ParseContext, type ParseOutcome } from "../entries.ts";
import { baseLevels, FeedReader, feedFormats } from "../feed.ts";
import { knownVocabulary, type Vocabulary } from "../namespaces.ts";
import { TableReader } from "../table.ts";
import { UrlsetReader, urlsetFormats } from "../urlset.ts";
import type { XmlAttributes } from "./attributes.ts";
import type { XmlHandler, XmlName } from "./names.ts";
import { XmlScanner } from "./scanner.ts";

type Root = keyof typeof formats;

export class XmlParser implements EntryParser, XmlHandler {
  readonly #context: ParseContext;
  readonly #scanner: XmlScanner;
  readonly #sink: EntrySink;
  #root: Root | undefined;
  // Called at the end of the document.
  #finish: () => void = () => {};
  #feed: FeedReader | undefined;
  // The first element, if it is not the root of a format.
  #otherRoot: string | undefined;

  /** `linesBefore` is how many line ends of the document were removed before the written text. */
  constructor(context: ParseContext, linesBefore = 0) {
    this.#context = context;
    this.#scanner = new XmlScanner(this, context, linesBefore);
    this.#sink = new EntrySink(this.#scanner.cursor, context);
  }

  get stopped(): boolean {
    return this.#scanner.cursor.stopped;
  }

  write(piece: TextPiece): Entries {
    this.#scanner.write(piece);
    return this.#sink.take();
  }

  end(): Entries {
    const { problems } = this.#context;
    this.#scanner.end();
    // `strict` drops an incomplete entry.
    if (!problems.has("xml-not-well-formed")) this.#finish();
    const isEmpty = this.#root !== undefined && !this.#isOtherRdf && this.#sink.entryCount === 0;
    if (isEmpty && problems.complete) problems.add("no-entries");
    return this.#sink.finish();
  }

  get outcome(): ParseOutcome {
    const refused = this.#found("xml-dtd-refused");
    if (refused !== undefined) return { kind: "invalid", reason: refused };
    if (this.#root === undefined) return { kind: "invalid", reason: this.#noRoot() };
    if (this.#isOtherRdf)
      return {
        kind: "invalid",
        reason: documentProblem("not-a-sitemap", { value: this.#otherRoot?.toLowerCase() ?? "rdf" }),
      };
    if (this.#feed !== undefined) {
      const { next } = this.#feed;
      const format = this.#root === "feed" || this.#root === "entry" ? "atom" : "rss";
      return { kind: "pages", format, ...(next === undefined ? {} : { next }) };
    }
    // If the content contradicts the name of the root, the content decides.
    if (this.#sink.count("sitemap") > 0) return { kind: "index", format: "xml" };
    if (this.#sink.count("page") > 0 || this.#root === "urlset") return { kind: "pages", format: "xml" };
    return { kind: "index", format: "xml" };
  }

  // RDF can describe anything; only some RDF documents are RSS.
  get #isOtherRdf(): boolean {
    return this.#root === "rdf" && this.#sink.entryCount === 0 && !this.#feed?.hasChannel;
  }

  #noRoot(): Problem {
    // The root element of an HTML page may lack its tag.
    const found = this.#scanner.isHtml ? "html" : this.#otherRoot?.toLowerCase();
    if (found !== undefined) return documentProblem("not-a-sitemap", { value: found });
    return this.#found("xml-truncated") ?? notSitemap("XML without a root");
  }

  #found(wanted: DocumentProblemCode): Problem | undefined {
    return this.#context.problems.toArray().find(({ code }) => code === wanted);
  }

  // Handles elements until the root of a format is found, which gets its own reader.
  open(name: XmlName, attributes: XmlAttributes): false {
    const isNested = this.#scanner.depth > 1;
    const root = rootOf(name);
    if (root === undefined || (isNested && !this.#mayBeNested(root, name))) {
      this.#otherRoot ??= name.local;
      return false;
    }
    if (isNested) this.#scanner.cursor.report("xml-root-name", this.#otherRoot);
    else if (this.#otherRoot !== undefined) this.#scanner.cursor.report("xml-junk-before-root", `<${this.#otherRoot}>`);
    if (name.local !== formats[root].root.name) this.#scanner.cursor.report("xml-root-name", name.raw);
    this.#scanner.isInDocument = true;
    this.#scanner.namespaces.keep();
    this.#root ??= root;
    this.#scanner.handler = this.#createReader(root, name, attributes);
    return false;
  }

  // In an HTML page, a custom element may be called `feed`, and an image may contain RDF.
  #mayBeNested(root: Root, { namespace }: XmlName): boolean {
    if (root === "urlset" || root === "sitemapindex" || root === "rss") return true;
    const needed = root === "feed" ? namespace : root === "rdf" ? this.#scanner.namespaces.lookup("") : undefined;
    const vocabulary = knownVocabulary(needed ?? "")?.vocabulary;
    return vocabulary === "atom" || vocabulary === "rss";
  }

  close(): void {}

  #createReader(root: Root, name: XmlName, attributes: XmlAttributes): XmlHandler {
    const { cursor } = this.#scanner;
    const { limits, url, urlsOnly } = this.#context;
    const report = cursor.report.bind(cursor);
    if (root === "urlset" || root === "sitemapindex") {
      const target = new UrlsetReader(this.#sink, limits, report, urlsOnly);
      this.#finish = () => target.finish();
      return new TableReader(urlsetFormats[root], name, target, this.#scanner);
    }
    const target = new FeedReader(this.#sink, report, url, root === "feed" || root === "entry");
    this.#feed ??= target;
    target.setBase(baseLevels.root, attributes);
    target.hasChannel ||= declaresRss(attributes);
    if (root === "entry") target.begin(attributes);
    return new TableReader(feedFormats[root], name, target, this.#scanner);
  }
}

function declaresRss(attributes: XmlAttributes): boolean {
  for (let index = 0; index < attributes.count; index++) {
    if (!attributes.name(index).startsWith("xmlns")) continue;
    if (knownVocabulary(attributes.value(index))?.vocabulary === "rss") return true;
  }
  return false;
}

// Roots are recognized by name, and common words also by namespace. Otherwise, a wrong namespace is only reported.
function rootOf({ lower, prefix, namespace }: XmlName): Root | undefined {
  if (!isRoot(lower)) return undefined;
  const needed = commonWords[lower];
  const isKnown = needed === undefined || knownVocabulary(namespace)?.vocabulary === needed;
  return isKnown || (lower === "rdf" && prefix.toLowerCase() === "rdf") ? lower : undefined;
}

function isRoot(name: string): name is Root {
  return Object.hasOwn(formats, name);
}

const formats = { ...urlsetFormats, ...feedFormats };
// These names are common words, so they are roots only in their namespaces. The prefix `rdf` needs no namespace.
const commonWords: Readonly<Partial<Record<Root, Vocabulary>>> = { entry: "atom", channel: "rss", rdf: "rdf" };
