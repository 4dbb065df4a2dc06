// The memory of the program, whatever a website does: the idle program and 96 MB. Each run is a process of its own. What is kept is also
// held by a heap that is only a little larger than that of the idle program: it is full at the same moment on every machine, however busy.
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { sitegrove } from "../cli/program.ts";
import { serve } from "../cli/website.ts";
import { isLong, some } from "../support/long.ts";
import { newFolder } from "../support/test-folder.ts";

const megabyte = 1024 * 1024;
const namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

const site = await serve(({ url = "" }, response) => {
  const nested = /^\/nested-(\d)\.xml$/.exec(url)?.[1];
  const [, shape, size] = /^\/(refused|redirects|headers)-(\d+)\.xml$/.exec(url) ?? [];
  const part = /^\/part-(\d+)\.xml$/.exec(url)?.[1];
  const twin = /^\/(a|b)\1{10}\.xml$/.exec(url)?.[1];
  const hop = /^\/hop\/(\d+)\/(\d)$/.exec(url);
  const listing = (count: number, child: (at: number) => string) => send(response, index(count, child));
  if (url === "/pages.xml" || hop?.[2] === "9") send(response, urlset());
  else if (part !== undefined) send(response, urlset(10_000, `/section-${part}/some/page-`));
  else if (url === "/parts.xml") listing(100, (at) => `${origin}/part-${at}.xml`);
  else if (shape === "refused") listing(Number(size), (at) => `http://127.0.0.1:1/sitemaps/part-${at}.xml`);
  else if (nested !== undefined) listing(150_000, (at) => child(Number(nested), at));
  else if (shape === "redirects") listing(Number(size), (at) => `${origin}/hop/${at}/0`);
  else if (shape === "headers") listing(Number(size), (at) => `${origin}/headed/${at}`);
  else if (url.startsWith("/headed/"))
    response.setHeader("x-filler", "x".repeat(100_000)).end(`${origin}${url}/page\n`);
  else if (hop !== null) {
    const location = `/hop/${hop[1]}/${Number(hop[2]) + 1}`;
    response.writeHead(302, { location, "x-filler": "x".repeat(15_000) }).end();
  } else if (twin !== undefined) listing(2000, (at) => `${origin}/${spelled(twin === "a" ? "b" : "a", at)}.xml`);
  else response.writeHead(404).end();
});
const origin = site.homepage.slice(0, -1);

function child(level: number, at: number): string {
  return at === 0 && level < 5
    ? `${origin}/nested-${level + 1}.xml`
    : `http://127.0.0.1:1/level-${level}/part-${at}.xml`;
}

// The same letter eleven times, percent-encoded or not.
function spelled(letter: string, at: number): string {
  const encoded = `%${letter.charCodeAt(0).toString(16)}`;
  return Array.from({ length: 11 }, (_, bit) => (at & (1 << bit) ? encoded : letter)).join("");
}

function* urlset(count = 1, path = "/page"): Generator<string> {
  yield `<urlset ${namespace}>`;
  for (let at = 0; at < count; at += 1)
    yield `<url><loc>${origin}${path}${at}.html</loc><lastmod>2026-01-01</lastmod></url>\n`;
  yield "</urlset>";
}

function* index(count: number, url: (at: number) => string): Generator<string> {
  yield `<sitemapindex ${namespace}>`;
  for (let at = 0; at < count; at += 1) yield `<sitemap><loc>${url(at)}</loc></sitemap>`;
  yield "</sitemapindex>";
}

async function send(response: ServerResponse, parts: Iterable<string>): Promise<void> {
  response.setMaxListeners(0).writeHead(200, { "content-type": "application/xml" });
  let piece = "";
  for (const part of parts) {
    piece += part;
    if (piece.length < 64 * 1024) continue;
    if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
    piece = "";
  }
  response.end(piece);
}

// Prints the peak memory and the used heap at the end.
const report =
  'process.on("exit",()=>{gc();process.stderr.write("peak "+process.resourceUsage().maxRSS+" "+process.memoryUsage().heapUsed+"\\n")})';

interface Peak {
  readonly code: number | string;
  readonly bytes: number;
  readonly heap: number;
}

/** Lists what a sitemap declares, with as much heap as given, in megabytes. */
async function peak(path: string, flags: readonly string[] = [], heap: number = 1000): Promise<Peak> {
  const words = ["ls", "--sitemap", origin + path, "-f", "pages", "--no-progress", ...flags];
  const node = ["--expose-gc", `--max-old-space-size=${heap}`, "--import", `data:text/javascript,${report}`];
  const { code, stderr } = await sitegrove(words, { node });
  const [, kilobytes, used] = /peak (\d+) (\d+)/.exec(stderr) ?? [];
  if (used === undefined)
    throw new Error(`It ended with ${code}, and did not say how much it had: ${stderr.slice(-2000)}`);
  return { code, bytes: Number(kilobytes) * 1024, heap: Number(used) };
}

let idle: Peak;
beforeAll(async () => {
  idle = await peak("/pages.xml");
  expect(idle.code).toBe(0);
});

// These would fill the heap if each child, or the headers of each redirect, were kept.
const small: [string, string, string[], number][] = [
  // Refusing children takes longest, so only some are refused; that shows whether they are kept.
  ["an index of 100,000 children", "/refused-100000.xml", ["--max-sitemaps", isLong ? "3000" : "200"], 3],
  ["75 sitemaps behind nine redirects each", "/redirects-75.xml", [], 0],
];
const headed = [
  "saving 300 documents with headers of 100 KB",
  "/headers-300.xml",
  ["--save"],
  0,
] as (typeof small)[number];
test.each([...small.slice(0, some(2, 1)), headed])(
  "%s needs only a slightly larger heap than the idle program",
  async (_, path, flags, code) => {
    const file = flags.includes("--save") ? [join(newFolder(), "site.warc")] : [];
    const run = await peak(path, [...flags, ...file], Math.ceil(idle.heap / megabyte) + 10 + 10 * file.length);
    expect(run.code).toBe(code);
    expect(run.bytes - idle.bytes).toBeLessThan(96 * megabyte);
  },
);

test.runIf(isLong).each([
  ["an index of 400,000 children", "/refused-400000.xml"],
  ["500 sitemaps behind nine redirects each", "/redirects-500.xml"],
  ["five indexes of 150,000 children, one inside the other", "/nested-1.xml"],
  ["two indexes that name each other in many spellings", "/aaaaaaaaaaa.xml"],
  ["100 documents of 10,000 pages that are saved", "/parts.xml", "site.warc"],
  ["100 documents of 10,000 pages that are compressed and saved", "/parts.xml", "site.warc.gz"],
])("%s needs at most 96 MB more than the idle program", async (_: string, path: string, save?: string) => {
  const folder = newFolder();
  // If the machine is busy, garbage is collected late. Memory that is really kept shows up in every attempt.
  let most = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && most >= 96 * megabyte; attempt++) {
    const flags = save === undefined ? [] : ["--save", join(folder, `${attempt}-${save}`)];
    most = Math.min(most, (await peak(path, flags)).bytes - idle.bytes);
  }
  expect(most).toBeLessThan(96 * megabyte);
});
