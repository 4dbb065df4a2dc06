// Generates the website that is read, and serves it. The files stay in the system's temporary folder until the generator changes.
import { createHash } from "node:crypto";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { urlset } from "./documents.mjs";
import { startNginx } from "./nginx.mjs";

const isRich = { mixed: (number) => number % 5 === 4, plain: () => false, rich: () => true };

/**
 * Serves a website with 50,000 pages per sitemap. Every second sitemap is compressed. If `entries` is `mixed`, every fifth has rich entries,
 * so that all four combinations occur. The result has a path for an `archive`; `close` removes that archive and stops the server.
 */
export async function serveWebsite({ pages, pagesPerSitemap = 50_000, entries: kind = "mixed" }) {
  const directory = path.join(generated(), `website-${pages}-${pagesPerSitemap}-${kind}`);
  if (!existsSync(directory)) process.stderr.write(`generating a website in ${directory}…\n`);
  mkdirSync(directory, { recursive: true });
  let bytes = 0;
  for (let number = 0; number * pagesPerSitemap < pages; number++) {
    const name = `sitemap-${String(number + 1).padStart(3, "0")}.xml${number % 2 === 1 ? ".gz" : ""}`;
    const entries = Math.min(pagesPerSitemap, pages - number * pagesPerSitemap);
    bytes += await generateFile(path.join(directory, name), { entries, rich: isRich[kind](number), number });
  }

  const server = await startNginx(directory, (origin) => textsOf(directory, origin));
  const scratch = mkdtempSync(path.join(os.tmpdir(), "sitegrove-bench-archive-"));
  return {
    pages,
    bytes,
    origin: server.origin,
    archive: path.join(scratch, "website.warc"),
    async close() {
      await server.close();
      rmSync(scratch, { recursive: true });
    },
  };
}

/** Returns the homepage, and the files that contain their own address: robots.txt and the index that it names. */
function textsOf(directory, origin) {
  const names = readdirSync(directory).filter((name) => /\.xml(\.gz)?$/.test(name));
  const entries = names.sort().map((name) => `  <sitemap>\n    <loc>${origin}/${name}</loc>\n  </sitemap>\n`);
  return {
    "index.html": "<!doctype html><title>A website</title><h1>A website</h1>\n",
    "robots.txt": `User-agent: *\nDisallow:\n\nSitemap: ${origin}/index.xml\n`,
    "index.xml": `<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries.join("")}</sitemapindex>
`,
  };
}

// Returns the size before compression, which is stored in a file beside the sitemap.
async function generateFile(file, options) {
  const note = `${file}.size`;
  if (existsSync(note)) return Number(readFileSync(note, "utf8"));
  let bytes = 0;
  async function* counted() {
    for (const piece of urlset(options)) {
      bytes += piece.length;
      yield piece;
    }
  }
  const steps = [Readable.from(counted()), ...(file.endsWith(".gz") ? [createGzip()] : [])];
  await pipeline(...steps, createWriteStream(`${file}.part`));
  renameSync(`${file}.part`, file);
  writeFileSync(note, String(bytes));
  return bytes;
}

// Returns the folder of this version of the generator. Removes the folders of older versions.
function generated() {
  const source = readFileSync(path.join(import.meta.dirname, "documents.mjs"));
  const current = createHash("sha256").update(source).digest("hex").slice(0, 12);
  const parent = path.join(os.tmpdir(), "sitegrove-bench");
  mkdirSync(path.join(parent, current), { recursive: true });
  for (const other of readdirSync(parent)) {
    if (/^[0-9a-f]{12}$/.test(other) && other !== current) rmSync(path.join(parent, other), { recursive: true });
  }
  return path.join(parent, current);
}
