// A document that stays in the archive of an earlier run while a tree is in use. Somebody may change that file: the document is
// compared with its digest whenever it is read, unless the file shows that nobody wrote to it.
import { createHash } from "node:crypto";
import { SitemapError } from "../model/errors.ts";
import type { Body } from "../model/exchange.ts";
import { type Problem, problem } from "../model/problem.ts";
import { type Digest, hasDigest } from "./digest.ts";
import { type Block, readBlocks } from "./kept-body.ts";

export class EarlierBody implements Body {
  readonly mayChange = true;
  readonly #blocks: readonly Block[];
  readonly #digest: Digest;
  #problem: Problem | undefined;

  constructor(blocks: readonly Block[], digest: Digest, reason: Problem | undefined) {
    this.#blocks = blocks;
    this.#digest = digest;
    this.#problem = reason;
  }

  get problem(): Problem | undefined {
    return this.#problem;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    // Nobody wrote to the file since the document was compared.
    const isSure = await this.#isUnchanged();
    const hash = isSure ? undefined : createHash(this.#digest.algorithm);
    try {
      for await (const piece of readBlocks(this.#blocks)) {
        hash?.update(piece);
        yield piece;
      }
      const isSame =
        hash === undefined
          ? (await this.#isUnchanged()) || (await hasDigest(this.#digest, this.#blocks))
          : hash.digest("hex") === this.#digest.hex;
      if (!isSame) this.#problem ??= problem("archive-digest");
    } catch (error) {
      // The file became shorter.
      if (!(error instanceof SitemapError) || error.code !== "invalid-archive") throw error;
      this.#problem ??= problem("archive-digest");
    }
  }

  async #isUnchanged(): Promise<boolean> {
    for (const block of this.#blocks) {
      if (!(block instanceof Uint8Array) && !(await block.file.isUnchanged())) return false;
    }
    return true;
  }
}
