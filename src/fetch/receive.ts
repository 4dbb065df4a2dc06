// How sockets are read. node:net takes at most 64 KB at a time, and each piece costs a trip through everything between here and the reader
// of the pages. Here it is as much as the parser takes at a time, as long as few connections are open: what has come and nobody asked for
// waits in memory, for each of them.
import type net from "node:net";

const large = 224 * 1024;
// With many connections, all sockets read into the same place, and what came is copied.
const shared = Buffer.allocUnsafeSlow(64 * 1024);
const fewConnections = 16;
let connections = 0;

/** To be given to `net.connect`. */
export function receivingFor(socket: () => net.Socket): net.OnReadOpts {
  // The socket's own place. When more than half of it is full it is passed on as it is: a copy would cost a third of receiving it.
  let own: Buffer | undefined;
  return {
    // Called before the first piece, and again after each.
    buffer: () => {
      if (connections > fewConnections) return shared;
      own ??= Buffer.allocUnsafeSlow(large);
      return own;
    },
    callback: (length, bytes) => {
      const piece = bytes.subarray(0, length);
      const isPassedOn = bytes === own && length > large / 2;
      if (isPassedOn || bytes !== own) own = undefined;
      return socket().push(isPassedOn ? piece : Buffer.from(piece));
    },
  };
}

/** Counts a connection until the function that is returned is called. */
export function countConnection(): () => void {
  connections += 1;
  let isOpen = true;
  return () => {
    if (isOpen) connections -= 1;
    isOpen = false;
  };
}
