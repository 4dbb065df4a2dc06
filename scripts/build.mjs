// Builds dist/ from src/: the types with tsc, file by file; the library and the program with rolldown.
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, "dist");

rmSync(dist, { recursive: true, force: true });
writeTypes();
await bundle(["index", "parse/parse-sitemap", "cli/main"], dist);
chmodSync(path.join(dist, "cli/main.js"), 0o755);
writeFileSync(path.join(dist, ".built"), "");

function writeTypes() {
  const tsc = path.join(
    path.dirname(createRequire(import.meta.url).resolve("@typescript/native/package.json")),
    "bin/tsc",
  );
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
