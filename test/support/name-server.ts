// A name server on this machine: answers from a table, or not at all. https://www.rfc-editor.org/rfc/rfc1035#section-4
import dgram from "node:dgram";
import dns from "node:dns";
import { once } from "node:events";
import net from "node:net";

/** The records of a name. `silent`: no answer. `broken`: the server fails. A name that is not in the table does not exist. */
export interface Zone {
  readonly addresses?: readonly string[];
  readonly silent?: boolean | "AAAA";
  readonly broken?: boolean;
}

export interface NameServer {
  /** May be changed during a test. */
  readonly zones: Record<string, Zone>;
  /** `A example.org`, in the order in which they came. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Until it is closed, node:dns of this process uses it. */
export async function nameServer(zones: Record<string, Zone>): Promise<NameServer> {
  const asked: string[] = [];
  const socket = dgram.createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, type, end } = question(query);
    asked.push(`${type === 28 ? "AAAA" : "A"} ${name}`);
    const zone = zones[name.toLowerCase()];
    if (zone?.silent === true || (zone?.silent === "AAAA" && type === 28)) return;
    const code = zone === undefined ? 3 : zone.broken ? 2 : 0;
    const addresses = (zone?.addresses ?? []).filter((address) => net.isIPv6(address) === (type === 28));
    const records = code === 0 ? addresses.map((address) => record(address, type)) : [];
    const header = Buffer.from(query.subarray(0, 12));
    // A response, recursion available, and the code; one question, so many answers.
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const before = dns.getServers();
  dns.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    zones,
    asked,
    async close() {
      dns.setServers(before);
      socket.close();
      await once(socket, "close");
    },
  };
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function record(address: string, type: number): Buffer {
  const bytes = type === 28 ? bytesOfIpv6(address) : Buffer.from(address.split(".").map(Number));
  const fixed = Buffer.alloc(12);
  fixed.writeUInt16BE(0xc00c, 0);
  fixed.writeUInt16BE(type, 2);
  fixed.writeUInt16BE(1, 4);
  // Valid for a minute.
  fixed.writeUInt32BE(60, 6);
  fixed.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([fixed, bytes]);
}

function bytesOfIpv6(address: string): Buffer {
  const [head = "", tail = ""] = address.split("::");
  const words = (text: string) => text.split(":").flatMap((word) => (word === "" ? [] : [Number.parseInt(word, 16)]));
  const [first, last] = [words(head), words(tail)];
  const all = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
  const bytes = Buffer.alloc(16);
  all.forEach((word, index) => {
    bytes.writeUInt16BE(word, index * 2);
  });
  return bytes;
}
