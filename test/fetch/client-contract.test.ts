// The contract of clients, for the one built in, for `fetch`, and for one that a user might write.
import http from "node:http";
import { Readable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { type OwnClient, undiciClient } from "../../src/fetch/client.ts";
import { type FetchLike, fetchClient } from "../../src/fetch/fetch-client.ts";
import type { Client, ClientResponse } from "../../src/model/client.ts";
import { resolveOptions } from "../../src/model/options.ts";
import { problem } from "../../src/model/problem.ts";
import { pause, tenPages, testFetcher } from "../support/fetching.ts";
import { clientContract } from "./client-contract.ts";

const made: OwnClient[] = [];
afterAll(() => Promise.all(made.map((client) => client.close())));

clientContract("the client built in", () => {
  const client = undiciClient(resolveOptions({ network: "allow-private" }));
  made.push(client);
  return client;
});

clientContract("fetch", () => fetchClient(fetch), { decodes: "fetch always does" });

clientContract("a client of the user's own", () => ({
  request: ({ url, headers, signal }) =>
    new Promise<ClientResponse>((resolve, reject) => {
      const request = http.get(url, { headers, signal, agent: false }, (response) => {
        const list: [string, string][] = [];
        for (let at = 0; at < response.rawHeaders.length; at += 2) {
          list.push([response.rawHeaders[at]!.toUpperCase(), response.rawHeaders[at + 1]!]);
        }
        resolve({ status: response.statusCode ?? 0, headers: list, body: response });
      });
      request.on("error", reject);
    }),
}));

describe("fetchClient", () => {
  const answer =
    (response: Partial<Awaited<ReturnType<FetchLike>>>): FetchLike =>
    async () => ({
      status: 200,
      headers: [],
      body: null,
      ...response,
    });

  test("takes anything shaped like fetch", async () => {
    const body = new Blob([tenPages]).stream();
    const headers = { forEach: (each: (value: string, name: string) => void) => each("text/xml", "Content-Type") };
    const fetcher = testFetcher({ client: fetchClient(answer({ headers, body })) });
    const { text, fetched } = await fetcher.read("https://website.test/");
    expect(text).toBe(tenPages);
    expect(fetched).toMatchObject({ headers: [["content-type", "text/xml"]] });
  });

  test("a platform that hides redirects cannot be used", async () => {
    const fetcher = testFetcher({ client: fetchClient(answer({ status: 0, type: "opaqueredirect" })) });
    expect((await fetcher.read("https://website.test/")).result).toBe("failed client-failed");
  });
});

describe("a client of the user's own", () => {
  test("may decode bodies, if it says so", async () => {
    const headers: [string, string][] = [
      ["Content-Encoding", "gzip"],
      ["Content-Length", "5"],
      ["Content-Type", "text/xml"],
    ];
    const client: Client = { request: async () => ({ status: 200, headers, body: pieces(tenPages), decoded: true }) };
    const { fetched } = await testFetcher({ client }).read("https://website.test/a");
    expect(fetched).toMatchObject({ headers: [["content-type", "text/xml"]] });
  });

  test("learns which attempt it is", async () => {
    const attempts: unknown[] = [];
    const client: Client = {
      request: async ({ attempt }) => {
        attempts.push(attempt);
        return problem("http-503", { status: 503 });
      },
    };
    await testFetcher({ client, retries: 2 }).read("https://website.test/a");
    expect(attempts).toEqual([1, 2, 3]);
  });

  test("has a clock that runs from the call, or from when it says that the request is out", async () => {
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
});

describe("a client that does not keep the contract", () => {
  test.each<[string, Client]>([
    [
      "throws",
      {
        request: () => {
          throw new Error("broken");
        },
      },
    ],
    ["rejects with nothing", { request: () => Promise.reject(undefined) }],
    ["rejects with a text", { request: () => Promise.reject("broken") }],
    ["gives text", { request: async () => ({ status: 200, headers: [], body: Readable.from(["text"]) }) as never }],
    [
      "gives nothing in pieces",
      { request: async () => ({ status: 200, headers: [], body: Readable.from([{}]) }) as never },
    ],
    ["has a body that throws", { request: async () => ({ status: 200, headers: [], body: thrower() }) }],
  ])("%s: that is a problem, not an error", async (_, client) => {
    expect((await testFetcher({ client }).read("https://website.test/")).result).toBe("failed client-failed");
  });

  test("a body that throws late keeps what came", async () => {
    async function* body() {
      yield Buffer.from("half");
      throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    }
    const client: Client = { request: async () => ({ status: 200, headers: [], body: body() }) };
    const { text, broken } = await testFetcher({ client }).read("https://website.test/");
    expect({ text, broken }).toEqual({ text: "half", broken: "body-reset" });
  });

  test("a body that never comes ends with the idle clock", async () => {
    const body = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const client: Client = { request: async () => ({ status: 200, headers: [], body }) };
    const fetcher = testFetcher({ client, timeout: { idle: 100 } });
    expect((await fetcher.read("https://website.test/")).result).toBe("failed timeout-idle");
  });

  async function* thrower(): AsyncGenerator<Uint8Array> {
    yield* [];
    throw new Error("broken");
  }
});
