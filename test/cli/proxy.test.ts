// The program behind a proxy that its environment or its flags name.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { processContext } from "../../src/cli/context.ts";
import { createProgram } from "../../src/cli/program.ts";
import { atEnd } from "../support/at-end.ts";
import { createAuthority } from "../support/certificates.ts";
import { urlset } from "../support/documents.ts";
import { faultServer } from "../support/fault-server.ts";
import { said } from "../support/messages.ts";
import { proxyServer } from "../support/proxy-server.ts";
import { newFolder } from "../support/test-folder.ts";
import { sitegrove } from "./program.ts";
import { serve } from "./website.ts";

const authority = createAuthority();
const folder = newFolder();
const ca = path.join(folder, "ca.pem");
const site = await serve({ "/a.xml": urlset("http://website.test/1") });
const { port } = new URL(site.homepage);
writeFileSync(ca, authority.ca);
const page = urlset("https://website.test/1");
const secure = await faultServer(
  { "/a.xml": page, "/sitemap.xml": page },
  { tls: authority.issue({ names: ["website.test"] }) },
);
atEnd(() => secure.close());

const plain = () => ["ls", "--sitemap", `http://website.test:${port}/a.xml`, "-f", "pages"];
const tunneled = () => ["ls", "--sitemap", `https://website.test:${secure.port}/a.xml`, "-f", "pages"];

describe("the proxy from the environment is used", () => {
  test.each(["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"])("if %s names it", async (name) => {
    const proxy = await proxyServer();
    const isTls = /https/i.test(name);
    const words = isTls ? [...tunneled(), "--ca", ca] : plain();
    const stdout = `${isTls ? "https" : "http"}://website.test/1\n`;
    expect(await sitegrove(words, { env: { [name]: proxy.url } })).toMatchObject({ code: 0, stdout });
    const asked = isTls ? `CONNECT website.test:${secure.port}` : `GET http://website.test:${port}/a.xml`;
    expect(proxy.asked).toEqual([asked]);
  });

  test.each([
    ["for hosts in NO_PROXY", { NO_PROXY: "10.0.0.1, 127.0.0.0/8" }, ""],
    ["with --no-proxy", {}, " --no-proxy"],
  ])("but not %s", async (_, env, flag) => {
    const proxy = await proxyServer();
    const line = `ls --sitemap ${site.homepage}a.xml -f pages${flag}`;
    expect((await sitegrove(line, { env: { HTTP_PROXY: proxy.url, ...env } })).code).toBe(0);
    expect(proxy.asked).toEqual([]);
  });

  test("a proxy that cannot be used is reported, not ignored", async () => {
    const { code, stderr } = await sitegrove(plain(), { env: { HTTP_PROXY: "socks5://user:s3cret@127.0.0.1:1" } });
    expect(code).toBe(2);
    expect(stderr).toContain("HTTP_PROXY");
    expect(stderr).not.toContain("s3cret");
  });
});

test("--proxy takes host:port, and wins over the environment", async () => {
  const proxy = await proxyServer();
  const { host } = new URL(proxy.url);
  const { code } = await sitegrove([...plain(), "--proxy", host], { env: { HTTP_PROXY: "http://127.0.0.1:1" } });
  expect(code).toBe(0);
  expect(proxy.asked).toHaveLength(1);
});

test.each([
  [undefined, said.proxyFailed(said.connectionRefused)],
  [404, said.proxyAnswered(404)],
  [502, said.proxyAnswered(502)],
  [407, `${said.proxyAnswered(407)}; ${said.addPassword}\n`],
])("a failure of the proxy is reported as the proxy's (%s)", async (refuse, message) => {
  const url = refuse === undefined ? "127.0.0.1:9" : (await proxyServer({ refuse })).url;
  const { code, stderr } = await sitegrove([...tunneled(), "--proxy", url, "--retries", "0"]);
  expect(stderr).toContain(message);
  expect(code).toBe(5);
});

describe("--ca", () => {
  test("is needed for a certificate that Node.js does not trust", async () => {
    const proxy = await proxyServer();
    expect((await sitegrove([...tunneled(), "--proxy", proxy.url])).code).toBe(5);
  });

  test("works wherever something is fetched, including a fleet", async () => {
    const all = (await createProgram(processContext(), () => {})).commands.flatMap((each) => [each, ...each.commands]);
    const named = (flag: string) => all.filter(({ options }) => options.some(({ long }) => long === flag));
    expect(named("--ca")).toEqual(named("--insecure"));
    const proxy = await proxyServer();
    const words = ["fleet", `https://website.test:${secure.port}/`, "--out", path.join(folder, "out"), "--ca", ca];
    const { code, stdout } = await sitegrove([...words, "--proxy", proxy.url]);
    expect(stdout).toMatch(/^1 website in .* 1 page,/);
    expect(code).toBe(0);
  });

  test.each([
    ["a file that is not there", path.join(folder, "none.pem")],
    ["a file without a certificate", import.meta.filename],
  ])("refuses %s as a usage error", async (_, file) => {
    expect((await sitegrove([...plain(), "--ca", file])).code).toBe(2);
  });
});
