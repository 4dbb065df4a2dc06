// Certificates for tests, signed by an authority of the tests' own: a small writer of DER, because nothing in Node makes
// certificates and no program may be expected to be there. https://www.rfc-editor.org/rfc/rfc5280#section-4.1
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { isIP } from "node:net";

let serial = 1;

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  /** Names and IPv4 addresses that the certificate is for. */
  readonly names: readonly string[];
  /** Days from now; both may lie in the past. */
  readonly validFrom?: number;
  readonly validTo?: number;
}

export interface Authority {
  /** The authority's own certificate, PEM. */
  readonly ca: string;
  issue(options: CertificateOptions): Certificate;
}

export function createAuthority(): Authority {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = `Authority ${serial}`;
  return {
    ca: certificate({ names: [] }, name, own.publicKey, name, own.privateKey, true),
    issue: (options) => issued(options, name, own.privateKey),
  };
}

/** A certificate that nobody but itself vouches for. */
export function selfSigned(options: CertificateOptions): Certificate {
  return issued(options);
}

function issued(options: CertificateOptions, issuer?: string, issuerKey?: KeyObject): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = options.names[0] ?? "nobody";
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: certificate(options, name, publicKey, issuer ?? name, issuerKey ?? privateKey, false),
  };
}

function certificate(
  { names, validFrom = -1, validTo = 1 }: CertificateOptions,
  subject: string,
  publicKey: KeyObject,
  issuer: string,
  issuerKey: KeyObject,
  isAuthority: boolean,
): string {
  const extensions = [
    extension([2, 5, 29, 19], true, sequence(...(isAuthority ? [der(0x01, Buffer.from([0xff]))] : []))),
    ...(names.length > 0 ? [extension([2, 5, 29, 17], false, sequence(...names.map(generalName)))] : []),
  ];
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.from([1, serial >> 8, serial++ & 0xff])), // serial number
    ecdsaWithSha256,
    distinguishedName(issuer),
    sequence(time(validFrom), time(validTo)),
    distinguishedName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", signed, issuerKey);
  const bytes = sequence(signed, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...items: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(items));
}

function objectIdentifier([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const septets = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) septets.unshift((left & 0x7f) | 0x80);
    bytes.push(...septets);
  }
  return der(0x06, Buffer.from(bytes));
}

function distinguishedName(commonName: string): Buffer {
  const attribute = sequence(objectIdentifier([2, 5, 4, 3]), der(0x0c, Buffer.from(commonName)));
  return sequence(der(0x31, attribute));
}

function generalName(name: string): Buffer {
  return isIP(name) === 4 ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name));
}

function extension(id: readonly number[], critical: boolean, value: Buffer): Buffer {
  const flag = critical ? [der(0x01, Buffer.from([0xff]))] : [];
  return sequence(objectIdentifier(id), ...flag, der(0x04, value));
}

function time(days: number): Buffer {
  const digits = new Date(Date.now() + days * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, "");
  return der(0x18, Buffer.from(digits));
}

const ecdsaWithSha256 = sequence(objectIdentifier([1, 2, 840, 10045, 4, 3, 2]));
