// What docs/fleet.md shows is true: the table of failures is the one that is tested, the manifest fits the schema of Kubernetes,
// and the commands that it shows do what they should, as do those of the Compose file.
// Needs Redis, processes, more than a second.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { failureRows } from "../cli/failure-rows.ts";
import { launch, type Started, sitegrove, start } from "../cli/program.ts";
import { manyServers } from "../fleet/many-servers.ts";
import { hasPython, pythonEnvironment } from "../support/installed.ts";
import { freePort, listening } from "../support/own-port.ts";
import { hasRedis, redisPassword, startRedis } from "../support/redis-server.ts";
import { newFolder } from "../support/test-folder.ts";

const docs = path.join(import.meta.dirname, "../../docs");
const python = (code: string, ...words: string[]) =>
  spawnSync("python3", ["-c", code, ...words], { env: pythonEnvironment, encoding: "utf8" });

test("every row in the table of failures has a test", () => {
  const text = readFileSync(path.join(docs, "fleet.md"), "utf8");
  const table = /\| what fails \|.*\n\|.*\n((?:\|.*\n)+)/.exec(text)?.[1] ?? "";
  expect(
    table
      .split("\n")
      .filter((row) => row !== "")
      .map((row) => row.split("|")[1]?.trim()),
  ).toEqual([...failureRows]);
});

test.skipIf(!hasPython("kubernetes_validate"))("the manifest is valid for Kubernetes", () => {
  const code = `
import sys, yaml, kubernetes_validate
manifest = yaml.safe_load(open(sys.argv[1]))
kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
print(manifest["spec"]["template"]["spec"]["containers"][0]["command"][2])
`;
  const { status, stdout, stderr } = python(code, path.join(docs, "indexed-job.yaml"));
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain('--shard "$JOB_COMPLETION_INDEX/8"');
});

test.skipIf(!hasRedis)("the commands for a queue work in the given order", async () => {
  const text = readFileSync(path.join(docs, "fleet.md"), "utf8");
  const [, block = ""] = /## With a queue\n\n```bash\n(.*?)```/s.exec(text) ?? [];
  const folder = newFolder();
  const [redis, servers] = [await startRedis(), await manyServers({ count: 3 })];
  writeFileSync(path.join(folder, "sites.txt"), servers.sites.join("\n"));
  const lines = block
    .split("\n")
    .filter((line) => line.startsWith("sitegrove "))
    .map((line) =>
      line
        .replace("redis://queue.example/0", redis.url)
        .replace("/shared", folder)
        .replace(/^.* worker .*$/, "$& --idle 0 --allow-private"),
    );
  expect(lines).toHaveLength(4);
  const outputs: string[] = [];
  for (const line of lines) {
    const [words = "", file] = line.replace("sitegrove ", "").split(" > ");
    const env = { SITEGROVE_QUEUE_PASSWORD: redisPassword };
    const { code, stdout } = await sitegrove(words.split(" "), { env, cwd: folder });
    expect([line, code]).toEqual([line, 0]);
    expect(file).toBe(line === lines[3] ? "monday.ndjson" : undefined);
    outputs.push(stdout);
  }
  const [, , status, results = ""] = outputs;
  expect(status?.split("\n")[0]).toBe("monday: finished: 0 websites in progress, 0 waiting");
  const summaries = results.trimEnd().split("\n");
  expect(summaries.map((line) => JSON.parse(line).site).sort()).toEqual([...servers.sites].sort());
});

test("the image for workers can be built from a checkout, and runs the program as an ordinary user", () => {
  const text = readFileSync(path.join(docs, "../Dockerfile"), "utf8");
  const { bin, engines } = JSON.parse(readFileSync(path.join(docs, "../package.json"), "utf8"));
  expect(Number(/^FROM node:(\d+)/m.exec(text)?.[1])).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)?.[0]));
  expect(text).toContain(`/app/${bin.sitegrove.replace("./", "")}`);
  expect(text).toMatch(/^USER node$/m);
  expect(text).toMatch(/^ENTRYPOINT \["sitegrove"\]$/m);
});

interface Service {
  readonly command: string | readonly string[];
  readonly deploy?: { readonly replicas: number };
}

describe.skipIf(!hasRedis || !hasPython("yaml"))("the Compose file", () => {
  test("starts Redis, three workers and a run with the commands on the page", async () => {
    const read = "import sys, yaml, json; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)";
    const { services } = JSON.parse(python(read, path.join(docs, "compose.yaml")).stdout) as {
      services: Record<"redis" | "fill" | "worker", Service>;
    };
    const folder = newFolder();
    mkdirSync(path.join(folder, "data"));
    const port = await freePort();
    const here = (word: string) =>
      word
        .replace("redis://redis/", `redis://127.0.0.1:${port}/`)
        .replace(/^\/data/, path.join(folder, "data"))
        .replace(/\$\{QUEUE_PASSWORD.*\}/, "secret");
    const words = ({ command }: Service) => (typeof command === "string" ? command.split(" ") : command).map(here);
    // The image starts `sitegrove`.
    const program = (service: Service) => [
      ...words(service),
      // The websites of this test are on loopback.
      ...(words(service).includes("worker") ? ["--allow-private"] : []),
    ];
    const secret = { SITEGROVE_QUEUE_PASSWORD: "secret" };
    const servers = await manyServers({ count: 9 });
    writeFileSync(path.join(folder, "data/sites.txt"), servers.sites.join("\n"));
    const [name = "", ...flags] = words(services.redis);
    const place = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder];
    const redis = spawn(name, [...flags, ...place], { stdio: "ignore" });
    const processes: ChildProcess[] = [redis];
    const workers: Started[] = [];
    try {
      await listening(port, redis);
      const replicas = services.worker.deploy?.replicas ?? 0;
      expect(replicas).toBe(3);
      // One of them runs as a process. The others would do the same.
      processes.push(start(program(services.worker), { env: secret }));
      for (let count = 1; count < replicas; count += 1) workers.push(launch(program(services.worker), { env: secret }));
      expect(await sitegrove(program(services.fill), { env: secret })).toMatchObject({ code: 0 });
      const ask = (what: string, ...more: string[]) =>
        sitegrove(["fleet", what, "--queue", `redis://127.0.0.1:${port}/0`, "--run", "monday", ...more], {
          env: secret,
        });
      const done = async () => JSON.parse((await ask("status", "-f", "json")).stdout).done;
      await expect.poll(done, { interval: 200, timeout: 170_000 }).toBe(9);
      const results = (await ask("results")).stdout.trimEnd().split("\n");
      expect(results.map((line) => JSON.parse(line).site).sort()).toEqual([...servers.sites].sort());
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
      for (const child of processes) child.kill("SIGKILL");
      await Promise.all(
        processes.map(
          (child) => child.exitCode ?? child.signalCode ?? new Promise((resolve) => child.once("exit", resolve)),
        ),
      );
    }
  });
});
