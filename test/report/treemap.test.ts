// The layout of the map against d3-hierarchy's, which is the one that everybody knows.
import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import { expect, test } from "vitest";
import { type Rectangle, squarified } from "../../src/report/map.ts";
import { Random } from "../support/random.ts";

function oracle(areas: readonly number[], { width, height }: Rectangle): Rectangle[] {
  const root = hierarchy<{ area: number; children?: { area: number }[] }>({
    area: 0,
    children: areas.map((area) => ({ area })),
  });
  root.sum(({ area }) => area);
  const placed = treemap<{ area: number }>().size([width, height]).tile(treemapSquarify.ratio(1))(root);
  return (placed.children ?? []).map(({ x0, y0, x1, y1 }) => ({ left: x0, top: y0, width: x1 - x0, height: y1 - y0 }));
}

const lots = new Random(7);
const lists: readonly (readonly number[])[] = [
  [1],
  [1, 1],
  [6, 6, 4, 3, 2, 2, 1],
  [1000, 1],
  Array.from({ length: 100 }, () => 1),
  [...Array.from({ length: 600 }, (_, index) => Math.ceil(1e6 / (index + 1) ** 1.3))],
  ...Array.from({ length: 40 }, () =>
    Array.from({ length: 1 + lots.below(60) }, () => 1 + lots.below(lots.below(2) === 0 ? 10 : 100_000)).sort(
      (one, two) => two - one,
    ),
  ),
];
const boxes = [
  { left: 0, top: 0, width: 1120, height: 600 },
  { left: 0, top: 0, width: 358, height: 760 },
  { left: 0, top: 0, width: 50, height: 50 },
];

test.each(boxes)("rectangles are where d3-hierarchy puts them ($width × $height)", (box) => {
  for (const areas of lists) {
    const ours = squarified(areas, box);
    const theirs = oracle(areas, box);
    expect(ours).toHaveLength(theirs.length);
    for (const [index, rectangle] of ours.entries()) {
      for (const side of ["left", "top", "width", "height"] as const) {
        expect(rectangle[side]).toBeCloseTo(theirs[index]![side], 6);
      }
    }
  }
});
