// npm run matcher: translates src/parse/fast/matcher.wat into src/parse/fast/matcher-code.ts. To be run after every change there; a test looks
// whether it was.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import loadWabt from "wabt";

const folder = path.join(import.meta.dirname, "../src/parse/fast");

/** What src/parse/fast/matcher-code.ts has to hold. */
export async function translate() {
  const wabt = await loadWabt();
  const module = wabt.parseWat("matcher.wat", readFileSync(path.join(folder, "matcher.wat"), "utf8"), { simd: true });
  const code = Buffer.from(module.toBinary({}).buffer).toString("base64");
  return `// Made from matcher.wat by scripts/matcher.mjs: not to be changed by hand.
export const matcherCode: string =
  "${code}";
`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(path.join(folder, "matcher-code.ts"), await translate());
