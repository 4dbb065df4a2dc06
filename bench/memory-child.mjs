// Memory of a process that reads one document as a stream, or only loads what it would need; prints it as JSON.
// Arguments: `idle` or `read`, the path of the document.
import { createReadStream } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { peakMemory } from "./child.mjs";
import { parsers } from "./parsers.mjs";

const [task, file] = process.argv.slice(2);
const read = await parsers.streamPages.load();
// A small document first: what reading needs is loaded at first use.
await read([Buffer.from("<urlset><url><loc>https://www.example.org/</loc></url></urlset>")]);
const pages = task === "read" ? await read(createReadStream(file)) : await setTimeout(500, 0);
process.stdout.write(JSON.stringify({ pages, peak: peakMemory() }));
