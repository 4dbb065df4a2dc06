// What an XML document names is never opened: no entity, no document type, no stylesheet, no schema, no inclusion.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { readSitemap } from "../../src/crawl/read.ts";
import { sitemapTreeFrom } from "../../src/tree/build.ts";
import { faultServer } from "../support/fault-server.ts";

const canaryText = "https://canary.example/seen";
const folder = mkdtempSync(path.join(tmpdir(), "sitegrove-test-"));
const file = path.join(folder, "canary.txt");
writeFileSync(file, canaryText);
afterAll(() => rmSync(folder, { recursive: true }));

const page = "<url><loc>https://example.org/1</loc></url>";
const urlset = (attributes: string, content: string) =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" ${attributes}>${content}${page}</urlset>`;

/** Each form names the canary; whether the document is refused for it. */
const forms: Record<string, (canary: string) => { document: string; isRefused: boolean }> = {
  "an external entity": (canary) => ({
    document: `<!DOCTYPE urlset [<!ENTITY x SYSTEM "${canary}">]>${urlset("", "<url><loc>&x;</loc></url>")}`,
    isRefused: true,
  }),
  "a parameter entity": (canary) => ({
    document: `<!DOCTYPE urlset [<!ENTITY % x SYSTEM "${canary}"> %x;]>${urlset("", "")}`,
    isRefused: true,
  }),
  "an external document type": (canary) => ({
    document: `<!DOCTYPE urlset SYSTEM "${canary}">${urlset("", "<url><loc>&x;</loc></url>")}`,
    isRefused: false,
  }),
  "a public document type": (canary) => ({
    document: `<!DOCTYPE urlset PUBLIC "-//X//Y" "${canary}">${urlset("", "")}`,
    isRefused: false,
  }),
  "an inclusion": (canary) => ({
    document: urlset(
      'xmlns:xi="http://www.w3.org/2001/XInclude"',
      `<url><loc><xi:include href="${canary}" parse="text"/></loc></url>`,
    ),
    isRefused: false,
  }),
  "a stylesheet": (canary) => ({
    document: `<?xml-stylesheet type="text/xsl" href="${canary}"?>${urlset("", "")}`,
    isRefused: false,
  }),
  "a schema": (canary) => ({
    document: urlset(
      `xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.sitemaps.org/schemas/sitemap/0.9 ${canary}"`,
      "",
    ),
    isRefused: false,
  }),
};

test.each(Object.keys(forms))("%s is not opened, as a file or over the network", async (name) => {
  const canary = await faultServer({ "/canary.txt": canaryText });
  for (const target of [`file://${file}`, file, `${canary.origin}/canary.txt`]) {
    const { document, isRefused } = forms[name]!(target);
    const parsed = await readSitemap(Buffer.from(document), { url: "https://example.org/sitemap.xml" });
    expect(parsed.kind).toBe(isRefused ? "invalid" : "pages");
    expect(JSON.stringify(parsed)).not.toContain("canary.example");
    const server = await faultServer({ "/sitemap.xml": document });
    await using tree = await sitemapTreeFrom([`${server.origin}/sitemap.xml`], { network: "allow-private" });
    const urls: string[] = [];
    for await (const { url } of tree.pages()) urls.push(url);
    expect(urls.filter((url) => url.includes("canary.example"))).toEqual([]);
    if (!isRefused) expect(urls).toContain("https://example.org/1");
    await server.close();
  }
  expect(canary.connections).toBe(0);
  await canary.close();
});
