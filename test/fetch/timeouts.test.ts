// Timeouts run while we wait for the website, not while this process does not run: stopped, or kept busy by somebody's code.
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { Clock } from "../../src/fetch/timeouts.ts";
import type { Problem } from "../../src/model/problem.ts";
import { testFetcher } from "../support/fetching.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));
const block = (milliseconds: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

// In a thread: it goes on while the test is blocked. It sends the rest of a body when it is told to, and tells that it has.
const server = `
const { parentPort, workerData } = require("node:worker_threads");
const net = require("node:net");
const flags = new Int32Array(workerData);
const rests = [];
const server = net.createServer((socket) => {
  socket.on("error", () => {});
  const first = "HTTP/1.1 200 OK\\r\\ncontent-length: 6\\r\\n\\r\\none";
  socket.once("data", () => socket.write(first));
  const look = setInterval(() => {
    if (Atomics.load(flags, 0) === 0) return;
    clearInterval(look);
    socket.write("two", () => { Atomics.store(flags, 1, 1); Atomics.notify(flags, 1); });
  }, 5);
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

test("data that arrived while the process was busy is read, even after its timeout", async () => {
  const memory = new SharedArrayBuffer(8);
  const flags = new Int32Array(memory);
  const thread = new Worker(server, { eval: true, workerData: memory });
  const port = await new Promise<number>((resolve) => thread.once("message", resolve));
  const start = `http://127.0.0.1:${port}`;
  const fetched = await testFetcher({ start, timeout: { idle: 100 } }).open("/a");
  const body = fetched.body[Symbol.asyncIterator]();
  const first = await body.next();
  const second = body.next();
  await turn();
  Atomics.store(flags, 0, 1);
  Atomics.wait(flags, 1, 0);
  block(200);
  expect(Buffer.concat([first.value ?? Buffer.of(), (await second).value ?? Buffer.of()]).toString()).toBe("onetwo");
  expect((await body.next()).done).toBe(true);
  expect(fetched.body.end.problem).toBeUndefined();
  await thread.terminate();
});

test("a timeout starts again after the process was suspended, and otherwise expires on time", async () => {
  const expired: Problem[] = [];
  let resolve = () => {};
  const isExpired = new Promise<void>((each) => (resolve = each));
  const onExpiry = (problem: Problem) => {
    expired.push(problem);
    resolve();
  };
  const clock = new Clock(Number.POSITIVE_INFINITY, onExpiry, 100);
  clock.start({ limit: 100, code: "timeout-idle" });
  block(300);
  for (let turns = 0; turns < 3; turns++) await turn();
  expect(expired).toEqual([]);
  await isExpired;
  expect(expired).toMatchObject([{ code: "timeout-idle" }]);
});

test("a wait that begins after the total timeout ends at once, without a warning from Node.js", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  let resolve: (problem: Problem) => void = () => {};
  const expiry = new Promise<Problem>((each) => (resolve = each));
  const clock = new Clock(1, (problem) => resolve(problem));
  clock.start({ limit: 1000, code: "timeout-idle" });
  block(5);
  clock.stop();
  // Its timer fires before this one.
  await new Promise((fired) => setTimeout(fired, 1));
  clock.start({ limit: 1000, code: "timeout-idle" });
  const expired = await expiry;
  await turn();
  process.off("warning", onWarning);
  expect(expired).toMatchObject({ code: "timeout-total" });
  expect(warnings).toEqual([]);
});
