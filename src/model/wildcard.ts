// Patterns with `*` for any text, matched in one pass.

/** The parts between the stars have to occur one after another. Taking the first match of each leaves the most room for the rest. */
export function wildcard(text: string): (url: string) => boolean {
  const parts = text.split("*");
  if (parts.length === 1) return (url) => url === text;
  const first = parts.shift() as string;
  const last = parts.pop() as string;
  return (url) => {
    if (url.length < first.length + last.length || !url.startsWith(first) || !url.endsWith(last)) return false;
    const end = url.length - last.length;
    let at = first.length;
    for (const part of parts) {
      const found = url.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
