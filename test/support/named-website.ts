// Websites with real names and default ports, over sockets and TLS of this machine: a proxy takes every name, answers http itself,
// and ends the tunnels of https at a server with a certificate for the name.
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";
import { createAuthority } from "./certificates.ts";
import { listenOnLoopback } from "./loopback.ts";

/** The response to a URL: a document, a redirect, a status, or nothing (404). */
export type Answer = string | { readonly to: string; readonly cookies?: string[] } | number | undefined;

export interface NamedWebsite {
  /** Options for a crawl. */
  readonly options: { readonly proxy: string; readonly tls: { readonly ca: string } };
  /** The URLs, in the order of the requests. */
  readonly asked: string[];
}

// One for all tests: a crawl that trusts the same authority as the last one does not read Node.js's certificates again.
const authority = createAuthority();

/** `names`: those that the certificate is for. Closed when the test ends. */
export async function namedWebsite(
  names: readonly string[],
  answer: (url: string, headers: http.IncomingHttpHeaders) => Answer,
): Promise<NamedWebsite> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const respond = (url: string, { headers }: http.IncomingMessage, response: http.ServerResponse) => {
    asked.push(url);
    const found = answer(url, headers);
    if (typeof found === "string") {
      const type = /^\s*<(!doctype )?html/i.test(found) ? "text/html" : "text/xml";
      response.setHeader("content-type", url.endsWith(".txt") ? "text/plain" : type).end(found);
    } else if (typeof found === "object")
      response.writeHead(301, { location: found.to, "set-cookie": found.cookies ?? [] }).end();
    else response.writeHead(found ?? 404).end();
  };
  const secure = https.createServer(authority.issue({ names }), (request, response) =>
    respond(`https://${request.headers.host}${request.url}`, request, response),
  );
  const proxy = http.createServer((request, response) => respond(request.url ?? "", request, response));
  proxy.on("connect", (_, socket: Socket) => {
    socket.write("HTTP/1.1 200 Connected\r\n\r\n");
    secure.emit("connection", socket);
  });
  proxy.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
  const port = await listenOnLoopback(proxy);
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  return { options: { proxy: `http://127.0.0.1:${port}`, tls: { ca: authority.ca } }, asked };
}
