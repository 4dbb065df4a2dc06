// The entry point `sitegrove/parse` outside of Node.js: small, and without the fast path, because edge workers and the policies of many
// web pages forbid compiling WebAssembly. Its types are those of parse-sitemap.ts.
import type { ParseOptions } from "../model/parse-options.ts";
import type { ParsedSitemap } from "../model/sitemap.ts";
import { parseBytes, parseText } from "./parse-stream.ts";

export { parseRobots } from "./robots-rules.ts";

export function parseSitemap(text: string, options?: ParseOptions): ParsedSitemap {
  return parseText(text, options);
}

export async function parseStream(stream: ReadableStream<Uint8Array>, options?: ParseOptions): Promise<ParsedSitemap> {
  return parseBytes(stream, options);
}
