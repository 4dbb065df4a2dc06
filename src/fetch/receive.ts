// How sockets are read. node:net takes at most 64 KB at a time, and each piece costs a trip through everything between here and the reader
// of the pages. Here it is as much as the parser takes at a time, as long as few connections are open: what has come and nobody asked for
// waits in memory, for each of them.
import type net from "node:net";

// All sockets read into the same place: what came is copied at once.
const large = Buffer.allocUnsafeSlow(224 * 1024);
const small = large.subarray(0, 64 * 1024);
const fewConnections = 16;
let connections = 0;

/** To be given to `net.connect`. */
export function receivingFor(socket: () => net.Socket): net.OnReadOpts {
  return {
    buffer: () => (connections > fewConnections ? small : large),
    callback: (length, bytes) => socket().push(Buffer.from(bytes.subarray(0, length))),
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
