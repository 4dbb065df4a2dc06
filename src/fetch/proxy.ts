// Which proxy a request goes through: https in a tunnel (CONNECT), http by sending the whole URL, since many proxies refuse
// a tunnel to port 80. The proxy resolves names, so the address policy sees only names and literal addresses.
import net from "node:net";
import { SitemapError } from "../model/errors.ts";
import type { Settings } from "../model/options.ts";
import { type Problem, problem } from "../model/problem.ts";
import { parseUrl } from "../model/url.ts";
import { hostOf } from "./address-policy.ts";
import type { Endpoint } from "./connect.ts";
import { ConnectionProblem } from "./failure.ts";
import { basicAuthorization } from "./request-headers.ts";

export interface ChosenProxy {
  readonly origin: string;
  readonly endpoint: Endpoint;
  /** The value of `proxy-authorization`, if the proxy's URL has a user name. */
  readonly authorization: string | undefined;
}

/** Which proxy a URL goes through, by the `proxy` option. Throws if the one in the environment cannot be used. */
export type ProxyChoice = (url: URL) => ChosenProxy | undefined;

export function proxyChoice(option: Settings["proxy"], environment: NodeJS.ProcessEnv = process.env): ProxyChoice {
  if (option === false) return () => undefined;
  if (option !== "environment") {
    const proxy = parseProxy(option, "proxy");
    return () => proxy;
  }
  const read = (name: string) => {
    const exact = environment[name];
    // In a CGI program HTTP_PROXY is the `Proxy` header of the visitor's request (httpoxy).
    const isForged = name === "http_proxy" && "REQUEST_METHOD" in environment;
    return exact ?? (isForged ? undefined : environment[name.toUpperCase()]) ?? "";
  };
  const forHttp = read("http_proxy") === "" ? undefined : parseProxy(read("http_proxy"), "HTTP_PROXY");
  const forHttps = read("https_proxy") === "" ? undefined : parseProxy(read("https_proxy"), "HTTPS_PROXY");
  const isExempt = exemption(read("no_proxy"));
  return (url) => (isExempt(url) ? undefined : url.protocol === "https:" ? forHttps : forHttp);
}

function parseProxy(text: string, name: string): ChosenProxy {
  // `host:port` is a common form.
  const proxy = parseUrl(text.includes("://") ? text : `http://${text}`);
  if (proxy === null || !/^https?:$/.test(proxy.protocol)) {
    // Ignoring a broken setting and connecting directly would be worse. The value may contain a password.
    const way = name === "proxy" ? "" : "; connect directly with `proxy: false` or --no-proxy";
    throw new SitemapError("invalid-option", `Expected \`${name}\` to be the URL of an http or https proxy${way}`);
  }
  const secure = proxy.protocol === "https:";
  return {
    origin: proxy.origin,
    endpoint: { secure, host: hostOf(proxy), port: Number(proxy.port) || (secure ? 443 : 80), reach: "any" },
    authorization: basicAuthorization(proxy),
  };
}

/** A failure to reach the proxy is reported as the proxy's, not as the website's. */
export function proxyFailure(failed: Problem): Problem {
  if (failed.code === "proxy-failed" || failed.code === "proxy-refused") return failed;
  const { message, limit } = failed;
  const value = message.charAt(0).toLowerCase() + message.slice(1);
  return problem("proxy-failed", { value, ...(limit === undefined ? {} : { limit }) });
}

/** Asks the proxy for a tunnel to `host:port`. Rejects with the proxy's response as a problem. */
export async function openTunnel(
  socket: net.Socket,
  proxy: ChosenProxy,
  { host, port }: Endpoint,
): Promise<net.Socket> {
  const { Client } = await import("undici/index.js");
  const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const login = proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization };
  let problemWith = "it closed the connection instead of answering CONNECT";
  // Limited here, because undici reads a reason phrase of any length.
  const before = socket.bytesRead;
  const onReadable = () => {
    if (socket.bytesRead - before <= headBytes) return;
    problemWith = "the answer to CONNECT never ends";
    socket.destroy();
  };
  socket.on("readable", onReadable);
  // Only once: undici reconnects forever if it gets a closed socket.
  let given: net.Socket | undefined = socket;
  const client = new Client(proxy.origin, {
    headersTimeout: 0,
    connect: (_, callback) => {
      if (given === undefined) return callback(failed(problemWith), null);
      // Not immediately: undici would call this again in the meantime.
      setImmediate(callback, null, given);
      given = undefined;
    },
  });
  try {
    const answer = await client.connect({ path: target, headers: { host: target, ...login } });
    const { statusCode: status } = answer;
    if (status >= 200 && status <= 299) return answer.socket as net.Socket;
    throw new ConnectionProblem(problem("proxy-refused", { status, value: "CONNECT" }));
  } catch (error) {
    const { name, code } = error as { name?: string; code?: string };
    if (name === "HTTPParserError") throw failed("the answer to CONNECT is not HTTP");
    throw code === "UND_ERR_SOCKET" ? failed(problemWith) : error;
  } finally {
    socket.off("readable", onReadable);
  }
}

function failed(value: string): ConnectionProblem {
  return new ConnectionProblem(problem("proxy-failed", { value }));
}

const headBytes = 16 * 1024;

// NO_PROXY: which hosts are contacted without a proxy. There is no standard; this is a superset of what curl, Go and Python agree on:
//   example.org  .example.org  *.example.org    the name and everything below it, label by label
//   example.org:8080                            only on this port
//   192.0.2.7  2001:db8::1  [2001:db8::1]:80    an address, however it is written
//   10.0.0.0/8  fd00::/8                        a range of addresses
//   *                                           everything
// Separated by commas or spaces. Names are compared as they are looked up.
function exemption(list: string): (url: URL) => boolean {
  const rules = list.split(/[\s,]+/).flatMap((entry) => (entry === "" ? [] : (ruleOf(entry) ?? [])));
  return (url) => {
    const host = bareName(hostOf(url));
    const port = url.port || (url.protocol === "https:" ? "443" : "80");
    return rules.some((rule) => (rule.port === undefined || rule.port === port) && rule.matches(host));
  };
}

interface Rule {
  readonly port?: string | undefined;
  matches(host: string): boolean;
}

function ruleOf(entry: string): Rule | undefined {
  if (entry === "*") return { matches: () => true };
  // A port follows a name, an IPv4 address or brackets. Without brackets, colons belong to an IPv6 address.
  const [, bracketed, named, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d+))?$/.exec(entry) ?? [];
  const text = bracketed ?? named ?? entry;
  const [, base = text, bits] = /^(.*)\/(\d{1,3})$/.exec(text) ?? [];
  const family = familyOf(bareName(base));
  if (family !== undefined) {
    const most = family === "ipv4" ? 32 : 128;
    if (Number(bits ?? 0) > most) return undefined;
    const range = new net.BlockList();
    range.addSubnet(bareName(base), Number(bits ?? most), family);
    return { port, matches: (host) => familyOf(host) !== undefined && range.check(host, familyOf(host)) };
  }
  const name = bareName(parseUrl(`http://${text.replace(/^\*?\.+/, "")}/`)?.hostname ?? "");
  if (name === "") return undefined;
  return { port, matches: (host) => host === name || host.endsWith(`.${name}`) };
}

function familyOf(host: string): "ipv4" | "ipv6" | undefined {
  return net.isIPv4(host) ? "ipv4" : net.isIPv6(host) ? "ipv6" : undefined;
}

function bareName(host: string): string {
  return host.replace(/\.+$/, "").toLowerCase();
}
