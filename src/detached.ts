// Strings that are kept. Engines make a part of a string by pointing into the whole: whoever keeps a URL of forty characters would keep
// the piece of the document that it was cut from.

/** A copy that keeps nothing else alive. */
export function detached(text: string): string {
  // Joining and cutting makes an engine copy it. Shorter parts are copies already.
  return text.length < shortestPart ? text : ` ${text}`.slice(1);
}

// In V8: https://source.chromium.org/chromium/chromium/src/+/main:v8/src/objects/string.h (SlicedString::kMinLength)
const shortestPart = 13;
