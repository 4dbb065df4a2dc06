// What a test needs beyond Node.js is said in its first lines; time it has as much as the others.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

// Named by what a file imports.
const needs: Readonly<Record<string, RegExp>> = {
  Redis: /\bstartRedis\b/,
  "an S3 server": /support\/s3-server/,
  "a browser": /\/browser\.ts"/,
  processes: /node:child_process|\b(?:sitegroveProcess|start|shell|terminal)\b[^;]*program\.ts"/,
};

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".test.ts") && name !== "needs.test.ts",
);

test.each(files)("%s says what it needs", (name) => {
  const text = readFileSync(path.join(import.meta.dirname, name), "utf8");
  const [header = ""] = /^(?:\/\/.*\n)*/.exec(text) ?? [];
  const said = /^\/\/ Needs (.*)\.$/m.exec(header)?.[1]?.split(", ") ?? [];
  const imported = Object.keys(needs).filter((each) => needs[each]?.test(text.slice(header.length)));
  expect(said).toEqual(expect.arrayContaining(imported));
});

test.each(files)("%s has no time limit that a busy machine would exceed", (name) => {
  const text = readFileSync(path.join(import.meta.dirname, name), "utf8");
  const limits = [...text.matchAll(/\{\s*timeout: ([\d_]+)[^{}]*\},?\s*(?:async )?\(/g)].map(([, limit = ""]) => limit);
  expect(limits.filter((limit) => Number(limit.replaceAll("_", "")) < 180_000)).toEqual([]);
});
