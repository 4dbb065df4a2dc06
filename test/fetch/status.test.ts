// What a status means, what is tried again, and how long is waited.

import { describe, expect, test } from "vitest";
import { backoffDelay, retryAfterDelay, toDate } from "../../src/fetch/retry.ts";
import { withFixedLimits } from "../../src/model/fixed-limits.ts";
import { isChallenge } from "../../src/model/status.ts";
import { inTurn, status, whole } from "../support/fault-server.ts";
import { fetchOnly, tenPages, testFetcher, testServer, until } from "../support/fetching.ts";

describe("outcomes", () => {
  test.each([
    ...[404, 410].map((code) => [code, "absent"] as const),
    ...[401, 403, 407, 451].map((code) => [code, "blocked"] as const),
    ...[201, 202, 204, 206, 300, 304, 305, 400, 405].map((code) => [code, "failed"] as const),
    ...[416, 418, 499, 501, 507, 530, 599].map((code) => [code, "failed"] as const),
  ])("%i is %s, and not retried", async (code, outcome) => {
    const fault = code === 204 || code === 304 ? status(code, { "content-length": "0" }, "") : status(code);
    const { fetched, server } = await fetchOnly(fault, { retries: 2 });
    const reason = { code: `http-${code}`, status: code };
    expect(fetched).toMatchObject({ outcome, status: code, attempts: 1, reason });
    expect(server.requests).toHaveLength(1);
  });

  test.each([200, 203])("%i is a document", async (code) => {
    expect(await fetchOnly(status(code, {}, tenPages))).toMatchObject({ result: "found", text: tenPages });
  });

  test.each([
    ...[408, 425, 500, 502, 503, 504, 520, 529].map((code) => [code, "failed"] as const),
    [429, "blocked"] as const,
  ])("a permanent %i is %s after all retries", async (code, outcome) => {
    const { fetched, server } = await fetchOnly(status(code), { retries: 3 });
    expect(fetched).toMatchObject({ outcome, status: code, attempts: 4, reason: { code: `http-${code}` } });
    expect(server.requests).toHaveLength(4);
  });

  test("503 twice and then 200 is found after two retries; with `retries: 0`, there are none", async () => {
    const { fetched, text } = await fetchOnly(inTurn(status(503), status(503), whole(tenPages)), { retries: 3 });
    expect([text, fetched.attempts]).toEqual([tenPages, 3]);
    expect((await fetchOnly(status(503), { retries: 0 })).server.requests).toHaveLength(1);
  });
});

describe("bot checks", () => {
  test.each([
    [403, { "cf-mitigated": "challenge" }],
    [503, { "cf-mitigated": "challenge", "retry-after": "5" }],
    [200, { "cf-mitigated": "challenge" }],
    [202, { "x-amzn-waf-action": "challenge" }],
    [405, { "x-amzn-waf-action": "captcha" }],
    [429, { "x-vercel-mitigated": "challenge" }],
    [403, { "x-datadome": "protected" }],
    [403, { server: "ddos-guard" }],
  ])("are recognized: %i with %o is blocked, and not retried", async (code, headers) => {
    const { fetched, server } = await fetchOnly(status(code, headers), { retries: 2 });
    expect(fetched).toMatchObject({ outcome: "blocked", status: code, reason: { code: "bot-check", status: code } });
    expect(server.requests).toHaveLength(1);
  });

  test("are not assumed for a document behind the same service", () => {
    expect(isChallenge(200, [["server", "ddos-guard"]])).toBe(false);
    expect(isChallenge(403, [["server", "cloudflare"]])).toBe(false);
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  const delay = (value: string) => retryAfterDelay([["retry-after", value]], now);

  test.each([
    ["0", 0],
    ["120", 120_000],
    [" 7 ", 7000],
    ["Sun, 01 Mar 2026 12:00:30 GMT", 30_000],
    ["Sunday, 01-Mar-26 12:00:30 GMT", 30_000],
    ["Sun Mar  1 12:00:30 2026", 30_000],
    ["Sat, 28 Feb 2026 12:00:00 GMT", 0],
  ])("spec: %s is understood", (value, expected) => {
    // https://www.rfc-editor.org/rfc/rfc9110#name-date-time-formats
    //   "A recipient that parses a timestamp value in an HTTP field MUST accept all three HTTP-date formats."
    expect(delay(value)).toBe(expected);
  });

  test.each(["-1", "NaN", "1e309", "soon", "", "1.5", "junk 7", "2026-03-01", "Infinity", "0x10", "1, 2"])(
    "%j is ignored",
    (value) => {
      expect(delay(value)).toBeUndefined();
    },
  );

  test("an enormous Retry-After still gives a valid date", () => {
    expect(delay("9".repeat(400))).toBe(Number.POSITIVE_INFINITY);
    expect(toDate(Number.POSITIVE_INFINITY)).toBe("+275760-09-13T00:00:00.000Z");
  });

  test.each([
    [429, "Sat, 28 Feb 2015 12:00:00 GMT"],
    [503, "Sat, 28 Feb 2015 12:00:00 GMT"],
    [429, "soon"],
  ])("is ignored if it is past or unreadable: %i with %s is retried after our own delay", async (code, value) => {
    const fault = inTurn(status(code, { "retry-after": value }), whole(tenPages));
    const { text, fetched } = await fetchOnly(fault, { retries: 1 });
    expect([text, fetched.attempts]).toEqual([tenPages, 2]);
  });

  test("429 with Retry-After in seconds pauses the whole host", async () => {
    const server = await testServer({
      "/limited": inTurn(status(429, { "retry-after": "1" }), whole(tenPages)),
      "/other": tenPages,
    });
    const fetcher = testFetcher({ start: server.origin, retries: 1 });
    const limited = fetcher.read("/limited");
    await until(() => fetcher.events.some(({ type }) => type === "retry"));
    const reason = expect.objectContaining({ status: 429 });
    expect(fetcher.events).toContainEqual(expect.objectContaining({ type: "retry", attempt: 1, delay: 1000, reason }));
    const other = fetcher.read("/other");
    expect((await limited).fetched.attempts).toBe(2);
    await other;
    expect(server.requests.map(({ path }) => path)).toEqual(["/limited", "/limited", "/other"]);
  });

  test("the longest wait can be set, and zero means not to wait", async () => {
    const limits = withFixedLimits({ retryAfter: 0 });
    const { result } = await fetchOnly(status(429, { "retry-after": "1" }), { retries: 3, limits });
    expect(result).toBe("blocked rate-limited");
  });
});

describe("backoff", () => {
  test("doubles up to its maximum, and is random below it", () => {
    const bounds = (random: number) =>
      [1, 2, 3, 4, 10].map((attempt) => backoffDelay(attempt, { base: 500, cap: 3000, random: () => random }));
    expect(bounds(1)).toEqual([500, 1000, 2000, 3000, 3000]);
    expect(bounds(0)).toEqual([0, 0, 0, 0, 0]);
  });

  test("is reported as an event for each retry, with the reason and the delay", async () => {
    const server = await testServer({ "/x": inTurn(status(500), whole(tenPages)) });
    const fetcher = testFetcher({ start: server.origin, retries: 1 }, { backoff: { base: 10, random: () => 0.5 } });
    await fetcher.read("/x");
    const url = `${server.origin}/x`;
    expect(fetcher.events).toMatchObject([
      { type: "request", url, attempt: 1 },
      { type: "retry", url, attempt: 1, delay: 5, reason: expect.objectContaining({ code: "http-500" }) },
      { type: "request", url, attempt: 2 },
      { type: "response", url, outcome: "found", status: 200, attempts: 2 },
    ]);
  });
});

test("the bodies of errors and redirects are not read, however large they are", async () => {
  const bomb = "x".repeat(1_000_000);
  const sent: number[] = [];
  const large = (head: string) => async (exchange: { socket: import("node:net").Socket }) => {
    const { socket } = exchange;
    socket.write(head);
    for (let megabyte = 0; megabyte < 64 && !socket.destroyed; megabyte++) {
      if (!socket.write(`f4240\r\n${bomb}\r\n`))
        await new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
    }
    sent.push(socket.bytesWritten);
  };
  const server = await testServer({
    "/moved": large("HTTP/1.1 302 Found\r\nlocation: /a\r\ntransfer-encoding: chunked\r\n\r\n"),
    "/missing": large("HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n"),
    "/a": tenPages,
  });
  const fetcher = testFetcher({ start: server.origin });
  expect((await fetcher.read("/moved")).text).toBe(tenPages);
  expect((await fetcher.read("/missing")).result).toBe("absent http-404");
  await until(() => sent.length === 2);
  // What the kernel buffers on loopback is sent without being read.
  expect(Math.max(...sent)).toBeLessThan(12_000_000);
});
