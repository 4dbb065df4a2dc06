// node scripts/ts.mjs scripts/known-paths.ts [FOLDER]: measures how many requests the well-known paths cost, which sitemaps are missed without
// them, and how many requests it saves to recognize the platform of a website. Reads test/fixtures/sites, or another folder of such files.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Options } from "../src/model/options.ts";
import { sitemapTreeForHomepage } from "../src/tree/build.ts";
import { platformSites, routesOf } from "../test/support/platform-sites.ts";
import { home, site } from "../test/support/site.ts";
import { parseSiteFile } from "../test/support/site-file.ts";

const choices = ["always", "if-needed", "never"] as const;

interface Visit {
  readonly requests: number;
  /** The URLs of the sitemaps that list pages. */
  readonly sitemaps: ReadonlySet<string>;
}

/** Returns a Markdown table of requests and missed sitemaps, for each value of `knownPaths`. */
async function knownPathsTable(folder: string): Promise<string> {
  const websites = readdirSync(folder).map((file) => parseSiteFile(readFileSync(path.join(folder, file), "utf8")));
  const rows: string[] = [];
  const withAll: Visit[] = [];
  for (const knownPaths of choices) {
    let [requests, found, missed, poorer] = [0, 0, 0, 0];
    for (const [index, { routes, options }] of websites.entries()) {
      const visit = await visited(routes, { ...options, knownPaths });
      if (knownPaths === "always") withAll.push(visit);
      const missing = [...(withAll[index]?.sitemaps ?? [])].filter((url) => !visit.sitemaps.has(url)).length;
      requests += visit.requests;
      found += visit.sitemaps.size;
      missed += missing;
      if (missing > 0) poorer += 1;
    }
    const each = (requests / websites.length).toFixed(1);
    rows.push(`| \`${knownPaths}\` | ${requests} | ${each} | ${found} | ${missed} | ${poorer} of ${websites.length} |`);
  }
  return [
    "| `--known` | requests | for each website | sitemaps with pages | missed | websites with a loss |",
    "|---|--:|--:|--:|--:|--:|",
    ...rows,
  ].join("\n");
}

/** Returns a table of simulated platforms: requests and missed sitemaps if the homepage does not show the platform, and if it does. */
async function platformsTable(): Promise<string> {
  const rows: string[] = [];
  for (const platform of platformSites) {
    const all = Object.values(platform.sitemaps).filter((body) => body.includes("<urlset")).length;
    const before = await visited(routesOf(platform, false), {});
    const after = await visited(routesOf(platform, true), {});
    const missed = ({ sitemaps }: Visit) => all - sitemaps.size;
    rows.push(`| ${platform.name} | ${before.requests} | ${missed(before)} | ${after.requests} | ${missed(after)} |`);
  }
  return [
    "| platform | requests if it is unknown | missed | requests if it is known | missed |",
    "|---|--:|--:|--:|--:|",
    ...rows,
  ].join("\n");
}

async function visited(routes: Parameters<typeof site>[0], options: Options): Promise<Visit> {
  let requests = 0;
  await using tree = await sitemapTreeForHomepage(home, {
    client: site(routes).client,
    retries: 0,
    ...options,
    onEvent: ({ type }) => {
      if (type === "request") requests += 1;
    },
  });
  const sitemaps = [...tree.sitemaps()].filter(({ kind }) => kind === "pages").map(({ url }) => url);
  return { requests, sitemaps: new Set(sitemaps) };
}

const folder = process.argv[2] ?? path.join(import.meta.dirname, "../test/fixtures/sites");
process.stdout.write(`${await knownPathsTable(folder)}\n\n${await platformsTable()}\n`);
