// A website as a value: a map from path to body, served by an in-memory client. For everything that is not about sockets.
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientRequest } from "../../src/model/client.ts";
import type { Sitemap } from "../../src/model/sitemap.ts";
import type { SitemapTree } from "../../src/tree/tree.ts";
import { home, index, robots, urlset } from "./documents.ts";

export { home, index, robots, urlset };

/** A body, a redirect, or more detail. `{home}` in a body stands for the homepage. */
export type Route =
  | string
  | Uint8Array
  | { to: string }
  | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array; wait?: number };

export interface Site {
  readonly client: Client;
  /** The paths (or URLs on other hosts) that were asked for, in the order of the requests. */
  readonly hits: string[];
}

/** Routes by path, or by whole URL for other hosts; anything else is 404. A function may generate routes. */
export function site(routes: Record<string, Route> | ((path: string) => Route | undefined)): Site {
  const hits: string[] = [];
  const find =
    typeof routes === "function" ? routes : (path: string) => (Object.hasOwn(routes, path) ? routes[path] : undefined);
  const client: Client = {
    async request({ url, signal }: ClientRequest) {
      const path = url.startsWith(home) ? url.slice(home.length - 1) : url;
      hits.push(path);
      const route = find(path);
      if (route === undefined) return answer(404, {}, "");
      if (typeof route === "string" || route instanceof Uint8Array) return answer(200, {}, route);
      if ("to" in route) return answer(301, { location: route.to }, "");
      if (route.wait !== undefined) await sleep(route.wait, undefined, { signal });
      return answer(route.status ?? 200, route.headers ?? {}, route.body ?? "");
    },
  };
  return { client, hits };
}

function answer(status: number, headers: Record<string, string>, body: string | Uint8Array) {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body.replaceAll("{home}", home)) : body;
  return {
    status,
    headers: Object.entries(headers),
    body: (async function* () {
      if (bytes.length > 0) yield bytes;
    })(),
  };
}

/** Returns the tree as readable lines: kind or format, URL, pages, and a mark where something is missing. */
export async function outline(tree: SitemapTree): Promise<string[]> {
  const lines: string[] = [];
  for await (const step of tree.walk()) {
    if (step.type === "enter")
      lines.push(
        `${"  ".repeat(step.depth)}${label(step.sitemap)} ${short(step.sitemap.declaredUrl ?? step.sitemap.url)}${mark(step.sitemap)}`,
      );
    if (step.type === "pages") {
      const depth = lines.at(-1)?.search(/\S/) ?? 0;
      lines.push(...step.pages.map((page) => `${" ".repeat(depth + 2)}${short(page.url)}`));
    }
  }
  return lines;
}

function label(sitemap: Sitemap): string {
  return sitemap.kind === "invalid" ? "invalid" : `${sitemap.kind}/${sitemap.format}`;
}

function mark(sitemap: Sitemap): string {
  if (sitemap.kind === "invalid") return ` (${sitemap.reason.code})`;
  return sitemap.complete ? "" : ` (${sitemap.problems.map(({ code }) => code).join(", ")})`;
}

function short(url: string): string {
  return url.startsWith(home) ? url.slice(home.length - 1) : url;
}
