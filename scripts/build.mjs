// Builds dist/ from src/: the library and the program, and one bundle of types for each entry point, with rolldown.
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { entryPoints } from "./api.mjs";
import { bundle, bundleTypes } from "./bundle.mjs";

const dist = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "dist");

rmSync(dist, { recursive: true, force: true });
const files = Object.values(entryPoints);
await Promise.all([bundle([...files, "cli/main"], dist), bundleTypes(files, dist)]);
chmodSync(path.join(dist, "cli/main.js"), 0o755);
writeFileSync(path.join(dist, ".built"), "");
