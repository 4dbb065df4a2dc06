// The contract of clients, for the one built in, for `fetch`, and for one that a user might write.
import http from "node:http";
import { afterAll, describe, expect, test } from "vitest";
import type { Client, ClientResponse } from "../../src/client.ts";
import { type FetchLike, fetchClient } from "../../src/fetch/fetch-client.ts";
import { type OwnClient, undiciClient } from "../../src/fetch/undici-client.ts";
import { resolveOptions } from "../../src/options.ts";
import { tenPages, testFetcher } from "../support/fetching.ts";
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
          list.push([response.rawHeaders[at]!.toLowerCase(), response.rawHeaders[at + 1]!]);
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
    ["gives nothing", { request: async () => undefined as never }],
    ["gives no body", { request: async () => ({ status: 200, headers: [] }) as never }],
    ["gives no status", { request: async () => ({ headers: [], body: [] }) as never }],
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

  test("its own problem is told as it is", async () => {
    const client: Client = { request: async () => ({ code: "archive-missing", message: "Not here" }) };
    expect((await testFetcher({ client }).read("https://website.test/")).result).toBe("failed archive-missing");
  });

  async function* thrower(): AsyncGenerator<Uint8Array> {
    yield* [];
    throw new Error("broken");
  }
});
