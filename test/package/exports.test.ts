// What the built package imports. What it exports is in api/, which test/docs/tables.test.ts compares with the code.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.join(import.meta.dirname, "../..");

test("the built files import only Node.js and the dependencies of the package", () => {
  const { dependencies, peerDependencies = {} } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const modules = readdirSync(path.join(root, "dist"), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".js"),
  );
  const imported = new Set(
    modules.flatMap((file) =>
      [
        ...readFileSync(path.join(root, "dist", file), "utf8").matchAll(
          /^(?:import|export)\b[^"'`;]*?["']([^."'][^"']*)["'];|\bimport\(["']([^."'][^"']*)["']\)/gm,
        ),
      ].map((match) => match[1] ?? match[2] ?? ""),
    ),
  );
  const packages = [...imported]
    .filter((name) => !name.startsWith("node:"))
    .map((name) => name.replace(/^(@[^/]+\/[^/]+|[^/]+).*/, "$1"));
  expect(packages).toContain("tldts");
  const known = Object.keys({ ...dependencies, ...peerDependencies });
  expect([...new Set(packages)].filter((name) => !known.includes(name))).toEqual([]);
});
