// Builds dist/ from src/ with tsc, makes the program executable and leaves a stamp that tells when.
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const tsc = path.join(
  path.dirname(createRequire(import.meta.url).resolve("@typescript/native/package.json")),
  "bin/tsc",
);

rmSync(path.join(root, "dist"), { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
chmodSync(path.join(root, "dist/cli/main.js"), 0o755);
writeFileSync(path.join(root, "dist/.built"), "");
