// Which proxy a request goes through, and how: https through a tunnel (CONNECT), http by asking the proxy for the whole URL,
// which is what proxies expect; many refuse a tunnel to port 80.
// Behind a proxy the address policy can only judge names and literal addresses: the proxy resolves.
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { Settings } from "../options.ts";
import { problem } from "../problem.ts";
import { hostOf } from "./address-policy.ts";
import type { Endpoint } from "./connect.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";

export interface ChosenProxy {
  readonly origin: string;
  readonly endpoint: Endpoint;
  /** The value of `proxy-authorization`, where the proxy's URL holds a user name. */
  readonly authorization: string | undefined;
}

/** The proxy for a URL, by the `proxy` option. */
export function proxyFor(
  url: URL,
  option: Settings["proxy"],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ChosenProxy | undefined {
  const chosen = option === "environment" ? fromEnvironment(url, environment) : option;
  if (chosen === undefined || chosen === "" || !URL.canParse(chosen)) return undefined;
  const proxy = new URL(chosen);
  const secure = proxy.protocol === "https:";
  const user = proxy.username === "" ? undefined : `${decode(proxy.username)}:${decode(proxy.password)}`;
  return {
    origin: proxy.origin,
    endpoint: { secure, host: hostOf(proxy), port: Number(proxy.port) || (secure ? 443 : 80), reach: "any" },
    authorization: user === undefined ? undefined : `Basic ${Buffer.from(user).toString("base64")}`,
  };
}

/** Asks the proxy, over a connection to it, for a tunnel to `host:port`. Rejects with the proxy's answer as a problem. */
export function openTunnel(
  socket: Socket,
  proxy: ChosenProxy,
  { host, port }: Endpoint,
  signal: AbortSignal,
): Promise<Socket> {
  const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const request = (proxy.endpoint.secure ? https : http).request({
      method: "CONNECT",
      path: target,
      headers: {
        host: target,
        ...(proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization }),
      },
      createConnection: () => socket,
      signal,
    });
    request.once("connect", ({ statusCode = 0 }, tunnel, head) => {
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) tunnel.unshift(head);
        resolve(tunnel as Socket);
        return;
      }
      tunnel.destroy();
      reject(new ConnectionProblem(problem(`http-${statusCode}`, { status: statusCode })));
    });
    request.once("error", (error) => {
      socket.destroy();
      reject(signal.aborted ? signal.reason : new ConnectionProblem(problemOf(error, "head")));
    });
    request.end();
  });
}

function fromEnvironment(url: URL, environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const exactly = (name: string) => environment[name];
  const read = (name: string) => exactly(name) ?? exactly(name.toUpperCase());
  if (isExempt(url, read("no_proxy") ?? "")) return undefined;
  // In a CGI program HTTP_PROXY is what a visitor sent as the header `Proxy`.
  const forHttp = exactly("REQUEST_METHOD") === undefined ? read("http_proxy") : exactly("http_proxy");
  return url.protocol === "https:" ? read("https_proxy") : forHttp;
}

// NO_PROXY: names with everything below them, addresses, each with an optional port, or `*`.
function isExempt(url: URL, list: string): boolean {
  const host = hostOf(url).toLowerCase();
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, name = "", wanted] = /^\*?\.?(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    const bare = name.replace(/^\[|\]$/g, "");
    if (bare === "" || (wanted !== undefined && wanted !== port)) return false;
    return host === bare || host.endsWith(`.${bare}`);
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
