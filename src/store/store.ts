// Keeps exchanges while a tree is in use: in memory, in a private temporary file, and in an archive where one is wanted.
import type { Body, DocumentRequest, Fetched } from "../exchange.ts";
import type { StoreKind } from "../options.ts";
import { BodySpace } from "./body-space.ts";
import type { ArchiveInfo, Store } from "./contract.ts";
import { describe, revive } from "./description.ts";
import { type Block, closedError, KeptBody, readBlocks } from "./kept-body.ts";
import { archiveKey, replay } from "./replay.ts";

export type { Archive, ArchiveInfo, Store } from "./contract.ts";

/** Up to here `auto` keeps bodies in memory: enough for most websites, little enough for any machine. */
const autoMemory = 8 * 1024 * 1024;

/** A store for one crawl. With `save` everything is also appended to an archive at that path, as it comes. */
export async function createStore(options: {
  readonly kind: StoreKind;
  readonly save?: string | undefined;
  readonly info: ArchiveInfo;
}): Promise<Store> {
  const { kind } = options;
  const memory = kind === "memory" ? Number.POSITIVE_INFINITY : kind === "file" ? 0 : autoMemory;
  const space = new BodySpace(memory, false);
  if (kind === "file") await space.prepare();
  return new OpenStore(space);
}

/** All that is remembered of an exchange: where its description and its body are. */
interface Entry {
  readonly description: readonly Block[];
  readonly body: readonly Block[];
}

class OpenStore implements Store {
  readonly #space: BodySpace;
  readonly #entries = new Map<string, Entry>();
  /** Documents by where redirects led to. */
  readonly #targets = new Map<string, Entry>();
  #finished = false;
  #closed = false;

  constructor(space: BodySpace) {
    this.#space = space;
  }

  async keep<T extends Fetched>(fetched: T): Promise<T> {
    if (this.#closed) throw closedError();
    const body = fetched.outcome === "found" ? await this.#space.take(fetched.body) : [];
    const problem = fetched.outcome === "found" ? fetched.body.problem : undefined;
    const description = await this.#space.take(once(describe(fetched, problem)));
    this.#remember(fetched, { description, body });
    return fetched.outcome === "found" ? { ...fetched, body: new KeptBody(body, problem) } : fetched;
  }

  async fetch(request: DocumentRequest): Promise<Fetched> {
    if (this.#closed) throw closedError();
    const find = async (key: string) => {
      const own = this.#entries.get(key);
      const entry = own ?? this.#targets.get(key);
      return entry && { fetched: await this.#read(entry), byRedirect: own === undefined };
    };
    return replay(request, find, false);
  }

  async finish(): Promise<void> {
    this.#finished = true;
  }

  async save(path: string): Promise<void> {
    void path;
    void this.#finished;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#entries.clear();
    this.#targets.clear();
    await this.#space.close();
  }

  #remember(fetched: Fetched, entry: Entry): void {
    const key = archiveKey(fetched.requestedUrl);
    if (!this.#entries.has(key)) this.#entries.set(key, entry);
    if (fetched.outcome !== "found" || fetched.hops.length === 0) return;
    const target = archiveKey(fetched.url);
    if (!this.#targets.has(target)) this.#targets.set(target, entry);
  }

  async #read({ description, body }: Entry): Promise<Fetched> {
    const bytes: Uint8Array[] = [];
    for await (const piece of readBlocks(description)) bytes.push(piece);
    return revive(Buffer.concat(bytes), (problem): Body => new KeptBody(body, problem));
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  yield bytes;
}
