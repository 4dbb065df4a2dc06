// How much the tests try: by default a part, so that all of them take minutes; with SITEGROVE_LONG everything
// (`npm run test:long`).

export const isLong: boolean = process.env["SITEGROVE_LONG"] !== undefined;

/** All of so many, or a few of them. */
export function some(all: number, few: number = Math.ceil(all / 5)): number {
  return isLong ? all : few;
}
