// The contract of clients, for the one built in, for `fetch`, and for those that users might write.
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { BuiltInClient } from "../../src/fetch/client.ts";
import { type FetchLike, fetchClient } from "../../src/fetch/fetch-client.ts";
import type { Client, ClientResponse } from "../../src/model/client.ts";
import { type HeaderList, header } from "../../src/model/exchange.ts";
import { resolveOptions } from "../../src/model/options.ts";
import { problem } from "../../src/model/problem.ts";
import { listOf } from "../support/collected.ts";
import { type Fault, faults, redirect, status, whole } from "../support/fault-server.ts";
import { pause, tenPages, testFetcher, testServer, until } from "../support/fetching.ts";

const made: BuiltInClient[] = [];
afterAll(() => Promise.all(made.map((client) => client.close())));

const builtIn = () => {
  const client = new BuiltInClient(resolveOptions({ network: "allow-private" }));
  made.push(client);
  return client;
};

describe.each<[string, () => Client, decodes: boolean]>([
  ["the client built in", builtIn, false],
  ["fetch", () => fetchClient(fetch), true],
])("%s as a client", (_, make, decodes) => {
  async function request(url: string, signal = new AbortController().signal, client = make()): Promise<ClientResponse> {
    const headers = { "user-agent": "contract", "x-test": "1" };
    const answer = await client.request({ url, headers, signal, allowPrivate: true });
    if ("code" in answer) throw new Error(answer.code);
    return answer;
  }

  /** Serves one path and requests it. */
  async function requestOnly(fault: Fault | string, signal?: AbortSignal): Promise<ClientResponse> {
    return request(`${(await testServer({ "/a": fault })).origin}/a`, signal);
  }

  // Names may be written in any case.
  function headerOf({ headers }: ClientResponse, name: string): string | undefined {
    return (headers as HeaderList).find(([candidate]) => candidate.toLowerCase() === name)?.[1];
  }

  async function read({ body }: ClientResponse): Promise<Buffer> {
    return Buffer.concat(await listOf(body));
  }

  test("returns status, headers and bytes, and sends the headers that it is given", async () => {
    const server = await testServer({ "/a?b=1": whole(tenPages, { "X-Upper": "Kept As It Is" }) });
    const response = await request(`${server.origin}/a?b=1`);
    expect(response.status).toBe(200);
    expect(headerOf(response, "x-upper")).toBe("Kept As It Is");
    expect((await read(response)).toString()).toBe(tenPages);
    const [sent] = server.requests;
    expect(sent?.method).toBe("GET");
    expect(sent?.headers.get("x-test")).toBe("1");
    expect(sent?.headers.get("user-agent")).toBe("contract");
    expect(sent?.headers.get("host")).toBe(new URL(server.origin).host);
  });

  test("does not follow redirects", async () => {
    const server = await testServer({ "/a": redirect("/b", 301), "/b": tenPages });
    const response = await request(`${server.origin}/a`);
    expect([response.status, headerOf(response, "location")]).toEqual([301, "/b"]);
    expect(server.requests).toHaveLength(1);
  });

  test.each([204, 404, 410, 429, 500, 503])("returns status %i like any other", async (code) => {
    const empty = code === 204;
    const response = await requestOnly(status(code, { "retry-after": "1" }, empty ? "" : "no document"));
    expect([response.status, headerOf(response, "retry-after")]).toEqual([code, "1"]);
    await read(response);
  });

  test("returns an empty body, and a large one in pieces", async () => {
    const large = Buffer.alloc(3_000_000, "0123456789");
    expect(await read(await requestOnly(""))).toHaveLength(0);
    const pieces = await listOf((await requestOnly(whole(large))).body);
    expect(Buffer.concat(pieces).equals(large)).toBe(true);
    expect(pieces.length).toBeGreaterThan(1);
  });

  test(decodes ? "decodes, as fetch always does, and says so" : "gives compressed bodies as they come", async () => {
    const compressed = gzipSync(tenPages);
    const server = await testServer({ "/a": whole(compressed, { "content-encoding": "gzip" }) });
    const response = await request(`${server.origin}/a`);
    const bytes = await read(response);
    expect(response.decoded ?? false).toBe(decodes);
    expect(bytes.equals(decodes ? Buffer.from(tenPages) : compressed)).toBe(true);
    const { fetched } = await testFetcher({ client: make(), start: server.origin }).read("/a");
    const headers = "headers" in fetched ? (fetched.headers ?? []) : [];
    // A decoded body must not be decoded again, and its length must not be compared.
    expect(header(headers, "content-encoding")).toBe(decodes ? undefined : "gzip");
    expect(header(headers, "content-length")).toBe(decodes ? undefined : String(compressed.length));
  });

  test("reports when a request was sent, if it supports that", async () => {
    const server = await testServer({ "/a": tenPages });
    const client = make();
    let sent = 0;
    const { signal } = new AbortController();
    const onSent = () => void sent++;
    const asked = { url: `${server.origin}/a`, headers: {}, signal, allowPrivate: true, onSent };
    const answer = await client.request(asked);
    if ("body" in answer) await read(answer);
    expect(sent).toBe(client.tellsWhenSent ? 1 : 0);
  });

  test("ends a request with its signal", async () => {
    const { fault, closed } = watched(faults.silence());
    const server = await testServer({ "/a": fault });
    const controller = new AbortController();
    const asked = request(`${server.origin}/a`, controller.signal);
    const rejection = expect(asked).rejects.toThrow();
    await until(() => server.requests.length > 0);
    controller.abort(new Error("enough"));
    await rejection;
    await closed();
  });

  test("ends a body with its signal", async () => {
    const { fault, closed } = watched(faults["drip of body"](tenPages));
    const controller = new AbortController();
    const { body } = await requestOnly(fault, controller.signal);
    const reading = async () => {
      // While the reader waits for more.
      for await (const _ of body) setImmediate(() => controller.abort(new Error("enough")));
    };
    await expect(reading()).rejects.toThrow();
    await closed();
  });

  test("releases a body that is left early", async () => {
    const { fault, closed } = watched(faults["endless body"](tenPages));
    for await (const _ of (await requestOnly(fault)).body) break;
    await closed();
  });

  test("waits for a slow reader", async () => {
    let sent = 0;
    const flood: Fault = async ({ socket }) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n");
      for (; sent < 100 && !socket.destroyed; sent++) {
        if (socket.write(Buffer.alloc(1_000_000))) continue;
        await new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
      }
    };
    const iterator = (await requestOnly(flood)).body[Symbol.asyncIterator]();
    await iterator.next();
    await pause(200);
    expect(sent).toBeLessThan(20);
    await iterator.return?.();
  });

  test.each(["length too long", "reset in body"] as const)("throws when a body breaks: %s", async (fault) => {
    const response = await requestOnly(faults[fault](tenPages));
    await expect(read(response)).rejects.toThrow();
  });

  test("works with a fetcher's redirects, retries and limits", async () => {
    const server = await testServer({
      "/a": redirect("/b"),
      "/b": (exchange) => (exchange.nth === 1 ? status(503)(exchange) : whole(tenPages)(exchange)),
      "/large": faults["endless body"](tenPages),
      "/silence": faults.silence(),
    });
    const options = { start: server.origin, retries: 1, limits: { documentBytes: 100_000 } };
    const fetcher = testFetcher({ ...options, client: make() });
    const impatient = testFetcher({ ...options, timeout: { firstByte: 300 }, client: make() });
    const { text, followed } = await fetcher.read("/a");
    expect({ text, followed }).toMatchObject({ text: tenPages, followed: { document: { attempts: 2 } } });
    expect(await fetcher.read("/large")).toMatchObject({ bytes: 100_000, broken: "limit-document-bytes" });
    expect((await impatient.read("/silence")).result).toBe("failed timeout-first-byte");
    await server.close();
    expect((await fetcher.read("/a")).result).toBe("failed connection-refused");
    // A private address is refused before any client is called, as far as the URL shows.
    expect((await fetcher.read("http://169.254.169.254/")).result).toBe("refused address-blocked");
  });

  // Only the connection that carried the request counts; a client may keep others open.
  function watched(fault: Fault): { fault: Fault; closed(): Promise<void> } {
    const sockets: Socket[] = [];
    return {
      fault: (exchange) => {
        sockets.push(exchange.socket);
        return fault(exchange);
      },
      async closed() {
        await until(() => sockets.every(({ destroyed }) => destroyed));
        expect(sockets).toHaveLength(1);
      },
    };
  }
});

test("fetchClient accepts any fetch-like function, except those that hide redirects", async () => {
  const answer: FetchLike = async (url) => ({
    status: 200,
    headers: { forEach: (each: (value: string, name: string) => void) => each("text/xml", "Content-Type") },
    body: new Blob([tenPages]).stream(),
    ...(url.endsWith("/hidden") ? { type: "opaqueredirect" } : {}),
  });
  const fetcher = testFetcher({ client: fetchClient(answer) });
  const { text, fetched } = await fetcher.read("https://website.test/");
  expect(text).toBe(tenPages);
  expect(fetched).toMatchObject({ headers: [["content-type", "text/xml"]] });
  expect((await fetcher.read("https://website.test/hidden")).result).toBe("failed client-failed");
});

test("a client may decode bodies if it says so, and is told the attempt number", async () => {
  const attempts: unknown[] = [];
  const headers = { "Content-Encoding": "gzip", "Content-Length": "5", "Content-Type": "text/xml" };
  const client: Client = {
    request: async ({ attempt = 0 }) => {
      if (attempts.push(attempt) < 3) return problem("http-503", { status: 503 });
      return { status: 200, headers, body: pieces(tenPages), decoded: true };
    },
  };
  const { fetched } = await testFetcher({ client, retries: 2 }).read("https://website.test/a");
  const kept = Object.entries({ "content-type": "text/xml", connection: "close" });
  expect(fetched).toMatchObject({ headers: kept });
  expect(attempts).toEqual([1, 2, 3]);
});

test("a client's timeout starts with the call, or when the client reports that the request was sent", async () => {
  const slow = (tellsWhenSent: boolean): Client => ({
    tellsWhenSent,
    request: async ({ onSent }) => {
      await (tellsWhenSent ? pause(400) : new Promise(() => {}));
      onSent?.();
      return { status: 200, headers: [], body: pieces(tenPages) };
    },
  });
  const timeout = { firstByte: 200 };
  const results = [false, true].map(async (tells) => {
    return (await testFetcher({ client: slow(tells), timeout }).read("https://website.test/")).result;
  });
  expect(await Promise.all(results)).toEqual(["failed timeout-first-byte", "found"]);
});

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

test("a body that throws keeps what arrived before", async () => {
  async function* body() {
    yield Buffer.from("half");
    throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  }
  const client: Client = { request: async () => ({ status: 200, headers: [], body: body() }) };
  const { text, broken } = await testFetcher({ client }).read("https://website.test/");
  expect({ text, broken }).toEqual({ text: "half", broken: "body-reset" });
});

test.each([
  ["shorter than its Content-Length", { "content-length": "6" }, "body-short"],
  ["longer, because the client decoded it unasked", { "content-length": "3" }, undefined],
  ["shorter than its compressed form", { "content-length": "6", "content-encoding": "gzip" }, undefined],
])("the length of a body that ends without an error is checked: %s", async (_, headers, expected) => {
  for (const decoded of [false, true]) {
    const client: Client = { request: async () => ({ status: 200, headers, body: pieces("half"), decoded }) };
    const { text, broken } = await testFetcher({ client, retries: 0 }).read("https://website.test/");
    expect({ text, broken }).toEqual({ text: "half", broken: expected });
  }
});

test("a body that never arrives ends with the idle timeout", async () => {
  const body = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
  const client: Client = { request: async () => ({ status: 200, headers: [], body }) };
  const fetcher = testFetcher({ client, timeout: { idle: 100 } });
  expect((await fetcher.read("https://website.test/")).result).toBe("failed timeout-idle");
});
