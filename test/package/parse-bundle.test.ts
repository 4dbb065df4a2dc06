// `sitegrove/parse` as others bundle it: its size, and in a browser and a Worker, without Node.
// Needs processes, more than a second.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseRobots, parseSitemap } from "../../src/index.ts";
import { hasNoBrowser, launch } from "../report/browser.ts";
import { newFolder } from "../support/test-folder.ts";

const root = path.join(import.meta.dirname, "../..");

const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

async function bundled(format: "iife" | "esm"): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(root, exports["./parse"].default)],
    ...{ bundle: true, minify: true, platform: "browser", format, globalName: "sitegrove", write: false },
  });
  return outputFiles[0]?.text ?? "";
}
const script = await bundled("iife");

test("sitegrove/parse, bundled by esbuild for the edge, is below 45 kB", () => {
  expect(gzipSync(script, { level: 9 }).length).toBeLessThan(45_000);
});

test("the entry points for Node.js and for everything else have the same exports", async () => {
  const { node, default: anywhere } = exports["./parse"];
  const [full, small] = await Promise.all([node, anywhere].map((file) => import(path.join(root, file))));
  expect(Object.keys(small)).toEqual(Object.keys(full));
});

const text = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${Array.from(
  { length: 3000 },
  (_, at) => `<url><loc>https://example.org/caf&eacute;/${at}?a&amp;b</loc><lastmod>2024-05-31</lastmod></url>`,
).join("")}</urlset>`;
const robots = "User-agent: *\nDisallow: /private\nSitemap: https://example.org/sitemap.xml";

// The sitemap as it is, compressed, in two members, and compressed twice.
const half = text.length >> 1;
const members = Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]);
const bodies = [Buffer.from(text), gzipSync(text), members, gzipSync(gzipSync(text))];

describe.skipIf(hasNoBrowser)("in a browser", () => {
  let browser: Awaited<ReturnType<typeof launch>>;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  test("sitegrove/parse reads text, gzip, several gzip members and the rules of a robots.txt as in Node.js", async () => {
    const page = await browser.newPage();
    await page.addScriptTag({ content: script });
    const read = await page.evaluate(
      async ([text, robots, ...bodies]) => {
        // biome-ignore lint/suspicious/noExplicitAny: a global of the page.
        const { parseRobots, parseSitemap, parseStream } = (globalThis as any).sitegrove;
        const streamed = bodies.map((body) =>
          parseStream(new Blob([Uint8Array.from(atob(body), (character) => character.charCodeAt(0))]).stream()),
        );
        const rules = parseRobots(robots);
        return {
          documents: [parseSitemap(text), ...(await Promise.all(streamed))],
          robots: [rules.sitemaps, rules.isAllowed("https://example.org/private", "Googlebot")],
        };
      },
      [text, robots, ...bodies.map((body) => body.toString("base64"))] as const,
    );
    const expected = JSON.parse(JSON.stringify(parseSitemap(text)));
    for (const document of read.documents) expect(document).toEqual(expected);
    const rules = parseRobots(robots);
    expect(read.robots).toEqual([rules.sitemaps, rules.isAllowed("https://example.org/private", "Googlebot")]);
  });

  test("sitegrove/parse reports a gzip member that is cut off", async () => {
    const page = await browser.newPage();
    await page.addScriptTag({ content: script });
    const cut = Buffer.concat([gzipSync(text.slice(0, 9000)), gzipSync(text.slice(9000)).subarray(0, 3000)]);
    const read = await page.evaluate(async (body) => {
      const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
      // biome-ignore lint/suspicious/noExplicitAny: a global of the page.
      return (globalThis as any).sitegrove.parseStream(new Blob([bytes]).stream());
    }, cut.toString("base64"));
    expect(read).toMatchObject({ kind: "pages", complete: false });
    expect(read.pages.length).toBeGreaterThan(0);
    expect(read.problems.map(({ code }: { code: string }) => code)).toContain("coding-damaged");
  });
});

// Cloudflare's runtime. Its package is 150 MB, so it is not a dependency: name the program if it is not in PATH.
const { SITEGROVE_WORKERD = "workerd" } = process.env;
const hasWorkerd = spawnSync(SITEGROVE_WORKERD, ["--version"]).status === 0;

describe.skipIf(!hasWorkerd)("in workerd", () => {
  let worker: ChildProcess;
  let address: string;
  beforeAll(async () => {
    const folder = newFolder();
    const handler = `export default {
      async fetch(request) {
        if (new URL(request.url).pathname === "/stream") return Response.json(await parseStream(request.body));
        const text = await request.text();
        if (new URL(request.url).pathname === "/text") return Response.json(parseSitemap(text));
        const rules = parseRobots(text);
        return Response.json([rules.sitemaps, rules.isAllowed("https://example.org/private", "Googlebot")]);
      },
    };`;
    writeFileSync(path.join(folder, "parse.js"), await bundled("esm"));
    writeFileSync(
      path.join(folder, "worker.js"),
      `import { parseRobots, parseSitemap, parseStream } from "parse.js";\n${handler}`,
    );
    writeFileSync(
      path.join(folder, "config.capnp"),
      `using Workerd = import "/workerd/workerd.capnp";
       const config :Workerd.Config = (
         services = [
           (name = "main", worker = (
             modules = [
               (name = "worker.js", esModule = embed "worker.js"),
               (name = "parse.js", esModule = embed "parse.js"),
             ],
             compatibilityDate = "2025-01-01",
           )),
           (name = "internet", network = (allow = [])),
         ],
         sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
       );`,
    );
    const stdio = ["ignore", "inherit", "inherit", "pipe"] as const;
    worker = spawn(SITEGROVE_WORKERD, ["serve", "--control-fd=3", path.join(folder, "config.capnp")], {
      stdio: [...stdio],
    });
    // It prints the port that it listens on, or ends if the code cannot be loaded.
    const [said] = await Promise.race([once(worker.stdio[3] as Readable, "data"), once(worker, "exit")]);
    address = `http://127.0.0.1:${JSON.parse(String(said)).port}`;
  });
  afterAll(async () => {
    if (worker.kill()) await once(worker, "exit");
  });

  const answer = async (path: string, body: string | Uint8Array<ArrayBuffer>) =>
    (await fetch(address + path, { method: "POST", body })).json();

  test("sitegrove/parse reads text, gzip, several gzip members and the rules of a robots.txt as in Node.js", async () => {
    const expected = JSON.parse(JSON.stringify(parseSitemap(text)));
    expect(await answer("/text", text)).toEqual(expected);
    for (const body of bodies) expect(await answer("/stream", new Uint8Array(body))).toEqual(expected);
    const rules = parseRobots(robots);
    expect(await answer("/robots", robots)).toEqual([
      rules.sitemaps,
      rules.isAllowed("https://example.org/private", "Googlebot"),
    ]);
  });
});
