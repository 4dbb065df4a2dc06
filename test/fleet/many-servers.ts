// Many small websites on loopback, by one server: each has an address of its own, `127.x.y.z`.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { atEnd } from "../support/at-end.ts";
import { urlset } from "../support/documents.ts";
import { listenOnLoopback } from "../support/loopback.ts";

export interface ManyServers {
  /** Homepages. */
  readonly sites: readonly string[];
  /** How often the robots.txt of each was requested. */
  readonly visits: Map<string, number>;
  /** Resolves when this many were requested. */
  visited(count: number): Promise<void>;
  close(): void;
}

export interface ManyServersOptions {
  readonly count: number;
  /** The delay before each response, in milliseconds. */
  readonly latency?: number;
  readonly pages?: number;
  /** Sitemaps by path, in place of the one with `pages`. */
  readonly sitemaps?: (base: string) => Readonly<Record<string, string>>;
  /** Further lines of robots.txt. */
  readonly robots?: string;
  /** Whether a website never answers. */
  readonly isSilent?: (number: number) => boolean;
  /** Awaited before each response. */
  readonly gate?: (host: string, path: string) => Promise<void> | void;
}

/** Served until the test or its file ends. */
export async function manyServers({
  count,
  latency = 0,
  pages = 3,
  sitemaps,
  robots = "",
  isSilent = () => false,
  gate,
}: ManyServersOptions): Promise<ManyServers> {
  const visits = new Map<string, number>();
  const server: Server = createServer(async (request, response) => {
    const host = request.headers.host ?? "";
    const [, x = 1, y = 0, z = 1] = host.split(/[.:]/).map(Number);
    if (request.url === "/robots.txt") visits.set(`http://${host}/`, (visits.get(`http://${host}/`) ?? 0) + 1);
    server.emit("visit");
    if (isSilent(((x - 1) * 256 + y) * 250 + z - 1)) return;
    if (gate !== undefined) await gate(host, request.url ?? "");
    setTimeout(() => {
      const base = `http://${host}`;
      if (request.url === "/robots.txt") response.end(`Sitemap: ${base}/sitemap.xml\n${robots}`);
      else if (sitemaps !== undefined) response.end(sitemaps(base)[request.url ?? ""] ?? "");
      else if (request.url === "/sitemap.xml") {
        response.end(urlset(...Array.from({ length: pages }, (_, page) => `${base}/${page}`)));
      } else response.writeHead(404).end();
    }, latency);
  });
  const addresses = Array.from({ length: count }, (_, at) => {
    // No address ends in 0 or 255.
    const [high, low] = [Math.floor(at / 250), (at % 250) + 1];
    return `127.${1 + Math.floor(high / 256)}.${high % 256}.${low}`;
  });
  const port = await listenOnLoopback(server, addresses);
  const sites = addresses.map((address) => `http://${address}:${port}/`);
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  atEnd(close);
  return {
    sites,
    visits,
    async visited(many) {
      while (visits.size < many) await once(server, "visit");
    },
    close,
  };
}
