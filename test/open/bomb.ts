// Opens a gigabyte of zeros in a process of its own and prints by how much its memory grew.
import { createGzip } from "node:zlib";
import { openDocument } from "../../src/open/open-document.ts";
import { ProblemLog } from "../../src/problem.ts";

const compressed: Uint8Array[] = [];
const gzip = createGzip({ level: 1, chunkSize: 1024 * 1024 });
gzip.on("data", (chunk: Uint8Array) => compressed.push(chunk));
const zeros = Buffer.alloc(16 * 1024 * 1024);
for (let written = 0; written < 64; written += 1) await new Promise((resolve) => gzip.write(zeros, resolve));
await new Promise((resolve) => gzip.end(resolve));

globalThis.gc?.();
const before = process.memoryUsage.rss();
let peak = before;
const problems = new ProblemLog();
const document = openDocument(compressed, { maxBytes: 100 * 1024 * 1024, encodingLayers: 3, problems });
for await (const text of document) peak = Math.max(peak, process.memoryUsage.rss() + 0 * text.length);
const codes = problems.toArray().map((problem) => problem.code);
console.log(JSON.stringify({ decodedBytes: document.decodedBytes, codes, grownBy: peak - before }));
