// The records of a compressed archive that are decompressed when they are first read.
import type { LazyContent } from "./kept-body.ts";
import type { PackedMember } from "./packed-member.ts";

// Each that is read to its half holds some memory.
const mostHalfway = 16;

export class PackedMembers implements LazyContent {
  /** In the order of the file. */
  readonly #members: PackedMember[] = [];
  readonly #halfway = new Set<PackedMember>();

  get isEmpty(): boolean {
    return this.#members.length === 0;
  }

  /** Behind all others. */
  add(member: PackedMember): void {
    this.#members.push(member);
  }

  load(offset: number, length: number): Promise<void> | undefined {
    return this.loaded(offset, length) === length ? undefined : this.#load(offset, offset + length);
  }

  loaded(offset: number, length: number): number {
    const end = offset + length;
    for (let at = this.#firstAfter(offset); at < this.#members.length; at += 1) {
      const member = this.#members[at]!;
      if (member.start >= end) break;
      const to = member.loadedFrom(Math.max(offset, member.start));
      if (to < Math.min(end, member.end)) return to - offset;
    }
    return length;
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#halfway, (member) => member.close()));
  }

  async #load(offset: number, end: number): Promise<void> {
    for (let at = this.#firstAfter(offset); at < this.#members.length; at += 1) {
      const member = this.#members[at]!;
      if (member.start >= end) break;
      const to = Math.min(end, member.end);
      if (member.loadedFrom(Math.max(offset, member.start)) < to) await this.#unpack(member, to);
    }
  }

  async #unpack(member: PackedMember, to: number): Promise<void> {
    // The one that was read last is the last.
    this.#halfway.delete(member);
    this.#halfway.add(member);
    const [longest] = this.#halfway;
    if (longest !== undefined && this.#halfway.size > mostHalfway) {
      // Finished rather than dropped: nothing is decompressed twice. Whoever reads it is told of damage.
      await longest.load(longest.end).catch(() => undefined);
      this.#halfway.delete(longest);
    }
    await member.load(to);
    if (member.isWhole) this.#halfway.delete(member);
  }

  // The index of the first member that ends after a position.
  #firstAfter(position: number): number {
    let from = 0;
    let to = this.#members.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#members[middle]!.end > position) to = middle;
      else from = middle + 1;
    }
    return from;
  }
}
