// What goes wrong before a response, or with the connection under it.
import { expect, test } from "vitest";
import { systemLookup } from "../../src/fetch/lookup.ts";
import { faults, inTurn, whole } from "../support/fault-server.ts";
import { fetchOnly, pause, tenPages, testFetcher, testServer } from "../support/fetching.ts";
import { fullBacklog } from "../support/full-backlog.ts";
import { stubResolver } from "../support/stub-resolver.ts";

const half = tenPages.slice(0, Math.ceil(tenPages.length / 2));

test("a connection attempt without an answer is timeout-connect", async () => {
  const backlog = await fullBacklog();
  const url = `http://127.0.0.1:${backlog.port}/sitemap.xml`;
  const { result, fetched } = await testFetcher({ start: url, timeout: { connect: 500 } }).read(url);
  expect(result).toBe("failed timeout-connect");
  expect(fetched).toMatchObject({ reason: { limit: 500 } });
  await backlog.close();
});

test("a TLS handshake that stalls is timeout-tls", async () => {
  const server = await testServer({});
  const url = `https://127.0.0.1:${server.port}/sitemap.xml`;
  expect((await testFetcher({ start: url, timeout: { connect: 500 } }).read(url)).result).toBe("failed timeout-tls");
});

test.each(["silence", "stall in headers", "drip of headers"] as const)("a %s ends with a timeout", async (name) => {
  const { result, fetched } = await fetchOnly(faults[name](), { timeout: { firstByte: 300 } });
  expect(result).toBe("failed timeout-first-byte");
  expect(fetched).toMatchObject({ attempts: 1, reason: { limit: 300 } });
});

test.each([
  ["stall in body", { timeout: { idle: 500 } }, "timeout-idle"],
  ["drip of body", { timeout: { total: 800 } }, "timeout-total"],
  ["endless body", { limits: { documentBytes: 200_000 } }, "limit-document-bytes"],
  ["endless body without length", { limits: { documentBytes: 200_000 } }, "limit-document-bytes"],
  ["reset in body", { retries: 2 }, "body-reset"],
  ["reset in chunked body", { retries: 2 }, "body-reset"],
  ["reset in body without length", { retries: 2 }, "body-reset"],
] as const)("after the fault %s, with %j, what was received is kept", async (name, options, broken) => {
  const read = await fetchOnly(faults[name](tenPages), options);
  expect({ ...read, text: read.text.trimEnd() }).toMatchObject({ result: "found", text: half, broken });
  if ("limits" in options) expect(read.bytes).toBe(200_000);
  expect(read.server.requests).toHaveLength(1);
});

test("a stall before the first byte of the body counts as a failed attempt", async () => {
  const fault = inTurn(faults["stall before body"](tenPages), whole(tenPages));
  const { result, text, fetched } = await fetchOnly(fault, { retries: 1, timeout: { idle: 800 } });
  expect({ result, text }).toEqual({ result: "found", text: tenPages });
  expect(fetched.attempts).toBe(2);
});

test.each(["flood of 103", "flood of 100"] as const)("%s is http-protocol, and not retried", async (name) => {
  const { result, server } = await fetchOnly(faults[name](), { retries: 2 });
  expect(result).toBe("failed http-protocol");
  expect(server.requests).toHaveLength(1);
});

test("ten interim responses are accepted", async () => {
  const { result, text } = await fetchOnly((exchange) => {
    exchange.socket.write("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(10));
    exchange.respond(200, {}, tenPages);
  });
  expect({ result, text }).toEqual({ result: "found", text: tenPages });
});

test.each(["reset before headers", "empty reply", "reset in headers"] as const)(
  "%s is retried, then abandoned",
  async (name) => {
    const server = await testServer({ "/a": faults[name](), "/b": tenPages });
    const fetcher = testFetcher({ start: server.origin, retries: 2 });
    await fetcher.read("/b");
    await pause(20);
    const { result, fetched } = await fetcher.read("/a");
    expect(result).toBe("failed connection-reset");
    // The first time on a kept connection, which counts as no attempt.
    expect(server.requests).toHaveLength(5);
    expect(fetched.attempts).toBe(3);
  },
);

test("a reset before the first byte of the body is retried, and is body-reset in each attempt", async () => {
  const fault = faults["reset before body"](tenPages);
  const once = await fetchOnly(inTurn(fault, whole(tenPages)), { retries: 1 });
  expect([once.text, once.fetched.attempts]).toEqual([tenPages, 2]);
  const { result, server } = await fetchOnly(fault, { retries: 1 });
  expect([result, server.requests.length]).toEqual(["failed body-reset", 2]);
});

test("a closed port is connection-refused, after one retry", async () => {
  const server = await testServer({});
  await server.close();
  const { result, fetched } = await testFetcher({ start: server.origin, retries: 1 }).read("/x");
  expect(result).toBe("failed connection-refused");
  expect(fetched.attempts).toBe(2);
});

test.each([
  ["a name without any answer is not looked up again", [], "failed dns-not-found", 1],
  ["a name that does not exist is not looked up again", "ENOTFOUND", "failed dns-not-found", 1],
  ["a name without addresses is not looked up again", "ENODATA", "failed dns-not-found", 1],
  ["a resolver that fails is asked again", "ESERVFAIL", "failed dns-temporary", 2],
  ["a resolver that is busy is asked again", "EAI_AGAIN", "failed dns-temporary", 2],
])("%s", async (_, code, expected, times) => {
  const lookup = stubResolver({ "website.test": code });
  const { result, fetched } = await testFetcher({ retries: 2 }, { lookup }).read("http://website.test/sitemap.xml");
  expect(result).toBe(expected);
  expect(fetched.attempts).toBe(times);
  expect(lookup.asked).toHaveLength(times);
});

test("a resolver that does not answer is dns-temporary", async () => {
  const lookup = systemLookup(() => new Promise<never>((_, reject) => setTimeout(reject, 1000)), 100);
  const { result } = await testFetcher({}, { lookup }).read("http://website.test/sitemap.xml");
  expect(result).toBe("failed dns-temporary");
});

test("connections are reused, even after errors and redirects", async () => {
  const server = await testServer({
    "/a": tenPages,
    "/moved": (exchange) => exchange.respond(301, { location: "/a" }, "moved"),
    "/gone": (exchange) => exchange.respond(410, {}, "gone"),
  });
  const fetcher = testFetcher({ start: server.origin });
  for (const path of ["/a", "/moved", "/gone", "/nothing", "/a"]) await fetcher.read(path);
  expect(server.requests).toHaveLength(6);
  expect(server.connections).toBe(1);
});

test("a server that closes each connection cleanly gets a new one for each request", async () => {
  const server = await testServer({
    "/a": ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${tenPages}`),
  });
  const fetcher = testFetcher({ start: server.origin });
  const reads = await Promise.all(Array.from({ length: 20 }, () => fetcher.read("/a")));
  expect(reads.map(({ text, broken, fetched }) => [text === tenPages, broken, fetched.attempts])).toEqual(
    reads.map(() => [true, undefined, 1]),
  );
});

test("the second address is tried if the first does not respond", async () => {
  const server = await testServer({ "/sitemap.xml": tenPages }, { host: "127.0.0.3" });
  // At the first nobody listens: other tests do, on ports that may be the same, at 127.0.0.1 to 127.0.0.4.
  const lookup = stubResolver({ "website.test": ["127.0.99.4", "127.0.0.3"] });
  const url = `http://website.test:${server.port}/sitemap.xml`;
  const { result, text, broken } = await testFetcher({ start: url }, { lookup }).read(url);
  expect({ result, text, broken }).toEqual({ result: "found", text: tenPages, broken: undefined });
});
