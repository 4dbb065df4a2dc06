// Conditional requests against the servers that most websites run: nginx and Apache, as Debian packages them.
// Needs nginx and Apache, and starts processes.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CrawlEvent } from "../../src/model/event.ts";
import type { Options } from "../../src/model/options.ts";
import { openTree, sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { contentOf } from "../support/collected.ts";
import { hasProgram } from "../support/installed.ts";
import { freePort, listening } from "../support/own-port.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();
const root = path.join(folder, "root");
const pages = Array.from({ length: 500 }, (_, at) => `<url><loc>https://example.org/page/${at}</loc></url>`);
const urlset = (count: number) => `<urlset>${pages.slice(0, count).join("\n")}</urlset>`;
const servers: ChildProcess[] = [];

beforeAll(() => {
  mkdirSync(root);
  writeFileSync(path.join(root, "static.xml"), urlset(400));
  writeFileSync(path.join(root, "static.xml.gz"), gzipSync(urlset(400)));
  writeFileSync(path.join(root, "file.xml.gz"), gzipSync(urlset(300)));
});
afterAll(async () => {
  for (const server of servers) server.kill("SIGTERM");
  await Promise.all(
    servers.map(
      (server) => server.exitCode ?? server.signalCode ?? new Promise((resolve) => server.once("exit", resolve)),
    ),
  );
});

async function started(command: string, words: string[], port: number): Promise<void> {
  const server = spawn(command, words, { stdio: "ignore" });
  servers.push(server);
  await listening(port, server);
}

async function nginx(): Promise<string> {
  const port = await freePort();
  const file = path.join(folder, "nginx.conf");
  const own = path.join(folder, "nginx");
  mkdirSync(own);
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${own}/${name};`,
  );
  writeFileSync(
    file,
    `daemon off; pid ${own}/pid; error_log ${own}/error.log; ${process.getuid?.() === 0 ? "user root;" : ""}
     events {}
     http { access_log off; ${places.join(" ")} types { application/xml xml; }
       server { listen 127.0.0.1:${port}; root ${root}; gzip on; gzip_types application/xml; gzip_min_length 1;
         location /static.xml { gzip off; gzip_static on; }
         location /dated.xml { etag off; } } }`,
  );
  await started("nginx", ["-c", file, "-p", own], port);
  return `http://127.0.0.1:${port}/`;
}

async function apache(): Promise<string> {
  const port = await freePort();
  const file = path.join(folder, "apache.conf");
  const own = path.join(folder, "apache");
  mkdirSync(own);
  const modules = ["mpm_event", "authz_core", "mime", "filter", "deflate"].map(
    (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
  );
  writeFileSync(
    file,
    `${modules.join("\n")}
ServerRoot "${own}"
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${own}/pid
ErrorLog ${own}/error.log
${process.getuid?.() === 0 ? "User www-data\nGroup www-data" : ""}
TypesConfig /dev/null
AddType application/xml .xml
DocumentRoot "${root}"
AddOutputFilterByType DEFLATE application/xml
<Files "dated.xml">
FileETag None
</Files>
`,
  );
  // The user www-data must be able to read the files.
  spawnSync("chmod", ["-R", "a+rX", folder]);
  await started("apache2", ["-f", file, "-D", "FOREGROUND"], port);
  return `http://127.0.0.1:${port}/`;
}

describe.each([
  ["nginx", nginx, ["a.xml", "static.xml", "file.xml.gz", "dated.xml"]],
  ["apache2", apache, ["a.xml", "file.xml.gz", "dated.xml"]],
] as const)("%s", (command, start, names) => {
  let home: string;
  let count = 0;
  const isThere = hasProgram(command, "-v");
  beforeAll(async () => {
    if (isThere) home = await start();
  });

  async function run(options: Options): Promise<{ content: string; events: CrawlEvent[] }> {
    const events: CrawlEvent[] = [];
    const urls = names.map((name) => `${home}${name}`);
    await using tree = await sitemapTreeForHomepage(
      { sitemaps: urls },
      { ...options, onEvent: (event) => events.push(event) },
    );
    return { content: await contentOf(tree), events };
  }

  const cameOf = (events: CrawlEvent[]) =>
    Object.fromEntries(
      events.flatMap((event) => (event.type === "response" ? [[event.url.slice(home.length), event.obtained]] : [])),
    );

  test.skipIf(!isThere)("answers that nothing changed, and sends what changed", async () => {
    // Servers round times to the second.
    for (const [name, count] of [
      ["a.xml", 500],
      ["dated.xml", 200],
    ] as const) {
      writeFileSync(path.join(root, name), urlset(count));
      utimesSync(path.join(root, name), 1_700_000_000, 1_700_000_000);
    }
    const first = path.join(folder, `${command}-${count++}.warc.gz`);
    const before = await run({ save: first });
    expect(readFileSync(first).length).toBeGreaterThan(0);
    const second = path.join(folder, `${command}-${count++}.warc.gz`);
    const again = await run({ previous: first, save: second });
    expect(cameOf(again.events)).toEqual(Object.fromEntries(names.map((name) => [name, "not-modified"])));
    expect(again.content).toBe(before.content);
    await using offline = await openTree(second);
    expect(offline.complete).toBe(true);
    const third = await run({ previous: second });
    expect(cameOf(third.events)).toEqual(Object.fromEntries(names.map((name) => [name, "not-modified"])));

    writeFileSync(path.join(root, "a.xml"), urlset(400 + command.length));
    const changed = await run({ previous: second });
    writeFileSync(path.join(root, "dated.xml"), urlset(100 + command.length));
    expect(cameOf(changed.events)).toMatchObject({ "a.xml": "fetched", "file.xml.gz": "not-modified" });
    const dated = await run({ previous: second });
    expect(cameOf(dated.events)).toMatchObject({ "dated.xml": "fetched", "file.xml.gz": "not-modified" });
    expect(dated.content).toBe((await run({})).content);
  });
});
