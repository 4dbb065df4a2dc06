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
