// Parts of a list: every website in exactly one, all hosts of a domain in the same, on every machine.
import { expect, test } from "vitest";
import { isInShard, readShard, type Shard, siteDomain } from "../../src/fleet/shard.ts";

/** Returns the only part, or undefined. */
const partOf = (host: string, count: number) => {
  const parts = Array.from({ length: count }, (_, at) => at + 1).filter((index) =>
    isInShard(`https://${host}/`, { index, count }),
  );
  return parts.length === 1 ? parts[0] : undefined;
};

test("every website is in exactly one part, and the parts have about the same size", () => {
  const sizes = new Map<unknown, number>();
  for (let site = 0; site < 4000; site += 1) {
    const part = partOf(`site-${site}.example`, 8);
    sizes.set(part, (sizes.get(part) ?? 0) + 1);
  }
  expect([...sizes.keys()].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  for (const size of sizes.values()) expect(Math.abs(size - 500)).toBeLessThan(75);
});

// Machines with different versions may share one list, so these must never change.
test.each([
  ["example.org", 6, 8],
  ["example.com", 8, 8],
  ["bbc.co.uk", 6, 8],
  ["127.0.0.1:8080", 5, 5],
])("%s is in part %i/%i", (host, part, count) => {
  expect([host, count, partOf(host, count)]).toEqual([host, count, part]);
});

test.each([
  ["www.example.org", "example.org"],
  ["a.b.c.example.org", "example.org"],
  ["example.org.", "example.org"],
  ["EXAMPLE.org", "example.org"],
  ["shop.example.co.uk", "example.co.uk"],
  ["example.com.br", "example.com.br"],
  ["a.example.ac.jp", "example.ac.jp"],
  ["mail.web.de", "web.de"],
  ["co.uk", "co.uk"],
  ["one.blogspot.com", "blogspot.com"],
  ["localhost", "localhost"],
  ["127.0.0.1", "127.0.0.1"],
  ["[2001:db8::1]", "[2001:db8::1]"],
  ["xn--mnchen-3ya.example", "xn--mnchen-3ya.example"],
])("%s belongs to %s", (host, domain) => {
  expect(siteDomain(host)).toBe(domain);
});

test.each<[string, Shard | undefined]>([
  ["1/1", { index: 1, count: 1 }],
  ["2/8", { index: 2, count: 8 }],
  ["8/8", { index: 8, count: 8 }],
  // Counting from 0 also gives every part.
  ["0/8", { index: 8, count: 8 }],
  ["9/8", undefined],
  ["0/0", undefined],
  ["1", undefined],
  ["-1/8", undefined],
  ["1/8/2", undefined],
  ["a/b", undefined],
  ["1.5/8", undefined],
])("--shard %s is accepted or refused", (text, shard) => {
  expect(readShard(text)).toEqual(shard);
});
