// Outputs in a bucket, as processes write them: parts of a list without anything between them, and what is published already.
// Needs an S3 server.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { S3Bucket } from "../../src/fleet/s3-bucket.ts";
import type { SiteSummary } from "../../src/fleet/site-job.ts";
import { manyServers } from "../fleet/many-servers.ts";
import { hasS3, type S3Server, startS3 } from "../support/s3-server.ts";
import { sitegrove } from "./program.ts";

describe.skipIf(!hasS3)("outputs in a bucket", () => {
  let server: S3Server;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "cli-s3-"));
    server = await startS3();
    await server.makeBucket("bucket");
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  test("parts of a list fill one prefix; what is there is not read again, unless it is to be", async () => {
    const servers = await manyServers({ count: 8 });
    const list = path.join(folder, "sites.txt");
    writeFileSync(list, servers.sites.join("\n"));
    const part = (shard: string, ...flags: string[]) => {
      const out = ["--out", "s3://bucket/a/b", "--shard", shard, "--from", list, "--archives"];
      // Another machine: nothing of the journals is there.
      const env = { ...server.env, TMPDIR: mkdtempSync(path.join(folder, "machine-")) };
      return sitegrove(["fleet", ...out, "--no-homepage", "--retries", "0", ...flags], { env });
    };
    try {
      const ends = await Promise.all(["0/2", "1/2"].map((shard) => part(shard)));
      expect(ends.map(({ code }) => code)).toEqual([0, 0]);
      const bucket = await S3Bucket.open("s3://bucket/a/b", server.env);
      const keys = (await server.keys("bucket")).map((key) => key.replace("a/b/", ""));
      const summaries = keys.filter((key) => key.startsWith("summaries/"));
      expect(summaries).toHaveLength(8);
      const sites: string[] = [];
      for (const key of summaries) {
        const { site, files } = JSON.parse((await bucket.get(key)) ?? "") as SiteSummary;
        sites.push(site);
        for (const file of Object.values(files)) expect(keys).toContain(file);
        expect((await bucket.get(files["pages"] ?? ""))?.trimEnd().split("\n")).toHaveLength(3);
      }
      expect(sites.sort()).toEqual([...servers.sites].sort());
      expect(keys.filter((key) => /^(pages|archives)\//.test(key))).toHaveLength(16);
      expect(keys.filter((key) => key.startsWith("summary-"))).toEqual(["summary-0-of-2.json", "summary-1-of-2.json"]);
      await part("0/2");
      await part("1/2", "--processes", "2");
      expect([...servers.visits.values()]).toEqual(servers.sites.map(() => 1));
    } finally {
      servers.close();
    }
  });

  test("one line says what is missing", async () => {
    const out = (address: string, env: Record<string, string>) =>
      sitegrove(["fleet", "a.example", "--out", address], { env: { ...server.env, ...env } });
    expect(await out("s3://bucket/x", { AWS_SECRET_ACCESS_KEY: "" })).toMatchObject({
      code: 2,
      stderr: "sitegrove: s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment\n",
    });
    expect(await out("s3://nowhere/x", {})).toMatchObject({
      code: 1,
      stderr: "sitegrove: s3://nowhere/x: there is no such bucket (NoSuchBucket)\n",
    });
    expect((await out("s3:/x", {})).stderr).toContain("Expected s3://BUCKET/PREFIX");
  });
});
