// Lines of positions in a text.

/** Returns a function that tells the line of a position in a text, from 1 or `first`. Positions must be asked for in order. */
export function lineCounter(text: string, first = 1): (at: number) => number {
  let [line, feed] = [first, text.indexOf("\n")];
  return (at) => {
    for (; feed >= 0 && feed < at; feed = text.indexOf("\n", feed + 1)) line += 1;
    return line;
  };
}
