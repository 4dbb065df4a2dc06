// What we use of undici beyond its public API. It is installed in exactly the version that these tests saw: whoever changes the
// version learns here what has changed inside.
// Needs processes.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Client } from "undici";
import { expect, test } from "vitest";
import { faultServer, whole } from "../support/fault-server.ts";

const require = createRequire(import.meta.url);

test("the version is exact, and the one that is installed", () => {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: { undici: string } };
  expect(dependencies.undici).toMatch(/^\d+\.\d+\.\d+$/);
  expect((require("undici/package.json") as { version: string }).version).toBe(dependencies.undici);
});

test("the file that is loaded holds the class that the package exports", () => {
  expect((require("undici/lib/dispatcher/client.js") as { prototype: object }).prototype.constructor.name).toBe(
    "Client",
  );
  expect(Object.getOwnPropertyNames(require("undici/lib/dispatcher/client.js").prototype)).toEqual(
    Object.getOwnPropertyNames(Client.prototype),
  );
});

test("a first request loads that file, and not all of undici", () => {
  const program = `
    import { createRequire } from "node:module";
    import { undiciClient } from "./src/fetch/undici-client.ts";
    import { resolveOptions } from "./src/model/options.ts";
    const { cache } = createRequire(import.meta.url);
    const loaded = () => Object.keys(cache).filter((file) => /undici.(index|lib.dispatcher.client|lib.web.fetch.index).js$/.test(file)).length;
    const before = loaded();
    const client = undiciClient(resolveOptions({}));
    await client.request({ url: "http://127.0.0.1:1/", headers: {}, signal: AbortSignal.timeout(9000), allowPrivate: true });
    console.log(before, loaded());
  `;
  const said = execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  expect(said.trim()).toBe("0 1");
});

test("the callbacks are those that undici uses inside: raw headers, pausing by `false`, one `abort`", async () => {
  const body = Buffer.alloc(300_000, "x");
  const server = await faultServer({ "/a": whole(body, { "X-One": "1" }) });
  const client = new Client(server.origin, { pipelining: 1 });
  const calls: string[] = [];
  let received = 0;
  await new Promise<void>((resolve, reject) => {
    let resumeBody = () => {};
    client.dispatch(
      { method: "GET", path: "/a" },
      {
        onConnect(abort) {
          calls.push(`connect ${typeof abort}`);
        },
        onHeaders(status, headers, resume) {
          const names = headers.filter((_, at) => at % 2 === 0).map(String);
          calls.push(`headers ${status} ${headers.every(Buffer.isBuffer)} ${names.includes("X-One")}`);
          resumeBody = resume;
          return true;
        },
        onData(chunk) {
          received += chunk.length;
          calls.push("data");
          setTimeout(() => {
            calls.push("resume");
            resumeBody();
          });
          return false;
        },
        onComplete() {
          calls.push("complete");
          resolve();
        },
        onError: reject,
      },
    );
  });
  await client.destroy();
  await server.close();
  expect(received).toBe(body.length);
  // Nothing came while it was paused.
  expect(calls.join(" ")).toMatch(/^connect function headers 200 true true (data resume )+(data )?complete$/);
});
