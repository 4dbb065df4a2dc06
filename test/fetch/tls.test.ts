// TLS: verified, unless the operator says otherwise.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import tls from "node:tls";
import { beforeAll, describe, expect, test } from "vitest";
import { BuiltInClient } from "../../src/fetch/client.ts";
import { SitemapError } from "../../src/model/errors.ts";
import { resolveOptions } from "../../src/model/options.ts";
import { sitegrove } from "../cli/program.ts";
import { createAuthority, selfSigned } from "../support/certificates.ts";
import { type FaultServerOptions, faults } from "../support/fault-server.ts";
import { pause, tenPages, testFetcher, testServer } from "../support/fetching.ts";
import { stubResolver } from "../support/stub-resolver.ts";
import { newFolder } from "../support/test-folder.ts";

const authority = createAuthority();
const names = ["website.test", "127.0.0.1"];
const lookup = stubResolver({ "website.test": ["127.0.0.1"], "other.test": ["127.0.0.1"] });
const good = authority.issue({ names });
const trusted = { tls: { ca: authority.ca } };

test("a certificate from an added authority is accepted, for a host name and for an IP address", async () => {
  const server = await testServer({ "/a": tenPages }, { tls: good });
  for (const host of names) {
    const url = `https://${host}:${server.port}/a`;
    expect((await testFetcher({ start: url, ...trusted }, { lookup }).read(url)).text).toBe(tenPages);
  }
});

describe("an invalid certificate is refused, and the request is not retried", () => {
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
});

test("certificate verification can be turned off", async () => {
  const server = await testServer({ "/a": tenPages }, { tls: selfSigned({ names: ["other.test"] }) });
  const url = `https://website.test:${server.port}/a`;
  expect((await testFetcher({ start: url, tls: { verify: false } }, { lookup }).read(url)).text).toBe(tenPages);
});

test("an added certificate that is not valid PEM is refused", () => {
  const settings = resolveOptions({ tls: { ca: "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----" } });
  expect(() => new BuiltInClient(settings)).toThrow(SitemapError);
});

async function portOf(server: net.Server): Promise<number> {
  server.on("tlsClientError", () => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as net.AddressInfo).port;
}

test("the handshake offers only HTTP/1.1, and sends the host name", async () => {
  const seen: unknown[] = [];
  const server = tls.createServer({ ...good, ALPNProtocols: ["h2", "http/1.1"] }, (socket) => {
    seen.push([socket.alpnProtocol, (socket as { servername?: string | false }).servername]);
    socket.on("error", () => {}).end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  });
  const url = `https://website.test:${await portOf(server)}/`;
  expect((await testFetcher({ start: url, ...trusted }, { lookup }).read(url)).text).toBe("ok");
  expect(seen).toEqual([["http/1.1", "website.test"]]);
  server.close();
});

const answer400 = (socket: net.Socket) => {
  socket
    .on("error", () => {})
    .resume()
    .end("HTTP/1.1 400 Bad Request\r\n\r\n");
};
const only = (version: tls.SecureVersion) => ({ ...good, minVersion: version, maxVersion: version });
const wanting = { requestCert: true, rejectUnauthorized: true, ca: authority.ca };
test.each<[string, () => net.Server]>([
  ["does not speak TLS", () => net.createServer(answer400)],
  ["speaks only TLS 1.1", () => tls.createServer({ ...only("TLSv1.1"), ciphers: "ALL:@SECLEVEL=0" })],
  ["wants a certificate of ours (1.2)", () => tls.createServer({ ...only("TLSv1.2"), ...wanting }, (it) => it.end())],
  ["wants a certificate of ours (1.3)", () => tls.createServer({ ...only("TLSv1.3"), ...wanting }, (it) => it.end())],
])("a server that %s is tls-failed, and the request is not retried", async (_, make) => {
  const server = make();
  const url = `https://127.0.0.1:${await portOf(server)}/`;
  const { result, fetched } = await testFetcher({ start: url, retries: 2, ...trusted }).read(url);
  expect([result, fetched.attempts]).toEqual(["failed tls-failed", 1]);
  server.close();
});

test.each(["TLSv1.2", "TLSv1.3"] as const)(
  "a body without a length is complete for a slow reader, too (%s)",
  async (version) => {
    const large = `https://website.test/${"x".repeat(500)}\n`.repeat(2000);
    const server = await testServer(
      { "/large": ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${large}`) },
      { tls: { ...good, minVersion: version, maxVersion: version } },
    );
    const fetcher = testFetcher({ start: server.origin, ...trusted });
    const fetched = await fetcher.open("/large");
    // The end arrives while much of the body is still unread.
    await pause(100);
    let length = 0;
    for await (const piece of fetched.body) length += piece.length;
    expect([length, fetched.body.end.problem]).toEqual([large.length, undefined]);
  },
);

describe("faults have the same result as without TLS", () => {
  const names = Object.keys(faults) as (keyof typeof faults)[];
  const both = (name: keyof typeof faults) =>
    Promise.all([undefined, { tls: good }].map((secured) => outcome(name, secured)));
  const waited = new Map<string, string[]>();
  // Faults that wait for a timeout run at the same time.
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
      // Only the timeout that has to expire is short.
      timeout: /drip/.test(name) ? { total: 1500 } : /silence|stall/.test(name) ? { firstByte: 1000, idle: 1000 } : {},
      limits: { documentBytes: 200_000 },
      ...trusted,
    });
    const { result, broken } = await fetcher.read("/a");
    return `${result} ${broken}`;
  }
});

test("added certificates are trusted in addition to NODE_EXTRA_CA_CERTS", async () => {
  const other = createAuthority();
  const folder = newFolder();
  const file = (name: string, content: string) => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const certificates = [good, other.issue({ names }), createAuthority().issue({ names })];
  const servers = await Promise.all(certificates.map((tls) => testServer({ "/a": tenPages }, { tls })));
  const sitemaps = servers.flatMap(({ origin }) => ["--sitemap", `${origin}/a`]);
  const { stdout } = await sitegrove(["ls", ...sitemaps, "-f", "json", "--ca", file("own.pem", authority.ca)], {
    env: { NODE_EXTRA_CA_CERTS: file("extra.pem", other.ca) },
  });
  const { children } = JSON.parse(stdout).root as { children: { kind: string; reason?: { code: string } }[] };
  expect(children.map(({ kind, reason }) => reason?.code ?? kind)).toEqual(["pages", "pages", "tls-certificate"]);
});
