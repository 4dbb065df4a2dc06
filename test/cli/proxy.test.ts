// The program behind a proxy, as its environment and its flags say.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { processContext } from "../../src/cli/context.ts";
import { createProgram } from "../../src/cli/program.ts";
import { createAuthority } from "../support/certificates.ts";
import { type FaultServer, faultServer } from "../support/fault-server.ts";
import { type ProxyOptions, type ProxyServer, proxyServer } from "../support/proxy-server.ts";
import { sitegrove } from "./program.ts";
import { serve, urlset, type Website } from "./website.ts";

const authority = createAuthority();
const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-proxy-"));
const ca = path.join(folder, "ca.pem");
let site: Website;
let secure: FaultServer;
let port: string;
beforeAll(async () => {
  site = await serve({ "/a.xml": urlset("http://website.test/1") });
  ({ port } = new URL(site.homepage));
  writeFileSync(ca, authority.ca);
  const page = urlset("https://website.test/1");
  secure = await faultServer(
    { "/a.xml": page, "/sitemap.xml": page },
    { tls: authority.issue({ names: ["website.test"] }) },
  );
});
afterAll(async () => {
  site.close();
  await secure.close();
  rmSync(folder, { recursive: true });
});

const proxies: ProxyServer[] = [];
afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
});
async function startProxy(options?: ProxyOptions): Promise<ProxyServer> {
  const proxy = await proxyServer(options);
  proxies.push(proxy);
  return proxy;
}

const plain = () => ["ls", "--sitemap", `http://website.test:${port}/a.xml`, "-f", "pages"];
const tunneled = () => ["ls", "--sitemap", `https://website.test:${secure.port}/a.xml`, "-f", "pages"];

describe("the environment counts", () => {
  test.each(["HTTP_PROXY", "http_proxy"])("%s", async (name) => {
    const proxy = await startProxy();
    const { code, stdout } = await sitegrove(plain(), { env: { [name]: proxy.url } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "http://website.test/1\n" });
    expect(proxy.asked).toEqual([`GET http://website.test:${port}/a.xml`]);
  });

  test.each(["HTTPS_PROXY", "https_proxy"])("%s, with a certificate of --ca", async (name) => {
    const proxy = await startProxy();
    const { code, stdout } = await sitegrove([...tunneled(), "--ca", ca], { env: { [name]: proxy.url } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "https://website.test/1\n" });
    expect(proxy.asked).toEqual([`CONNECT website.test:${secure.port}`]);
  });

  test("but not for hosts in NO_PROXY", async () => {
    const proxy = await startProxy();
    const words = ["ls", "--sitemap", `${site.homepage}a.xml`, "-f", "pages"];
    const { code } = await sitegrove(words, { env: { HTTP_PROXY: proxy.url, NO_PROXY: "10.0.0.1, 127.0.0.0/8" } });
    expect(code).toBe(0);
    expect(proxy.asked).toEqual([]);
  });

  test("and not with --no-proxy", async () => {
    const proxy = await startProxy();
    const words = ["ls", "--sitemap", `${site.homepage}a.xml`, "-f", "pages", "--no-proxy"];
    expect((await sitegrove(words, { env: { HTTP_PROXY: proxy.url } })).code).toBe(0);
    expect(proxy.asked).toEqual([]);
  });

  test("and one that cannot be used is reported, not ignored", async () => {
    const { code, stderr } = await sitegrove(plain(), { env: { HTTP_PROXY: "socks5://user:s3cret@127.0.0.1:1" } });
    expect(code).toBe(2);
    expect(stderr).toContain("HTTP_PROXY");
    expect(stderr).toContain("--no-proxy");
    expect(stderr).not.toContain("s3cret");
  });
});

test("--proxy takes host:port, and wins over the environment", async () => {
  const proxy = await startProxy();
  const { host } = new URL(proxy.url);
  const { code } = await sitegrove([...plain(), "--proxy", host], { env: { HTTP_PROXY: "http://127.0.0.1:1" } });
  expect(code).toBe(0);
  expect(proxy.asked).toHaveLength(1);
});

describe("a proxy's own failure is the proxy's", () => {
  test("it cannot be reached", async () => {
    const { code, stderr } = await sitegrove([...plain(), "--proxy", "127.0.0.1:9", "--retries", "0"]);
    expect(code).toBe(5);
    expect(stderr).toBe(`sitegrove: Could not connect to website.test:${port}: the proxy failed: connection refused\n`);
  });

  test.each([404, 502])("it answers CONNECT with %i", async (status) => {
    const proxy = await startProxy({ refuse: status });
    const { code, stderr } = await sitegrove([...tunneled(), "--proxy", proxy.url, "--retries", "0"]);
    expect(code).toBe(5);
    expect(stderr).toContain(`the proxy answered ${status} to CONNECT`);
  });

  test("it wants a login, and the message says how to give one", async () => {
    const proxy = await startProxy({ refuse: 407 });
    const { stderr } = await sitegrove([...tunneled(), "--proxy", proxy.url, "--retries", "0"]);
    expect(stderr).toContain("the proxy answered 407 to CONNECT; it wants a user name and password in its URL\n");
  });
});

describe("--ca", () => {
  test("is needed for a certificate that Node.js does not know", async () => {
    const proxy = await startProxy();
    const { code, stderr } = await sitegrove([...tunneled(), "--proxy", proxy.url]);
    expect(code).toBe(5);
    expect(stderr).toContain("certificate");
  });

  test("works wherever something is fetched, in a fleet, too", async () => {
    const all = (await createProgram(processContext(), () => {})).commands.flatMap((each) => [each, ...each.commands]);
    const named = (flag: string) => all.filter(({ options }) => options.some(({ long }) => long === flag));
    expect(named("--ca")).toEqual(named("--insecure"));
    const proxy = await startProxy();
    const words = ["fleet", `https://website.test:${secure.port}/`, "--out", path.join(folder, "out"), "--ca", ca];
    const { code, stdout } = await sitegrove([...words, "--proxy", proxy.url]);
    expect(stdout).toMatch(/^1 website in .* 1 page,/);
    expect(code).toBe(0);
  });

  test.each([
    ["a file that is not there", path.join(folder, "none.pem"), "no such file"],
    ["a file without a certificate", import.meta.filename, "certificates"],
  ])("%s is a mistake of the command line", async (_, file, message) => {
    const { code, stderr } = await sitegrove([...plain(), "--ca", file]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
