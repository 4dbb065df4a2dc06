// Opens ten gigabytes of zeros in a process of its own and prints by how much its memory grew.
import { constants, deflateRawSync } from "node:zlib";
import { ProblemLog } from "../../src/model/problem.ts";
import { OpenedDocument } from "../../src/open/open-document.ts";

const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
// Whole blocks that refer to nothing before them can follow one another any number of times.
const blocks = deflateRawSync(Buffer.alloc(16 * 1024 * 1024), { finishFlush: constants.Z_FULL_FLUSH });
const source = [header, ...Array<Buffer>(640).fill(blocks)];

globalThis.gc?.();
const before = process.memoryUsage.rss();
let peak = before;
let length = 0;
const problems = new ProblemLog();
const document = new OpenedDocument(source, { maxBytes: 100 * 1024 * 1024, encodingLayers: 3, problems });
for await (const text of document) {
  length += String(text).length;
  peak = Math.max(peak, process.memoryUsage.rss());
}
const codes = problems.toArray().map((problem) => problem.code);
console.log(JSON.stringify({ length, codes, grownBy: peak - before }));
