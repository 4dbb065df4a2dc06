// Formats numbers for people, in messages and on the terminal.

/** Formats a count with its noun: `1 page`, `12,345 pages`, or `2 entries` if the plural is given. */
export function counted(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** Groups the digits of a count: `12,345`. */
export function grouped(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** Formats a number of bytes: `512 B`, `1.5 kB`, `12 MB`. */
export function size(bytes: number): string {
  let value = bytes;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (value < 999.5) return `${value < 10 && unit !== "B" ? value.toFixed(1) : Math.round(value)} ${unit}`;
    value /= 1000;
  }
  return `${value.toFixed(1)} TB`;
}

/** Formats a time or a time limit: `400 ms`, `1.5 s`, `12 s`, `2 min 5 s`, `3 min`, `1 h 30 min`, `2 d 4 h`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  const tenths = Math.round(milliseconds / 100) / 10;
  if (tenths < 10) return `${tenths} s`;
  // Rounding comes before dividing, so that 179.6 s become 3 min, not 2 min 60 s.
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 3600) return inTwoUnits(seconds, 60, "min", "s");
  const minutes = Math.round(seconds / 60);
  return minutes < 48 * 60 ? inTwoUnits(minutes, 60, "h", "min") : inTwoUnits(Math.round(minutes / 60), 24, "d", "h");
}

function inTwoUnits(count: number, length: number, large: string, small: string): string {
  const rest = count % length;
  return `${Math.floor(count / length)} ${large}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}

/** Formats a size limit: `100 MiB` or `500 KiB` if it is a whole number of KiB, `1.2 MB` if not. */
export function amount(bytes: number): string {
  const kibibytes = bytes / 1024;
  if (kibibytes < 1 || !Number.isInteger(kibibytes)) return size(bytes);
  return kibibytes % 1024 === 0 ? `${grouped(kibibytes / 1024)} MiB` : `${grouped(kibibytes)} KiB`;
}
