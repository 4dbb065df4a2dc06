// What an XML document names is never opened: no entity, no document type, no stylesheet, no schema, no inclusion.
import { expect, test } from "vitest";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { urlsOf } from "../support/collected.ts";
import { faultServer } from "../support/fault-server.ts";

const canaryText = "https://canary.example/seen";

const page = "<url><loc>https://example.org/1</loc></url>";
const urlset = (attributes: string, content: string) =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" ${attributes}>${content}${page}</urlset>`;

const reference = "<url><loc>&x;</loc></url>";
const include = 'xmlns:xi="http://www.w3.org/2001/XInclude"';
const schema = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation';

/** Each form names the canary. */
const forms: [name: string, isRefused: boolean, document: (canary: string) => string][] = [
  [
    "an external entity",
    true,
    (canary) => `<!DOCTYPE urlset [<!ENTITY x SYSTEM "${canary}">]>${urlset("", reference)}`,
  ],
  ["a parameter entity", true, (canary) => `<!DOCTYPE urlset [<!ENTITY % x SYSTEM "${canary}"> %x;]>${urlset("", "")}`],
  ["an external document type", false, (canary) => `<!DOCTYPE urlset SYSTEM "${canary}">${urlset("", reference)}`],
  ["a public document type", false, (canary) => `<!DOCTYPE urlset PUBLIC "-//X//Y" "${canary}">${urlset("", "")}`],
  [
    "an inclusion",
    false,
    (canary) => urlset(include, `<url><loc><xi:include href="${canary}" parse="text"/></loc></url>`),
  ],
  ["a stylesheet", false, (canary) => `<?xml-stylesheet type="text/xsl" href="${canary}"?>${urlset("", "")}`],
  ["a schema", false, (canary) => urlset(`${schema}="http://www.sitemaps.org/schemas/sitemap/0.9 ${canary}"`, "")],
];

test.each(forms)("%s is not followed, neither to a file nor to the network", async (_, isRefused, documentFor) => {
  const canary = await faultServer({ "/canary.txt": canaryText });
  // This file has the text, too.
  const targets = [import.meta.url, import.meta.filename, `${canary.origin}/canary.txt`];
  const routes = Object.fromEntries(targets.map((target, at) => [`/${at}.xml`, documentFor(target)]));
  const server = await faultServer(routes);
  const sitemaps = Object.keys(routes).map((name) => server.origin + name);
  await using tree = await sitemapTreeForHomepage({ sitemaps: sitemaps }, { network: "allow-private" });
  const urls = await urlsOf(tree.pages());
  expect(tree.root.children.map(({ kind }) => kind)).toEqual(targets.map(() => (isRefused ? "invalid" : "pages")));
  expect(urls.filter((url) => url.includes("canary.example"))).toEqual([]);
  if (!isRefused) expect(urls).toContain("https://example.org/1");
  expect(canary.connections).toBe(0);
  await Promise.all([server.close(), canary.close()]);
});
