// What every queue of websites promises. Runs for each of them.
import { EventEmitter, once, setMaxListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { emptySummary, type SiteJob, type SiteSummary } from "../../src/fleet/site-job.ts";
import type { Lease, SiteQueue } from "../../src/fleet/site-queue.ts";
import { some } from "../support/long.ts";

export interface QueueMaker {
  readonly name: string;
  /**
   * A queue that knows what the one before it knew, if there was one; as after a crash where that was not closed. The time of its leases is
   * in milliseconds.
   */
  open(leaseTime: number): Promise<SiteQueue>;
  /** Ends a queue like a crash. */
  crash(queue: SiteQueue): Promise<void>;
  remove(): Promise<void>;
}

export const job = (name: string): SiteJob => ({
  key: `https://${name}.example/`,
  homepage: `https://${name}.example/`,
});

export function summaryOf(
  { job: site, attemptId }: Pick<Lease, "job" | "attemptId">,
  outcome: SiteSummary["outcome"] = "complete",
): SiteSummary {
  const counts = { pages: 1, sitemaps: 1, requests: 2, wireBytes: 100, duration: 5 };
  return { ...emptySummary(site, attemptId, outcome), ...counts, finishedAt: "2024-05-31T12:00:00.000Z" };
}

// Leases are short where something is to die, and only there: a busy machine must not look like one that died. Whoever comes after the
// last death has to notice it soon, and lives.
const deaths = 5;
const leases = { long: 30_000, patient: 3000, short: 800 };

const signal = new AbortController().signal;
setMaxListeners(0, signal);

export async function taken(queue: SiteQueue): Promise<Lease> {
  const lease = await queue.take(signal);
  if (lease === undefined) throw new Error("The queue is empty");
  return lease;
}

/** Takes all remaining sites, and returns their keys. */
export async function readRest(queue: SiteQueue): Promise<string[]> {
  const keys: string[] = [];
  for (let lease = await queue.take(signal); lease !== undefined; lease = await queue.take(signal)) {
    if (lease.quarantined === undefined) keys.push(lease.job.key);
    expect(await lease.done(lease.quarantined ?? summaryOf(lease))).toBe("accepted");
  }
  return keys;
}

export async function resultsOf(queue: SiteQueue): Promise<SiteSummary[]> {
  const list: SiteSummary[] = [];
  for await (const summary of queue.results()) list.push(summary);
  return list.sort((one, other) => (one.key < other.key ? -1 : 1));
}

export function queueContract(make: () => QueueMaker): void {
  const maker = make();
  describe(`a queue: ${maker.name}`, () => {
    let queue: SiteQueue;
    beforeEach(async () => {
      queue = await maker.open(leases.long);
    });
    afterEach(async () => {
      await queue.close();
      await maker.remove();
    });
    const reopen = async (leaseTime = leases.long) => {
      await queue.close();
      queue = await maker.open(leaseTime);
    };
    const crash = async (leaseTime = leases.short) => {
      await maker.crash(queue);
      queue = await maker.open(leaseTime);
    };

    test("a site is added only once, even after reopening", async () => {
      expect(await queue.add([job("a"), job("b"), job("a")])).toEqual({ added: 2, known: 1 });
      await reopen();
      expect(await queue.add([job("b"), job("c")])).toEqual({ added: 1, known: 1 });
      expect(await queue.counts()).toEqual({ waiting: 3, active: 0, done: 0, failed: 0 });
    });

    test("each site goes to one worker, a result counts once, and the run ends when all sites have a result", async () => {
      await queue.add(["a", "b", "c"].map(job));
      const given = [await taken(queue), await taken(queue), await taken(queue)];
      expect(new Set(given.flatMap(({ job: { key }, attemptId }) => [key, attemptId])).size).toBe(6);
      let isFinished = false;
      const end = queue.take(signal).then((lease) => {
        isFinished = true;
        return lease;
      });
      for (const lease of given) {
        expect(isFinished).toBe(false);
        expect(await lease.done(summaryOf(lease))).toBe("accepted");
        expect(await lease.done(summaryOf(lease, "failed"))).toBe("superseded");
        await lease.retry();
      }
      expect(await end).toBeUndefined();
      expect(await queue.counts()).toEqual({ waiting: 0, active: 0, done: 3, failed: 0 });
      expect((await resultsOf(queue)).map(({ key }) => key)).toEqual(["a", "b", "c"].map((name) => job(name).key));
    });

    test("results survive a crash, and a site whose worker died is tried again", async () => {
      await reopen(leases.short);
      await queue.add([job("a"), job("b")]);
      const lease = await taken(queue);
      await lease.done(summaryOf(lease));
      const first = await taken(queue);
      await crash();
      expect(await queue.counts()).toMatchObject({ done: 1 });
      const second = await taken(queue);
      expect(second).toMatchObject({ job: first.job, starts: 2 });
      expect(second.attemptId).not.toBe(first.attemptId);
      expect((await resultsOf(queue)).map(({ attemptId }) => attemptId)).toEqual([lease.attemptId]);
    });

    test("returning a site does not count as a death", async () => {
      await queue.add([job("a")]);
      for (let attempt = 1; attempt <= 5; attempt++) {
        const lease = await taken(queue);
        expect(lease.starts).toBe(attempt);
        await lease.retry();
        if (attempt % 2 === 0) await reopen();
      }
      expect(await queue.counts()).toEqual({ waiting: 1, active: 0, done: 0, failed: 0 });
    });

    test("a site that was in progress at every death is quarantined, and no other", async () => {
      await reopen(leases.short);
      await queue.add([job("a"), job("b")]);
      for (let death = 0; death < deaths; death++) {
        const lease = await taken(queue);
        if (lease.job.key !== job("a").key) {
          await lease.done(summaryOf(lease));
          await taken(queue);
        }
        await crash(death === deaths - 1 ? leases.patient : leases.short);
      }
      expect(await readRest(queue)).not.toContain(job("a").key);
      const [result] = await resultsOf(queue);
      expect(result).toMatchObject({ key: job("a").key, outcome: "quarantined" });
      expect(await queue.counts()).toEqual({ waiting: 0, active: 0, done: 2, failed: 1 });
    });

    test("suspects are crawled sixteen at a time, while other sites continue", async () => {
      await reopen(leases.short);
      const names = Array.from({ length: 24 }, (_, at) => `site-${at}`);
      await queue.add(names.map(job));
      await Promise.all(names.map(() => taken(queue)));
      await crash(leases.patient);
      const others = Array.from({ length: 20 }, (_, at) => `other-${at}`);
      await queue.add(others.map(job));
      let [suspects, most, left] = [0, 0, others.length];
      const news = new EventEmitter().setMaxListeners(0);
      const worker = async () => {
        for (let lease = await queue.take(signal); lease !== undefined; lease = await queue.take(signal)) {
          const isSuspect = lease.starts > 1;
          if (isSuspect) suspects += 1;
          else left -= 1;
          most = Math.max(most, suspects);
          news.emit("taken");
          // Suspects wait until there are sixteen of them, and all other sites were crawled meanwhile.
          while (isSuspect && (most < 16 || left > 0)) await once(news, "taken");
          if (isSuspect) suspects -= 1;
          expect(await lease.done(summaryOf(lease))).toBe("accepted");
        }
      };
      await Promise.all(Array.from({ length: 28 }, worker));
      expect(most).toBe(16);
      expect(await queue.counts()).toEqual({ waiting: 0, active: 0, done: 44, failed: 0 });
    });

    test("four restarts in the middle of a run quarantine no site", async () => {
      await reopen(leases.short);
      const names = Array.from({ length: 8 }, (_, at) => `site-${at}`);
      await queue.add(names.map(job));
      for (let restart = 1; restart <= 4; restart += 1) {
        await Promise.all(names.slice(0, restart === 1 ? 8 : 1).map(() => taken(queue)));
        await crash(restart === 4 ? leases.patient : leases.short);
      }
      await readRest(queue);
      expect(await queue.counts()).toEqual({ waiting: 0, active: 0, done: 8, failed: 0 });
    });

    test("take() rejects with the signal's reason", async () => {
      await queue.add([job("a")]);
      await taken(queue);
      const controller = new AbortController();
      const waiting = queue.take(controller.signal);
      const reason = new Error("enough");
      controller.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      await expect(queue.take(AbortSignal.abort(reason))).rejects.toBe(reason);
    });

    test("sites that are added during a run are crawled, too", async () => {
      let release = () => {};
      const late = new Promise<void>((resolve) => {
        release = resolve;
      });
      const adding = queue.add(
        (async function* () {
          yield job("a");
          await late;
          yield job("b");
        })(),
      );
      const first = await taken(queue);
      await first.done(summaryOf(first));
      const next = taken(queue);
      release();
      expect((await next).job).toEqual(job("b"));
      expect(await adding).toEqual({ added: 2, known: 0 });
    });

    test("with many workers, nothing is lost and no site is given out twice", async () => {
      const names = Array.from({ length: some(500, 150) }, (_, at) => `site-${at}`);
      await queue.add(names.map(job));
      const seen = await Promise.all(Array.from({ length: 64 }, () => readRest(queue)));
      expect(seen.flat().sort()).toEqual(names.map((name) => job(name).key).sort());
      expect(await queue.counts()).toEqual({ waiting: 0, active: 0, done: names.length, failed: 0 });
      expect(await resultsOf(queue)).toHaveLength(names.length);
    });
  });
}
