// What the operator supplies goes to the origin of the start, and nowhere else; what is secret is never told.
import { describe, expect, test } from "vitest";
import { followRules, Hop } from "../../src/crawl/redirects.ts";
import { requestHeaders } from "../../src/fetch/request-headers.ts";
import { resolveOptions } from "../../src/model/options.ts";
import { redirect } from "../support/fault-server.ts";
import { tenPages, testFetcher, testServer } from "../support/fetching.ts";

const secrets = { Authorization: "Bearer token", Cookie: "session=1", "X-API-Key": "key" };
const names = ["authorization", "cookie", "x-api-key"];
const allowPrivate = { network: "allow-private" } as const;

test("the caller's headers go only to the origin of the start URL, and are not sent again after a redirect back", async () => {
  // The other server is at another port.
  const a = await testServer({ "/back": tenPages });
  const again = await testServer(
    { "/on": redirect("/on2"), "/on2": redirect(`${a.origin}/back`) },
    { host: "127.0.0.2" },
  );
  const start = await testServer({ "/away": redirect(`${again.origin}/on`) });
  const fetcher = testFetcher({ start: [start.origin, a.origin], headers: secrets, ...allowPrivate });
  expect((await fetcher.read("/away")).text).toBe(tenPages);
  const sent = [...start.requests, ...again.requests, ...a.requests].map(({ headers }) =>
    names.filter((name) => headers.has(name)),
  );
  expect(sent).toEqual([names, [], [], []]);
});

// Each row has the URLs of a redirect chain, and how many of them, from the first on, get the headers.
test.each([
  ["http://a.test/", "http://a.test/x http://a.test/y", 2],
  ["http://a.test/", "https://a.test/x http://a.test/y", 2],
  ["https://a.test/", "http://a.test/", 0],
  ["http://a.test:8080/", "http://a.test:8080/ https://a.test/ http://a.test/ http://a.test:8080/", 1],
  ["http://a.test/", "http://a.test:8080/ https://a.test:8080/", 0],
  ["http://a.test/", "http://b.test/ http://a.test/", 0],
  ["http://a.test/", "http://a.test/ http://b.test/ http://b.test/y http://a.test/ https://a.test/", 1],
  ["http://a.test/", "http://www.a.test/ http://x.a.test/", 0],
  ["http://a.test/ http://b.test/", "http://a.test/ http://b.test/", 1],
  ["http://a.test/ http://b.test/", "http://b.test/", 1],
])("started at %s, of the chain %s only the first %i get the caller's headers", (start, chain, count) => {
  const settings = resolveOptions({ headers: secrets });
  const urls = start.split(" ");
  const starts = urls.map((url) => new URL(url));
  const headers = requestHeaders(settings, starts);
  const variesByCredentials = (url: string) => "x-api-key" in headers(new URL(url).origin, false);
  const [first = "", ...others] = chain.split(" ");
  const hops = [Hop.first(first, "sitemap", followRules(settings.limits, urls, { variesByCredentials }))];
  for (const to of others) {
    const answer = { outcome: "redirect", status: 302, url: "", role: "sitemap", attempts: 1 } as const;
    hops.push(hops.at(-1)?.next({ ...answer, headers: [["location", to]] }) as Hop);
  }
  const sent = hops.map(({ url, request }) => "x-api-key" in headers(new URL(url).origin, request.anonymous === true));
  expect(sent).toEqual(hops.map((_, at) => at < count));
});

describe("a user name in the start URL", () => {
  const basic = `Basic ${Buffer.from("üser:p@ss").toString("base64")}`;
  const withUser = (origin: string) => origin.replace("http://", "http://%C3%BCser:p%40ss@");

  test("is sent as Authorization to that origin", async () => {
    const server = await testServer({ "/robots.txt": "", "/a": tenPages });
    const fetcher = testFetcher({ start: `${withUser(server.origin)}/` });
    await fetcher.read("/robots.txt");
    await fetcher.read(`${withUser(server.origin)}/a`);
    expect(server.requests.map(({ headers }) => headers.get("authorization"))).toEqual([basic, basic]);
  });

  test("never appears in output", async () => {
    const other = await testServer({ "/x": redirect("/gone") }, { host: "127.0.0.2" });
    const server = await testServer({
      "/a": redirect("/a"),
      "/b": redirect(withUser(other.origin).concat("/x")),
      "/c": redirect("http://u:p%40ss@[broken/"),
    });
    const fetcher = testFetcher({ start: withUser(server.origin), ...allowPrivate });
    const told: unknown[] = [fetcher.events];
    for (const path of ["/a", "/b", "/c", "/missing"])
      told.push((await fetcher.read(withUser(server.origin) + path)).followed);
    // A header that the website itself sent is kept unchanged.
    const said = JSON.stringify(told, (name, value) => (name === "headers" ? undefined : value));
    expect(said).not.toMatch(/p%40ss|p@ss|%C3%BCser|üser/);
    expect(other.requests.map(({ headers }) => headers.get("authorization"))).toEqual([undefined, undefined]);
  });

  test("is not sent if the website wrote it into a URL", async () => {
    const server = await testServer({ "/a": redirect("/"), "/": tenPages });
    const fetcher = testFetcher({ start: server.origin });
    const url = `${server.origin.replace("http://", "http://user:pass@")}/a`;
    await fetcher.read(url);
    expect(server.requests.map(({ headers }) => headers.get("authorization"))).toEqual([undefined, undefined]);
    expect((await fetcher.fetch({ url, role: "sitemap" })).url).toBe(`${server.origin}/a`);
  });

  test("is overridden by the caller's Authorization header", async () => {
    const server = await testServer({ "/a": tenPages });
    await testFetcher({ start: withUser(server.origin), headers: { authorization: "Bearer token" } }).read("/a");
    expect(server.requests[0]?.headers.get("authorization")).toBe("Bearer token");
  });
});

test("User-Agent and Accept are sent, and the caller's headers override them", async () => {
  const server = await testServer({ "/a": tenPages });
  await testFetcher({ start: server.origin }).read("/a");
  const { headers, method } = server.requests[0]!;
  expect(method).toBe("GET");
  expect(headers.get("user-agent")).toMatch(/^sitegrove\/\d+\.\d+\.\d+ \(\+https:\/\//);
  expect(headers.get("accept")).toMatch(/xml.*text\/plain.*\*\/\*/);
  expect(headers.get("accept-encoding")).toMatch(/^gzip, deflate, br(, zstd)?$/);
  expect(headers.get("host")).toBe(`127.0.0.1:${server.port}`);
  const own = { userAgent: "ours", headers: { Accept: "text/xml" } };
  await testFetcher({ start: server.origin, ...own }).read("/a");
  expect(server.requests[1]?.headers.get("accept")).toBe("text/xml");
  expect(server.requests[1]?.headers.get("user-agent")).toBe("ours");
});

test("line ends in a URL stay encoded", async () => {
  const server = await testServer({ "/a%0d%0ax-b:%20c": tenPages });
  const fetcher = testFetcher({ start: server.origin });
  expect((await fetcher.read("/a%0d%0ax-b:%20c")).text).toBe(tenPages);
  expect(server.requests[0]?.headers.has("x-b")).toBe(false);
});
