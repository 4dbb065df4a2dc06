// When a host gets no more requests, and when one request must probe it first: decisions about values, without a clock.
import { expect, test } from "vitest";
import { HostHealth } from "../../src/fetch/health.ts";
import { defaultBackoff } from "../../src/fetch/retry.ts";
import { resolveOptions } from "../../src/model/options.ts";
import { problem } from "../../src/model/problem.ts";

const origin = "https://website.test";
const refused = problem("connection-refused");
const health = (retries = 3) => new HostHealth(resolveOptions({ retries }), { ...defaultBackoff, random: () => 0.5 });
const retryAfter = (seconds: number) => [["retry-after", String(seconds)]] as const;

test("an origin that has never responded is abandoned after two documents, others are not", () => {
  const host = health();
  host.failed(origin, refused, 5, true);
  host.failed(origin, refused, 5, false);
  expect(host.refusalOf(origin, 0)).toBeUndefined();
  host.failed(origin, refused, 5, false);
  expect(host.refusalOf(origin, 0)).toBe(refused);
  expect(host.refusalOf("http://website.test", 0)).toBeUndefined();
});

test("an origin that has responded is abandoned after many failures over more than a minute", () => {
  const host = health();
  host.answered(origin, 200, [], 0, 1);
  for (let count = 0; count < 20; count++) host.failed(origin, refused, 1000, false);
  expect(host.refusalOf(origin, 0)).toBeUndefined();
  host.failed(origin, refused, 60_000, false);
  expect(host.refusalOf(origin, 0)).toBe(refused);
});

test("after a failure, one request probes the origin, and others wait for its result", () => {
  const host = health();
  host.failed(origin, refused, 5, false);
  expect(host.isProbed(origin)).toBe(false);
  const end = host.startRequest(origin);
  expect(host.isProbed(origin)).toBe(true);
  expect([end(), end(), host.isProbed(origin)]).toEqual([true, false, false]);
});

test("a requested pause is granted; during one that is too long, the host is refused", () => {
  const host = health();
  expect(host.answered(origin, 429, retryAfter(7), 0, 10)).toEqual({ delay: 7000, refusal: undefined });
  const { delay, refusal } = host.answered(origin, 503, retryAfter(3600), 20, 30) ?? {};
  expect([delay, refusal?.code]).toEqual([3_600_000, "rate-limited"]);
  expect(host.refusalOf(origin, 3_600_029)?.code).toBe("rate-limited");
  expect(host.refusalOf(origin, 3_600_030)).toBeUndefined();
});

test("a host that requests another pause after each pause is refused for good; requests sent together count once", () => {
  const host = health(1);
  const ask = (sentAt: number, now: number) => host.answered(origin, 429, retryAfter(1), sentAt, now)?.refusal?.code;
  expect([ask(0, 10), ask(5, 11), ask(20, 30), ask(40, 50)]).toEqual([undefined, undefined, undefined, "rate-limited"]);
  expect(host.refusalOf(origin, Number.MAX_SAFE_INTEGER)?.code).toBe("rate-limited");
});
