// Which connections are used again, and when. A connection belongs to one origin, also behind a proxy: what one website sends
// can never become the answer of another.
//
// A server that sends something behind a response sends it at once, or a moment later. Once the next request is out, that could not
// be told from its answer. So connections rest for a moment before they are used again, until a website has shown often enough
// that nothing follows. One that sends more than it was asked for gets a new connection for each request.
import type { UndiciConnection } from "./undici-connection.ts";

export class KeptConnections {
  // By what has to be equal for connections to be shared; the one that has been idle for the longest time comes first.
  readonly #idle = new Map<string, UndiciConnection[]>();
  readonly #distrusted = new Set<string>();
  // How many responses were followed by nothing.
  readonly #clean = new Map<string, number>();

  /** A connection that may be used again, if there is one. */
  async take(key: string): Promise<UndiciConnection | undefined> {
    for (let connection = this.#next(key); connection !== undefined; connection = this.#next(key)) {
      const clean = this.#clean.get(key) ?? 0;
      const rest = clean < probation ? connection.idleSince + quietTime - performance.now() : 0;
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(rest)));
      if (connection.isQuiet && !this.#distrusted.has(key)) {
        if (clean < probation) this.#clean.set(key, clean + 1);
        return connection;
      }
      void connection.destroy();
    }
    return undefined;
  }

  /** Keeps a connection for the next request; tells whether it may be kept. */
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

  /** What comes over connections like this one is not always an answer. */
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

// How long a connection rests, in milliseconds, and how often.
const quietTime = 5;
const probation = 64;
