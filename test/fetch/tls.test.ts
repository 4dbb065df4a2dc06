// TLS: verified, unless the operator says otherwise. Scenarios 14 and 48.
// Needs processes, more than a second.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import tls from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { undiciClient } from "../../src/fetch/client.ts";
import { SitemapError } from "../../src/model/errors.ts";
import { resolveOptions } from "../../src/model/options.ts";
import { createAuthority, selfSigned } from "../support/certificates.ts";
import { type FaultServerOptions, faults, redirect } from "../support/fault-server.ts";
import { pause, tenPages, testFetcher, testServer } from "../support/fetching.ts";
import { stubResolver } from "../support/stub-resolver.ts";

const authority = createAuthority();
const names = ["website.test", "127.0.0.1"];
const lookup = stubResolver({ "website.test": ["127.0.0.1"], "other.test": ["127.0.0.1"] });
const good = authority.issue({ names });
const trusted = { tls: { ca: authority.ca } };

test("a certificate of an authority that was added is fine, for a name and for an address", async () => {
  const server = await testServer({ "/a": tenPages }, { tls: good });
  for (const host of names) {
    const url = `https://${host}:${server.port}/a`;
    expect((await testFetcher({ start: url, ...trusted }, { lookup }).read(url)).text).toBe(tenPages);
  }
});

describe("a certificate that is not valid is refused, and not tried again", () => {
  test.each([
    ["expired", authority.issue({ names, validFrom: -10, validTo: -5 }), "CERT_HAS_EXPIRED"],
    ["not yet valid", authority.issue({ names, validFrom: 5, validTo: 10 }), "CERT_NOT_YET_VALID"],
    ["for another name", authority.issue({ names: ["other.test"] }), "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["without a name", authority.issue({ names: [] }), "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["self-signed", selfSigned({ names }), "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["of an unknown authority", createAuthority().issue({ names }), "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ])("%s", async (_, certificate, reason) => {
    const server = await testServer({ "/a": tenPages }, { tls: certificate });
    const url = `https://website.test:${server.port}/a`;
    const fetcher = testFetcher({ start: url, retries: 2, ...trusted }, { lookup });
    const { result, fetched } = await fetcher.read(url);
    expect(result).toBe("failed tls-certificate");
    expect(fetched).toMatchObject({ attempts: 1, reason: { value: reason } });
    expect(server.requests).toEqual([]);
  });

  test("nor one that the system does not know", async () => {
    const server = await testServer({ "/a": tenPages }, { tls: good });
    const url = `https://website.test:${server.port}/a`;
    expect((await testFetcher({ start: url }, { lookup }).read(url)).result).toBe("failed tls-certificate");
  });
});

test("verification can be turned off", async () => {
  const server = await testServer({ "/a": tenPages }, { tls: selfSigned({ names: ["other.test"] }) });
  const url = `https://website.test:${server.port}/a`;
  expect((await testFetcher({ start: url, tls: { verify: false } }, { lookup }).read(url)).text).toBe(tenPages);
});

test("certificates to be added have to be certificates", () => {
  const settings = resolveOptions({ tls: { ca: "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----" } });
  expect(() => undiciClient(settings)).toThrow(SitemapError);
});

test("a server that does not speak TLS", async () => {
  const plain = net.createServer((socket) =>
    socket
      .on("error", () => {})
      .resume()
      .end("HTTP/1.1 400 Bad Request\r\n\r\n"),
  );
  await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(plain.address() as net.AddressInfo).port}/`;
  const { result, fetched } = await testFetcher({ start: url, retries: 2 }).read(url);
  expect(result).toBe("failed tls-failed");
  expect(fetched.attempts).toBe(1);
  await new Promise((resolve) => plain.close(resolve));
});

describe("between https and http", () => {
  test("down is allowed, and told", async () => {
    const plain = await testServer({ "/a": tenPages });
    const secure = await testServer({ "/a": redirect(`${plain.origin}/a`) }, { tls: good });
    const fetcher = testFetcher({
      start: secure.origin,
      network: "allow-private",
      headers: { cookie: "a=1" },
      ...trusted,
    });
    const { followed, text } = await fetcher.read(`${secure.origin}/a`);
    expect(text).toBe(tenPages);
    expect(followed).toMatchObject({ problems: [{ code: "redirect-downgrade", value: `${plain.origin}/a` }] });
    expect(plain.requests[0]?.headers.has("cookie")).toBe(false);
  });

  test("up is nothing to speak of", async () => {
    const secure = await testServer({ "/a": tenPages }, { tls: good });
    const plain = await testServer({ "/a": redirect(`${secure.origin}/a`) });
    const { followed } = await testFetcher({ start: plain.origin, network: "allow-private", ...trusted }).read(
      `${plain.origin}/a`,
    );
    expect(followed).toMatchObject({ outcome: "found", problems: [] });
  });
});

describe("what is offered in the handshake", () => {
  let server: tls.Server;
  const seen: { alpn: string | false | null; servername: string | false }[] = [];

  beforeAll(async () => {
    server = tls.createServer({ ...good, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
      seen.push({
        alpn: socket.alpnProtocol,
        servername: (socket as { servername?: string | false }).servername ?? false,
      });
      socket.on("error", () => {}).end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => server.close());

  test("is HTTP/1.1 alone, and the name of the website", async () => {
    const url = `https://website.test:${(server.address() as { port: number }).port}/`;
    expect((await testFetcher({ start: url, ...trusted }, { lookup }).read(url)).text).toBe("ok");
    expect(seen).toEqual([{ alpn: "http/1.1", servername: "website.test" }]);
  });
});

test("a server that speaks only TLS 1.1 is refused", async () => {
  const old = tls.createServer({ ...good, minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" });
  old.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => old.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(old.address() as { port: number }).port}/`;
  expect((await testFetcher({ start: url, ...trusted }).read(url)).result).toBe("failed tls-failed");
  await new Promise((resolve) => old.close(resolve));
});

test.each(["TLSv1.2", "TLSv1.3"] as const)(
  "a body without a length is whole for a slow reader, too (%s)",
  async (version) => {
    const large = `https://website.test/${"x".repeat(500)}\n`.repeat(2000);
    const server = await testServer(
      { "/large": ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${large}`) },
      { tls: { ...good, minVersion: version, maxVersion: version } },
    );
    const fetcher = testFetcher({ start: server.origin, ...trusted });
    const fetched = await fetcher.fetch({ url: `${server.origin}/large`, role: "sitemap" });
    if (fetched.outcome !== "found") throw new Error(fetched.outcome);
    // The end comes while much is not read yet.
    await pause(100);
    let length = 0;
    for await (const piece of fetched.body) length += piece.length;
    expect([length, fetched.body.problem]).toEqual([large.length, undefined]);
  },
);

describe("what goes wrong goes wrong in the same way as without TLS", () => {
  const names = Object.keys(faults) as (keyof typeof faults)[];
  const both = (name: keyof typeof faults) =>
    Promise.all([undefined, { tls: good }].map((secured) => outcome(name, secured)));
  const waited = new Map<string, string[]>();
  // Those that wait for a time limit wait together.
  beforeAll(async () => {
    const waiting = names.filter((name) => /drip|silence|stall/.test(name));
    await Promise.all(waiting.map(async (name) => waited.set(name, await both(name))));
  });

  test.each(names)("%s", async (name) => {
    const [plain, secured] = waited.get(name) ?? (await both(name));
    expect(secured).toBe(plain);
  });

  async function outcome(name: keyof typeof faults, secured: FaultServerOptions | undefined): Promise<string> {
    const server = await testServer({ "/a": faults[name](tenPages) }, secured);
    const fetcher = testFetcher({
      start: server.origin,
      // Only what is to run out is short.
      timeout: /drip/.test(name) ? { total: 3000 } : /silence|stall/.test(name) ? { firstByte: 2000, idle: 2000 } : {},
      limits: { documentBytes: 200_000 },
      ...trusted,
    });
    const { result, broken } = await fetcher.read(`${server.origin}/a`);
    return `${result} ${broken}`;
  }
});

test.each(["TLSv1.2", "TLSv1.3"] as const)("a server that wants a certificate of ours (%s)", async (version) => {
  const options = { ...good, requestCert: true, rejectUnauthorized: true, ca: authority.ca };
  const server = tls.createServer({ ...options, minVersion: version, maxVersion: version }, (socket) => socket.end());
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as net.AddressInfo).port}/`;
  const { result, fetched } = await testFetcher({ start: url, retries: 2, ...trusted }).read(url);
  expect(result).toBe("failed tls-failed");
  expect(fetched.attempts).toBe(1);
  await new Promise((resolve) => server.close(resolve));
});

test("certificates that are added stand beside those of NODE_EXTRA_CA_CERTS", async () => {
  const other = createAuthority();
  const own = await testServer({ "/a": tenPages }, { tls: good });
  const extra = await testServer({ "/a": tenPages }, { tls: other.issue({ names }) });
  const stranger = await testServer({ "/a": tenPages }, { tls: createAuthority().issue({ names }) });
  const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-ca-"));
  writeFileSync(path.join(folder, "extra.pem"), other.ca);
  writeFileSync(path.join(folder, "own.pem"), authority.ca);
  const program = `
    import { readFileSync } from "node:fs";
    import { createFetcher } from ${JSON.stringify(path.resolve("src/fetch/fetcher.ts"))};
    import { resolveOptions } from ${JSON.stringify(path.resolve("src/model/options.ts"))};
    const [ca, ...urls] = process.argv.slice(1);
    const settings = resolveOptions({ tls: { ca: readFileSync(ca, "utf8") }, network: "allow-private", retries: 0 });
    const fetcher = createFetcher({ settings, start: urls });
    for (const url of urls) {
      const fetched = await fetcher.fetch({ url, role: "sitemap" });
      console.log(fetched.reason?.code ?? fetched.outcome);
      await fetched.body?.[Symbol.asyncIterator]().return();
    }
    await fetcher.close();
  `;
  const urls = [own, extra, stranger].map(({ origin }) => `${origin}/a`);
  const child = execFile(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", program, path.join(folder, "own.pem"), ...urls],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: path.join(folder, "extra.pem") } },
  );
  let said = "";
  child.stdout?.on("data", (data) => {
    said += data;
  });
  child.stderr?.on("data", (data) => {
    said += data;
  });
  await once(child, "close");
  rmSync(folder, { recursive: true });
  expect(said.trim().split("\n")).toEqual(["found", "found", "tls-certificate"]);
});
