// What the built package imports. What it exports is in api/, which test/docs/tables.test.ts compares with the code.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.join(import.meta.dirname, "../..");

test("the built files import only Node.js and the dependencies of the package", () => {
  const { dependencies, peerDependencies = {} } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const dist = path.join(root, "dist");
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));
  const imports = /^(?:import|export)\b[^"'`;]*?["']([^."'][^"']*)["'];|\bimport\(["']([^."'][^"']*)["']\)/gm;
  const imported = files.flatMap((file) =>
    Array.from(
      readFileSync(path.join(dist, file), "utf8").matchAll(imports),
      ([, name, loaded]) => name ?? loaded ?? "",
    ),
  );
  const packages = imported
    .filter((name) => !name.startsWith("node:"))
    .map((name) => name.replace(/^(@[^/]+\/[^/]+|[^/]+).*/, "$1"));
  expect(packages).toContain("tldts");
  const known = Object.keys({ ...dependencies, ...peerDependencies });
  expect([...new Set(packages)].filter((name) => !known.includes(name))).toEqual([]);
});
