// Scenarios 45 to 53: redirects, by hand.
import { describe, expect, test } from "vitest";
import { redirectTarget } from "../../src/fetch/redirect.ts";
import { type Fault, redirect, status } from "../support/fault-server.ts";
import { fetchOnly, tenPages, testFetcher, testServer } from "../support/fetching.ts";

test("every hop is recorded, and the final URL is the document's URL", async () => {
  const server = await testServer({ "/a": redirect("/b", 301), "/b": redirect("c?d=1#part", 308), "/c?d=1": tenPages });
  const fetcher = testFetcher({ start: server.origin });
  const { fetched, text } = await fetcher.read(`${server.origin}/a`);
  expect(text).toBe(tenPages);
  expect(fetched).toMatchObject({
    requestedUrl: `${server.origin}/a`,
    url: `${server.origin}/c?d=1`,
    attempts: 1,
    hops: [
      { url: `${server.origin}/a`, status: 301, headers: expect.arrayContaining([["location", "/b"]]) },
      { url: `${server.origin}/b`, status: 308 },
    ],
  });
  expect(fetcher.events.map((event) => [event.type, event.url.slice(server.origin.length)])).toEqual([
    ["request", "/a"],
    ["request", "/b"],
    ["request", "/c?d=1"],
    ["response", "/a"],
  ]);
  expect(fetcher.events.at(-1)).toMatchObject({ finalUrl: `${server.origin}/c?d=1`, status: 200 });
});

test.each([
  ["to itself", { "/a": redirect("/a") }, 1],
  ["to itself by another spelling", { "/a": redirect("/%61#again") }, 1],
  ["by an empty Location", { "/a": redirect("") }, 1],
  ["in a circle", { "/a": redirect("/b"), "/b": redirect("/a") }, 2],
])("scenario 45: %s is a loop at the first repetition", async (_, paths, requests) => {
  const server = await testServer(paths);
  expect((await testFetcher({ start: server.origin }).read(`${server.origin}/a`)).result).toBe("failed redirect-loop");
  expect(server.requests).toHaveLength(requests);
});

describe("scenario 46: as many hops as are allowed", () => {
  const chain = (length: number): Record<string, Fault | string> => ({
    ...Object.fromEntries(Array.from({ length }, (_, at) => [`/${length - at}`, redirect(`/${length - at - 1}`)])),
    "/0": tenPages,
  });

  test.each([
    ["robots", 5, "found"],
    ["robots", 6, "failed limit-redirects"],
    ["sitemap", 10, "found"],
    ["sitemap", 11, "failed limit-redirects"],
    ["homepage", 10, "found"],
  ] as const)("%s, %i hops: %s", async (role, length, expected) => {
    const server = await testServer(chain(length));
    const { result, fetched } = await testFetcher({ start: server.origin }).read(`${server.origin}/${length}`, {
      role,
    });
    expect(result).toBe(expected);
    expect(fetched.hops).toHaveLength(role === "robots" ? 5 : 10);
    expect(server.requests).toHaveLength(fetched.hops.length + 1);
  });

  test("zero is zero", async () => {
    const server = await testServer(chain(1));
    const fetcher = testFetcher({ start: server.origin, limits: { redirects: 0 } });
    expect((await fetcher.read(`${server.origin}/1`)).result).toBe("failed limit-redirects");
  });
});

test.each([
  "file:///etc/passwd",
  "ftp://example.org/x",
  "data:text/xml,<urlset/>",
  "javascript:alert(1)",
  "gopher://example.org/x",
  "unix:/var/run/docker.sock",
  "blob:https://example.org/x",
  "about:blank",
  "view-source:http://example.org/",
  "FILE:///etc/passwd",
  "mailto:someone@example.org",
])("scenario 50: a redirect to %s is refused", async (location) => {
  const { result, fetched } = await fetchOnly(redirect(location));
  expect(result).toBe("refused scheme-refused");
  expect(fetched).toMatchObject({ status: 302 });
});

describe("scenario 51: Locations", () => {
  const base = "https://example.org/dir/index.xml?q=1";
  const target = (location: string) => {
    const found = redirectTarget([["location", location]], base, 8192);
    return "code" in found ? found.code : found.target.href;
  };

  test.each([
    ["next.xml", "https://example.org/dir/next.xml"],
    ["/next.xml", "https://example.org/next.xml"],
    ["../next.xml", "https://example.org/next.xml"],
    ["?page=2", "https://example.org/dir/index.xml?page=2"],
    ["//other.example/x", "https://other.example/x"],
    ["HTTP://OTHER.example:80/x", "http://other.example/x"],
    ["http:/\\other.example/x", "http://other.example/x"],
    ["http:///other.example/x", "http://other.example/x"],
    ["https://b\u00fccher.example/x", "https://xn--bcher-kva.example/x"],
    ["/caf\u00c3\u00a9.xml", "https://example.org/caf%C3%A9.xml"],
    ["/caf\u00e9.xml", "https://example.org/caf%C3%A9.xml"],
    ["/a#part", "https://example.org/a"],
    ["", "https://example.org/dir/index.xml?q=1"],
    ["https://user:secret@example.org/x", "https://example.org/x"],
    ["http://2130706433/", "http://127.0.0.1/"],
  ])("%j leads to %s", (location, expected) => {
    expect(target(location)).toBe(expected);
  });

  test.each([
    ["http://", "redirect-invalid"],
    ["http://[::1%25eth0]/", "redirect-invalid"],
    ["http://example.org:99999/", "redirect-invalid"],
    ["java\tscript:alert(1)", "redirect-invalid"],
    [`/${"x".repeat(9000)}`, "redirect-invalid"],
    ["file:///etc/passwd", "scheme-refused"],
  ])("%j leads nowhere", (location, expected) => {
    expect(target(location)).toBe(expected);
  });

  test("lenient: raw UTF-8 in a Location is taken as it is meant", async () => {
    const server = await testServer({
      "/a": ({ socket }) => {
        socket.write(Buffer.from("HTTP/1.1 302 Found\r\nlocation: /café.xml\r\ncontent-length: 0\r\n\r\n", "utf8"));
      },
      "/caf%C3%A9.xml": tenPages,
    });
    const { text, fetched } = await testFetcher({ start: server.origin }).read(`${server.origin}/a`);
    expect(text).toBe(tenPages);
    expect(fetched).toMatchObject({
      problems: [{ code: "redirect-encoding", value: `${server.origin}/caf%C3%A9.xml` }],
    });
  });

  test("no Location is a failure", async () => {
    const { result, fetched } = await fetchOnly(status(301));
    expect(result).toBe("failed redirect-invalid");
    expect(fetched).toMatchObject({ status: 301, hops: [] });
  });

  test("of two, the first counts", async () => {
    const server = await testServer({
      "/a": ({ socket }) => {
        socket.write("HTTP/1.1 302 Found\r\nlocation: /b\r\nlocation: /c\r\ncontent-length: 0\r\n\r\n");
      },
      "/b": tenPages,
    });
    expect((await testFetcher({ start: server.origin }).read(`${server.origin}/a`)).fetched.url).toBe(
      `${server.origin}/b`,
    );
  });
});

describe("scenario 52: a redirect to a document that is known already", () => {
  test("is not followed", async () => {
    const server = await testServer({ "/a": redirect("/b"), "/b": redirect("/c"), "/c": tenPages });
    const fetcher = testFetcher({ start: server.origin });
    const asked: string[] = [];
    const isKnown = (url: string) => {
      asked.push(url);
      return url.endsWith("/c");
    };
    const { fetched } = await fetcher.read(`${server.origin}/a`, { isKnown });
    expect(fetched).toMatchObject({
      outcome: "known",
      url: `${server.origin}/c`,
      hops: [{ status: 302 }, { status: 302 }],
    });
    expect(asked).toEqual([`${server.origin}/b`, `${server.origin}/c`]);
    expect(server.requests).toHaveLength(2);
    expect(fetcher.events.at(-1)).toEqual({
      type: "response",
      url: `${server.origin}/a`,
      finalUrl: `${server.origin}/c`,
      outcome: "known",
    });
  });

  test("a loop is a loop, whatever is known", async () => {
    const { result } = await (async () => {
      const server = await testServer({ "/a": redirect("/a") });
      return testFetcher({ start: server.origin }).read(`${server.origin}/a`, { isKnown: () => true });
    })();
    expect(result).toBe("failed redirect-loop");
  });
});

test("scenario 53: a redirect inside the document is not followed", async () => {
  const page = '<meta http-equiv="refresh" content="0; url=/other"><script>location = "/other"</script>';
  const { text, server } = await fetchOnly(page);
  expect(text).toBe(page);
  expect(server.requests).toHaveLength(1);
});

test("a retry goes on at the hop that failed", async () => {
  const server = await testServer({
    "/a": redirect("/b"),
    "/b": (exchange) => exchange.respond(exchange.nth === 1 ? 503 : 200, {}, tenPages),
  });
  const { fetched } = await testFetcher({ start: server.origin, retries: 1 }).read(`${server.origin}/a`);
  expect(fetched).toMatchObject({ outcome: "found", attempts: 2 });
  expect(server.requests.map(({ path }) => path)).toEqual(["/a", "/b", "/b"]);
});
