// A body that breaks is continued where it broke, but only with the bytes of the same version. Needs a server.
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { fetchClient } from "../../src/fetch/fetch-client.ts";
import { type Fault, faults, inTurn, type RawExchange, status, whole } from "../support/fault-server.ts";
import { fetchOnly, tenPages, testFetcher, testServer, until } from "../support/fetching.ts";

type Headers = Readonly<Record<string, string>>;
const bytes = Buffer.from(tenPages);
const etag = '"v1"';

/** Sends the beginning of a response, then resets the connection. */
function breaks(at: number, headers: Headers = { etag }, document: Uint8Array = bytes, code = 200): Fault {
  return ({ socket }) => {
    const lines = Object.entries({ "content-length": String(document.length), ...headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 ${code} OK\r\n${head}\r\n`), document.subarray(0, at)]));
    setTimeout(() => socket.resetAndDestroy(), 20);
  };
}

function startOf({ headers }: RawExchange): number {
  return Number(/^bytes=(\d+)-$/.exec(headers.get("range") ?? "")?.[1]);
}

/** Answers a range request like a server that still has this version; `headers` replace its own. */
function rest(headers: Headers = {}, document: Uint8Array = bytes): Fault {
  return (exchange) => {
    const start = startOf(exchange);
    if (exchange.headers.get("if-range") !== etag || !(start >= 0)) return whole(document, { etag })(exchange);
    const range = `bytes ${start}-${document.length - 1}/${document.length}`;
    exchange.respond(206, { etag, "content-range": range, ...headers }, document.subarray(start));
  };
}

test.each([1, 2, 300, bytes.length - 1])("a body that breaks after %i bytes is continued from there", async (at) => {
  const { text, broken, fetched, server } = await fetchOnly(inTurn(breaks(at), rest()), { retries: 1 });
  expect({ text, broken }).toEqual({ text: tenPages, broken: undefined });
  expect(fetched).toMatchObject({ outcome: "found", status: 200, attempts: 1 });
  const [first, second] = server.requests.map(({ headers }) => [headers.get("range"), headers.get("if-range")]);
  expect([first, second]).toEqual([
    [undefined, undefined],
    [`bytes=${at}-`, etag],
  ]);
});

test("a body can be continued repeatedly while retries are left, even after other failures", async () => {
  const again: Fault = (exchange) => {
    const start = startOf(exchange);
    const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
    const headers = { etag, "content-range": range, "content-length": String(bytes.length - start) };
    return breaks(100, headers, bytes.subarray(start), 206)(exchange);
  };
  const fault = inTurn(breaks(200), again, status(503), again, faults["reset in headers"](), rest());
  expect(await fetchOnly(fault, { retries: 5 })).toMatchObject({ text: tenPages, broken: undefined });
  const { text, broken, server } = await fetchOnly(fault, { retries: 3 });
  expect([text, broken, server.requests.length]).toEqual([tenPages.slice(0, 400), "body-reset", 4]);
});

test.each([
  ["chunked", "transfer-encoding: chunked", `c8\r\n${tenPages.slice(0, 200)}\r\n`],
  ["without a length", "connection: close", tenPages.slice(0, 200)],
])("a body can be continued if its length is unknown: %s", async (_, header, body) => {
  const broken: Fault = ({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\netag: ${etag}\r\n${header}\r\n\r\n${body}`);
    setTimeout(() => socket.resetAndDestroy(), 20);
  };
  expect(await fetchOnly(inTurn(broken, rest()), { retries: 1 })).toMatchObject({ text: tenPages, broken: undefined });
});

test("ranges count compressed bytes", async () => {
  const zipped = gzipSync(tenPages);
  const encoding = { "content-encoding": "gzip" };
  const fault = inTurn(breaks(50, { etag, ...encoding }, zipped), rest(encoding, zipped));
  const { bytes: count, broken } = await fetchOnly(fault, { retries: 1 });
  expect({ count, broken }).toEqual({ count: zipped.length, broken: undefined });
});

describe("the part that was read is kept, and the loss is reported", () => {
  const at = 300;
  const part = { text: tenPages.slice(0, at), broken: "body-reset" };
  const size = bytes.length;
  const ranged = (range: string, headers: Headers = {}): Fault => rest({ "content-range": range, ...headers });

  test.each<[string, Headers]>([
    ["no ETag", {}],
    ["a weak ETag", { etag: 'W/"v1"' }],
    ["an ETag without quotes", { etag: "v1" }],
    ["a transfer encoding besides chunked", { etag, "transfer-encoding": "gzip" }],
  ])("without a second request, for a response with %s", async (_, headers) => {
    const { text, broken, server } = await fetchOnly(inTurn(breaks(at, headers), rest()), { retries: 3 });
    expect({ text, broken, requests: server.requests.length }).toEqual({ ...part, requests: 1 });
  });

  test.each<[string, Fault]>([
    ["the whole document", whole(tenPages, { etag })],
    ["another version", whole(tenPages.replace("page-9", "page-x"), { etag: '"v2"' })],
    ["an error", status(404)],
    ["a redirect", status(302, { location: "/other" })],
    ["no Content-Range", (exchange) => exchange.respond(206, { etag }, bytes.subarray(at))],
    ["another start", ranged(`bytes ${at + 1}-${size - 1}/${size}`)],
    ["an earlier start", ranged(`bytes 0-${size - 1}/${size}`)],
    ["an end before the last byte", ranged(`bytes ${at}-${size - 2}/${size}`)],
    ["another size", ranged(`bytes ${at}-${size}/${size + 1}`)],
    ["an unknown size", ranged(`bytes ${at}-${size - 1}/*`)],
    ["other units", ranged(`lines ${at}-${size - 1}/${size}`)],
    ["another ETag", rest({ etag: '"v2"' })],
    ["a weak ETag", rest({ etag: 'W/"v1"' })],
    ["another encoding", rest({ "content-encoding": "gzip" })],
    ["several parts", rest({ "content-range": "", "content-type": "multipart/byteranges; boundary=x" })],
    ["no rest", status(416, { "content-range": `bytes */${size}` })],
  ])("if the second request gets %s", async (_, fault) => {
    const { text, broken, server } = await fetchOnly(inTurn(breaks(at), fault), { retries: 3 });
    expect({ text, broken, requests: server.requests.length }).toEqual({ ...part, requests: 2 });
  });

  test.each([
    ["shorter", (start: number) => bytes.subarray(start, -10), "body-short"],
    ["longer", (start: number) => Buffer.concat([bytes.subarray(start), bytes]), "body-reset"],
  ] as const)("if the rest is %s than announced", async (_, body, code) => {
    const fault: Fault = (exchange) => {
      const start = startOf(exchange);
      exchange.respond(206, { etag, "content-range": `bytes ${start}-${size - 1}/${size}` }, body(start));
    };
    const { text, broken } = await fetchOnly(inTurn(breaks(at), fault), { retries: 2 });
    expect([tenPages.startsWith(text), broken]).toEqual([true, code]);
  });

  test("if the client has decoded the bytes", async () => {
    const server = await testServer({ "/a": inTurn(breaks(at), rest()) });
    const { text, broken } = await testFetcher({
      start: server.origin,
      client: fetchClient(fetch),
      retries: 2,
    }).read("/a");
    // On a busy machine, `fetch` sees the end of the connection before its reset.
    expect(broken).toMatch(/^body-(?:reset|short)$/);
    expect([tenPages.startsWith(text), server.requests.length]).toEqual([true, 1]);
  });
});

test("a body that is shorter than announced is not requested a third time", async () => {
  const long = { etag, "content-length": String(bytes.length + 1000) };
  const ends: Fault = (exchange) => {
    exchange.respond(200, long, bytes);
    exchange.socket.end();
  };
  const { text, broken, server } = await fetchOnly(inTurn(ends, status(416)), { retries: 3 });
  expect([text, broken, server.requests.length]).toEqual([tenPages, "body-short", 2]);
});

test("a continued body counts once toward the limit, and releases all connections", async () => {
  const limits = { documentBytes: bytes.length - 1 };
  const { bytes: count, broken, server } = await fetchOnly(inTurn(breaks(300), rest()), { retries: 1, limits });
  expect([count, broken]).toEqual([bytes.length - 1, "limit-document-bytes"]);
  await until(() => server.open === 0);
});

test.each(["stall in headers", "stall before body", "stall in body"] as const)(
  "a reader that leaves while the rest is requested cancels that request: %s",
  async (name) => {
    const server = await testServer({ "/a": inTurn(breaks(300), faults[name](tenPages)) });
    const { body } = await testFetcher({ start: server.origin, retries: 1 }).open("/a");
    for await (const _ of body) {
      await until(() => server.requests.length === 2);
      break;
    }
    await until(() => server.open === 0);
  },
);
