// What is said about old addresses, where it depends on what the new sitemaps list.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { followGone } from "../../src/diff/follow-gone.ts";
import { listOf } from "../support/collected.ts";
import { home, site, urlset } from "../support/site.ts";
import { newFolder } from "../support/test-folder.ts";

const paths = ["kept", "old", "moved", "index.html", "shop/", "gone"];
const old = path.join(newFolder(), "old.txt");
writeFileSync(old, paths.map((name) => `${home}${name}\n`).join(""));

async function followed(sitemap: string): Promise<string[]> {
  const page = { headers: { "content-type": "text/html" }, body: "<title>A page</title>" };
  const { client } = site({
    "/sitemap.xml": sitemap,
    "/": page,
    "/old": page,
    "/moved": { to: "/new" },
    "/new": page,
    "/index.html": { to: "/" },
    "/shop/": { to: "/" },
    "/gone": { to: "/broken" },
  });
  const rows = followGone(old, { sitemaps: [`${home}sitemap.xml`] }, { client, retries: 0 });
  return (await listOf(rows)).map(({ url, listed, verdict }) => `${url.slice(home.length)} ${listed} ${verdict}`);
}

const listed = urlset(`${home}kept`, home, `${home}broken`);

test("`listed` says whether the new sitemaps list where an old address leads, whatever is there", async () => {
  expect(await followed(listed)).toEqual([
    "old false still-there",
    "moved false moved-unlisted",
    // Of the redirects to the homepage, only one from another of its addresses is right.
    "index.html true moved",
    "shop/ true soft-404",
    "gone true gone",
  ]);
});

test("what sitemaps that are cut off do not list is unknown", async () => {
  expect(await followed(listed.replace("</urlset>", ""))).toEqual([
    "old undefined unknown",
    "moved undefined unknown",
    "index.html true moved",
    "shop/ true soft-404",
    "gone true gone",
  ]);
});
