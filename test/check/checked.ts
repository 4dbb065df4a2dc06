// Checks a website that is given as a value, with its documents whole or cut into pieces.
import { expect } from "vitest";
import { checkTree } from "../../src/check/check-tree.ts";
import type { CheckResult } from "../../src/check/findings/result.ts";
import type { CheckOptions } from "../../src/check/options.ts";
import type { Client } from "../../src/model/client.ts";
import type { Options } from "../../src/model/options.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { isLong, some } from "../support/long.ts";
import { home, type Route, site } from "../support/site.ts";

export interface Website {
  readonly routes: Readonly<Record<string, Route>>;
  readonly check?: CheckOptions;
  readonly crawl?: Options;
  /** Sitemaps to start from, instead of the homepage. */
  readonly sitemaps?: readonly string[];
}

/** When the documents are received, unless a test says otherwise. */
const now = "2026-06-15T12:00:00Z";

/** Checks a website. Its documents come whole, or in pieces of `pieceLength` bytes. */
export async function checked(website: Website, pieceLength?: number): Promise<CheckResult> {
  const { client } = site(website.routes);
  const options: Options = {
    retries: 0,
    // Trying hundreds of well-known paths would take most of the time.
    knownPaths: "if-needed",
    ...website.crawl,
    client: pieceLength === undefined ? client : inPieces(client, pieceLength),
  };
  const tree = await (website.sitemaps === undefined
    ? sitemapTreeForHomepage(home, options)
    : sitemapTreeForHomepage({ sitemaps: website.sitemaps }, options));
  try {
    return await checkTree(tree, { now, ...website.check });
  } finally {
    await tree.close();
  }
}

/** Checks a website whole and in pieces, expects the same result, and returns it. */
export async function checkedInPieces(website: Website): Promise<CheckResult> {
  const whole = await checked(website);
  // Large documents test sizes, not cuts.
  const isLarge = sizeOf(website) >= some(500_000, 50_000);
  // Cuts take time, and the tests of the parser already try many of them.
  if (isLong || !isLarge) expect(inWords(await checked(website, isLong ? 7 : 61))).toEqual(inWords(whole));
  if (isLong && !isLarge) expect(inWords(await checked(website, 1000))).toEqual(inWords(whole));
  return whole;
}

function sizeOf({ routes }: Website): number {
  return Object.values(routes).reduce((sum, route) => {
    const body = typeof route === "string" || route instanceof Uint8Array ? route : "body" in route ? route.body : "";
    return sum + (body?.length ?? 0);
  }, 0);
}

// Removes durations, which differ from run to run.
function inWords(result: CheckResult): unknown {
  const timeless = (rule: string) => rule === "sitemap-slow";
  return {
    ...result,
    findings: result.findings.map((finding) => (timeless(finding.rule) ? { ...finding, examples: [] } : finding)),
  };
}

function inPieces(client: Client, length: number): Client {
  return {
    async request(request) {
      const response = await client.request(request);
      return "code" in response ? response : { ...response, body: cut(response.body, length) };
    },
  };
}

async function* cut(body: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  for await (const bytes of body) {
    // Limits the number of pieces, because a large document in tiny pieces takes long and proves no more.
    const step = Math.max(length, Math.ceil(bytes.length / 20_000));
    for (let from = 0; from < bytes.length; from += step) yield bytes.subarray(from, from + step);
  }
}
