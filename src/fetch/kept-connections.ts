// Which connections are reused, and when. A connection belongs to one origin, also behind a proxy: what one website
// sends can never become the answer of another. A server that sends more than its response sends it at once or a moment
// later; after the next request, it would look like the answer to that. So connections rest for a moment before reuse,
// until a website has shown often enough that nothing follows. A website that sends unrequested bytes gets a new
// connection for each request.
import type { UndiciConnection } from "./undici-connection.ts";

export class KeptConnections {
  // By the key of their route; the one that has been idle longest comes first.
  readonly #idle = new Map<string, UndiciConnection[]>();
  readonly #distrusted = new Set<string>();
  // By route: how many responses had nothing after them.
  readonly #clean = new Map<string, number>();

  /** A connection to reuse, if there is one. */
  async take(key: string): Promise<UndiciConnection | undefined> {
    for (let connection = this.#next(key); connection !== undefined; connection = this.#next(key)) {
      const clean = this.#clean.get(key) ?? 0;
      const rest = clean < probation ? connection.idleSince + quietTime - performance.now() : 0;
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(rest)));
      // On a busy machine bytes may have arrived that nobody has read yet: sockets are read before this resolves.
      await new Promise((resolve) => setImmediate(resolve));
      if (connection.isQuiet && !this.#distrusted.has(key)) {
        if (clean < probation) this.#clean.set(key, clean + 1);
        return connection;
      }
      void connection.destroy();
    }
    return undefined;
  }

  /** Keeps a connection for the next request; returns whether it may be kept. */
  add(connection: UndiciConnection): boolean {
    const { key } = connection.route;
    if (!connection.isQuiet || this.#distrusted.has(key)) return false;
    const idle = this.#idle.get(key);
    if (idle === undefined) this.#idle.set(key, [connection]);
    else idle.push(connection);
    return true;
  }

  remove(connection: UndiciConnection): void {
    const { key } = connection.route;
    const idle = this.#idle.get(key);
    const at = idle?.indexOf(connection) ?? -1;
    if (at < 0) return;
    idle?.splice(at, 1);
    if (idle?.length === 0) this.#idle.delete(key);
  }

  /** Unrequested bytes came over a connection with this route. */
  distrust(key: string): void {
    this.#distrusted.add(key);
  }

  clear(): void {
    this.#idle.clear();
  }

  #next(key: string): UndiciConnection | undefined {
    const idle = this.#idle.get(key);
    const connection = idle?.shift();
    if (idle?.length === 0) this.#idle.delete(key);
    return connection;
  }
}

// How long a connection rests, in milliseconds, and for how many responses.
const quietTime = 5;
const probation = 64;
