// A website on loopback: a map from paths to responses. `{base}` stands for its origin.
import { EventEmitter } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { atEnd } from "../support/at-end.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;
export type Answer = string | Buffer | Handler;

export interface Website {
  /** Ends in a slash. */
  readonly homepage: string;
  /** The requested paths. */
  readonly requests: string[];
  /** Resolves with the next request for this path. */
  asked(path: string): Promise<void>;
  close(): void;
}

/** Serves routes by path, or everything with one function, until the current test or its file ends. */
export async function serve(routes: Record<string, Answer> | Handler): Promise<Website> {
  const requests: string[] = [];
  const arrivals = new EventEmitter();
  const server = createServer((request, response) => {
    const url = request.url ?? "/";
    requests.push(url);
    arrivals.emit(url);
    const answer = typeof routes === "function" ? routes : routes[url];
    if (answer === undefined) response.writeHead(404).end();
    else if (typeof answer === "function") answer(request, response);
    else
      response.end(typeof answer === "string" ? answer.replaceAll("{base}", `http://${request.headers.host}`) : answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  atEnd(close);
  return {
    homepage: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    asked: (path) => new Promise((resolve) => arrivals.once(path, () => resolve())),
    close,
  };
}
