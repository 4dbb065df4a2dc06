// Connections that are used again carry nothing over: not from one document to the next, and not from one website to another.
import net from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Fault, inTurn, whole } from "../support/fault-server.ts";
import { pause, tenPages, testFetcher, testServer } from "../support/fetching.ts";
import { listenOnLoopback } from "../support/loopback.ts";

const forged = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged";

/** Answers with its own path; then, `late` milliseconds later, sends something that nobody asked for. */
const followed =
  (surplus: string, late: number): Fault =>
  async (exchange) => {
    exchange.respond(200, {}, exchange.path);
    if (late > 0) await pause(late);
    if (!exchange.socket.destroyed) exchange.socket.write(surplus);
  };

describe.each([
  ["another response", forged],
  ["garbage", "garbage"],
  ["half a response", "HTTP/1.1 200 OK\r\ncontent-le"],
  ["a line end", "\r\n"],
])("%s after a response", (_, surplus) => {
  test.each([0, 20])("that arrives %i ms later does not affect other responses", async (late) => {
    const paths = Array.from({ length: 8 }, (_, at) => `/${at}`);
    const server = await testServer(Object.fromEntries(paths.map((path) => [path, followed(surplus, late)])));
    const fetcher = testFetcher({ start: server.origin });
    for (const path of paths) {
      const { text, broken } = await fetcher.read(path);
      expect({ text, broken }).toEqual({ text: path, broken: undefined });
      await pause(late * 3);
    }
    // Half a head may arrive while the next request is being sent. That request is then sent again.
    const most = surplus.startsWith("HTTP") && surplus !== forged ? 2 * paths.length : paths.length;
    expect(server.requests.length).toBeLessThanOrEqual(most);
  });
});

test("a connection that timed out is not reused, because its answer may still arrive", async () => {
  const late: Fault = async (exchange) => {
    exchange.socket.write("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n");
    await pause(40);
    if (!exchange.socket.destroyed) exchange.respond(200, {}, exchange.path);
  };
  const own: Fault = (exchange) => void exchange.respond(200, {}, exchange.path);
  const server = await testServer({ "/a": own, "/b": inTurn(late, own), "/c": own });
  const fetcher = testFetcher({ start: server.origin });
  for (const path of ["/a", "/b", "/c"]) {
    const { text } = await fetcher.read(path);
    if (path !== "/b") expect(text).toBe(path);
  }
  expect(server.connections).toBeGreaterThan(1);
});

test.each<[string, Fault]>([
  ["closes", ({ socket }) => void socket.end()],
  ["resets", ({ socket }) => void socket.resetAndDestroy()],
  ["breaks off in the head", ({ socket }) => void socket.end("HTTP/1.1 200 OK\r\ncontent-")],
  ["sends garbage", ({ socket }) => void socket.write("garbage\r\n\r\n")],
  ["sends half a head and then garbage", ({ socket }) => void socket.write("HTTP/1.1 200 OK\r\na\0: b\r\n\r\n")],
  ["sends a response to something else", ({ socket }) => void socket.write("HTTP/1.1 101 Switching\r\n\r\n")],
])("a kept connection that %s before a response begins is replaced, without a retry", async (_, fault) => {
  const server = await testServer({ "/a": tenPages, "/b": inTurn(fault, whole(tenPages)) });
  const fetcher = testFetcher({ start: server.origin });
  await fetcher.read("/a");
  const { text, fetched } = await fetcher.read("/b");
  expect(text).toBe(tenPages);
  expect(fetched.attempts).toBe(1);
  expect(server.connections).toBe(2);
});

test("behind a proxy, each website has its own connection, and none can answer for another", async () => {
  const hostsOf = new Map<net.Socket, Set<string>>();
  // Answers with the URL; what is asked of evil.test is followed by a forged response.
  const proxy = net.createServer((socket) => {
    hostsOf.set(socket, new Set());
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const [, url = ""] = String(data).split(" ");
      hostsOf.get(socket)?.add(new URL(url).host);
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${url.length}\r\n\r\n${url}`);
      if (url.includes("evil")) setTimeout(() => socket.destroyed || socket.write(forged), 1);
    });
  });
  const port = await listenOnLoopback(proxy);
  onTestFinished(() => {
    proxy.close();
    for (const socket of hostsOf.keys()) socket.destroy();
  });
  const fetcher = testFetcher({ proxy: `http://127.0.0.1:${port}` });
  for (let at = 0; at < 5; at++) await fetcher.read(`http://good.test/${at}`);
  expect(hostsOf.size).toBe(1);
  for (let at = 0; at < 50; at++) {
    await fetcher.read(`http://evil.test/${at}`);
    expect((await fetcher.read(`http://good.test/${at}`)).text).toBe(`http://good.test/${at}`);
  }
  expect([...hostsOf.values()].every((hosts) => hosts.size <= 1)).toBe(true);
});
