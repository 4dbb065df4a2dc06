// Through a proxy: https in a tunnel, http by the whole URL. The policy judges before the proxy is asked.
import http from "node:http";
import net from "node:net";
import { afterEach, expect, test } from "vitest";
import { SitemapError } from "../../src/errors.ts";
import { proxyChoice } from "../../src/fetch/proxy.ts";
import { createAuthority } from "../support/certificates.ts";
import { tenPages, testFetcher, testServer } from "../support/fetching.ts";

const authority = createAuthority();
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A proxy that takes every name for this machine. */
async function startProxy(options: { refuse?: number; password?: string } = {}) {
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
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  return { asked, url: `http://127.0.0.1:${(proxy.address() as net.AddressInfo).port}` };
}

test("http: the proxy is asked for the whole URL, and resolves the name", async () => {
  const proxy = await startProxy();
  const server = await testServer({ "/a": tenPages });
  const fetcher = testFetcher({ proxy: proxy.url });
  for (const host of ["one.test", "two.test"]) {
    expect((await fetcher.read(`http://${host}:${server.port}/a`)).text).toBe(tenPages);
  }
  expect(proxy.asked).toEqual([`GET http://one.test:${server.port}/a`, `GET http://two.test:${server.port}/a`]);
  expect(server.requests.map(({ headers }) => headers.get("host"))).toEqual([
    `one.test:${server.port}`,
    `two.test:${server.port}`,
  ]);
});

test("https: a tunnel, with the certificate of the website inside", async () => {
  const proxy = await startProxy();
  const server = await testServer({ "/a": tenPages }, { tls: authority.issue({ names: ["website.test"] }) });
  const fetcher = testFetcher({ proxy: proxy.url, tls: { ca: authority.ca } });
  expect((await fetcher.read(`https://website.test:${server.port}/a`)).text).toBe(tenPages);
  expect((await fetcher.read(`https://website.test:${server.port}/a`)).text).toBe(tenPages);
  expect((await fetcher.read(`https://other.test:${server.port}/a`)).result).toBe("failed tls-certificate");
  expect(proxy.asked).toEqual([`CONNECT website.test:${server.port}`, `CONNECT other.test:${server.port}`]);
});

test("a user name in the proxy's URL goes to the proxy, and to nobody else", async () => {
  const proxy = await startProxy({ password: "p@ss" });
  const plain = await testServer({ "/a": tenPages });
  const secure = await testServer({ "/a": tenPages }, { tls: authority.issue({ names: ["website.test"] }) });
  const fetcher = testFetcher({ proxy: proxy.url.replace("//", "//user:p%40ss@"), tls: { ca: authority.ca } });
  expect((await fetcher.read(`http://website.test:${plain.port}/a`)).text).toBe(tenPages);
  expect((await fetcher.read(`https://website.test:${secure.port}/a`)).text).toBe(tenPages);
  expect([...plain.requests, ...secure.requests].map(({ headers }) => headers.has("proxy-authorization"))).toEqual([
    false,
    false,
  ]);
});

test.each(["http", "https"])("a proxy that asks for a password blocks (%s)", async (scheme) => {
  const proxy = await startProxy({ password: "secret" });
  const { result } = await testFetcher({ proxy: proxy.url, retries: 1 }).read(`${scheme}://website.test/`);
  expect(result).toBe("blocked http-407");
  expect(proxy.asked).toHaveLength(1);
});

test("a tunnel that fails in passing is tried again", async () => {
  const proxy = await startProxy({ refuse: 503 });
  const { result, fetched } = await testFetcher({ proxy: proxy.url, retries: 1 }).read("https://website.test/");
  expect(result).toBe("failed http-503");
  expect(fetched.attempts).toBe(2);
});

test("a proxy that is not there", async () => {
  const server = await testServer({});
  await server.close();
  for (const scheme of ["http", "https"]) {
    const { result } = await testFetcher({ proxy: server.origin }).read(`${scheme}://website.test/`);
    expect(result).toBe("failed connection-refused");
  }
});

test("names and addresses that are not public are not even asked for", async () => {
  const proxy = await startProxy();
  const fetcher = testFetcher({ proxy: proxy.url, start: "http://website.test/" });
  for (const host of ["127.0.0.1", "localhost", "metadata.google.internal", "[::1]", "2130706433", "10.0.0.1"]) {
    for (const scheme of ["http", "https"]) {
      expect((await fetcher.read(`${scheme}://${host}/`)).result).toBe("refused address-blocked");
    }
  }
  expect(proxy.asked).toEqual([]);
});

test.each([
  [{}, "http://a.test/", undefined],
  [{ HTTP_PROXY: "http://p:1" }, "http://a.test/", "http://p:1"],
  [{ http_proxy: "http://q:1", HTTP_PROXY: "http://p:1" }, "http://a.test/", "http://q:1"],
  [{ HTTP_PROXY: "http://p:1" }, "https://a.test/", undefined],
  [{ HTTPS_PROXY: "http://p:1" }, "https://a.test/", "http://p:1"],
  [{ HTTP_PROXY: "http://p:1", REQUEST_METHOD: "GET" }, "http://a.test/", undefined],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "a.test" }, "http://a.test/", undefined],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "b.test, .a.test" }, "http://www.a.test/", undefined],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "*.a.test" }, "http://www.a.test/", undefined],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "a.test" }, "http://bya.test/", "http://p:1"],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "a.test:8080" }, "http://a.test/", "http://p:1"],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "a.test:80" }, "http://a.test/", undefined],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "*" }, "http://a.test/", undefined],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "[::1]:80 127.0.0.1" }, "http://[::1]/", undefined],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "::1" }, "http://[::1]:8080/", undefined],
  [{ HTTP_PROXY: "http://p:1", NO_PROXY: "" }, "http://a.test/", "http://p:1"],
  [{ HTTP_PROXY: "p:1" }, "http://a.test/", "http://p:1"],
  [{ HTTP_PROXY: "" }, "http://a.test/", undefined],
])("environment %o: %s goes by %s", (environment, url, expected) => {
  expect(proxyChoice("environment", environment)(new URL(url))?.origin).toBe(expected);
});

test.each(["socks5://p:1", "http://", "http://p:99999"])(
  "a proxy that cannot be used (%s) is an error, not a way around it",
  (value) => {
    expect(() => proxyChoice("environment", { HTTP_PROXY: value })).toThrow(SitemapError);
  },
);
