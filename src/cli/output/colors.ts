// Colors on a terminal: https://en.wikipedia.org/wiki/ANSI_escape_code#Select_Graphic_Rendition_parameters

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Colors = Readonly<Record<keyof typeof codes, (text: string) => string>>;

/** Functions that color a text, or leave it as it is. */
export function createColors(isEnabled: boolean): Colors {
  const paint = ([begin, end]: readonly [number, number]) => {
    return (text: string) => (isEnabled ? `\u001b[${begin}m${text}\u001b[${end}m` : text);
  };
  const { bold, dim, red, green, yellow, cyan } = codes;
  return {
    ...{ bold: paint(bold), dim: paint(dim), red: paint(red) },
    ...{ green: paint(green), yellow: paint(yellow), cyan: paint(cyan) },
  };
}
