// What tests of fetching share: a fetcher, and one call from a URL to its complete result.
import { afterAll, afterEach } from "vitest";
import { type Followed, follow, followRules, Hop } from "../../src/crawl/redirects.ts";
import { Fetcher, type FetcherParts } from "../../src/fetch/fetcher.ts";
import type { FetchEvent } from "../../src/model/event.ts";
import type { DocumentRequest, Fetched, FetchedDocument } from "../../src/model/exchange.ts";
import { type Options, resolveOptions, type Timeouts } from "../../src/model/options.ts";
import { type Fault, type FaultServer, type FaultServerOptions, faultServer } from "./fault-server.ts";

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(10);
}

/** Ten pages: enough to be cut in half. */
export const tenPages: string = [
  '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
  ...Array.from({ length: 10 }, (_, page) => `<url><loc>https://example.org/page-${page}</loc></url>`),
  "</urlset>",
].join("\n");

/** Long enough for a busy machine. A test in which something stalls shortens only the timeout that has to expire. */
const times: Timeouts = { connect: 60_000, firstByte: 60_000, idle: 60_000, total: 120_000 };

export interface TestFetcher extends Fetcher {
  readonly events: FetchEvent[];
  /** Follows redirects to the document and reads it to its end. A path is one of the start. */
  read(urlOrPath: string, request?: Partial<DocumentRequest>): Promise<ReadResult>;
  /** Requests a document that is there, and leaves its body to be read. */
  open(urlOrPath: string, signal?: AbortSignal): Promise<FetchedDocument>;
}

export interface ReadResult {
  /** The last answer. */
  readonly fetched: Fetched;
  readonly followed: Followed;
  /** `found`, or the outcome and the code of the reason: `failed http-500`. */
  readonly result: string;
  readonly text: string;
  readonly bytes: number;
  /** The code of the problem with which the body ended. */
  readonly broken: string | undefined;
}

const open: { close(): Promise<void> }[] = [];

async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((each) => each.close()));
}
afterEach(closeAll);
afterAll(closeAll);

/** Closed after the test. The start is `start`, or nothing. */
export function testFetcher(
  options: Options & { start?: string | string[] } = {},
  parts: FetcherParts = {},
): TestFetcher {
  const { start = [], ...given } = options;
  const events: FetchEvent[] = [];
  const timeout = typeof given.timeout === "object" ? { ...times, ...given.timeout } : (given.timeout ?? times);
  const settings = resolveOptions({ retries: 0, ...given, timeout });
  const fetcher = new Fetcher(
    { settings, start: [start].flat(), onEvent: (event) => events.push(event) },
    { ...parts, backoff: { base: 2, ...parts.backoff } },
  );
  open.push(fetcher);
  const [first] = [start].flat();
  const urlOf = (urlOrPath: string) =>
    urlOrPath.startsWith("/") ? new URL(first ?? "").origin + urlOrPath : urlOrPath;
  return Object.assign(fetcher, {
    events,
    async open(urlOrPath: string, signal?: AbortSignal) {
      const fetched = await fetcher.fetch({ url: urlOf(urlOrPath), role: "sitemap", signal });
      if (fetched.outcome !== "found") throw new Error(fetched.outcome);
      return fetched;
    },
    async read(urlOrPath: string, request: Partial<DocumentRequest> = {}) {
      const url = urlOf(urlOrPath);
      const rules = followRules(settings.limits, [start].flat(), fetcher);
      let fetched: Fetched | undefined;
      const followed = await follow(Hop.first(url, request.role ?? "sitemap", rules), async (hop) => {
        fetched = await fetcher.fetch({ ...hop.request, ...request, url: hop.url });
        return fetched;
      });
      const pieces: Uint8Array[] = [];
      if (fetched?.outcome === "found") for await (const piece of fetched.body) pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      const result = "reason" in followed ? `${followed.outcome} ${followed.reason.code}` : followed.outcome;
      const broken = fetched?.outcome === "found" ? fetched.body.end.problem?.code : undefined;
      const text = bytes.toString("utf8");
      return { fetched: fetched as Fetched, followed, result, text, bytes: bytes.length, broken };
    },
  });
}

/** Closed after the test. */
export async function testServer(
  paths: Readonly<Record<string, Fault | string>>,
  options?: FaultServerOptions,
): Promise<FaultServer> {
  const server = await faultServer(paths, options);
  open.push(server);
  return server;
}

/** Serves one path and fetches it. */
export async function fetchOnly(
  fault: Fault | string,
  options: Options = {},
): Promise<ReadResult & { server: FaultServer }> {
  const server = await testServer({ "/sitemap.xml": fault });
  const read = await testFetcher({ start: server.origin, ...options }).read("/sitemap.xml");
  return { ...read, server };
}
