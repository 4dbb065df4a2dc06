// Through a proxy: https in a tunnel, http by the whole URL. The policy judges before the proxy is asked.
import net from "node:net";
import tls from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { proxyChoice } from "../../src/fetch/proxy.ts";
import { SitemapError } from "../../src/model/errors.ts";
import { createAuthority } from "../support/certificates.ts";
import { tenPages, testFetcher, testServer } from "../support/fetching.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { proxyServer } from "../support/proxy-server.ts";
import { stubResolver } from "../support/stub-resolver.ts";

const authority = createAuthority();

test("for http, the proxy gets the whole URL, and resolves the name", async () => {
  const proxy = await proxyServer();
  const server = await testServer({ "/a": tenPages });
  const fetcher = testFetcher({ proxy: proxy.url });
  for (const host of ["one.test", "two.test"]) {
    expect((await fetcher.read(`http://${host}:${server.port}/a`)).text).toBe(tenPages);
  }
  expect(proxy.asked).toEqual([`GET http://one.test:${server.port}/a`, `GET http://two.test:${server.port}/a`]);
  const hosts = server.requests.map(({ headers }) => headers.get("host"));
  expect(hosts).toEqual([`one.test:${server.port}`, `two.test:${server.port}`]);
});

test("for https, the request goes through a tunnel, and the website's certificate is verified", async () => {
  const proxy = await proxyServer();
  const server = await testServer({ "/a": tenPages }, { tls: authority.issue({ names: ["website.test"] }) });
  const fetcher = testFetcher({ proxy: proxy.url, tls: { ca: authority.ca } });
  expect((await fetcher.read(`https://website.test:${server.port}/a`)).text).toBe(tenPages);
  expect((await fetcher.read(`https://website.test:${server.port}/a`)).text).toBe(tenPages);
  expect((await fetcher.read(`https://other.test:${server.port}/a`)).result).toBe("failed tls-certificate");
  expect(proxy.asked).toEqual([`CONNECT website.test:${server.port}`, `CONNECT other.test:${server.port}`]);
});

test("a user name in the proxy's URL is sent to the proxy, and to nobody else", async () => {
  const proxy = await proxyServer({ password: "p@ss" });
  const plain = await testServer({ "/a": tenPages });
  const secure = await testServer({ "/a": tenPages }, { tls: authority.issue({ names: ["website.test"] }) });
  const fetcher = testFetcher({ proxy: proxy.url.replace("//", "//user:p%40ss@"), tls: { ca: authority.ca } });
  expect((await fetcher.read(`http://website.test:${plain.port}/a`)).text).toBe(tenPages);
  expect((await fetcher.read(`https://website.test:${secure.port}/a`)).text).toBe(tenPages);
  const told = [...plain.requests, ...secure.requests].map(({ headers }) => headers.has("proxy-authorization"));
  expect(told).toEqual([false, false]);
});

test.each(["http", "https"])("a request for a password is reported as the proxy's failure (%s)", async (scheme) => {
  const proxy = await proxyServer({ password: "secret" });
  const { result, fetched } = await testFetcher({ proxy: proxy.url, retries: 1 }).read(`${scheme}://website.test/`);
  expect(result).toBe("failed proxy-refused");
  expect(fetched).toMatchObject({ reason: { status: 407 } });
  expect(fetched).not.toHaveProperty("status");
  expect(proxy.asked).toHaveLength(1);
});

test.each([
  [403, 1],
  [404, 1],
  [410, 1],
  [301, 1],
  [429, 2],
  [502, 2],
  [503, 2],
])("a CONNECT answered with %i says nothing about the website", async (status, attempts) => {
  const proxy = await proxyServer({ refuse: status });
  const { result, fetched } = await testFetcher({ proxy: proxy.url, retries: 1 }).read("https://website.test/");
  expect(result).toBe("failed proxy-refused");
  expect(fetched).toMatchObject({ attempts, reason: { status, message: `The proxy answered ${status} to CONNECT` } });
  expect(fetched).not.toHaveProperty("status");
});

test("a proxy that is down or whose name does not exist is reported", async () => {
  const server = await testServer({});
  await server.close();
  const lookup = stubResolver({});
  for (const [proxy, scheme, reason] of [
    [server.origin, "http", "connection refused"],
    [server.origin, "https", "connection refused"],
    ["http://proxy.test:1", "https", "the host name does not exist"],
  ] as const) {
    const { result, fetched } = await testFetcher({ proxy }, { lookup }).read(`${scheme}://website.test/`);
    expect(result).toBe("failed proxy-failed");
    expect(fetched).toMatchObject({ reason: { message: `The proxy failed: ${reason}` } });
  }
});

describe("a proxy fails, and not the website, if it", () => {
  async function answering(onConnect: (socket: net.Socket) => void) {
    const sockets = new Set<net.Socket>();
    const proxy = net.createServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      socket.once("data", () => onConnect(socket));
    });
    const port = await listenOnLoopback(proxy);
    onTestFinished(() => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    });
    const timeout = { connect: 500, firstByte: 20_000 };
    const fetcher = testFetcher({ proxy: `http://127.0.0.1:${port}`, timeout });
    const { result, fetched } = await fetcher.read("https://website.test/");
    expect(result).toBe("failed proxy-failed");
    return "reason" in fetched ? fetched.reason.message : "";
  }

  const drip = (socket: net.Socket) => {
    socket.write("HTTP/1.1 200 ");
    const dripping = setInterval(() => socket.write("O"), 20);
    socket.on("close", () => clearInterval(dripping));
  };
  const sends = (text: string) => (socket: net.Socket) => void socket.write(text);

  test.each<[string, (socket: net.Socket) => void, string]>([
    ["says nothing", () => {}, "no connection within 500 ms"],
    ["sends its answer byte by byte", drip, "no connection within 500 ms"],
    ["closes the connection", (socket) => void socket.end(), "it closed the connection instead of answering CONNECT"],
    ["sends garbage", sends("garbage\r\n\r\n"), "the answer to CONNECT is not HTTP"],
    ["sends another version", sends("HTTP/2 200 OK\r\n\r\n"), "the answer to CONNECT is not HTTP"],
    ["never ends its answer", sends(`HTTP/1.1 200 ${"x".repeat(100_000)}`), "the answer to CONNECT never ends"],
  ])("%s", async (_, onConnect, reason) => {
    expect(await answering(onConnect)).toBe(`The proxy failed: ${reason}`);
  });
});

test("through a proxy with TLS, both nested handshakes succeed", async () => {
  const server = await testServer({ "/a": tenPages }, { tls: authority.issue({ names: ["website.test"] }) });
  const proxy = tls.createServer(authority.issue({ names: ["127.0.0.1"] }), (socket) => {
    socket
      .on("error", () => {})
      .once("data", (head) => {
        const onward = net.connect(Number(/:(\d+) HTTP/.exec(String(head))?.[1]), "127.0.0.1");
        onward.on("error", () => socket.destroy()).on("connect", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
        socket.pipe(onward).pipe(socket);
        onTestFinished(() => void onward.destroy());
      });
  });
  const url = `https://127.0.0.1:${await listenOnLoopback(proxy)}`;
  onTestFinished(() => void proxy.close());
  const trusting = testFetcher({ proxy: url, tls: { ca: authority.ca } });
  expect((await trusting.read(`https://website.test:${server.port}/a`)).text).toBe(tenPages);
  const { result, fetched } = await testFetcher({ proxy: url }).read(`https://website.test:${server.port}/a`);
  expect(result).toBe("failed proxy-failed");
  expect(JSON.stringify(fetched)).toContain("certificate");
});

test("private names and addresses are not even requested from the proxy", async () => {
  const proxy = await proxyServer();
  const fetcher = testFetcher({ proxy: proxy.url, start: "http://website.test/" });
  for (const host of ["127.0.0.1", "localhost", "metadata.google.internal", "[::1]", "2130706433", "metadata"]) {
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
  [{ HTTPS_PROXY: "http://p:1", NO_PROXY: "a.test:443" }, "https://a.test/", undefined],
  [{ HTTP_PROXY: "http://p:1", no_proxy: "b.test", NO_PROXY: "a.test" }, "http://a.test/", "http://p:1"],
  [{ HTTP_PROXY: "p:1" }, "http://a.test/", "http://p:1"],
  [{ HTTP_PROXY: "" }, "http://a.test/", undefined],
])("with the environment %o, %s is requested through %s", (environment, url, expected) => {
  expect(proxyChoice("environment", environment)(new URL(url))?.origin).toBe(expected);
});

test.each<[noProxy: string, direct: readonly string[], byProxy: readonly string[]]>([
  ["a.test", ["http://a.test/", "http://www.a.test/", "http://a.test./"], ["http://bya.test/"]],
  ["A.TEST", ["http://a.test/"], []],
  ["b.test, .a.test", ["http://www.a.test/", "http://b.test/"], []],
  ["*.a.test", ["http://www.a.test/"], []],
  ["..a.test", ["http://a.test/"], []],
  ["a.test.", ["http://www.a.test/"], []],
  ["www.a.test", [], ["http://a.test/"]],
  ["*a.test", [], ["http://a.test/"]],
  ["test", ["http://a.test/"], []],
  ["est", [], ["http://a.test/"]],
  ["a.test:80", ["http://a.test/"], ["http://a.test:8080/"]],
  ["a.test:", ["http://a.test/"], []],
  ["*", ["http://a.test/"], []],
  ["", [], ["http://a.test/"]],
  [",,. ,%%%", [], ["http://a.test/"]],
  ["BÜCHER.test", ["http://xn--bcher-kva.test/", "http://www.bücher.test/"], []],
  ["xn--bcher-kva.test", ["http://bücher.test/"], []],
  ["[::1]:80 127.0.0.1", ["http://[::1]/", "http://127.0.0.1/"], ["http://[::1]:8080/"]],
  ["0:0:0:0:0:0:0:1", ["http://[::1]:8080/"], []],
  ["7.0.0.1", [], ["http://127.0.0.1/"]],
  ["1.2.3", [], ["http://a.test/"]],
  ["10.0.0.0/8", ["http://10.1.2.3/", "http://0xa.1/"], ["http://11.1.2.3/"]],
  ["10.0.0.0/8:80", ["http://10.1.2.3/"], ["http://10.1.2.3:81/"]],
  ["10.0.0.0/33", [], ["http://10.1.2.3/"]],
  ["192.168.1.0/25", ["http://192.168.1.127/"], ["http://192.168.1.128/"]],
  ["0.0.0.0/0", ["http://8.8.8.8/"], ["http://a.test/"]],
  ["127.0.0.0/8", ["http://[::ffff:127.0.0.1]/"], []],
  ["fd00::/8", ["http://[fd12::1]/"], ["http://[fe80::1]/"]],
])("NO_PROXY=%s: %j are requested directly, %j are not", (noProxy, direct, byProxy) => {
  const choice = proxyChoice("environment", { HTTP_PROXY: "http://p:1", NO_PROXY: noProxy });
  expect(direct.filter((url) => choice(new URL(url)) !== undefined)).toEqual([]);
  expect(byProxy.filter((url) => choice(new URL(url)) === undefined)).toEqual([]);
});

test.each(["socks5://p:1", "http://", "http://p:99999"])(
  "an unusable proxy (%s) is an error, and is not bypassed",
  (value) => {
    expect(() => proxyChoice("environment", { HTTP_PROXY: value })).toThrow(SitemapError);
  },
);

test("a function can choose the proxy for each URL: undefined means none, and an invalid value is refused", async () => {
  const proxy = await proxyServer();
  const server = await testServer({ "/a": tenPages });
  const asked: string[] = [];
  const choose = (url: string) => {
    asked.push(url);
    return url.includes("one.test") ? proxy.url : undefined;
  };
  const fetcher = testFetcher({ proxy: choose, start: server.origin });
  expect((await fetcher.read(`http://one.test:${server.port}/a`)).text).toBe(tenPages);
  expect((await fetcher.read("/a")).text).toBe(tenPages);
  expect(proxy.asked).toEqual([`GET http://one.test:${server.port}/a`]);
  expect(asked).toEqual([`http://one.test:${server.port}/a`, `${server.origin}/a`]);
  const wrong = proxyChoice((() => 5) as never);
  expect(() => wrong(new URL(server.origin))).toThrow("Expected `proxy()` to be the URL");
});
