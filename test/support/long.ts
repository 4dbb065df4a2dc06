// How many cases the tests try: a part of them by default, all of them with SITEGROVE_LONG (`npm run test:long`).

export const isLong: boolean = process.env["SITEGROVE_LONG"] !== undefined;

/** How many of `all` cases to try: a fifth of them, or `few`, unless this is a long run. */
export function some(all: number, few: number = Math.ceil(all / 5)): number {
  return isLong ? all : few;
}
