// Who gets which site, where several come at once: in an order that a server gives only when workers die at the same time.
import { expect, test } from "vitest";
import type { RunLease } from "../../src/fleet/bull-leases.ts";
import { SiteDispatcher } from "../../src/fleet/site-dispatcher.ts";
import { job, summaryOf } from "./queue-contract.ts";

test("a site that is to be read alone waits for those that came with it; another such site goes back", async () => {
  const held = new Set<RunLease>();
  const back: string[] = [];
  const lease = (name: string, isSuspect: boolean): RunLease => {
    const over = () => {
      held.delete(made);
      dispatcher.settled();
    };
    const made: RunLease = {
      run: "run",
      previous: undefined,
      isSuspect,
      job: job(name),
      starts: 1,
      attemptId: name,
      lost: new AbortController().signal,
      begin: async () => {},
      done: async () => "accepted",
      finish: async () => {
        over();
        return { result: "accepted", next: undefined };
      },
      retry: async () => {
        back.push(name);
        over();
      },
    };
    held.add(made);
    return made;
  };
  // The first ones make it ask for more at a time.
  const coming = [
    () => [lease("a", false)],
    () => [lease("b", false), lease("c", false)],
    () => [lease("suspect", true), lease("d", false), lease("other suspect", true), lease("e", false)],
  ];
  const dispatcher = new SiteDispatcher({
    prepare: async () => {},
    next: async (count) => (count === 0 ? [] : (coming.shift()?.() ?? [])),
    onlyRun: () => undefined,
    held: () => held.size,
    isFinished: async () => held.size === 0,
    onGiven: () => {},
  });
  const seen: string[] = [];
  const underWay: number[] = [];
  const worker = async () => {
    for (;;) {
      const given = await dispatcher.take(new AbortController().signal);
      if (given === undefined) return;
      seen.push(given.attemptId);
      if (given.attemptId === "suspect") underWay.push(held.size);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await given.done(summaryOf(given));
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  expect(seen.toSorted()).toEqual(["a", "b", "c", "d", "e", "suspect"]);
  expect(back).toEqual(["other suspect"]);
  expect(underWay).toEqual([1]);
});
