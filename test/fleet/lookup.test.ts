// Names, with a name server of the tests' own.
import dns from "node:dns";
import { writeFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import type { LookupOptions } from "../../src/fetch/lookup.ts";
import { type LookupParts, nameServerLookup } from "../../src/fleet/lookup.ts";
import { type NameServer, nameServer, type Zone } from "../support/name-server.ts";
import { testFolder } from "../support/test-folder.ts";

let server: NameServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const at = testFolder();

const options: LookupOptions = { isRetry: false, isTrusted: false, signal: new AbortController().signal };

/** Starts a lookup with its own clock, and a system resolver that knows two names. */
async function start(zones: Record<string, Zone>, parts: LookupParts = {}) {
  server = await nameServer(zones);
  const askedSystem: string[] = [];
  const clock = { now: 0 };
  const { lookup, close } = nameServerLookup({
    hosts: at("hosts"),
    now: () => clock.now,
    system: async (name: string) => {
      askedSystem.push(name);
      if (name.startsWith("known")) return ["192.0.2.1"];
      throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    },
    ...parts,
  });
  const ask = (name: string, given: Partial<LookupOptions> = {}) =>
    lookup(name, { ...options, ...given }).catch((error: { code: string }) => error.code);
  return { ask, askedSystem, clock, asked: server.asked, close };
}

test("IPv4 and IPv6 addresses are both queried and returned", async () => {
  const { ask, asked } = await start({ "site.test": { addresses: ["192.0.2.1", "192.0.2.2", "2001:db8::1"] } });
  expect([...(await ask("site.test"))].sort()).toEqual(["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
  expect(asked.sort()).toEqual(["A site.test", "AAAA site.test"]);
});

test("a name is resolved once, however it is written", async () => {
  const { ask, asked } = await start({ "site.test": { addresses: ["192.0.2.1"] } });
  await Promise.all(["site.test", "SITE.test", "site.test.", "site.test"].map((name) => ask(name)));
  await ask("site.test");
  expect(asked).toHaveLength(2);
});

test.each([
  ["an answer", { "site.test": { addresses: ["192.0.2.1"] } }, ["192.0.2.1"]],
  ["a name that does not exist", {}, "ENOTFOUND"],
  ["a name without an address", { "site.test": {} }, "ENODATA"],
  ["a server that fails", { "site.test": { broken: true } }, "ESERVFAIL"],
])("%s is cached for 30 seconds", async (_, zones: Record<string, Zone>, answer) => {
  const { ask, asked, clock } = await start(zones);
  expect(await ask("site.test")).toEqual(answer);
  const once = asked.length;
  clock.now = 29_000;
  expect(await ask("site.test")).toEqual(answer);
  expect(asked).toHaveLength(once);
  clock.now = 31_000;
  expect(await ask("site.test")).toEqual(answer);
  expect(asked).toHaveLength(once * 2);
});

test("a retry queries again after a failure, but not after an answer", async () => {
  const zones: Record<string, Zone> = { "site.test": { broken: true } };
  const { ask, asked } = await start(zones);
  expect(await ask("site.test")).toBe("ESERVFAIL");
  zones["site.test"] = { addresses: ["192.0.2.1"] };
  expect(await ask("site.test", { isRetry: true })).toEqual(["192.0.2.1"]);
  const so = asked.length;
  expect(await ask("site.test", { isRetry: true })).toEqual(["192.0.2.1"]);
  expect(asked).toHaveLength(so);
});

test("a name server that never answers for IPv6 delays a lookup by a second, but does not make it fail", async () => {
  const { ask } = await start({ "site.test": { addresses: ["192.0.2.1"], silent: "AAAA" } });
  expect(await ask("site.test")).toEqual(["192.0.2.1"]);
});

describe("the operating system resolves", () => {
  test("names in its hosts file", async () => {
    writeFileSync(
      at("hosts"),
      "# comment known.hidden.test\n192.0.2.1\tother.test known.site.test. # known.no.test\r\n",
    );
    const { ask, asked, askedSystem } = await start({});
    expect(await ask("known.site.test")).toEqual(["192.0.2.1"]);
    expect(await ask("known.hidden.test")).toBe("ENOTFOUND");
    expect(await ask("known.no.test")).toBe("ENOTFOUND");
    expect(askedSystem).toEqual(["known.site.test"]);
    expect(asked.some((question) => question.includes("site"))).toBe(false);
  });

  test("names that no name server can know", async () => {
    const { ask, asked, askedSystem } = await start({});
    for (const name of ["known", "known.local", "known.localhost", "localhost"]) await ask(name);
    expect(askedSystem).toEqual(["known", "known.local", "known.localhost", "localhost"]);
    expect(asked).toEqual([]);
  });

  test("names that the operator gave and no name server knows, but not names that a website gave", async () => {
    const { ask, askedSystem } = await start({});
    expect(await ask("known.intranet.test", { isTrusted: true })).toEqual(["192.0.2.1"]);
    expect(await ask("known.intranet.test")).toBe("ENOTFOUND");
    expect(await ask("gone.test", { isTrusted: true })).toBe("ENOTFOUND");
    expect(askedSystem).toEqual(["known.intranet.test", "gone.test"]);
  });
});

test("an aborted lookup leaves the query to others, and closing ends it", async () => {
  const { ask, asked, close } = await start({ "dead.test": { silent: true } });
  const [first, second] = [new AbortController(), new AbortController()];
  const answers = [first, second].map(({ signal }) => ask("dead.test", { signal }));
  await expect.poll(() => asked.length).toBe(2);
  first.abort({ code: "left" });
  expect(await answers[0]).toBe("left");
  expect(asked).toHaveLength(2);
  close();
  expect(await answers[1]).toBe("ECANCELLED");
});

test("without a reachable name server, the operating system resolves all names", async () => {
  const { ask, askedSystem } = await start({});
  dns.setServers(["127.0.0.1:9"]);
  const names = ["known-1.test", "known-2.test", "known-3.test", "known-4.test"];
  expect(await Promise.all(names.map((name) => ask(name)))).toEqual(names.map(() => ["192.0.2.1"]));
  expect(askedSystem.sort()).toEqual(names);
});
