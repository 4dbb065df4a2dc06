// Which proxy a request goes through, and how: https through a tunnel (CONNECT), http by asking the proxy for the whole URL,
// which is what proxies expect; many refuse a tunnel to port 80.
// Behind a proxy the address policy can only judge names and literal addresses: the proxy resolves.
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { SitemapError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { problem } from "../problem.ts";
import { parseUrl } from "../url.ts";
import { hostOf } from "./address-policy.ts";
import type { Endpoint } from "./connect.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";

export interface ChosenProxy {
  readonly origin: string;
  readonly endpoint: Endpoint;
  /** The value of `proxy-authorization`, where the proxy's URL holds a user name. */
  readonly authorization: string | undefined;
}

/** Which proxy a URL goes through, by the `proxy` option. Throws where the environment names one that cannot be used. */
export type ProxyChoice = (url: URL) => ChosenProxy | undefined;

export function proxyChoice(option: Settings["proxy"], environment: Environment = process.env): ProxyChoice {
  if (option === undefined) return () => undefined;
  if (option !== "environment") {
    const proxy = parseProxy(option, "proxy");
    return () => proxy;
  }
  const read = (name: string) => {
    const exact = environment[name];
    // In a CGI program HTTP_PROXY is what a visitor sent as the header `Proxy`.
    const isForged = name === "http_proxy" && "REQUEST_METHOD" in environment;
    return exact ?? (isForged ? undefined : environment[name.toUpperCase()]) ?? "";
  };
  const forHttp = read("http_proxy") === "" ? undefined : parseProxy(read("http_proxy"), "HTTP_PROXY");
  const forHttps = read("https_proxy") === "" ? undefined : parseProxy(read("https_proxy"), "HTTPS_PROXY");
  const exempt = read("no_proxy");
  return (url) => (isExempt(url, exempt) ? undefined : url.protocol === "https:" ? forHttps : forHttp);
}

type Environment = Readonly<Record<string, string | undefined>>;

function parseProxy(text: string, name: string): ChosenProxy {
  // In the environment, `host:port` is usual.
  const given = text.includes("://") ? text : `http://${text}`;
  const proxy = parseUrl(given);
  if (proxy === null || !/^https?:$/.test(proxy.protocol)) {
    // To go without a proxy would be worse than not to go. The value may hold a password.
    throw new SitemapError("invalid-option", `Expected \`${name}\` to be the URL of an HTTP proxy`);
  }
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
