// What a website names must be public: in every notation, by every way, judged when a connection is made. A canary listens
// where the addresses of this machine lead, and every socket that is opened is seen.
import { channel } from "node:diagnostics_channel";
import type net from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Endpoint, isPublicAddress, policyRefusal } from "../../src/fetch/address-policy.ts";
import { createConnect } from "../../src/fetch/connect.ts";
import { resolveOptions } from "../../src/model/options.ts";
import { createAuthority } from "../support/certificates.ts";
import { redirect } from "../support/fault-server.ts";
import { type TestFetcher, tenPages, testFetcher, testServer } from "../support/fetching.ts";
import { addresses, literals } from "../support/private-addresses.ts";
import { stubResolver } from "../support/stub-resolver.ts";

let opened: net.Socket[] = [];
const onSocket = (message: unknown) => opened.push((message as { socket: net.Socket }).socket);
beforeAll(() => channel("net.client.socket").subscribe(onSocket));
afterAll(() => channel("net.client.socket").unsubscribe(onSocket));

/** Returns where sockets that were opened meanwhile led to, except for connections to an expected port. */
async function socketsDuring(run: () => Promise<void>, expectedPort?: number): Promise<string[]> {
  opened = [];
  await run();
  return opened
    .filter(({ remotePort }) => remotePort !== expectedPort)
    .map(({ remoteAddress }) => String(remoteAddress));
}

describe("only public addresses are connected to", () => {
  test(`for ${literals.length} hosts that a website names`, async () => {
    const canary = await testServer({});
    const fetcher = testFetcher({ start: "http://website.test/" }, { lookup: stubResolver({}) });
    const sockets = await socketsDuring(async () => {
      for (const host of literals) {
        const { result } = await fetcher.read(`http://${host}:${canary.port}/`);
        expect(`${host}: ${result}`).toBe(`${host}: refused address-blocked`);
      }
    });
    expect(literals.length).toBeGreaterThan(60);
    expect({ sockets, connections: canary.connections }).toEqual({ sockets: [], connections: 0 });
  });

  test(`for ${literals.length} hosts that a redirect names`, async () => {
    const canary = await testServer({});
    const target = (host: string) => redirect(`http://${host}:${canary.port}/`);
    const start = await testServer(Object.fromEntries(literals.map((host, at) => [`/${at}`, target(utf8(host))])));
    const fetcher = testFetcher({ start: start.origin });
    const sockets = await socketsDuring(async () => {
      for (const [at, host] of literals.entries()) {
        const { result } = await fetcher.read(`/${at}`);
        expect(`${host}: ${result}`).toBe(`${host}: refused address-blocked`);
      }
    }, start.port);
    expect({ sockets, connections: canary.connections }).toEqual({ sockets: [], connections: 0 });
  });

  test.each([
    ["as the answer for a name", (address: string) => [address]],
    ["as the second answer", (address: string) => ["203.0.114.1", address]],
    ["as the first answer", (address: string) => [address, "2a00:1450::1"]],
  ])(`for ${addresses.length} addresses %s`, async (_, answer) => {
    const canary = await testServer({});
    const table = Object.fromEntries(addresses.map((address, at) => [`name-${at}.test`, answer(address)]));
    const start = await testServer({ "/x": redirect(`http://name-0.test:${canary.port}/`) });
    const fetcher = testFetcher({ start: start.origin }, { lookup: stubResolver(table) });
    const sockets = await socketsDuring(async () => {
      for (const [at, address] of addresses.entries()) {
        for (const scheme of ["http", "https"]) {
          const { result, fetched } = await fetcher.read(`${scheme}://name-${at}.test:${canary.port}/`);
          expect(`${address}: ${result}`).toBe(`${address}: refused address-blocked`);
          // The address of a private name must not be disclosed.
          expect(JSON.stringify(fetched)).not.toContain(address);
        }
      }
      expect((await fetcher.read("/x")).result).toBe("refused address-blocked");
    }, start.port);
    expect({ sockets, connections: canary.connections }).toEqual({ sockets: [], connections: 0 });
  });
});

describe("rebinding", () => {
  const aborted = AbortSignal.abort(new Error("no packet leaves this machine"));
  // A name is resolved and found to be public; then its answer changes.
  async function afterPublic(reach: Endpoint["reach"], later: string[]): Promise<string> {
    const lookup = stubResolver({ "website.test": [["203.0.114.1"], later] });
    const canary = await testServer({});
    const connect = createConnect(resolveOptions({}), lookup);
    const endpoint: Endpoint = { secure: false, host: "website.test", port: canary.port, reach };
    const way = { endpoint, isTunnel: false, isRetry: false };
    await connect(way, aborted).catch(() => {});
    const connected = await connect(way, new AbortController().signal).catch(
      (error: { problem: { code: string } }) => error.problem.code,
    );
    if (typeof connected !== "string") connected.destroy();
    expect(lookup.asked).toHaveLength(2);
    return typeof connected === "string" ? `${connected}, ${canary.connections} connections` : "connected";
  }

  test.each(["public", "start"] as const)("a name (%s) that was public must not become private", async (reach) => {
    expect(await afterPublic(reach, ["127.0.0.1"])).toBe("address-blocked, 0 connections");
    expect(await afterPublic(reach, ["203.0.114.1", "127.0.0.1"])).toBe("address-blocked, 0 connections");
    expect(await afterPublic(reach, ["::ffff:127.0.0.1"])).toBe("address-blocked, 0 connections");
  });

  test("a name is resolved once per connection, and the address that was checked is used", async () => {
    const server = await testServer({ "/a": tenPages }, { host: "127.0.0.5" });
    const lookup = stubResolver({ "website.test": [["127.0.0.5"], ["127.0.0.1"]] });
    const url = `http://website.test:${server.port}/a`;
    expect((await testFetcher({ start: url }, { lookup }).read(url)).text).toBe(tenPages);
    expect(lookup.asked).toEqual(["website.test"]);
    expect(server.requests[0]?.headers.get("host")).toBe(`website.test:${server.port}`);
  });

  test("a start URL that resolves to both a public and a private address is refused", async () => {
    const lookup = stubResolver({ "website.test": ["203.0.114.1", "127.0.0.1"] });
    const fetcher = testFetcher({ start: "http://website.test/" }, { lookup });
    expect((await fetcher.read("http://website.test/")).result).toBe("refused address-blocked");
  });
});

describe("the operator's start URL", () => {
  const read = async (fetcher: TestFetcher, url: string) => (await fetcher.read(url)).result;

  test("may be private, and then everything on its own origin is allowed, and nothing else", async () => {
    const server = await testServer({ "/": tenPages, "/moved": redirect("/other"), "/other": tenPages });
    const other = await testServer({ "/": tenPages });
    const fetcher = testFetcher({ start: `${server.origin}/` });
    for (const path of ["/", "/moved"]) expect(await read(fetcher, server.origin + path)).toBe("found");
    expect(await read(fetcher, `${other.origin}/`)).toBe("refused address-blocked");
    expect(await read(fetcher, `https://127.0.0.1:${server.port}/`)).toBe("refused address-blocked");
    expect(other.connections).toBe(0);
  });

  test.each([
    ["http://127.0.0.7/", "https://127.0.0.7/"],
    ["https://127.0.0.7/", "http://127.0.0.7/"],
    ["http://website.test/", "https://website.test/"],
    ["https://website.test./", "http://website.test:80/"],
  ])("%s on a default port allows %s, and no other port, name or address", async (start, url) => {
    const lookup = stubResolver({ "website.test": ["127.0.0.7"], "www.website.test": ["127.0.0.7"] });
    const fetcher = testFetcher({ start }, { lookup });
    // Nobody listens there.
    expect(await read(fetcher, url)).toBe("failed connection-refused");
    for (const other of ["http://website.test:443/", "https://website.test:80/", "http://127.0.0.7:8080/"])
      expect(await read(fetcher, other)).toBe("refused address-blocked");
    for (const other of ["http://127.0.0.8/", "https://www.website.test/"])
      expect(await read(fetcher, other)).toBe("refused address-blocked");
  });

  test.each([
    ["default", "localhost", "found"],
    ["public-only", "localhost", "refused address-blocked"],
    ["public-only", "website.test", "refused address-blocked"],
    ["public-only", "127.0.0.1", "refused address-blocked"],
    ["allow-private", "127.0.0.1", "found"],
  ] as const)("with the network policy %s, %s is %s", async (network, host, expected) => {
    const server = await testServer({ "/": tenPages });
    const url = `http://${host}:${server.port}/`;
    const lookup = stubResolver({ localhost: ["127.0.0.1"], "website.test": ["127.0.0.1"] });
    const start = network === "allow-private" ? [] : [url];
    expect(await read(testFetcher({ start, network }, { lookup }), url)).toBe(expected);
    expect(server.connections).toBe(expected === "found" ? 1 : 0);
  });

  test("https does not bypass the address policy", async () => {
    const authority = createAuthority();
    const canary = await testServer({ "/": tenPages }, { host: "127.0.0.6" });
    const secure = await testServer(
      { "/": redirect(`${canary.origin}/`) },
      { tls: authority.issue({ names: ["127.0.0.1"] }) },
    );
    const plain = await testServer({ "/": redirect(`${secure.origin}/`) });
    const fetcher = testFetcher({ start: [plain.origin, secure.origin], tls: { ca: authority.ca } });
    expect(await read(fetcher, `${plain.origin}/`)).toBe("refused address-blocked");
    expect({ secure: secure.connections, canary: canary.connections }).toEqual({ secure: 1, canary: 0 });
  });
});

test("public addresses are recognized", () => {
  const others = ["", "website.test", "1.2.3", "fe80::1%eth0", "300.1.1.1", "::g"];
  const ipv4 = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "198.20.0.1", "::ffff:8.8.8.8"];
  const ipv6 = ["2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"];
  expect([...others, ...ipv4, ...ipv6].filter(isPublicAddress)).toEqual([...ipv4, ...ipv6]);
});

test.each([0, 1, 22, 25, 6000, 10080])("port %i is refused, even for the start URL", async (port) => {
  const url = `http://127.0.0.1:${port}/`;
  const { result, fetched } = await testFetcher({ start: url, network: "allow-private" }).read(url);
  expect(result).toBe("refused port-refused");
  expect(fetched).toMatchObject({ reason: { value: String(port) } });
});

test.each(["ftp://example.org/", "file:///etc/passwd", "data:,x", "http://unix:/var/run/docker.sock:/x"])(
  "%s is not fetched",
  async (url) => {
    const fetcher = testFetcher({ network: "allow-private" }, { lookup: stubResolver({}) });
    expect((await fetcher.read(url)).result).toMatch(
      /^(refused scheme-refused|failed url-invalid|failed dns-not-found)$/,
    );
  },
);

// A header is bytes: raw servers write Latin-1, websites UTF-8.
function utf8(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

test.each(["[::8.8.8.8]", "[::ffff:8.8.8.8]", "[64:ff9b::8.8.8.8]", "[2002:808:808::1]"])(
  "an IPv4 address inside an IPv6 address is refused in a URL: %s",
  (host) => {
    expect(policyRefusal(new URL(`http://${host}/`), false)?.code).toBe("address-blocked");
  },
);
