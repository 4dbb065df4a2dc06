// What the program shows on a terminal, and what it omits in a pipe.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { index, urlset } from "../support/documents.ts";
import { hasProgram } from "../support/installed.ts";
import { said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { onTerminal, sitegrove, terminal } from "./program.ts";
import { serve } from "./website.ts";

const hasTerminals = hasProgram("script");
const escapeCharacter = "\u001b";

const site = await serve({
  "/index.xml": index("{base}/quick.xml", "{base}/slow.xml", "{base}/gone.xml", "{base}/cut.xml"),
  "/quick.xml": urlset("{base}/q1", "{base}/q2"),
  "/slow.xml": (request, response) => {
    answerSlow = () => void response.end(urlset(`http://${request.headers.host}/s1`));
    if (!isWatched) answerSlow();
  },
  "/never.xml": () => {},
  "/minor.xml": urlset("<url><loc>{base}/m</loc><lastmod>soon</lastmod></url>"),
  "/minors.xml": urlset("<url><loc>{base}/m</loc><lastmod>soon</lastmod><priority>high</priority></url>"),
  "/cut.xml": "<urlset><url><loc>{base}/kept</loc></url><url><loc>",
});
// The website answers only after the live line was shown, however long that takes.
let isWatched = false;
let answerSlow = () => {};
const indexUrl = `${site.homepage}index.xml`;
const incomplete = said.incomplete(`${said.oneNotRead}, ${said.onePartlyRead}`);

// The live line, and what stays on the terminal after it.
async function watched(words: string): Promise<string> {
  const live = new RegExp(`${said.progress}.*${said.waitingFor("/slow.xml")}`);
  isWatched = true;
  const { stdout } = await onTerminal(words, { onOutput: (all) => live.test(all) && answerSlow() });
  isWatched = false;
  expect(stdout).toMatch(live);
  return stdout.replaceAll("\r\n", "\n");
}

describe("on a terminal", () => {
  test("one line shows progress, and is gone at the end", async () => {
    const draws = (await watched(`ls --sitemap ${indexUrl}`)).split(`\r${escapeCharacter}[2K`);
    // Each draw clears the line first, and the last thing done to it is clearing it.
    expect(draws.slice(1, -1).every((drawn) => !drawn.includes("\n"))).toBe(true);
    expect(draws.at(-1)).not.toContain(said.waitingFor(""));
    // What stays is the result and the summary.
    const shown = (draws.at(-1) ?? "").replaceAll(new RegExp(`${escapeCharacter}\\[\\d*m`, "g"), "");
    expect(shown).toContain(
      `${site.homepage}\n│ ${indexUrl} 4 sitemaps\n│ │ ${site.homepage}quick.xml 2 pages\n│ │ │ ${site.homepage}q1\n`,
    );
    expect(shown).toContain(`│ │ ${site.homepage}gone.xml ${said.notFound}\n`);
    expect(shown).toContain(`│ │ ${site.homepage}cut.xml 1 page ${said.cutOff}\n`);
    expect(shown).toMatch(new RegExp(`${said.totals("4", "4")}[\\d.]+ (?:min \\d+ )?m?s, \\d`));
    expect(shown).toContain(
      `${incomplete}\n  ${said.notFound}\n    ${site.homepage}gone.xml\n` +
        `  ${said.cutOff}; ${said.onePageKept}\n    ${site.homepage}cut.xml\n`,
    );
  });

  test("every command that crawls shows how many sitemaps are left", async () => {
    const output = path.join(newFolder(), "output");
    for (const words of ["check", `report -o ${output}`, `changes --state ${output}.warc`])
      await watched(`${words} ${words.startsWith("changes") ? "--sitemap " : ""}${indexUrl}`);
  });

  test("the first few pages of each sitemap are shown, all with --all, and the verdict comes last", async () => {
    const pages = (name: string, count: number) => Array.from({ length: count }, (_, at) => `{base}/${name}${at}`);
    const large = await serve({
      "/robots.txt": "Sitemap: {base}/i.xml\n",
      "/i.xml": index("{base}/a.xml", "{base}/b.xml", "{base}/c.xml"),
      "/a.xml": urlset(...pages("a", 500)),
      "/b.xml": urlset(...pages("b", 4)),
      "/c.xml": urlset(...pages("c", 1005)),
    });
    const shown = async (flags: string) => {
      const { stdout } = await onTerminal(`${large.homepage} -k --no-color --no-progress -u ${flags}`.trim());
      return stdout.replaceAll("\r", "").split("\n");
    };
    const few = await shown("");
    expect(few.slice(2, -2)).toEqual([
      "│ │ /i.xml 3 sitemaps",
      "│ │ │ /a.xml 500 pages",
      ...["a0", "a1", "a2"].map((page) => `│ │ │ │ /${page}`),
      "│ │ │ │ … 497 more (--all shows them)",
      "│ │ │ /b.xml 4 pages",
      ...["b0", "b1", "b2", "b3"].map((page) => `│ │ │ │ /${page}`),
      "│ │ │ /c.xml 1,005 pages",
      ...["c0", "c1", "c2"].map((page) => `│ │ │ │ /${page}`),
      "│ │ │ │ … 1,002 more",
    ]);
    expect(few.at(-2)).toContain(said.totals("1,509", "4"));
    expect((await shown("--all")).filter((line) => line.startsWith("│ │ │ │ /"))).toHaveLength(1509);
    expect((await shown("--limit 7")).filter((line) => line.startsWith("│ │ │ │ /"))).toHaveLength(7);
    const piped = await sitegrove([large.homepage, "-k", "-u"]);
    expect(piped.stdout.match(/^\t{4}\//gm)).toHaveLength(1509);
  });

  test.each([80, 120])("-f sitemaps fits a terminal of %d columns", async (columns) => {
    const name = `${"a-long-name-".repeat(12)}2024-05.xml`;
    const wide = await serve({
      "/i.xml": index(`{base}/${name}`, "{base}/gone.xml"),
      [`/${name}`]: urlset("{base}/1"),
    });
    const words = `ls --sitemap ${wide.homepage}i.xml -f sitemaps --no-color --no-progress`;
    const { stdout } = await onTerminal(words, { columns });
    const lines = stdout.replaceAll("\r", "").split("\n").slice(0, 4);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines[0]).toMatch(/^ *pages .* sitemap$/);
    expect(lines[2]).toMatch(/ 1 .*http:\S+….*name-2024-05\.xml$/);
    expect(lines[3]).toMatch(/404 .*gone\.xml \(not read\)$/);
  });

  test("all commands count the same sitemaps, without robots.txt and the website itself", async () => {
    const small = await serve({
      "/robots.txt": "Sitemap: {base}/index.xml\nSitemap: {base}/a.xml\n",
      "/index.xml": index("{base}/a.xml", "{base}/b.xml"),
      "/a.xml": urlset("{base}/1", "{base}/2"),
      "/b.xml": urlset("{base}/3"),
    });
    const { stdout } = await onTerminal(`ls ${small.homepage} -k --no-color --no-progress`);
    const [, shown] = new RegExp(said.totals("\\d+", "(\\d+)")).exec(stdout) ?? [];
    const checked = JSON.parse((await sitegrove(["check", small.homepage, "-k", "-f", "json"])).stdout);
    const reported = JSON.parse((await sitegrove(["report", small.homepage, "-k", "--json"])).stdout);
    const logged = await sitegrove(["ls", small.homepage, "-k", "-f", "pages", "-v"]);
    const [, read] = new RegExp(said.finished("3 pages, (\\d+) sitemaps")).exec(logged.stderr) ?? [];
    const counts = [Number(shown), checked.sitemapCount, reported.figures.sitemaps, Number(read)];
    expect(new Set(counts)).toEqual(new Set([checked.sitemapCount]));
    // One sitemap is in the tree twice.
    expect(checked.sitemapCount).toBe(4);
  });

  test("a result on the same terminal is not mixed with the live line", async () => {
    const live = /\r\u001b\[2K(?:\u001b\[2m[^\u001b]*\u001b\[22m)?/g;
    const lines = (await watched(`ls --sitemap ${indexUrl} -f pages`)).replaceAll(live, "");
    expect(lines.split("\n").slice(0, 4)).toEqual(["q1", "q2", "s1", "kept"].map((page) => site.homepage + page));
  });

  test.each([
    ["minor.xml", said.minorProblem],
    ["minors.xml", `${said.minorProblems}; ${said.listThem}`],
  ])("minor problems are counted: %s", async (name, message) => {
    const { stdout } = await onTerminal(`ls --sitemap ${site.homepage}${name} --no-color`);
    expect(stdout.replaceAll("\r", "")).toContain(`${message}\n`);
  });

  test("colors and the live line can be turned off", async () => {
    const env = { NO_COLOR: "1" };
    const plain = await onTerminal(`ls --sitemap ${indexUrl} --no-color --no-progress`);
    const noColor = await onTerminal(`ls --sitemap ${site.homepage}quick.xml --no-progress`, { env });
    expect(plain.stdout + noColor.stdout).not.toContain(escapeCharacter);
  });

  // Needs a real terminal, made by `script` (util-linux).
  test.skipIf(!hasTerminals)("Ctrl-C clears the live line, and the program says that it was stopped", async () => {
    let isSent = false;
    const { stdout } = await terminal(
      `$SITEGROVE ls --sitemap ${site.homepage}never.xml & echo "process $!"; wait $!; echo "exit $?"`,
      {},
      (all) => {
        const [, pid] = /process (\d+)/.exec(all) ?? [];
        if (isSent || pid === undefined || !all.includes(said.waitingFor("/never.xml"))) return;
        isSent = true;
        process.kill(Number(pid), "SIGINT");
      },
    );
    expect(stdout.slice(stdout.lastIndexOf(said.waitingFor("/never.xml")))).toContain(`\r${escapeCharacter}[2K`);
    expect(stdout).toContain(said.stopped(said.nothingWritten));
    expect(stdout).toContain("exit 130");
  });
});

describe("in a pipe", () => {
  test("there are no escape sequences and no progress, only errors", async () => {
    const { stderr, stdout } = await sitegrove(["ls", "--sitemap", indexUrl]);
    expect(stdout + stderr).not.toContain(escapeCharacter);
    expect(stderr).toBe(
      `sitegrove: ${said.notRead(`${site.homepage}gone.xml`, said.notFound)}\n` +
        `sitegrove: ${said.partly(`${site.homepage}cut.xml`, `${said.cutOff}; ${said.onePageKept}`)}\n` +
        `sitegrove: ${incomplete}\n`,
    );
  });

  test("-v logs what was read, -vv every event: one per line, with its time", async () => {
    const quick = ["ls", "--sitemap", `${site.homepage}quick.xml`, "-f", "pages"];
    const [some, all] = [await sitegrove([...quick, "-v"]), await sitegrove([...quick, "-vv"])];
    for (const line of [some, all].flatMap(({ stderr }) => stderr.trimEnd().split("\n"))) {
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (request|response|start|pages|sitemap|finished) /);
    }
    expect(some.stderr).toMatch(/Z sitemap http\S+quick\.xml /);
    expect(some.stderr).not.toContain(" request ");
    expect(all.stderr).toMatch(/Z request http\S+quick\.xml\n/);
    expect(all.stderr).toMatch(/Z response http\S+quick\.xml /);
  });

  test("-v logs each failure once", async () => {
    const { stderr } = await sitegrove(["ls", "--sitemap", indexUrl, "-f", "pages", "-v"]);
    const lines = stderr.trimEnd().split("\n");
    expect(lines.filter((line) => line.includes("gone.xml"))).toEqual([
      expect.stringMatching(/Z problem http\S+gone\.xml http-404: /),
    ]);
    expect(lines.filter((line) => line.includes(said.cutOff))).toHaveLength(1);
    expect(lines.at(-1)).toBe(`sitegrove: ${incomplete}`);
  });

  test("--log-file gets the log instead of standard error", async () => {
    const folder = newFolder();
    const log = path.join(folder, "run.log");
    const { stderr } = await sitegrove(["ls", "--sitemap", `${site.homepage}quick.xml`, "-l", log, "-f", "pages"]);
    expect(stderr).toBe("");
    expect(readFileSync(log, "utf8")).toMatch(
      new RegExp(`^(?:\\S+Z sitemap .*\\n){2}\\S+Z ${said.finished("2 pages")}.*\\n$`),
    );
  });

  test("no log line shows a password in a URL or the value of a header", async () => {
    const start = site.homepage.replace("//", "//user:s3cret@");
    for (const format of ["tabtree", "json", "pages"]) {
      const { stdout, stderr } = await sitegrove(["ls", start, "-vv", "-f", format, "--header", "X-Key: s3cret"]);
      expect(stdout + stderr).not.toContain("s3cret");
    }
  });

  test("--insecure prints a warning", async () => {
    const { stderr } = await sitegrove(["ls", "--sitemap", `${site.homepage}quick.xml`, "-f", "pages", "--insecure"]);
    expect(stderr).toContain(said.notVerified);
  });
});

test.skipIf(!hasTerminals)("mcp on a terminal says what it waits for", async () => {
  expect((await terminal("$SITEGROVE mcp")).stdout).toContain(said.waitingForAgent);
});
