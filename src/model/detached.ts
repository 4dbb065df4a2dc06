// Copies of strings. V8 makes a substring by pointing into the whole string: keeping a URL of forty characters would
// keep the chunk of the document that it was cut from.

/** A copy that keeps nothing else alive. */
export function detached(text: string): string {
  // Joining and cutting forces a copy. Shorter substrings are copies already.
  return text.length < shortestPart ? text : ` ${text}`.slice(1);
}

// In V8: https://source.chromium.org/chromium/chromium/src/+/main:v8/src/objects/string.h (SlicedString::kMinLength)
const shortestPart = 13;
