// Figures as people read them.

/** `1 page`, `12,345 pages`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `12,345`. */
export function grouped(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** `512 B`, `1.5 kB`, `12 MB`. */
export function size(bytes: number): string {
  let value = bytes;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (value < 999.5) return `${value < 10 && unit !== "B" ? value.toFixed(1) : Math.round(value)} ${unit}`;
    value /= 1000;
  }
  return `${value.toFixed(1)} TB`;
}

/** `0.4 s`, `12 s`, `2 min 5 s`. */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
