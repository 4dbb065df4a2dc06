// Lets timers, signals and sockets act during long synchronous work, such as an index of a million children that need
// no request.

// In milliseconds: how long timers, signals and sockets may have to wait.
const longestTurn = 40;

let turnedAt = 0;

/** Undefined if no pause is due yet. Cheap enough to call often: it reads the clock once. */
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

/** Pauses if a pause is due, and then throws the reason of an aborted signal. */
export async function takeTurn(signal: AbortSignal | undefined): Promise<void> {
  const pause = pauseWhenDue();
  if (pause === undefined) return;
  await pause;
  signal?.throwIfAborted();
}
