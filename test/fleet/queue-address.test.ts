// URLs of queues, as people type them.
import { expect, test } from "vitest";
import { queueAddress } from "../../src/fleet/queue-server.ts";

test.each([
  ["redis://10.0.0.5", { host: "10.0.0.5", port: 6379, db: 0 }],
  ["redis://10.0.0.5:7000/3", { host: "10.0.0.5", port: 7000, db: 3 }],
  ["rediss://queue.example/0", { host: "queue.example", port: 6379, db: 0, tls: { servername: "queue.example" } }],
  ["redis://[::1]:6380/1", { host: "::1", port: 6380, db: 1 }],
  ["redis://worker@10.0.0.5/0", { host: "10.0.0.5", port: 6379, db: 0, username: "worker" }],
])("%s is the address of a queue", (url, address) => {
  expect(queueAddress(url, {}).options).toEqual(address);
});

test("passwords come from the environment: our own variable first, then those of the servers' own tools", () => {
  const password = (url: string, environment: NodeJS.ProcessEnv) => queueAddress(url, environment).options.password;
  expect(password("redis://h/0", { SITEGROVE_QUEUE_PASSWORD: "a", REDISCLI_AUTH: "b" })).toBe("a");
  expect(password("redis://h/0", { SITEGROVE_QUEUE_PASSWORD: "", REDISCLI_AUTH: "b" })).toBe("b");
});

test.each([
  ["redis://:secret@h/0", "SITEGROVE_QUEUE_PASSWORD"],
  ["redis://user:secret@h/0", "SITEGROVE_QUEUE_PASSWORD"],
  ["http://user:secret@h/0", "A queue is redis://HOST/0"],
  ["h:6379", "A queue is redis://HOST/0"],
  ["", "A queue is redis://HOST/0"],
  ["redis://h/main", "A Redis database is a number"],
  ["redis://h/0?password=secret", "must end after"],
])("%s is refused, and no secret is repeated", (url, sentence) => {
  expect(() => queueAddress(url, {})).toThrow(sentence);
  expect(() => queueAddress(url, {})).not.toThrow("secret");
});
