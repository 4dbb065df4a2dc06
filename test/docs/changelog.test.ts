// The changelog is for those who upgrade: what breaks first, then by what they do. Merges have brought back what was taken out.
import { expect, test } from "vitest";
import { page } from "./pages.ts";

const [, unreleased = ""] = page("CHANGELOG.md").text.split(/^## .*$/m);

test("what is not released yet has these sections, what breaks first", () => {
  expect([...unreleased.matchAll(/^### (.*)$/gm)].map(([, name]) => name)).toEqual([
    "Before you upgrade",
    "New commands",
    "Repeated runs and archives",
    "Finding and fetching",
    "Reading documents",
    "The program",
    "The library",
    "Speed, memory and limits",
  ]);
});

test("no entry is there twice", () => {
  const starts = [...unreleased.matchAll(/^- (.{30})/gm)].map(([, start]) => start);
  expect(starts.filter((start, at) => starts.indexOf(start) !== at)).toEqual([]);
});
