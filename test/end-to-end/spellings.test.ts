// Random websites whose URLs lead from spelling to spelling (http, https, www, another host): the archive prints what the website did,
// in every format, and has no differences from itself. Over sockets and TLS.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { sitegrove } from "../cli/program.ts";
import { some } from "../support/long.ts";
import { type Answer, namedWebsite } from "../support/named-website.ts";
import { Random } from "../support/random.ts";
import { index, robots, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const folder = newFolder();

const names = ["example.org", "www.example.org", "example.net"];
const origins = ["http://example.org", "https://example.org", "http://www.example.org", "https://www.example.org"];

/** Redirects lead towards the last of the origins, so that there are no loops. */
function randomWebsite(random: Random): { moves: boolean; start: string; answer: (url: string) => Answer } {
  const ranks = origins.toSorted(() => random.below(3) - 1);
  const count = 2 + random.below(5);
  const any = () => {
    const host = random.pick([...ranks, ...ranks, "https://example.net"]);
    return `${random.below(8) === 0 ? `${host}.` : host}/${random.below(count)}.xml`;
  };
  const several = (most: number) => Array.from({ length: 1 + random.below(most) }, any);
  const documents: Record<string, Answer> = { "/robots.txt": robots(...several(3), `${ranks[0]}/0.xml`) };
  for (let at = 0; at < count; at += 1) {
    const pages = Array.from({ length: 3 }, (_, page) => `https://example.org/${at}/${page}`);
    documents[`/${at}.xml`] = at > 0 && random.below(3) === 0 ? index(...several(3)) : urlset(...pages);
  }
  documents["/sitemap.xml"] = { to: any() };
  documents["/sitemap.txt"] = { to: random.pick([any(), "/"]) };
  documents["/"] = `<html>${several(2).map((url) => `<link rel="sitemap" href="${url}">`)}</html>`;
  // Otherwise each spelling has documents of its own.
  const moves = random.below(4) > 0;
  return {
    moves,
    start: `${random.pick([...ranks, ranks[3]])}/`,
    answer(url) {
      const { origin, pathname } = new URL(url);
      const rank = ranks.indexOf(origin.replace(/\.$/, ""));
      const next = rank === -1 ? ranks[pathname.length % 4] : moves ? ranks[rank + 1] : undefined;
      return next === undefined ? documents[pathname] : { to: next + pathname };
    },
  };
}

test.each(Array.from({ length: some(8, 2) }, (_, number) => number))("website %i", async (number) => {
  const { moves, start, answer } = randomWebsite(new Random(number));
  const website = await namedWebsite(names, answer);
  const [ca, archive] = [path.join(folder, `${number}.pem`), path.join(folder, `${number}.warc.gz`)];
  writeFileSync(ca, website.options.tls.ca);
  const way = ["--proxy", website.options.proxy, "--ca", ca, ...(number % 2 === 0 ? [] : ["--header", "X-Token: 1"])];
  try {
    const saved = await sitegrove(["ls", start, "-f", "pages", "--save", archive, ...way]);
    for (const format of ["pages", "tabtree", "json", "ndjson", "csv"]) {
      const live = format === "pages" ? saved : await sitegrove(["ls", start, "-f", format, ...way]);
      expect(await sitegrove(["ls", archive, "-f", format])).toEqual(live);
    }
    const same = await sitegrove(["diff", archive, archive, "-f", "ndjson", "--exit-code"]);
    expect(same).toEqual({ code: same.code, stdout: "", stderr: same.stderr });
    expect(same.code === 0 || saved.code === 3).toBe(true);
    const urls = saved.stdout.trim().split("\n");
    if (moves) expect(urls).toEqual([...new Set(urls)]);
  } finally {
    website.close();
  }
});
