// Measures the functions that users call on a document of one making, in turns with saxes (tokens only, with namespaces) and JSON.parse of
// the same pages. Measures CPU time, because other programs may be running. Prints the medians as JSON. The argument is the making.
import { SaxesParser } from "saxes";
import { makings } from "./makings.mjs";
import { distModule } from "./setup.mjs";

const text = makings[process.argv[2]]();
const bytes = Buffer.from(text);
const { parseSitemap, readSitemap } = await distModule("index.js");
const json = JSON.stringify(parseSitemap(text).pages);

const ways = {
  parseSitemap: () => parseSitemap(text).pages.length,
  readSitemap: async () => (await readSitemap(bytes)).pages.length,
  saxes() {
    const parser = new SaxesParser({ xmlns: true });
    let count = 0;
    for (const event of ["opentag", "closetag", "text", "cdata"]) parser.on(event, () => count++);
    parser.write(text).close();
    return count;
  },
  json: () => JSON.parse(json).length,
};

const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
const start = performance.now();
for (let round = 0; round < 12 || performance.now() - start < 4000; round++) {
  for (const [name, run] of Object.entries(ways)) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    // The first rounds only warm up the engine.
    if (round > 3) times[name].push((user + system) / 1000);
  }
}
const medians = Object.entries(times).map(([name, list]) => [name, list.sort((a, b) => a - b)[list.length >> 1]]);
process.stdout.write(JSON.stringify({ bytes: bytes.length, ...Object.fromEntries(medians) }));
