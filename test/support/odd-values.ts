// One of each kind of value that a program may pass by mistake.
import { SitemapTree } from "../../src/tree/tree.ts";

export const oddValues: Readonly<Record<string, () => unknown>> = {
  null: () => null,
  NaN: () => Number.NaN,
  "a symbol": () => Symbol("odd"),
  "a bigint": () => 10n,
  "a list": () => [Symbol("odd")],
  "a date": () => new Date(0),
  "a regular expression": () => /odd/,
  "a promise": () => Promise.resolve("https://example.org/"),
  "a set": () => new Set([1]),
  "a map": () => new Map([[Symbol("odd"), 1]]),
  "a boxed number": () => Object(3),
  bytes: () => new Uint8Array(2),
  "an object with an unknown name": () => ({ odd: 1 }),
  "an object without a prototype": () => Object.assign(Object.create(null), { odd: 1 }),
  "an event target": () => new EventTarget(),
  "a tree that is none": () => Object.assign(Object.create(SitemapTree.prototype), { odd: 1 }),
};
