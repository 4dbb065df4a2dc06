// Squarified treemaps: rectangles whose areas are given and that are as close to squares as a greedy layout makes them.
// Bruls, Huizing, van Wijk: Squarified Treemaps (2000), https://vanwijk.win.tue.nl/stm.pdf. Rows are laid along the shorter side;
// a row takes one more rectangle as long as its worst ratio of sides gets no worse.

export interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** One rectangle for each area, in order; the areas must be positive and descending. They fill `inside`. */
export function squarified(areas: readonly number[], inside: Rectangle): Rectangle[] {
  const rectangles: Rectangle[] = [];
  let { left, top, width, height } = inside;
  let rest = areas.reduce((sum, area) => sum + area, 0);
  for (let from = 0; from < areas.length; ) {
    // Of the areas that are left, in the units of the rectangle that is left.
    const scale = (width * height) / rest;
    const isTall = width < height;
    const side = isTall ? width : height;
    let to = from + 1;
    let sum = areas[from]!;
    let worst = worstRatio(areas[from]!, areas[from]!, sum, side, scale);
    for (; to < areas.length; to++) {
      const next = worstRatio(areas[from]!, areas[to]!, sum + areas[to]!, side, scale);
      if (next > worst) break;
      worst = next;
      sum += areas[to]!;
    }
    const isLast = to === areas.length;
    const thickness = isLast ? (isTall ? height : width) : side === 0 ? 0 : (sum * scale) / side;
    let along = 0;
    for (let index = from; index < to; index++) {
      const length = (areas[index]! / sum) * side;
      rectangles.push(
        isTall
          ? { left: left + along, top, width: length, height: thickness }
          : { left, top: top + along, width: thickness, height: length },
      );
      along += length;
    }
    if (isTall) {
      top += thickness;
      height -= thickness;
    } else {
      left += thickness;
      width -= thickness;
    }
    rest -= sum;
    from = to;
  }
  return rectangles;
}

// Of a row with this sum, whose largest and smallest areas are these, along a side.
function worstRatio(largest: number, smallest: number, sum: number, side: number, scale: number): number {
  const squareOfSide = side * side;
  const squareOfSum = sum * sum * scale;
  return Math.max((squareOfSide * largest) / squareOfSum, squareOfSum / (squareOfSide * smallest));
}
