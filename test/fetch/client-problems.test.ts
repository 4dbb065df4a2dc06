// Problems that a client of the user's own answers with: they are taken over, completed, and never trusted.
import { expect, test } from "vitest";
import { type Client, problem, sitemapTreeFrom } from "../../src/index.ts";

const url = "https://example.org/a.xml";

async function reasonOf(answer: unknown): Promise<unknown> {
  const client: Client = { request: async () => answer as never };
  await using tree = await sitemapTreeFrom([url], { client, retries: 0 });
  const [sitemap] = tree.root.children;
  return sitemap?.kind === "invalid" ? sitemap.reason : sitemap;
}

test("a problem made by problem() is the reason", async () => {
  const made = problem("bot-check", { status: 403 });
  expect(await reasonOf(made)).toEqual(made);
});

test("a problem without its sentence gets it, and facts of the wrong type are dropped", async () => {
  expect(await reasonOf({ code: "http-404", status: 404 })).toEqual(problem("http-404", { status: 404 }));
  expect(await reasonOf({ code: "dns-not-found", value: {}, line: "x", other: 1, message: 5 })).toEqual(
    problem("dns-not-found"),
  );
});

test.each([{ count: -1 }, { line: 0.5 }, { status: Number.NaN }, { limit: -1 }, { retryAfter: "soon" }])(
  "facts that no problem has are dropped, so that its archive opens again: %j",
  async (fact) => {
    expect(await reasonOf({ code: "http-500", ...fact })).toEqual(problem("http-500"));
    expect(() => problem("http-500", fact)).toThrow(/^Expected `facts\./);
  },
);

test.each([{ code: "EWHATEVER" }, { code: 5 }, { code: null }, { code: "http-" }, { code: "constructor" }])(
  "%j is no code of ours: the client failed",
  async (answer) => {
    expect(await reasonOf(answer)).toMatchObject({ code: "client-failed", value: String(answer.code) });
  },
);

test("an error that a client answers with is named by its message", async () => {
  const error = Object.assign(new Error("the cache is gone"), { code: "ECACHE" });
  expect(await reasonOf(error)).toMatchObject({ code: "client-failed", value: "the cache is gone" });
});

const body = () =>
  (async function* () {
    yield new TextEncoder().encode("https://example.org/1");
  })();

test.each([
  ["pairs", [["Content-Type", "text/plain"]]],
  ["Headers", new Headers({ "Content-Type": "text/plain" })],
  ["a Map", new Map([["Content-Type", "text/plain"]])],
  ["an object", { "Content-Type": "text/plain" }],
  ["the object of node:http", { "Content-Type": "text/plain", "set-cookie": ["a", "b"], via: undefined }],
])("the headers of a response may be %s", async (_, headers) => {
  const client: Client = { request: async () => ({ status: 200, headers, body: body() }) as never };
  await using tree = await sitemapTreeFrom([url], { client, retries: 0 });
  const response = await tree.response(tree.root.children[0]!);
  expect(tree.pageCount).toBe(1);
  expect(response?.headers).toContainEqual(["content-type", "text/plain"]);
});

test.each([null, new TextEncoder().encode("https://example.org/1")])(
  "a body may be whole, or none: %s",
  async (given) => {
    const client: Client = { request: async () => ({ status: 200, headers: [], body: given }) as never };
    await using tree = await sitemapTreeFrom([url], { client, retries: 0 });
    expect(tree.pageCount).toBe(given === null ? 0 : 1);
  },
);

test.each([
  [undefined, "it returned no response"],
  [null, "it returned no response"],
  ["text", "it returned no response"],
  [{}, "the response lacks a status"],
  [{ status: "200", headers: [], body: body() }, "the response lacks a status"],
  [{ status: 99, headers: [], body: body() }, "the response lacks a status"],
  [{ status: 1000, headers: [], body: body() }, "the response lacks a status"],
  [{ status: 200, body: body() }, "the response lacks headers, or one is not text"],
  [{ status: 200, headers: { a: 5 }, body: body() }, "the response lacks headers, or one is not text"],
  [{ status: 200, headers: [["a"]], body: body() }, "the response lacks headers, or one is not text"],
  [{ status: 200, headers: [] }, "the response lacks a body of bytes"],
  [{ status: 200, headers: [], body: "text" }, "the response lacks a body of bytes"],
])("a client that answers %j failed, and the problem says how", async (answer, value) => {
  expect(await reasonOf(answer)).toMatchObject({ code: "client-failed", value });
});
