// Parts of a list of websites, for several machines without a queue: part I of N. All hosts of a registrable domain are
// in the same part, on every machine and in every version, so that limits by host hold.
import { createHash } from "node:crypto";
import { isIP } from "node:net";

export interface Shard {
  /** From 1 to `count`. */
  readonly index: number;
  readonly count: number;
}

/** Reads a part such as `2/8`; undefined for an invalid text. `0/8` is `8/8`, so that counting from 0 also covers every part. */
export function readShard(text: string): Shard | undefined {
  const [, index = "", count = ""] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  const shard = { index: Number(index) === 0 ? Number(count) : Number(index), count: Number(count) };
  return index === "" || shard.count === 0 || shard.index > shard.count ? undefined : shard;
}

export function isInShard(homepage: string, { index, count }: Shard): boolean {
  const digest = createHash("sha256")
    .update(siteDomain(new URL(homepage).hostname))
    .digest();
  return (digest.readUIntBE(0, 6) % count) + 1 === index;
}

/**
 * The registrable domain, by a rule instead of the Public Suffix List: two labels, or three if the last is a country (two letters) and
 * the one before it is a word such as `co` or `com`. Below other public suffixes (`github.io`), the result is too
 * short, so all websites there are in one part.
 */
export function siteDomain(host: string): string {
  const name = host.toLowerCase().replace(/\.$/, "");
  if (name.startsWith("[") || isIP(name) !== 0) return name;
  const labels = name.split(".");
  const [second = "", last = ""] = labels.slice(-2);
  const isUnderCategory = last.length === 2 && categories.has(second);
  return labels.slice(isUnderCategory ? -3 : -2).join(".");
}

// Many countries register domains below these. Words that are domains themselves in other countries, such as web.de, are left out.
const categories: ReadonlySet<string> = new Set(
  "ac asso co com edu go gob gouv gov govt k12 ltd mil ne net nhs nom or org plc sch".split(" "),
);
