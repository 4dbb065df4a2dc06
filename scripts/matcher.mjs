// npm run matcher: translates src/parse/fast/matcher.wat, with the numbers of layout.ts and fingerprints.ts, into matcher-code.ts beside it. To be run after
// every change of either; a test looks whether it was.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { tsImport } from "tsx/esm/api";
import loadWabt from "wabt";

const folder = path.join(import.meta.dirname, "../src/parse/fast");

/** What matcher-code.ts has to hold. */
export async function translate() {
  const wabt = await loadWabt();
  const { layout } = await tsImport("../src/parse/fast/layout.ts", import.meta.url);
  const { highFactor, lowFactor } = await tsImport("../src/model/fingerprints.ts", import.meta.url);
  const notUrl = ~(layout.isUrl | layout.isKey | layout.isChecked);
  const module = wabt.parseWat("matcher.wat", withNumbers({ ...layout, notUrl, highFactor, lowFactor }), {
    simd: true,
  });
  const code = Buffer.from(module.toBinary({}).buffer).toString("base64");
  return `// Generated from matcher.wat and layout.ts by \`npm run matcher\`.
export const matcherCode: string =
  "${code}";
`;
}

function withNumbers(numbers) {
  return readFileSync(path.join(folder, "matcher.wat"), "utf8")
    .replaceAll(/;;.*/g, "")
    .replaceAll(/\{bytes (\d+)\}/g, (_, byte) => `(v128.const i8x16${` ${byte}`.repeat(16)})`)
    .replaceAll(/\{(\w+)\}/g, (_, name) => {
      if (numbers[name] === undefined) throw new Error(`There is no number ${name}`);
      return String(numbers[name]);
    });
}

if (process.argv[1] === import.meta.filename) writeFileSync(path.join(folder, "matcher-code.ts"), await translate());
