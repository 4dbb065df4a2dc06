// What a fresh clone needs to start: a lock file that `npm ci` accepts on every platform.
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

interface LockedPackage {
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = path.join(import.meta.dirname, "../..");
const { packages } = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, LockedPackage>>;
};

// npm writes only the packages of its own platform when it installs over an older node_modules, and then refuses its own file.
test("the lock file has every package that another one needs, including those for other platforms", () => {
  const missing = Object.entries(packages).flatMap(([place, { dependencies, devDependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...(place === "" ? devDependencies : {}), ...optionalDependencies }).filter(
      (name) => !foldersAbove(place).some((folder) => `${folder}node_modules/${name}` in packages),
    ),
  );
  expect(missing).toEqual([]);
});

test("the lock file has the checksum of every package", () => {
  const unchecked = Object.entries(packages).filter(
    ([place, { integrity }]) => place !== "" && integrity === undefined,
  );
  expect(unchecked.map(([place]) => place)).toEqual([]);
});

// A package that `node_modules/a/node_modules/b` needs is inside it, in `a`, or at the root.
function foldersAbove(place: string): string[] {
  const ends = [...place.matchAll(/\/node_modules\/|$/g)].map(({ index }) => index);
  return ["", ...ends.filter((end) => end > 0).map((end) => `${place.slice(0, end)}/`)];
}
