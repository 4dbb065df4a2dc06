// Base32, in which WARC files write their digests: https://www.rfc-editor.org/rfc/rfc4648#section-6

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** For lengths that are multiples of five bytes, such as SHA-1: no padding is needed. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; ) {
      bits -= 5;
      text += alphabet[value >> bits];
      value &= (1 << bits) - 1;
    }
  }
  return text;
}

/** Undefined if the text is not Base32. Accepts both cases, with or without padding. */
export function fromBase32(text: string): Uint8Array | undefined {
  const digits = text.toUpperCase().replace(/=+$/, "");
  const bytes: number[] = [];
  let value = 0;
  let bits = 0;
  for (const digit of digits) {
    const place = alphabet.indexOf(digit);
    if (place === -1) return undefined;
    value = (value << 5) | place;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
    value &= (1 << bits) - 1;
  }
  return Uint8Array.from(bytes);
}
