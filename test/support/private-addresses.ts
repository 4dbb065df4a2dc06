// Hosts that a website may not send us to: addresses that are not globally routable, in every notation, and names of this machine
// and its network.
export const addresses: readonly string[] = [
  ...["127.0.0.1", "127.1.2.3", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1"],
  ...["172.31.255.255", "192.168.0.1", "192.168.255.255", "169.254.169.254", "169.254.170.2", "100.64.0.1"],
  ...["100.100.100.200", "192.0.0.1", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.1"],
  ...["203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16"],
  ...["::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::ffff:0:127.0.0.1"],
  ...["64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:808:808::1"],
  ...["2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "fd12::1"],
  ...["ff02::1", "100::1", "100:0:0:1::1", "2001:db8::1", "3fff::1", "4000::1", "5f00::1", "2001:2::1", "2001:10::1"],
];
// Written in ways that only a URL parser understands; all of them lead to this machine or its network.
const spellings = [
  ...["2130706433", "0x7f.1", "0x7f000001", "017700000001", "0177.0.0.1", "127.1", "127.0.1", "①②⑦.⓪.⓪.①"],
  ...["127。0。0。1", "0", "0x0", "%31%32%37.0.0.1", "3232235521", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]"],
  ...["[::127.0.0.1]", "127.0.0.1."],
];
const names = ["localhost", "localhost.", "LOCALHOST", "a.localhost", "foo.internal", "metadata.google.internal"];
// `new URL` keeps these dots, but a resolver or a proxy may not.
const dotted = ["localhost..", "x.internal..", "a.localhost...", "127.0.0.1..", "127.1..", "0x7f.1..", "2130706433..."];
const moreNames = [
  ...[...dotted, "ip6-localhost", "ip6-loopback", "printer.local", "router.home.arpa", "localhost.localdomain"],
  "hidden.onion",
];

export const literals: readonly string[] = [
  ...addresses.map((address) => (address.includes(":") ? `[${address}]` : address)),
  ...spellings,
  ...names,
  ...moreNames,
];
