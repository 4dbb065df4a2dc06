// Reads ten gigabytes of white space in a process of its own, and prints by how much its memory grew.
import { constants, deflateRawSync } from "node:zlib";
import { readSitemap } from "../../dist/index.js";

const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
// Whole blocks that refer to nothing before them can follow one another any number of times.
const packed = (bytes) => deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH });
const blocks = packed(Buffer.alloc(16 * 1024 * 1024, " "));
const source = [header, packed(Buffer.from("<urlset><!--")), ...Array(640).fill(blocks)];

globalThis.gc?.();
const before = process.memoryUsage.rss();
let peak = before;
const sample = () => (peak = Math.max(peak, process.memoryUsage.rss()));
let read = 0;
function* watched() {
  for (const piece of source) {
    read += 1;
    yield piece;
  }
}
const timer = setInterval(sample, 1);
const { problems } = await readSitemap(watched());
sample();
clearInterval(timer);
console.log(JSON.stringify({ read, codes: problems.map(({ code }) => code), grownBy: peak - before }));
