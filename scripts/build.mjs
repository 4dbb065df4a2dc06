// Builds dist/ from src/: the library and the program, and one bundle of types for each entry point, with rolldown.
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { entryPoints } from "./api.mjs";
import { bundle, bundleTypes, inlined } from "./bundle.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, "dist");

rmSync(dist, { recursive: true, force: true });
const files = Object.values(entryPoints);
await Promise.all([bundle([...files, "parse/parse-anywhere", "cli/main"], dist), bundleTypes(files, dist)]);
chmodSync(path.join(dist, "cli/main.js"), 0o755);
const licenses = inlined.map((name) => {
  const text = readFileSync(path.join(root, "node_modules", name, "LICENSE"), "utf8");
  return `${name}\n\n${text.trim()}\n`;
});
writeFileSync(
  path.join(dist, "LICENSES.txt"),
  `Packages that are part of these files:\n\n${licenses.join("\n---\n\n")}`,
);
writeFileSync(path.join(dist, ".built"), "");
