// Runs with `previous`: conditional requests (https://www.rfc-editor.org/rfc/rfc9110#section-13) for what the archive of an earlier run holds
// whole, which is used if the website answers 304, or sends the same bytes. Not requested, but for some each day, are well-known paths without
// a sitemap and, with `trustLastmod`, children of an index that gives them the same `lastmod`.
import { createHash } from "node:crypto";
import { ArchivedBody } from "../archive/archived-body.ts";
import { PreviousArchives } from "../archive/previous.ts";
import { defined } from "../model/defined.ts";
import { SitemapError } from "../model/errors.ts";
import { type ResponseEvent, responseEvent } from "../model/event.ts";
import {
  type Body,
  type DocumentRequest,
  type DocumentSource,
  type Fetched,
  type FetchedDocument,
  type HeaderList,
  header,
} from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import { isTemporary, problem } from "../model/problem.ts";
import type { Start } from "./prepare.ts";
import { read } from "./read.ts";
import { follow, type Hop } from "./redirects.ts";
import type { Reference } from "./visit.ts";

/** Opens the archives of earlier runs. Throws a `SitemapError` where one cannot be read, or is about another website. */
export async function openPrevious(
  { homepage }: Start,
  { previous, signal, limits }: Pick<Settings, "previous" | "signal" | "limits">,
): Promise<PreviousArchives | undefined> {
  if (previous === undefined) return undefined;
  const archives = await PreviousArchives.open(previous, { signal, documents: limits.documents });
  const other = archives.notAbout(homepage);
  if (other === undefined) return archives;
  await archives.close();
  throw new SitemapError("invalid-archive", `${other.path} is about ${other.about}, not ${homepage}`);
}

export const guessDays = 11;
export const trustedDays = 7;

/** Whether this is the day to request a URL that is requested about every so many days. */
export function isDue(url: string, days: number, date: string = new Date().toISOString().slice(0, 10)): boolean {
  return createHash("md5").update(`${date} ${url}`).digest().readUInt32BE() % days === 0;
}

export class Revalidator {
  readonly #network: DocumentSource;
  readonly #previous: PreviousArchives;
  readonly #settings: Settings;
  readonly #onResponse: (event: ResponseEvent) => void;
  readonly #robots: { readonly now: Fetched; readonly before: Fetched["outcome"] | undefined }[] = [];

  /** `network` must not report responses itself. */
  constructor(
    network: DocumentSource,
    previous: PreviousArchives,
    settings: Settings,
    onResponse: (event: ResponseEvent) => void,
  ) {
    this.#network = network;
    this.#previous = previous;
    this.#settings = settings;
    this.#onResponse = onResponse;
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    const unasked = request.notAsked && (await this.#unasked(request));
    if (unasked !== undefined) return this.#told(unasked);
    const now = await this.#asked(request);
    if (request.role === "robots") this.#robots.push({ now, before: (await this.#previous.answer(request))?.outcome });
    return now;
  }

  /** Whether robots.txt is the same as in the previous run; known once it was read. */
  get isRobotsTheSame(): boolean {
    return this.#robots.every(({ now, before }) => {
      if (now.outcome !== before) return false;
      return now.outcome !== "found" || now.came === "not-modified" || now.body.sameAs !== undefined;
    });
  }

  /** Whether there was a sitemap; undefined if it is not certain, or today is the day to look again. */
  async hadSitemap(first: Hop): Promise<boolean | undefined> {
    const had = await this.#hadSitemap(first);
    return had === false && isDue(first.url, guessDays) ? undefined : had;
  }

  /** The same references; those that need no request are marked. `index` is the URL where the index was found. */
  async marked(index: string, references: Reference[]): Promise<Reference[]> {
    const dated = new Map<string, number>();
    for (const [at, { url, lastModified }] of references.entries()) {
      if (lastModified !== undefined && !dated.has(url)) dated.set(url, at);
    }
    const request = { url: index, role: "sitemap" } as const;
    const isTrusted = this.#settings.trustLastmod && dated.size > 0;
    const before = isTrusted ? await this.#previous.document(request) : undefined;
    if (before === undefined) return references;
    for await (const { sitemaps } of read({ ...before, url: index }, this.#settings)) {
      for (const { url, lastModified } of sitemaps) {
        const at = dated.get(url);
        if (at === undefined) continue;
        // Only the first declaration of a child counts.
        dated.delete(url);
        const reference = references[at] as Reference;
        if (reference.lastModified !== lastModified || isDue(url, trustedDays)) continue;
        const child = { url, role: "sitemap" } as const;
        const isOfSameRun = await this.#previous.isOfRunOf(child, request);
        if (isOfSameRun && (await this.#wasWhole(child))) references[at] = { ...reference, notAsked: "unchanged" };
      }
    }
    return references;
  }

  async #asked(request: DocumentRequest): Promise<Fetched> {
    const before = await this.#previous.document(request);
    const conditional = before && conditionalHeaders(before);
    const answer = await this.#network.fetch({ ...request, ...defined({ conditional }) });
    const { attempts, receivedAt, firstByte, headers = [] } = answer;
    if (before !== undefined && conditional !== undefined && isPuzzled(answer)) {
      // The archived document must be intact, and the 304 must be about it.
      const isSame = answer.status === 304 && acceptsAnswer(conditional, headers) && (await before.body.isGood());
      if (!isSame) return this.#told(await this.#network.fetch(request));
      const { notAsked: _, ...document } = before;
      const asked = { attempts, ...defined({ receivedAt, firstByte }) };
      return this.#told({ ...document, ...asked, came: "not-modified", answered: { status: 304, headers } });
    }
    if (answer.outcome !== "found" || before === undefined) return this.#told(answer);
    return this.#compared(answer, before);
  }

  // The answer of an earlier run, if its document is intact.
  async #unasked(request: DocumentRequest): Promise<Fetched | undefined> {
    const before = await this.#previous.answer(request);
    if (before === undefined) return undefined;
    if (before.outcome === "found") {
      const document = await this.#previous.document(request);
      if (document === undefined || !(await document.body.isGood())) return undefined;
    }
    const { answered: _, ...rest } = before as FetchedDocument;
    return { ...rest, attempts: 0, came: "not-asked", notAsked: request.notAsked };
  }

  #told<T extends Fetched>(fetched: T): T {
    this.#onResponse(responseEvent(fetched));
    return fetched;
  }

  // Compares a body with an earlier one while it is received.
  #compared(answer: FetchedDocument, before: { readonly body: ArchivedBody }): FetchedDocument {
    const received = answer.body;
    const onEnd = (came: "same-payload" | "fetched") => this.#onResponse(responseEvent({ ...answer, came }));
    const body = {
      sameAs: undefined as Body | undefined,
      get problem() {
        return received.problem;
      },
      get duration() {
        return received.duration;
      },
      async *[Symbol.asyncIterator]() {
        const digest = await before.body.digest();
        const hash = digest && createHash(digest.algorithm);
        try {
          for await (const piece of received) {
            hash?.update(piece);
            yield piece;
          }
          const isSame = received.problem === undefined && digest !== undefined && hash?.digest("hex") === digest.hex;
          if (isSame && (await before.body.isGood())) body.sameAs = before.body;
        } finally {
          onEnd(body.sameAs === undefined ? "fetched" : "same-payload");
        }
      },
    };
    return { ...answer, body };
  }

  async #hadSitemap(first: Hop): Promise<boolean | undefined> {
    const reason = problem("archive-missing");
    const before = await follow(first, async ({ request }) => {
      return (await this.#previous.answer(request)) ?? { outcome: "failed", ...request, attempts: 0, reason };
    });
    if (before.outcome === "absent") return false;
    if (before.outcome === "blocked") {
      // Too many requests, or a bot check: may be gone next time.
      const { status, reason } = before;
      return reason.code === `http-${status}` && !isTemporary(reason.code) ? false : undefined;
    }
    if (before.outcome !== "found") return undefined;
    const { body } = before.document;
    if (!(body instanceof ArchivedBody) || body.problem !== undefined) return undefined;
    // Up to the first entry; if there is none, to the end.
    const reading = read(before.document, this.#settings);
    const step = await reading.next();
    if (!step.done) await reading.return(undefined as never);
    if (!step.done || step.value.outcome.kind !== "invalid") return true;
    return (await body.isGood()) ? false : undefined;
  }

  // Where something was missing, or there was no sitemap, the website may have mended it without another date.
  async #wasWhole(request: DocumentRequest): Promise<boolean> {
    if (await this.#previous.wasReadWhole(request)) return true;
    const before = await this.#previous.document(request);
    if (before === undefined) return false;
    const reading = read(before, this.#settings);
    let step = await reading.next();
    while (!step.done) step = await reading.next();
    return step.value.complete && step.value.outcome.kind !== "invalid";
  }
}

// Not modified, or the condition confuses the server: the same request without one may bring the document.
function isPuzzled(answer: Fetched): boolean {
  if (answer.outcome === "found") return header(answer.headers, "content-length") === "0";
  return answer.status !== undefined && puzzledStatuses.has(answer.status);
}

const puzzledStatuses: ReadonlySet<number> = new Set([304, 400, 405, 406, 409, 412, 415, 416, 417, 422, 428, 431, 501]);

// Apache adds the coding to an ETag when it compresses, but does not recognize that form: it needs the bare one.
const codingSuffix = /(?:--?|;)(?:gzip|br|zstd|deflate)(?="?$)/i;
// An archive may come from anybody: only a valid header value is sent.
const sendable = /^[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]{0,510}[\x21-\x7e\x80-\xff])?$/;

// Undefined if the document has neither.
function conditionalHeaders({ headers, came }: FetchedDocument): Readonly<Record<string, string>> | undefined {
  const sendableIn = (name: string) => header(headers, name)?.match(sendable)?.[0];
  const date = sendableIn("last-modified");
  // The same bytes came in spite of an ETag: the website, or a proxy before it, ignores it.
  const isIgnored = came === "same-payload" && date !== undefined;
  const etag = isIgnored ? undefined : sendableIn("etag");
  // In If-None-Match, an asterisk means any version.
  const tag = etag?.replaceAll(/"[^"]*"/g, "").includes("*") ? undefined : etag;
  const tags = tag === undefined ? [] : [...new Set([tag, tag.replace(codingSuffix, "")])];
  if (tags.length === 0 && date === undefined) return undefined;
  // The date exactly as received: nginx compares it as text.
  return defined({ "if-none-match": tags.length === 0 ? undefined : tags.join(", "), "if-modified-since": date });
}

// Whether a 304 is about the requested version. It may carry another form of the ETag, or none.
function acceptsAnswer(conditional: Readonly<Record<string, string>>, headers: HeaderList): boolean {
  const tag = header(headers, "etag");
  const asked = conditional["if-none-match"];
  const bare = (each: string) => each.trim().replace(/^W\//, "").replace(codingSuffix, "");
  return tag === undefined || asked === undefined || asked.split(", ").some((one) => bare(one) === bare(tag));
}
