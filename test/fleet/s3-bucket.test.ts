// Buckets of a real S3-compatible server: what is published once stays, large files go in parts, faults are waited out.
// Needs an S3 server.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { longestLine } from "../../src/fleet/lines.ts";
import { summaryName } from "../../src/fleet/results.ts";
import { bucketAddress, S3Bucket } from "../../src/fleet/s3-bucket.ts";
import { siteFiles } from "../../src/fleet/site-files.ts";
import { keyHash, type SiteSummary } from "../../src/fleet/site-job.ts";
import { Store } from "../../src/fleet/store.ts";
import { listenOnLoopback } from "../support/loopback.ts";
import { saidOfFleets as said } from "../support/messages.ts";
import { hasS3, type S3Server, smallestPart, startS3 } from "../support/s3-server.ts";
import { newFolder } from "../support/test-folder.ts";
import { job, summaryOf } from "./queue-contract.ts";

test.each([
  ["s3://bucket", { bucket: "bucket", prefix: "" }],
  ["s3://bucket/", { bucket: "bucket", prefix: "" }],
  ["s3://bucket/a/b/", { bucket: "bucket", prefix: "a/b" }],
])("%s is the address of a bucket", (address, parts) => {
  expect(bucketAddress(address)).toEqual(parts);
});

const credentials = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };

test.each(["s3:", "s3://", "s3:///a", "s3://b/../c", "s3://a b/c", "s3:/bucket"])("%s is refused", (address) => {
  expect(() => bucketAddress(address)).toThrow(said.bucketAddress);
});

describe.skipIf(!hasS3)("on a real server", () => {
  let server: S3Server;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "s3-"));
    server = await startS3();
    await server.makeBucket("bucket");
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  test("if many workers create the same object at once, one succeeds", async () => {
    const bucket = await S3Bucket.open("s3://bucket/once", server.env);
    await bucket.inspect();
    await bucket.inspect();
    const results = await Promise.all(Array.from({ length: 8 }, (_, at) => bucket.create("a/b c+ü.json", `${at}`)));
    expect(results.filter((result) => result === "created")).toHaveLength(1);
    expect(await bucket.get("a/b c+ü.json")).toBe(`${results.indexOf("created")}`);
    expect(await bucket.get("nothing")).toBeUndefined();
    await bucket.delete("a/b c+ü.json");
    expect(await bucket.create("a/b c+ü.json", "again")).toBe("created");
  });

  test("a large file is uploaded in parts, and replaced by a later one", async () => {
    const file = path.join(folder, "large");
    const bytes = Buffer.alloc(Math.ceil(2.2 * smallestPart), "0123456789abcdef");
    bytes.write("the end", bytes.length - 7);
    writeFileSync(file, bytes);
    const bucket = await S3Bucket.open("s3://bucket/parts", server.env, { partSize: smallestPart });
    await bucket.upload("large", file);
    // Leftover parts would be charged for.
    expect(await server.unfinishedUploads("bucket")).toEqual([]);
    expect(await bucket.download("large", `${file}.back`)).toBe(true);
    expect(readFileSync(`${file}.back`).equals(bytes)).toBe(true);
    expect(await bucket.download("nothing", `${file}.none`)).toBe(false);
    writeFileSync(file, "");
    await bucket.upload("large", file);
    expect(await bucket.get("large")).toBe("");
  });

  test("temporary failures are retried, and a lost response does not publish twice", async () => {
    const { proxy, port, fail } = await faultyProxy(new URL(server.env["AWS_ENDPOINT_URL_S3"] ?? "").port);
    try {
      const env = { ...server.env, AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` };
      const bucket = await S3Bucket.open("s3://bucket/faults", env);
      fail.push("503", "cut", "503");
      expect(await bucket.create("a", "1")).toBe("created");
      // The object is stored, but the response is lost.
      fail.push("lose");
      expect(await bucket.create("b", "2")).toBe("exists");
      expect(await bucket.get("b")).toBe("2");
      const site = job("lost");
      const attemptId = `${keyHash(site.key)}-1-abc`;
      const lease = { job: site, attemptId } as never;
      const sink = siteFiles({ store: new Store(folder, bucket), format: "none", archives: false });
      const output = await sink.open(site, attemptId);
      fail.push("lose");
      expect(await output.keep(summaryOf(lease))).toEqual({ files: {} });
      expect(await sink.published(site)).toMatchObject({ attemptId });
    } finally {
      proxy.close();
      proxy.closeAllConnections();
    }
  });

  test("the first published summary counts; a later attempt adopts it, and leaves nothing behind", async () => {
    const bucket = await S3Bucket.open("s3://bucket/fence", server.env);
    const sink = siteFiles({ store: new Store(folder, bucket), format: "ndjson", archives: false, run: "monday" });
    const site = job("twice");
    expect(await sink.published(site)).toBeUndefined();
    const summaries: SiteSummary[] = [];
    const hash = keyHash(site.key);
    for (const attemptId of [`${hash}-2-bbb`, `${hash}-1-aaa`]) {
      const output = await sink.open(site, attemptId);
      await output.pages?.("https://twice.example/sitemap.xml", [{ url: "https://twice.example/1" }] as never);
      const summary = summaryOf({ job: site, attemptId } as never);
      summaries.push({ ...summary, ...(await output.keep(summary)) });
      await output.discard();
    }
    expect(summaries[1]).toEqual(summaries[0]);
    expect(summaries[0]?.attemptId).toBe(`${hash}-2-bbb`);
    expect((await server.keys("bucket")).filter((key) => key.startsWith("fence/"))).toEqual([
      `fence/${summaries[0]?.files["pages"]}`,
      `fence/${summaries[0]?.files["sitemaps"]}`,
      `fence/${summaryName(site, "monday")}`,
    ]);
    // Files of a killed attempt are removed when its result is adopted.
    const left = summaries[0]?.files["pages"]?.replace("-2-bbb", "-1-ccc") ?? "";
    await bucket.create(left, "");
    expect(await sink.published(site)).toEqual(summaries[0]);
    expect(await bucket.list("pages/")).toEqual([summaries[0]?.files["pages"]]);
  });
});

test("a download may take any time, as long as data keeps arriving", async () => {
  // Far longer than a busy machine pauses, but shorter than the whole download.
  const silence = 2000;
  let isStalled = false;
  const slow = createServer(async (_, response) => {
    response.writeHead(200, { "content-length": "7" });
    for (let at = 0; at < 7; at += 1) {
      if (isStalled && at === 5) return;
      response.write("x");
      await sleep(silence / 6);
    }
    response.end();
  });
  const port = await listenOnLoopback(slow);
  const env = { ...credentials, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` };
  const bucket = await S3Bucket.open("s3://bucket/slow", env, { silence });
  expect(await bucket.get("a")).toBe("x".repeat(7));
  isStalled = true;
  await expect(bucket.get("a")).rejects.toMatchObject({ code: "storage-failed" });
  slow.close();
  slow.closeAllConnections();
});

test("if completing an upload fails, its parts are removed, because they would be charged for", async () => {
  const asked: string[] = [];
  const server = createServer((incoming, response) => {
    const { method, url = "" } = incoming;
    asked.push(`${method} ${/[?&](uploads|partNumber|uploadId)\b/.exec(url)?.[1]}`);
    incoming.resume().on("end", () => {
      if (method === "PUT") return response.setHeader("etag", '"part"').end();
      if (!url.includes("uploads")) return response.writeHead(method === "POST" ? 403 : 204).end();
      return response.end("<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>");
    });
  });
  const env = { ...credentials, AWS_ENDPOINT_URL: `http://127.0.0.1:${await listenOnLoopback(server)}` };
  const file = path.join(newFolder(), "large");
  writeFileSync(file, Buffer.alloc(smallestPart + 1));
  const bucket = await S3Bucket.open("s3://bucket/parts", env, { partSize: smallestPart });
  await expect(bucket.upload("large", file)).rejects.toThrow();
  server.close();
  server.closeAllConnections();
  expect(asked.at(-1)).toBe("DELETE uploadId");
});

test("without a variable, the region is that of the profile", async () => {
  let authorization = "";
  const server = createServer((incoming, response) => {
    authorization = incoming.headers.authorization ?? "";
    response.writeHead(404).end();
  });
  const env = { ...credentials, AWS_ENDPOINT_URL: `http://127.0.0.1:${await listenOnLoopback(server)}` };
  const file = path.join(newFolder(), "config");
  writeFileSync(file, "[default]\nregion = eu-west-1\n");
  process.env["AWS_CONFIG_FILE"] = file;
  await (await S3Bucket.open("s3://bucket/a", env)).get("a").finally(() => delete process.env["AWS_CONFIG_FILE"]);
  server.close();
  expect(authorization).toContain("/eu-west-1/s3/");
});

test("an object that ends early is not taken for a shorter one, and one that never ends is read up to a limit", async () => {
  let sent = 0;
  const server = createServer((incoming, response) => {
    if (incoming.url?.includes("short")) {
      response.writeHead(200, { "content-length": "7" });
      return void response.write("x", () => response.destroy());
    }
    const piece = Buffer.alloc(2 ** 20, "x");
    const more = () => {
      sent += piece.length;
      // Twice the limit: the client's buffers hold far less.
      if (sent > 2 * longestLine) response.destroy();
      else response.write(piece, (error) => error ?? more());
    };
    more();
  });
  const port = await listenOnLoopback(server);
  const bucket = await S3Bucket.open("s3://bucket/a", { ...credentials, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` });
  for (const read of [bucket.get("short"), bucket.download("short", path.join(newFolder(), "short"))])
    await expect(read).rejects.toMatchObject({ code: "storage-failed" });
  await expect(bucket.get("endless")).rejects.toThrow("endless is too long");
  server.close();
  server.closeAllConnections();
});

/** A proxy in front of the server that fails as told, once per word. */
async function faultyProxy(port: string): Promise<{ proxy: Server; port: number; fail: string[] }> {
  const fail: string[] = [];
  const proxy = createServer((incoming, answer) => {
    const fault = fail.shift();
    if (fault === "cut") return void incoming.socket.destroy();
    if (fault === "503") {
      incoming.resume();
      return void answer.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
    }
    const { method, url: target, headers } = incoming;
    const onward = request({ port, host: "127.0.0.1", method, path: target, headers }, (response) => {
      if (fault === "lose") return void incoming.socket.destroy();
      answer.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(onward);
  });
  return { proxy, port: await listenOnLoopback(proxy), fail };
}
