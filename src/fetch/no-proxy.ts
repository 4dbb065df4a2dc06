// NO_PROXY: which hosts are asked without a proxy. There is no standard; this is what curl, Go and Python agree on, and more:
//   example.org  .example.org  *.example.org    the name and everything below it, label by label
//   example.org:8080                            on this port alone
//   192.0.2.7  2001:db8::1  [2001:db8::1]:80    an address, however it is written
//   10.0.0.0/8  fd00::/8                        a range of addresses
//   *                                           everything
// Separated by commas or blanks. Dots at the end of a name say nothing, and names are compared as they are looked up: in
// lower case, and IDNA for those that are not ASCII.
import ipaddr from "ipaddr.js";
import { hostOf } from "./address-policy.ts";

/** Whether a URL is exempt from the proxy. */
export type Exemption = (url: URL) => boolean;

export function exemption(list: string): Exemption {
  const rules = list.split(/[\s,]+/).flatMap((entry) => (entry === "" ? [] : (ruleOf(entry) ?? [])));
  return (url) => {
    const host = bareName(hostOf(url));
    const address = addressOf(host);
    const port = url.port || (url.protocol === "https:" ? "443" : "80");
    return rules.some((rule) => (rule.port === undefined || rule.port === port) && rule.matches(host, address));
  };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

interface Rule {
  readonly port?: string | undefined;
  matches(host: string, address: Address | undefined): boolean;
}

function ruleOf(entry: string): Rule | undefined {
  if (entry === "*") return { matches: () => true };
  const { text, port } = split(entry);
  const range = rangeOf(text);
  if (range !== undefined) {
    const [network, bits] = range;
    return {
      port,
      matches: (_, address) =>
        address?.kind() === network.kind() && (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits),
    };
  }
  const name = hostNameOf(text.replace(/^\*?\.+/, ""));
  if (name === undefined || name === "") return undefined;
  return { port, matches: (host) => host === name || host.endsWith(`.${name}`) };
}

// A port stands behind a name, an IPv4 address or brackets. Without brackets, colons belong to an IPv6 address.
function split(entry: string): { text: string; port?: string | undefined } {
  const [, bracketed, , afterBrackets] = /^\[([^\]]*)\](:(\d+))?$/.exec(entry) ?? [];
  if (bracketed !== undefined) return { text: bracketed, port: afterBrackets };
  const [, text = entry, port] = /^([^:]*):(\d+)$/.exec(entry) ?? [];
  return { text, port };
}

function rangeOf(text: string): [Address, number] | undefined {
  const [, base = text, length] = /^(.*)\/(\d{1,3})$/.exec(text) ?? [];
  const address = addressOf(bareName(base));
  if (address === undefined) return undefined;
  const most = address.kind() === "ipv4" ? 32 : 128;
  const bits = length === undefined ? most : Number(length);
  return bits <= most ? [address, bits] : undefined;
}

// `::ffff:10.0.0.1` is 10.0.0.1. Fewer than four numbers are a name: ipaddr.js would take `10.1` for an address.
function addressOf(text: string): Address | undefined {
  if (!text.includes(":") && !/^\d+\.\d+\.\d+\.\d+$/.test(text)) return undefined;
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

function hostNameOf(text: string): string | undefined {
  try {
    return bareName(new URL(`http://${text}/`).hostname);
  } catch {
    return undefined;
  }
}

function bareName(host: string): string {
  return host.replace(/\.+$/, "").toLowerCase();
}
