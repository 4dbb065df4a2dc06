// Thousands of small websites, as one client: what is at a URL is made up from its host name.
import type { Client, ClientRequest } from "../../src/model/client.ts";

export interface ManyWebsites {
  readonly client: Client;
  /** How often each host was asked for its robots.txt. */
  readonly visits: Map<string, number>;
  /** The most websites that were under way at a time. */
  readonly mostAtOnce: () => number;
}

/** `gone-…` has no sitemap, `dead-…` cannot be reached, `shut-…` refuses, `part-…` is incomplete, `hang-…` never answers, and `late-…` only for its robots.txt. `latency`: before each answer, in milliseconds. */
export function manyWebsites({ latency = 0 } = {}): ManyWebsites {
  const visits = new Map<string, number>();
  const active = new Map<string, number>();
  let most = 0;
  const client: Client = {
    async request({ url, signal }: ClientRequest) {
      const { host, pathname } = new URL(url);
      if (pathname === "/robots.txt") visits.set(host, (visits.get(host) ?? 0) + 1);
      active.set(host, (active.get(host) ?? 0) + 1);
      most = Math.max(most, active.size);
      try {
        if (host.startsWith("hang-") || (host.startsWith("late-") && pathname !== "/robots.txt"))
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        if (latency > 0) await new Promise((resolve) => setTimeout(resolve, latency));
        signal.throwIfAborted();
        return answer(host, pathname);
      } finally {
        const left = (active.get(host) ?? 1) - 1;
        if (left === 0) active.delete(host);
        else active.set(host, left);
      }
    },
  };
  return { client, visits, mostAtOnce: () => most };
}

function answer(host: string, pathname: string) {
  const ok = (body: string) => ({ status: 200, headers: [], body: bytes(body) });
  const status = (code: number) => ({ status: code, headers: [], body: bytes("") });
  if (host.startsWith("dead-")) return { code: "connection-refused", message: "The connection was refused" } as const;
  if (host.startsWith("shut-")) return status(403);
  if (host.startsWith("gone-")) return status(404);
  const origin = `https://${host}`;
  switch (pathname) {
    case "/robots.txt":
      return ok(`Sitemap: ${origin}/sitemap.xml\n`);
    case "/sitemap.xml": {
      const urls = [0, 1, 2].map((at) => `<url><loc>${origin}/${at}</loc></url>`).join("");
      return ok(`<urlset>${urls}${host.startsWith("part-") ? "<url><loc>ht" : "</urlset>"}`);
    }
    default:
      return status(404);
  }
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  if (text !== "") yield Buffer.from(text);
}
