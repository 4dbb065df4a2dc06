// Decides which addresses, names and ports we may connect to. The spelling does not matter: `new URL` has normalized IPv4 addresses, and
// names are checked again by the addresses that they resolve to, except behind a proxy.
// https://www.iana.org/assignments/iana-ipv4-special-registry
// https://www.iana.org/assignments/iana-ipv6-special-registry
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type Problem, problem } from "../model/problem.ts";
import { parseUrl } from "../model/url.ts";

export interface Endpoint {
  readonly secure: boolean;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * Which addresses are allowed. `any`: all. `public`: globally routable. `start`: public, or private if the first lookup gave no public
   * one.
   */
  readonly reach: "any" | "start" | "public";
}

/** Returns why this URL must not be requested, judging by the URL alone, or undefined if it may be. */
export function policyRefusal(url: URL, allowPrivate: boolean): Problem | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return problem("scheme-refused", { value: url.protocol });
  }
  if (badPorts.has(Number(url.port || 80))) return problem("port-refused", { value: url.port });
  return allowPrivate || isPublicHost(hostOf(url)) ? undefined : problem("address-blocked");
}

// Ignores trailing dots, as resolvers and proxies may; `new URL` keeps `127.1..` unchanged.
function isPublicHost(host: string): boolean {
  const bare = host.replace(/\.+$/, "");
  const folded = bare === host ? host : (parseUrl(`http://${bare}/`)?.hostname ?? bare);
  if (isIP(folded) === 0) return !isLocalName(folded);
  // Refuses IPv4 addresses inside IPv6 ones: no website needs those in its URL.
  return isPublicAddress(folded) && (isIP(folded) === 4 || isGlobalUnicast(ipaddr.IPv6.parse(folded)));
}

/** Returns the host of a URL in the form for resolvers and sockets: without brackets around an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

/** Whether an address is globally routable. */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js would also accept `1.2.3`.
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return false;
  // An IPv4 address inside IPv6 (`::ffff:a.b.c.d`) is treated as IPv4.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return isPublicIpv4(parsed);
  const ipv6 = parsed as ipaddr.IPv6;
  // NAT64: networks without IPv4 reach it through 64:ff9b::/96, so the embedded address counts.
  if (ipv6.range() === "rfc6052") return isPublicIpv4(new ipaddr.IPv4(ipv6.toByteArray().slice(12)));
  return isGlobalUnicast(ipv6);
}

// Only 2000::/3 is globally routable, but ipaddr.js also calls much of the rest unicast.
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  return address.range() === "unicast" && address.match(ipaddr.IPv6.parse("2000::"), 3);
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  // 168.63.129.16 is in no registry; Azure's virtual machines reach their host there.
  return address.range() === "unicast" && address.toString() !== "168.63.129.16";
}

/** Whether a name never belongs to a public website. Its addresses are usually refused, too, but behind a proxy they are not checked. */
function isLocalName(hostName: string): boolean {
  const name = hostName.toLowerCase();
  return localNames.some((local) => name === local || name.endsWith(`.${local}`));
}

const localNames: readonly string[] = [
  "localhost", // RFC 6761
  "ip6-localhost", // in the hosts file of many systems
  "ip6-loopback",
  "localdomain", // the default domain of many systems
  "local", // RFC 6762, multicast DNS
  "internal", // reserved by ICANN for private use; metadata.google.internal
  "home.arpa", // RFC 8375
  "onion", // RFC 7686: must not be looked up
];

// The ports of services that could misread an HTTP request as commands: https://fetch.spec.whatwg.org/#port-blocking
const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);
