// `sitegrove fleet --processes N`: one process has the journal, others read websites; any of them may be killed.
// Needs processes, more than a second.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import type { JournalLine } from "../../src/fleet/journal-file.ts";
import { type ManyServers, type ManyServersOptions, manyServers } from "../fleet/many-servers.ts";
import { linesIn } from "../support/grown.ts";
import { isLong } from "../support/long.ts";
import { testFolder } from "../support/test-folder.ts";
import { ended, jsonLines, launch, sitegrove, sitegroveProcess, start } from "./program.ts";

const at = testFolder();
let servers: ManyServers | undefined;
afterEach(() => servers?.close());
async function serve(options: ManyServersOptions): Promise<ManyServers> {
  servers = await manyServers(options);
  writeFileSync(at("sites.txt"), `${servers.sites.join("\n")}\n`);
  return servers;
}
const words = (...more: string[]) => [
  ...["fleet", "--from", at("sites.txt"), "--out", at("out"), "--processes", "2", "--no-homepage", "--retries", "0"],
  ...more,
];
const journal = (): JournalLine[] => jsonLines(readFileSync(at("out/sites.ndjson"), "utf8").replace(/.+$/, ""));
const done = () => journal().flatMap((line) => (line.type === "done" ? [line.summary] : []));
/** None where it has ended. */
const childrenOf = (pid: number | undefined) => {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, "utf8").trim().split(" ").filter(Boolean).map(Number) : [];
};
const kill = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
};
const isDone = (count: number) => linesIn(at("out/sites.ndjson"), '"type":"done"', count);
test.skipIf(process.platform !== "linux")(
  "a process that is killed loses nothing; where all are gone with the first, the next run goes on",
  async () => {
    const { sites } = await serve({ count: 36, latency: 40 });
    const first = start(words("--concurrency", "6"));
    const end = ended(first);
    await isDone(6);
    const [victim] = childrenOf(first.pid);
    if (victim === undefined) throw new Error("It has no children");
    kill(victim);
    await isDone(14);
    const left = childrenOf(first.pid);
    expect(left).toHaveLength(2);
    expect(left).not.toContain(victim);
    first.kill("SIGKILL");
    const { stderr } = await end;
    expect(stderr).toContain("a process died (SIGKILL): its websites will be crawled again");
    // Nobody works on after that.
    await expect.poll(() => left.some((pid) => existsSync(`/proc/${pid}`)), { timeout: 60_000 }).toBe(false);
    const { code } = await sitegrove(words("--processes", "1"));
    expect(code).toBe(0);
    expect(
      done()
        .map(({ site }) => site)
        .sort(),
    ).toEqual([...sites].sort());
    expect(new Set(done().map(({ outcome }) => outcome))).toEqual(new Set(["complete"]));
    const kept = readdirSync(at("out/pages"), { recursive: true, encoding: "utf8" }).filter((name) =>
      name.includes("."),
    );
    expect(kept.map((name) => `pages/${name}`).sort()).toEqual(
      done()
        .map(({ files }) => files["pages"])
        .sort(),
    );
  },
);

test("a website that kills its process again and again is quarantined, and no other; these give what one process reads, byte for byte", async () => {
  const { sites } = await serve({ count: 6 });
  const [bad = "", ...good] = sites;
  // Whoever connects to it dies.
  const hook = `import net from "node:net";
    const { connect } = net.Socket.prototype;
    net.Socket.prototype.connect = function (...words) {
      if (JSON.stringify(words).includes("${new URL(bad).hostname}")) process.kill(process.pid, "SIGKILL");
      return connect.apply(this, words);
    };`;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}` };
  vi.stubEnv("NODE_OPTIONS", env.NODE_OPTIONS);
  const { code, stderr } = await launch(words("--concurrency", "4", "--check"), { env }).end;
  vi.unstubAllEnvs();
  expect(code).toBe(3);
  expect(stderr).toContain("a process died (SIGKILL): its websites will be crawled again");
  const outcomes = new Map(done().map(({ site, outcome }) => [site, outcome]));
  expect(sites.map((site) => outcomes.get(site))).toEqual(["quarantined", ...good.map(() => "complete")]);
  expect((await sitegrove(["fleet", ...good, "--out", at("alone"), "--no-homepage", "--check"])).code).toBe(0);
  const named = (place: string) =>
    readdirSync(at(place), { recursive: true, encoding: "utf8" }).filter((name) => /-\d\.\w+$/.test(name));
  // Those that were read beside it have another attempt in their names.
  const plain = (names: readonly string[]) => names.map((name) => name.replace(/-\d\./, ".")).sort();
  expect(plain(named("out"))).toEqual(plain(named("alone")));
  expect(named("alone")).toHaveLength(2 * good.length);
  const pagesIn = (place: string) =>
    named(place)
      .filter((name) => name.startsWith("pages"))
      .map((name) => readFileSync(at(`${place}/${name}`), "utf8"));
  expect(pagesIn("out").sort()).toEqual(pagesIn("alone").sort());
});

test.runIf(isLong)("the processes of a fleet are nobody else's command", async () => {
  expect(await sitegroveProcess(["fleet", "child"])).toMatchObject({ code: 2, stdout: "" });
});
