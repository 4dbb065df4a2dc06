// The queue of one machine: the contract, and what a journal has to stand.
// Needs more than a second.
import { appendFileSync, chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { journalName } from "../../src/fleet/journal-file.ts";
import { JournalQueue } from "../../src/fleet/journal-queue.ts";
import { Leases } from "../../src/fleet/leases.ts";
import type { SiteQueue } from "../../src/fleet/site-queue.ts";
import { isLong } from "../support/long.ts";
import { saidOfFleets as said } from "../support/messages.ts";
import { newFolder } from "../support/test-folder.ts";
import { job, queueContract, resultsOf, summaryOf, taken } from "./queue-contract.ts";

queueContract(() => {
  let folder = newFolder();
  return {
    name: "the journal",
    open: () => JournalQueue.open(folder),
    // A killed process leaves this behind: the journal, and a lock whose owner is gone.
    async crash(queue: SiteQueue) {
      const journal = readFileSync(path.join(folder, journalName));
      await queue.close();
      writeFileSync(path.join(folder, journalName), journal);
      writeFileSync(path.join(folder, "lock"), JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }));
    },
    async remove() {
      folder = newFolder();
    },
  };
});

const signal = new AbortController().signal;

test.each([
  [1, 16],
  [2, 4],
  [3, 1],
])("a suspect with %d deaths may be crawled together with others, at most %d at a time", (deaths, most) => {
  const leases = new Leases();
  const give = (count: number, deaths: number) => {
    const site = { job: job("a"), starts: 1, replaces: undefined };
    for (let at = 0; at < count; at += 1) leases.give({ ...site, deaths }, "", async () => true);
  };
  give(50, 0);
  give(most - 1, deaths);
  expect(leases.hasRoom({ deaths })).toBe(true);
  give(1, deaths);
  expect(leases.hasRoom({ deaths })).toBe(false);
  // The suspect with the most deaths decides.
  expect(leases.hasRoom({ deaths: 1 })).toBe(false);
  expect(leases.hasRoom({ deaths: 0 })).toBe(true);
});

test("a journal cut off at any byte keeps all complete results, and can be continued", async () => {
  const folder = newFolder();
  const whole = path.join(folder, journalName);
  const queue = await JournalQueue.open(folder);
  await queue.add(["a", "b", "c"].map(job));
  for (let count = 0; count < 3; count++) {
    const lease = await taken(queue);
    await lease.done(summaryOf(lease));
  }
  await queue.close();
  const bytes = readFileSync(whole);
  // Cuts around every line end, and in the middle of lines.
  const lengths = Array.from({ length: bytes.length + 1 }, (_, length) => length).filter(
    (length) => length % (isLong ? 7 : 97) === 0 || bytes.subarray(Math.max(0, length - 2), length + 2).includes("\n"),
  );
  for (const length of lengths) {
    const cut = newFolder();
    writeFileSync(path.join(cut, journalName), bytes.subarray(0, length));
    const again = await JournalQueue.open(cut);
    const done = bytes
      .subarray(0, length)
      .toString()
      .split("\n")
      .filter((line) => line.includes('"type":"done"') && line.endsWith("}}}"));
    expect(await resultsOf(again)).toHaveLength(done.length);
    await again.add(["a", "b", "c"].map(job));
    for (let lease = await again.take(signal); lease !== undefined; lease = await again.take(signal))
      await lease.done(summaryOf(lease));
    expect(await resultsOf(again)).toHaveLength(3);
    await again.close();
    for (const line of readFileSync(path.join(cut, journalName), "utf8").trimEnd().split("\n")) JSON.parse(line);
    rmSync(cut, { recursive: true });
  }
});

test("a last line that is cut off is removed, however long it is", async () => {
  const folder = newFolder();
  const add = async (site: string) => {
    const queue = await JournalQueue.open(folder);
    await queue.add([{ key: site, homepage: site }]);
    await queue.close();
  };
  await add("https://one.example/");
  appendFileSync(path.join(folder, "sites.ndjson"), `{"type":"add","sitemaps":["${"x".repeat(1_500_000)}`);
  await add("https://two.example/");
  const queue = await JournalQueue.open(folder);
  expect([queue.size, queue.damaged]).toEqual([2, 0]);
  await queue.close();
});

test("a list that was only partly added is remembered until a list with its length and first website is added", async () => {
  const folder = newFolder();
  const cutLists: number[] = [];
  const add = async (names: readonly string[], isCut = false) => {
    const queue = await JournalQueue.open(folder);
    const list = async function* () {
      yield* names.map(job);
      if (isCut) throw new Error("stopped");
    };
    await queue.add(list()).catch(() => undefined);
    cutLists.push(queue.cutLists);
    await queue.close();
    const again = await JournalQueue.open(folder);
    cutLists.push(again.cutLists);
    await again.close();
  };
  await add(["a", "b"], true);
  await add(["c", "d"]);
  await add(["a"]);
  await add(["z", "a", "b", "e"]);
  expect(cutLists).toEqual([1, 1, 1, 1, 1, 1, 0, 0]);
});

test("damaged lines are counted, and their websites are crawled again", async () => {
  const folder = newFolder();
  const file = path.join(folder, journalName);
  const queue = await JournalQueue.open(folder);
  await queue.add([job("a")]);
  const lease = await taken(queue);
  await lease.done(summaryOf(lease));
  await queue.close();
  const [, add = "", , start = "", done = ""] = readFileSync(file, "utf8").split("\n");
  const damaged = [
    done.replace(/,"summary":.*/, "}"),
    done.replace(/"summary":.*/, '"summary":null}'),
    done.replace(/"summary":.*/, '"summary":{}}'),
    done.replace('"complete"', '"__proto__"'),
    done.replace('"pages":1', '"pages":"many"'),
    done.replace('"pages":1', '"pages":-1'),
    done.replace('"reasons":[]', '"reasons":[1]'),
    done.replace('"files":{}', '"files":{"pages":"../../etc/passwd"}'),
    ...["/etc/passwd", "a/../b", "a//b", "./a", "..", "C:/a", "a\\\\b", "a\\u0000b", ""].map((name) =>
      done.replace('"files":{}', `"files":{"pages":"${name}"}`),
    ),
    done.replace('"key":"https://a', '"key":"https://b'),
    done.replaceAll("https:", "file:"),
    ...["junk", "[1]", "null", '{"type":"later"}', '{"type":"start","key":"https://a.exa'],
  ];
  // A killed process may leave half a line at the end; nothing that took effect is lost.
  writeFileSync(file, `${add}\n${start.slice(0, 40)}`);
  const cut = await JournalQueue.open(folder);
  expect([cut.damaged, cut.size]).toEqual([0, 1]);
  await cut.close();
  for (const line of damaged) {
    writeFileSync(file, `${add}\n${start}\n${line}\n`);
    const again = await JournalQueue.open(folder);
    expect([line, again.damaged, await again.counts(), await resultsOf(again)]).toEqual([
      line,
      1,
      { waiting: 1, active: 0, done: 0, failed: 0 },
      [],
    ]);
    await again.close();
  }
  // Any line about a website shows that it exists.
  writeFileSync(file, `${add.replace("type", "tipe")}\n${start}\n${done}\n`);
  const again = await JournalQueue.open(folder);
  expect([again.damaged, again.size, (await again.counts()).done]).toEqual([1, 1, 1]);
  await again.close();
});

test("a sites.ndjson that is not a journal is rejected and left unchanged", async () => {
  const folder = newFolder();
  const file = path.join(folder, journalName);
  for (const text of ["my own list, without a line end", "a\nb\n", '["https://a.example/"]\n', "\0\0\0"]) {
    writeFileSync(file, text);
    await expect(JournalQueue.open(folder)).rejects.toMatchObject({ code: "invalid-file" });
    expect(readFileSync(file, "utf8")).toBe(text);
  }
});

describe("one process at a time", () => {
  test("if many processes start at once, one gets the lock and the others are refused", async () => {
    const folder = newFolder();
    writeFileSync(path.join(folder, "lock"), "half a li");
    const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => JournalQueue.open(folder)));
    const winners = attempts.flatMap((attempt) => (attempt.status === "fulfilled" ? [attempt.value] : []));
    expect(winners).toHaveLength(1);
    const message = said.folderInUse(process.pid);
    await expect(JournalQueue.open(folder)).rejects.toMatchObject({ code: "folder-in-use", message });
    await winners[0]?.close();
    await (await JournalQueue.open(folder)).close();
    expect(existsSync(path.join(folder, "lock"))).toBe(false);
  });

  test("a process that lost its folder writes nothing more, and does not remove the new owner's lock", async () => {
    const folder = newFolder();
    const queue = await JournalQueue.open(folder);
    await queue.add([job("a")]);
    const lease = await taken(queue);
    writeFileSync(path.join(folder, "lock"), "of another");
    const journal = readFileSync(path.join(folder, journalName), "utf8");
    await expect(lease.done(summaryOf(lease))).rejects.toMatchObject({ code: "folder-in-use" });
    await queue.close();
    expect(readFileSync(path.join(folder, journalName), "utf8")).toBe(journal);
    expect(readFileSync(path.join(folder, "lock"), "utf8")).toBe("of another");
  });

  test.skipIf(process.platform === "win32")("a queue can be closed after its folder has become read-only", async () => {
    const folder = newFolder();
    const queue = await JournalQueue.open(folder);
    chmodSync(folder, 0o555);
    // Root may write anywhere.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65534);
    try {
      await queue.close();
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    chmodSync(folder, 0o755);
    expect(existsSync(path.join(folder, "lock"))).toBe(true);
  });
});

test("control characters of a website are escaped in the journal", async () => {
  const folder = newFolder();
  const queue = await JournalQueue.open(folder);
  await queue.add([job("a")]);
  const lease = await taken(queue);
  const message = "\u009b2J \u202e";
  await lease.done({ ...summaryOf(lease, "failed"), reasons: [{ code: "internal", message, count: 1 }] });
  const text = readFileSync(path.join(folder, journalName), "utf8");
  expect(text).not.toMatch(/[\u0080-\u009f\u202e]/);
  expect((await resultsOf(queue))[0]?.reasons[0]?.message).toBe(message);
  await queue.close();
});
