// Skipped entries are always reported.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { urlset } from "../support/documents.ts";
import { said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { onTerminal, sitegrove } from "./program.ts";
import { serve } from "./website.ts";

const folder = newFolder();
const broken = urlset("{base}/a", "http://:80/", "http://[/", "mailto:a@example.org", "{base}/b");
const site = await serve({ "/sitemap.xml": broken });
const clean = await serve({ "/sitemap.xml": urlset("{base}/a") });

test.each(["ls -f pages", "ls", "ls -f sitemaps-csv", "check --fail-on never -f json", "parse"])(
  "%s reports how many entries were skipped and why, also in a pipe; -q hides it",
  async (line) => {
    const [command = "", ...flags] = line.split(" ");
    const target = command === "parse" ? new URL("sitemap.xml", site.homepage).href : site.homepage;
    const usual = await sitegrove([command, target, ...flags]);
    expect(usual.stderr).toContain(`sitegrove: ${said.threeSkipped}; ${said.listThem}\n`);
    expect(usual.code).toBe(0);
    const quiet = await sitegrove([command, target, ...flags, "-q"]);
    expect([quiet.code, quiet.stderr]).toEqual([0, ""]);
  },
);

test("a single reason is reported without a count, also on a terminal", async () => {
  const one = await serve({ "/sitemap.xml": urlset("{base}/a", "http://:80/", "http://[/") });
  const message = `${said.twoSkipped}; ${said.listThem}`;
  expect((await sitegrove(["ls", one.homepage, "-f", "pages"])).stderr).toContain(message);
  expect((await onTerminal(`ls ${one.homepage}`)).stdout).toContain(message);
  expect((await sitegrove(["ls", one.homepage, "-v"])).stderr).toContain(`${said.twoSkipped}\n`);
});

test("skipped entries on both sides of a diff are reported", async () => {
  const { stderr } = await sitegrove(["diff", clean.homepage, site.homepage]);
  expect(stderr).toContain(said.threeSkipped);
});

test("skipped lines of the files in a diff are reported", async () => {
  const list = path.join(folder, "list.txt");
  writeFileSync(list, "https://example.org/a\nnot a URL\n");
  for (const sides of [
    [list, clean.homepage],
    [clean.homepage, list],
  ]) {
    expect((await sitegrove(["diff", ...sides])).stderr).toContain(`${said.lineSkipped}\n`);
  }
});

test("skipped entries are reported again when an archive is read", async () => {
  const archive = path.join(folder, "site.warc.gz");
  await sitegrove(["ls", site.homepage, "--save", archive]);
  expect((await sitegrove(["ls", archive, "-f", "pages"])).stderr).toContain(said.threeSkipped);
});

test("-q still prints why a website is incomplete", async () => {
  const cut = await serve({ "/sitemap.xml": "<urlset><url><loc>{base}/a</loc></url><url><loc>" });
  const { code, stderr } = await sitegrove(["ls", cut.homepage, "-f", "pages", "-q"]);
  expect(code).toBe(3);
  expect(stderr).toContain(said.cutOff);
});
