// One parser in a process of its own: warms up, measures, and prints what it found as JSON.
// Arguments: the parser's name, `plain` or `rich`, the number of entries; `double` to measure twice as many beside it.
import { urlset } from "./documents.mjs";
import { parsers } from "./parsers.mjs";

const [name, kind, entries, mode] = process.argv.slice(2);
const { input, load } = parsers[name];
const parse = await load();

const warmUpTime = 2000;
const measuredTime = 1200;

// A tenth of the document is enough to warm up, and slow parsers would otherwise spend most of the run on it.
const small = document(Math.ceil(entries / 10));
const warm = performance.now();
while (performance.now() - warm < warmUpTime) await parse(small.value);

const whole = document(Number(entries));
if (mode === "double") {
  // In turns, so that both meet the same machine and the same compiled code; the least disturbed run of each counts.
  const twice = document(Number(entries) * 2);
  const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let pages = 0;
  for (let round = 0; round < 12; round++) {
    for (const [at, { value }] of [whole, twice].entries()) {
      const before = process.cpuUsage();
      pages = await parse(value);
      best[at] = Math.min(best[at], milliseconds(before));
    }
  }
  process.stdout.write(JSON.stringify({ pages, ratio: best[1] / best[0] }));
} else {
  const times = [];
  let pages = 0;
  const start = performance.now();
  while (performance.now() - start < measuredTime) {
    const before = process.cpuUsage();
    pages = await parse(whole.value);
    times.push(milliseconds(before));
  }
  times.sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  process.stdout.write(JSON.stringify({ pages, bytes: whole.bytes, milliseconds: middle }));
}

// Of CPU time: other programs may be running.
function milliseconds(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

// Every piece is a flat string or buffer of its own, as a decoder or a socket would give it.
function document(count) {
  const bytes = Buffer.concat(
    [...urlset({ entries: count, rich: kind === "rich" })].map((piece) => Buffer.from(piece)),
  );
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 65_536) pieces.push(bytes.subarray(at, at + 65_536));
  const values = {
    bytes: () => pieces,
    texts: () => pieces.map((piece) => piece.toString()),
    text: () => bytes.toString(),
  };
  return { bytes: bytes.length, value: values[input]() };
}
