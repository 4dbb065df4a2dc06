// Builds dist/ from src/: the library and the program, and one bundle of types for each entry point, with rolldown.
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, bundleTypes } from "./bundle.mjs";

const dist = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "dist");
const entryPoints = ["index", "check", "diff", "report", "fleet", "parse/parse-sitemap"];

rmSync(dist, { recursive: true, force: true });
await Promise.all([bundle([...entryPoints, "cli/main"], dist), bundleTypes(entryPoints, dist)]);
chmodSync(path.join(dist, "cli/main.js"), 0o755);
writeFileSync(path.join(dist, ".built"), "");
