// node scripts/ts.mjs scripts/tokenizer.ts: compiles src/parse/fast/tokenizer.as.ts, with the numbers of layout.ts, into tokenizer-code.ts
// beside it. Run it after every change to either file; a test checks that you did. The compiler is a package of bench/.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { memoryPages } from "../src/parse/fast/layout.ts";
import { install } from "./prepare.mjs";

const folder = path.join(import.meta.dirname, "../src/parse/fast");

export const compiler: string = path.join(import.meta.dirname, "../bench/node_modules/assemblyscript/dist/asc.js");

/** Returns the first line of tokenizer-code.ts, which has a hash of its sources. */
export function origin(): string {
  const sources = ["tokenizer.as.ts", "layout.ts"].map((name) => readFileSync(path.join(folder, name)));
  const digest = createHash("sha256").update(Buffer.concat(sources)).digest("hex").slice(0, 16);
  return `// Generated from tokenizer.as.ts and layout.ts (${digest}) by scripts/tokenizer.ts.`;
}

/** Returns what tokenizer-code.ts must contain. */
export async function compile(): Promise<string> {
  const { default: asc } = await import(compiler);
  let binary: Uint8Array | undefined;
  const memory = ["--initialMemory", String(memoryPages), "--maximumMemory", String(memoryPages)];
  const features = ["--runtime", "stub", "--enable", "simd", "--enable", "bulk-memory"];
  const { error, stderr } = await asc.main(
    ["tokenizer.as.ts", "--outFile", "tokenizer.wasm", "-O3", "--noAssert", ...memory, ...features],
    {
      readFile: (name: string, base: string) => {
        const file = path.join(base === "." ? folder : base, name);
        return file.startsWith(folder) && /\/\w[\w.-]*\.ts$/.test(file) ? readOr(file) : null;
      },
      writeFile: (_: string, contents: Uint8Array) => {
        binary = contents;
      },
      listFiles: () => [],
    },
  );
  if (error !== null || binary === undefined) throw new Error(`${error?.message}\n${stderr}`);
  return `${origin()}
export const tokenizerCode: string =
  "${Buffer.from(binary).toString("base64")}";
`;
}

function readOr(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  install("bench");
  writeFileSync(path.join(folder, "tokenizer-code.ts"), await compile());
}
