// The website's server, in a process of its own: files of one directory, an index that names them, a robots.txt that names the
// index, a homepage, and 404 for everything else. Prints its origin, and ends when its standard input does.
import { createReadStream, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { textsOf } from "./website.mjs";

const [directory] = process.argv.slice(2);
const names = readdirSync(directory)
  .filter((name) => /\.xml(\.gz)?$/.test(name))
  .sort();
const sizes = new Map(names.map((name) => [`/${name}`, statSync(path.join(directory, name)).size]));
const texts = new Map();

const server = createServer((request, response) => {
  const size = sizes.get(request.url);
  if (size !== undefined) {
    const type = request.url.endsWith(".gz") ? "application/gzip" : "application/xml";
    response.writeHead(200, { "content-type": type, "content-length": size });
    createReadStream(path.join(directory, request.url), { highWaterMark: 256 * 1024 }).pipe(response);
    return;
  }
  const text = texts.get(request.url);
  if (text === undefined) {
    response.writeHead(404, { "content-type": "text/plain", "content-length": 10 }).end("Not found\n");
    return;
  }
  response.writeHead(200, { "content-type": text.type, "content-length": Buffer.byteLength(text.body) }).end(text.body);
});

server.listen(0, "127.0.0.1", () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  const types = { html: "text/html", txt: "text/plain", xml: "application/xml" };
  for (const [name, body] of Object.entries(textsOf(directory, origin))) {
    texts.set(name === "index.html" ? "/" : `/${name}`, { type: types[path.extname(name).slice(1)], body });
  }
  process.stdout.write(`${origin}\n`);
});
process.stdin.resume().once("end", () => process.exit());
