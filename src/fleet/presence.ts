// Who is at work on a queue's server: a sorted set of members and the times when they expire. Each member renews and removes only itself.
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";

export class Presence {
  readonly #connection: Redis;
  readonly #key: string;
  readonly #id: string;
  #timer: NodeJS.Timeout | undefined;

  /** `note`: what the others see. */
  constructor(connection: Redis, key: string, note = "") {
    this.#connection = connection;
    this.#key = key;
    this.#id = `${randomUUID()} ${note}`;
  }

  async enter(): Promise<void> {
    await this.#renew();
    this.#timer = setInterval(() => void this.#renew().catch(() => undefined), lifetime / 4).unref();
  }

  async leave(): Promise<void> {
    clearInterval(this.#timer);
    await this.#connection.zrem(this.#key, this.#id);
  }

  async #renew(): Promise<void> {
    const now = await serverTime(this.#connection);
    await this.#connection.zadd(this.#key, now + lifetime, this.#id);
    await this.#connection.zremrangebyscore(this.#key, 0, now);
  }
}

/** The notes of all members that have not expired at this time of the server. */
export async function present(connection: Redis, key: string, now: number): Promise<readonly string[]> {
  const ids = await connection.zrangebyscore(key, now, "+inf");
  return ids.map((id) => id.slice(id.indexOf(" ") + 1));
}

/** The time of the server in milliseconds since 1970, because the clocks of the machines differ. */
export async function serverTime(connection: Redis): Promise<number> {
  const [seconds = 0, microseconds = 0] = (await connection.time()).map(Number);
  return seconds * 1000 + Math.floor(microseconds / 1000);
}

// How long a member that died still counts as present, in milliseconds.
const lifetime = 20_000;
