// Problems that a client of the user's own answers with: they are taken over, completed, and never trusted.
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { type Client, type Problem, problem, sitemapTreeForHomepage, streamPages } from "../../src/index.ts";

const url = "https://example.org/a.xml";

async function treeWith(request: () => unknown) {
  const client: Client = { request: async () => request() as never };
  return sitemapTreeForHomepage({ sitemaps: [url] }, { client, retries: 0 });
}

async function reasonOf(request: () => unknown): Promise<unknown> {
  await using tree = await treeWith(request);
  const [sitemap] = tree.root.children;
  return sitemap?.kind === "invalid" ? sitemap.reason : sitemap;
}

const botCheck = problem("bot-check", { status: 403 });

test.each<[string, unknown, unknown]>([
  ["made by problem() is the reason", botCheck, botCheck],
  ["without its sentence gets it", { code: "http-404", status: 404 }, problem("http-404", { status: 404 })],
  [
    "loses facts of the wrong type",
    { code: "dns-not-found", value: {}, line: "x", other: 1, message: 5 },
    problem("dns-not-found"),
  ],
])("a problem %s", async (_, answer, expected) => {
  expect(await reasonOf(() => answer)).toEqual(expected);
});

test.each([{ count: -1 }, { line: 0.5 }, { status: Number.NaN }, { limit: -1 }, { retryAfter: "soon" }])(
  "invalid facts of a problem are dropped, so that its archive can be opened again: %j",
  async (fact) => {
    expect(await reasonOf(() => ({ code: "http-500", ...fact }))).toEqual(problem("http-500"));
    expect(() => problem("http-500", fact)).toThrow(/^Expected `facts\./);
  },
);

async function* body(...pieces: unknown[]): AsyncGenerator<never> {
  for (const piece of pieces) yield piece as never;
}
const bytes = new TextEncoder().encode("https://example.org/1");

test.each([
  ["pairs", [["Content-Type", "text/plain"]]],
  ["Headers", new Headers({ "Content-Type": "text/plain" })],
  ["a Map", new Map([["Content-Type", "text/plain"]])],
  ["an object", { "Content-Type": "text/plain" }],
  ["the object of node:http", { "Content-Type": "text/plain", "set-cookie": ["a", "b"], via: undefined }],
])("the headers of a response may be %s", async (_, headers) => {
  await using tree = await treeWith(() => ({ status: 200, headers, body: body(bytes) }));
  expect(tree.pageCount).toBe(1);
  expect((await tree.response(tree.root.children[0]!))?.headers).toContainEqual(["content-type", "text/plain"]);
});

test.each([
  ["none", null, 0],
  ["whole", bytes, 1],
])("a body may be %s", async (_, given, pages) => {
  await using tree = await treeWith(() => ({ status: 200, headers: [], body: given }));
  expect(tree.pageCount).toBe(pages);
});

function* broken() {
  yield* [];
  throw new Error("broken");
}
const throws = (error: unknown) => () => {
  throw error;
};
const withBody = (...pieces: unknown[]) => ({ status: 200, headers: [], body: body(...pieces) });
const noHeaders = "the response lacks headers, or one is not text";
test.each<[string, () => unknown, string]>([
  ["throws", throws(new Error("broken")), "broken"],
  ["throws a text", throws("broken"), "broken"],
  ["throws nothing", throws(undefined), "undefined"],
  ["answers with an error", () => Object.assign(new Error("gone"), { code: "ECACHE" }), "gone"],
  ...["EWHATEVER", 5, null, "http-", "constructor"].map((code): [string, () => unknown, string] => {
    return [`answers with the code ${code}`, () => ({ code }), String(code)];
  }),
  ...[undefined, null, "text"].map((answer): [string, () => unknown, string] => {
    return [`answers ${answer}`, () => answer, "it returned no response"];
  }),
  ...[undefined, "200", 99, 1000].map((status): [string, () => unknown, string] => {
    return [`has the status ${status}`, () => ({ ...withBody(), status }), "the response lacks a status"];
  }),
  ["has no headers", () => ({ status: 200, body: body() }), noHeaders],
  ["has a header that is not text", () => ({ ...withBody(), headers: { a: 5 } }), noHeaders],
  ["has half a header", () => ({ ...withBody(), headers: [["a"]] }), noHeaders],
  ["has no body", () => ({ status: 200, headers: [] }), "the response lacks a body of bytes"],
  ["has a text as body", () => ({ ...withBody(), body: "text" }), "the response lacks a body of bytes"],
  ["has texts in its body", () => withBody("text"), "a piece of the body is not a Uint8Array"],
  ["has objects in its body", () => withBody({}), "a piece of the body is not a Uint8Array"],
  ["has a body that throws", () => ({ ...withBody(), body: Readable.from(broken()) }), "broken"],
])("a client that %s has failed, and the problem says why", async (_, request, value) => {
  expect(await reasonOf(request)).toMatchObject({ code: "client-failed", value });
});

test("the error that a client throws is kept as the cause, with its stack", async () => {
  const error = new Error("broken");
  expect(((await reasonOf(throws(error))) as Problem).cause).toBe(error);
  const read = async () => {
    for await (const _ of streamPages("https://website.test/", { client: { request: throws(error) }, retries: 0 }));
  };
  await expect(read()).rejects.toMatchObject({ code: "unreachable", cause: error });
  // The cause is not part of the data.
  expect(JSON.stringify(await reasonOf(throws(error)))).not.toContain("cause");
});
