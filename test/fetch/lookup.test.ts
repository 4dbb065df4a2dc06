// Names of one website: resolved by the system, once, and judged before they are connected to.
import { expect, test } from "vitest";
import { type LookupOptions, systemLookup } from "../../src/fetch/lookup.ts";
import { pause, tenPages, testFetcher, testServer } from "../support/fetching.ts";
import { stubResolver } from "../support/stub-resolver.ts";

const options: LookupOptions = { isRetry: false, isTrusted: false, signal: new AbortController().signal };

test("names are resolved by the operating system", async () => {
  expect(await systemLookup()("localhost", options)).toContain("127.0.0.1");
  await expect(systemLookup()("a..b", options)).rejects.toHaveProperty("code");
});

test("a name is resolved once per run, and again only after a failure or for a retry", async () => {
  const ask = stubResolver({ "site.test": ["192.0.2.1"], "gone.test": "ENOTFOUND" });
  const lookup = systemLookup(ask);
  await Promise.all([1, 2, 3].map(() => lookup("site.test", options)));
  await lookup("site.test", options);
  expect(ask.asked).toEqual(["site.test"]);
  await lookup("site.test", { ...options, isRetry: true });
  for (let times = 0; times < 2; times++) await expect(lookup("gone.test", options)).rejects.toThrow("ENOTFOUND");
  expect(ask.asked).toEqual(["site.test", "site.test", "gone.test", "gone.test"]);
});

test("two names are resolved at a time, and the timeouts of those waiting do not run", async () => {
  let running = 0;
  let most = 0;
  const lookup = systemLookup(async (name) => {
    most = Math.max(most, ++running);
    await pause(name.startsWith("dead") ? 400 : 0);
    running--;
    return ["192.0.2.1"];
  }, 300);
  const dead = Array.from({ length: 4 }, (_, at) => lookup(`dead-${at}.test`, options).catch(({ code }) => code));
  expect(await lookup("live.test", options)).toEqual(["192.0.2.1"]);
  expect(new Set(await Promise.all(dead))).toEqual(new Set(["ETIMEOUT"]));
  expect(most).toBe(2);
});

test("the address policy also checks cached addresses", async () => {
  const website = await testServer({ "/a": tenPages });
  const lookup = systemLookup(stubResolver({ "site.test": ["127.0.0.1"] }));
  const url = `http://site.test:${website.port}/a`;
  expect((await testFetcher({ start: url }, { lookup }).read(url)).text).toBe(tenPages);
  expect((await testFetcher({}, { lookup }).read(url)).result).toBe("refused address-blocked");
});

test("the connect timeout does not run during the DNS lookup", async () => {
  const website = await testServer({ "/a": tenPages });
  const lookup = async () => {
    await pause(1100);
    return ["127.0.0.1"];
  };
  const url = `http://site.test:${website.port}/a`;
  const fetcher = testFetcher({ start: url, timeout: { connect: 1000 } }, { lookup });
  expect((await fetcher.read(url)).text).toBe(tenPages);
});
