// Runs with `previous`: conditional requests (ETag, Last-Modified) for documents that the archive of an earlier run
// holds whole. The document is taken from the archive if the website answers 304, or sends the same bytes again.
import { createHash } from "node:crypto";
import type { ArchivedBody } from "../archive/archived-body.ts";
import { PreviousArchives } from "../archive/previous.ts";
import { SitemapError } from "../model/errors.ts";
import { type ResponseEvent, responseEvent } from "../model/event.ts";
import {
  type Body,
  type DocumentRequest,
  type DocumentSource,
  type Fetched,
  type FetchedDocument,
  header,
} from "../model/exchange.ts";
import type { Settings } from "../model/options.ts";
import type { Start } from "./target.ts";
import { acceptsAnswer, conditionalHeaders } from "./validators.ts";

export { EarlierRun } from "./earlier-run.ts";

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

export interface RevalidatorOptions {
  /** Must not report responses itself. */
  readonly network: DocumentSource;
  readonly previous: PreviousArchives;
  readonly onResponse: (event: ResponseEvent) => void;
}

export class Revalidator implements DocumentSource {
  readonly #network: DocumentSource;
  readonly #previous: PreviousArchives;
  readonly #onResponse: (event: ResponseEvent) => void;
  readonly #robots: { readonly now: Fetched; readonly before: Fetched["outcome"] | undefined }[] = [];

  constructor({ network, previous, onResponse }: RevalidatorOptions) {
    this.#network = network;
    this.#previous = previous;
    this.#onResponse = onResponse;
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    const unasked = request.notAsked ? await this.#unasked(request) : undefined;
    const now = unasked === undefined ? await this.#asked(request) : this.#told(unasked);
    if (unasked !== undefined) return now;
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

  async #asked(request: DocumentRequest): Promise<Fetched> {
    const before = await this.#previous.document(request);
    const conditional = before && conditionalHeaders(before);
    const answer = await this.#network.fetch({ ...request, ...(conditional && { conditional }) });
    if (before !== undefined && conditional !== undefined && answer.status === 304 && "reason" in answer) {
      const { headers = [] } = answer;
      // The archived document must be intact, and the 304 must be about it.
      if (acceptsAnswer(conditional, headers) && (await before.body.isGood())) {
        const { status, attempts, receivedAt, firstByte } = answer;
        const asked = { attempts, ...(receivedAt && { receivedAt }), ...(firstByte !== undefined && { firstByte }) };
        const { notAsked: _, ...document } = before;
        return this.#told({ ...document, ...asked, came: "not-modified", answered: { status, headers } });
      }
      return this.#told(await this.#network.fetch(request));
    }
    if (conditional !== undefined && isPuzzled(answer)) return this.#told(await this.#network.fetch(request));
    if (answer.outcome !== "found" || before === undefined) return this.#told(answer);
    return this.#compared(answer, before);
  }

  tellsApart(url: string): boolean {
    return this.#network.tellsApart?.(url) === true;
  }

  hasRoomFor(url: string): boolean {
    return this.#network.hasRoomFor?.(url) === true;
  }

  close(): Promise<void> {
    return this.#network.close();
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

  // Known once the whole body was received.
  #compared(answer: FetchedDocument, before: { readonly body: ArchivedBody }): FetchedDocument {
    const body = new ComparedBody(answer.body, before.body, () =>
      this.#onResponse(responseEvent({ ...answer, came: body.sameAs === undefined ? "fetched" : "same-payload" })),
    );
    return { ...answer, body };
  }
}

// The condition confuses the server: the same request without one may bring the document.
function isPuzzled(answer: Fetched): boolean {
  if (answer.outcome === "found") return header(answer.headers, "content-length") === "0";
  return answer.status !== undefined && puzzledStatuses.has(answer.status);
}

const puzzledStatuses: ReadonlySet<number> = new Set([400, 405, 406, 409, 412, 415, 416, 417, 422, 428, 431, 501]);

/** Compares a body with an earlier one while it is received. */
class ComparedBody implements Body {
  sameAs: Body | undefined;
  readonly #body: Body;
  readonly #before: ArchivedBody;
  readonly #onEnd: () => void;

  constructor(body: Body, before: ArchivedBody, onEnd: () => void) {
    this.#body = body;
    this.#before = before;
    this.#onEnd = onEnd;
  }

  get problem(): Body["problem"] {
    return this.#body.problem;
  }

  get duration(): number | undefined {
    return this.#body.duration;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const digest = await this.#before.digest();
    const hash = digest && createHash(digest.algorithm);
    try {
      for await (const piece of this.#body) {
        hash?.update(piece);
        yield piece;
      }
      const isSame = this.#body.problem === undefined && hash?.digest("hex") === digest?.hex && digest !== undefined;
      if (isSame && (await this.#before.isGood())) this.sameAs = this.#before;
    } finally {
      this.#onEnd();
    }
  }
}
