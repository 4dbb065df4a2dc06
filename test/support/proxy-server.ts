// A proxy on loopback that resolves every name to loopback and records its requests.
import http from "node:http";
import net from "node:net";
import { onTestFinished } from "vitest";
import { listenOnLoopback } from "./loopback.ts";

interface ProxyServer {
  /** `GET http://…` and `CONNECT host:port`, in the order of arrival. */
  readonly asked: string[];
  readonly url: string;
}

interface ProxyOptions {
  /** The status of responses to CONNECT. */
  readonly refuse?: number;
  /** The password of the user `user`. */
  readonly password?: string;
}

/** Closed when the test ends. */
export async function proxyServer(options: ProxyOptions = {}): Promise<ProxyServer> {
  const asked: string[] = [];
  const sockets = new Set<net.Socket>();
  const isAllowed = (headers: http.IncomingHttpHeaders) =>
    options.password === undefined ||
    headers["proxy-authorization"] === `Basic ${Buffer.from(`user:${options.password}`).toString("base64")}`;
  const proxy = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (!isAllowed(request.headers)) return response.writeHead(407).end();
    const { port, pathname } = new URL(request.url ?? "");
    const { "proxy-authorization": _, ...headers } = request.headers;
    const onward = http.get({ host: "127.0.0.1", port, path: pathname, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    return undefined;
  });
  proxy.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    const status = isAllowed(request.headers) ? options.refuse : 407;
    if (status !== undefined) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const onward = net.connect(Number(request.url?.split(":").at(-1)), "127.0.0.1");
    sockets.add(onward.on("error", () => socket.destroy()));
    socket.on("error", () => onward.destroy()).write("HTTP/1.1 200 Connected\r\n\r\n");
    return socket.pipe(onward).pipe(socket);
  });
  proxy.on("connection", (socket) => sockets.add(socket));
  const port = await listenOnLoopback(proxy);
  onTestFinished(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  return { asked, url: `http://127.0.0.1:${port}` };
}
