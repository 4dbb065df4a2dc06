// A website on loopback that a test can slow down, before it answers and between the pieces of a body.
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "../cli/website.ts";

export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

export interface SlowSite {
  /** Ends in a slash. */
  readonly homepage: string;
  /** Milliseconds before an answer, and before each further piece of its body. */
  pace: (path: string) => number;
  /** Called before each request is answered. */
  onRequest: (path: string) => void;
  close(): void;
}

/** `{base}` in a text stands for the origin. Other paths are 404. */
export async function serveSlowly(routes: Readonly<Record<string, string | Answer>>): Promise<SlowSite> {
  const { homepage, close } = await serve(async (request, response) => {
    const path = request.url ?? "/";
    site.onRequest(path);
    const route = (Object.hasOwn(routes, path) ? routes[path] : undefined) ?? { status: 404 };
    const answer = typeof route === "string" ? { body: route } : route;
    const { status = 200, headers = {}, body = "" } = answer as Answer;
    const text = typeof body === "string" ? body.replaceAll("{base}", homepage.slice(0, -1)) : body;
    const bytes = Buffer.from(text as string);
    await pause(site.pace(path));
    response.writeHead(status, { "content-length": bytes.length, ...headers });
    const size = Math.max(1, Math.ceil(bytes.length / 3));
    for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
      const piece = bytes.subarray(at, at + size);
      await new Promise((sent) => response.write(piece, sent));
      await pause(site.pace(path));
    }
    response.end();
  });
  const site: SlowSite = { homepage, pace: () => 0, onRequest: () => undefined, close };
  return site;
}

async function pause(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await sleep(milliseconds);
}
