// Scenarios 15 to 20: responses whose framing is wrong.
import { once } from "node:events";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { selfSigned } from "../support/certificates.ts";
import { type Fault, faults } from "../support/fault-server.ts";
import { fetchOnly, tenPages, testFetcher, testServer, until } from "../support/fetching.ts";
import { some } from "../support/long.ts";

const half = tenPages.slice(0, Math.ceil(tenPages.length / 2));

test.each([
  ["length too long", tenPages, "body-short"],
  ["length too short", half, undefined],
  ["no final chunk", half, "body-short"],
  ["bad chunk size", half, "http-protocol"],
] as const)("after the fault %s, what was received is kept", async (name, text, broken) => {
  expect(await fetchOnly(faults[name](tenPages))).toMatchObject({ result: "found", text, broken });
});

test.each(["chunked\t", "\x0bchunked"])(
  "chunks that break off are noticed after the spelling %j, which Node.js does not recognize",
  async (encoding) => {
    const { broken } = await fetchOnly(({ socket }) => {
      socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: ${encoding}\r\n\r\n${tenPages.length.toString(16)}\r\n${half}`);
    });
    expect(broken).toBe("body-short");
  },
);

test("a megabyte of chunk extensions for each byte is stopped early", async () => {
  const { text, broken } = await fetchOnly(faults["chunk extensions"](tenPages));
  expect({ text: text.trimEnd(), broken }).toEqual({ text: half, broken: "http-protocol" });
});

describe("endless input is stopped early, also over TLS", () => {
  const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  const secure = { tls: selfSigned({ names: ["127.0.0.1"] }) };
  let sent = 0;
  const endlessly = (before: string, piece: string): Fault => {
    sent = 0;
    return async ({ socket }) => {
      for (socket.write(before); !socket.destroyed; sent += piece.length) {
        if (!socket.write(piece)) await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => {});
        else await new Promise((resolve) => setImmediate(resolve));
      }
    };
  };
  const endless: [name: string, before: string, again: string, expected: string][] = [
    ["line ends before the response", "", "\r\n", "failed http-protocol"],
    ["a reason phrase", "HTTP/1.1 200 ", "x", "failed http-protocol"],
    ["the reason phrase of an interim response", "HTTP/1.1 103 ", "x", "failed http-protocol"],
    ["blanks in a header", "HTTP/1.1 200 OK\r\nserver:", " ", "failed http-protocol"],
    ["zeros of a length", "HTTP/1.1 200 OK\r\ncontent-length: ", "0", "failed http-protocol"],
    ["zeros of a chunk's size", chunked, "0", "failed http-protocol"],
    ["zeros of a later chunk's size", `${chunked}4\r\nhalf\r\n`, "0", "found http-protocol"],
    ["a chunk extension", `${chunked}4;`, "x", "failed http-protocol"],
    ["a later chunk extension", `${chunked}4\r\nhalf\r\n4;`, "x", "found http-protocol"],
    ["chunk extensions", chunked, `1;${"x".repeat(100)}\r\ny\r\n`, "found http-protocol"],
    ["blanks in a trailer", `${chunked}4\r\nhalf\r\n0\r\nx:`, " ", "found http-protocol"],
    ["trailers", `${chunked}4\r\nhalf\r\n0\r\n`, "x: y\r\n", "found http-protocol"],
  ];
  test.each(endless)("in %s", async (_, before, again, expected) => {
    const piece = again.repeat(Math.ceil(100_000 / again.length));
    for (const options of [undefined, secure]) {
      const server = await testServer({ "/a": endlessly(before, piece) }, options);
      const fetcher = testFetcher({ start: server.origin, tls: { verify: false } });
      const { result, broken } = await fetcher.read("/a");
      expect([result, broken].join(" ").trim()).toBe(expected);
      // This is more than what is refused plus what the system's buffers hold.
      expect(sent).toBeLessThan(20_000_000);
    }
  });

  test("in the unread body of an error page", async () => {
    const server = await testServer({
      "/a": endlessly("HTTP/1.1 404 No\r\ntransfer-encoding: chunked\r\n\r\n1;", "x".repeat(100_000)),
    });
    expect((await testFetcher({ start: server.origin }).read("/a")).result).toBe("absent http-404");
    await until(() => server.open === 0);
    expect(sent).toBeLessThan(20_000_000);
  });

  test("a document's size limit also counts its framing", async () => {
    const count = some(200_000, 60_000);
    const { broken, bytes } = await fetchOnly(
      ({ socket }) => {
        socket.write(`${chunked}${"1\r\nx\r\n".repeat(count)}0\r\n\r\n`);
      },
      { limits: { documentBytes: 1.5 * count } },
    );
    expect(broken).toBe("limit-document-bytes");
    expect(bytes).toBeLessThan(count);
  });
});

test("chunks of one byte are accepted", async () => {
  const { text, broken } = await fetchOnly(({ socket }) => {
    const chunks = [...tenPages.repeat(some(20, 5))].map((character) => `1\r\n${character}\r\n`).join("");
    socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  });
  expect({ text, broken }).toEqual({ text: tenPages.repeat(some(20, 5)), broken: undefined });
});

test.each([
  ...(["length and chunked", "line feeds only", "folded header", "unasked 100 Continue"] as const),
  "3,000 headers before the length" as const,
])("a response with %s is read", async (name) => {
  expect(await fetchOnly(faults[name](tenPages))).toMatchObject({ result: "found", text: tenPages, broken: undefined });
});

const refused: (keyof typeof faults)[] = [
  ...(["two lengths", "large header", "header bomb", "nul in header", "space after a header name"] as const),
  ...(["http 0.9", "not http", "unasked upgrade", "status 000", "status 099", "chunked twice"] as const),
  ...(["chunked before another encoding", "chunked before another encoding, in two headers"] as const),
];
test.each(refused)("the fault %s is http-protocol, and not retried", async (name) => {
  const { result, server } = await fetchOnly(faults[name](tenPages), { retries: 2 });
  expect(result).toBe("failed http-protocol");
  expect(server.requests).toHaveLength(1);
});

test.each([
  ["large header", "the response headers are too long"],
  ["two lengths", "unexpected content length"],
] as const)("the problem of a %s is explained in words: %s", async (name, value) => {
  const { fetched } = await fetchOnly(faults[name](tenPages));
  expect(fetched).toMatchObject({ reason: { value, message: `Invalid HTTP response: ${value}` } });
});

test("parser errors from a custom client are explained in words", async () => {
  const cause = Object.assign(new Error("fetch failed"), { code: "HPE_INVALID_HEADER_TOKEN" });
  const client = { request: () => Promise.reject(new Error("failed", { cause })) };
  const { fetched } = await testFetcher({ client }).read("https://website.test/");
  expect(fetched).toMatchObject({ reason: { message: "Invalid HTTP response: invalid header token" } });
});

test("a hundred kilobytes of cookies are accepted", async () => {
  const cookies = `set-cookie: a=${"x".repeat(4000)}\r\n`.repeat(25);
  const response = `HTTP/1.1 200 OK\r\n${cookies}content-length: ${tenPages.length}\r\n\r\n${tenPages}`;
  expect((await fetchOnly(({ socket }) => void socket.write(response))).text).toBe(tenPages);
});

test("an unknown status and a missing reason phrase are accepted", async () => {
  const { result, fetched } = await fetchOnly((exchange) => exchange.respond(999, {}, tenPages));
  expect(result).toBe("failed http-999");
  expect(fetched).toMatchObject({ status: 999, reason: { status: 999 } });
  const short = `HTTP/1.1 200\r\ncontent-length: ${tenPages.length}\r\n\r\n${tenPages}`;
  expect((await fetchOnly(({ socket }) => void socket.write(short))).text).toBe(tenPages);
});

test("headers keep their order and repetitions, their names become lowercase, and __proto__ is an ordinary name", async () => {
  const head = "HTTP/1.1 200 OK\r\nX-B: 1\r\nLink: a\r\nx-b: 2\r\nContent-Length: 2\r\nLINK: b\r\n__proto__: a";
  const { fetched } = await fetchOnly(({ socket }) => void socket.write(`${head}\r\n\r\nok`));
  const list = "headers" in fetched ? fetched.headers : [];
  const said = list?.map(([name, value]) => `${name} ${value}`).join(", ");
  expect(said).toBe("x-b 1, link a, x-b 2, content-length 2, link b, __proto__ a");
});

test("any bytes lead to an outcome, never to a crash or a hang", async () => {
  let response = Buffer.alloc(0);
  const server = await testServer({ "/a": ({ socket }) => void socket.end(response) });
  const fetcher = testFetcher({ start: server.origin, timeout: { firstByte: 2000, idle: 2000 } });
  const good = Buffer.from(
    `HTTP/1.1 200 OK\r\nserver: x\r\ntransfer-encoding: chunked\r\n\r\n${tenPages.length.toString(16)}\r\n${tenPages}\r\n0\r\n\r\n`,
  );
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc.constantFrom("\r\n", "\n", "\0", "HTTP/1.1 103 \r\n\r\n", "content-length: 5\r\n", "ffffffffff"),
  );
  const change = fc.record({ at: fc.nat({ max: good.length }), cut: fc.nat({ max: 40 }), piece });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      response = good;
      for (const { at, cut, piece } of changes) {
        response = Buffer.concat([response.subarray(0, at), Buffer.from(piece as string), response.subarray(at + cut)]);
      }
      const { fetched, broken } = await fetcher.read("/a");
      expect(["found", "absent", "blocked", "failed", "refused"]).toContain(fetched.outcome);
      expect(broken).not.toBe("client-failed");
      if ("reason" in fetched) expect(fetched.reason.code).not.toBe("client-failed");
    }),
    { numRuns: some(150, 20) },
  );
});
