// The generated files: made once, kept below the system's temporary directory, made again when the generator changes.
import { createHash } from "node:crypto";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
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

const pagesPerSitemap = 50_000;

/** One page sitemap with plain entries; its path. */
export async function generateDocument({ entries }) {
  const file = path.join(directory(), `plain-${entries}.xml`);
  await generateFile(file, { entries });
  return file;
}

/**
 * The sitemaps of a website, 50,000 pages in each: every second one is compressed, every fifth has rich entries, so that all four
 * combinations occur. Gives the directory that holds them.
 */
export async function generateWebsite({ pages }) {
  const website = path.join(directory(), `website-${pages}`);
  if (!existsSync(website)) process.stderr.write(`generating a website in ${website}…\n`);
  mkdirSync(website, { recursive: true });
  let bytes = 0;
  for (let number = 0; number * pagesPerSitemap < pages; number++) {
    const name = `sitemap-${String(number + 1).padStart(3, "0")}.xml${number % 2 === 1 ? ".gz" : ""}`;
    const entries = Math.min(pagesPerSitemap, pages - number * pagesPerSitemap);
    bytes += await generateFile(path.join(website, name), { entries, rich: number % 5 === 4, number });
  }
  return { directory: website, bytes };
}

// Gives the size before compression, which is kept beside the file.
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

// Named after what makes the files; what an older generator left is removed.
function directory() {
  const hash = createHash("sha256");
  for (const source of ["documents.mjs", "website.mjs"])
    hash.update(readFileSync(path.join(import.meta.dirname, source)));
  const parent = path.join(os.tmpdir(), "sitegrove-bench");
  const current = hash.digest("hex").slice(0, 12);
  mkdirSync(path.join(parent, current), { recursive: true });
  for (const other of readdirSync(parent)) {
    if (/^[0-9a-f]{12}$/.test(other) && other !== current) rmSync(path.join(parent, other), { recursive: true });
  }
  return path.join(parent, current);
}
