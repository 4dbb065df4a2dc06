// Lets timers, signals and sockets have their turn. Work that never waits for any of them, such as an index of a million
// children that need no request, would keep them waiting until it is done.

// In milliseconds: what they may have to wait for.
const longestTurn = 40;

let turnedAt = 0;

/** Undefined while the turn is short enough to go on. To be asked often: it costs a look at the clock. */
export function pauseWhenDue(): Promise<void> | undefined {
  const now = performance.now();
  if (now - turnedAt < longestTurn) return undefined;
  return new Promise((resolve) => {
    setImmediate(() => {
      turnedAt = performance.now();
      resolve();
    });
  });
}

/** Pauses when that is due, and throws the reason of a signal that was aborted meanwhile. */
export async function takeTurn(signal: AbortSignal | undefined): Promise<void> {
  const pause = pauseWhenDue();
  if (pause === undefined) return;
  await pause;
  signal?.throwIfAborted();
}
