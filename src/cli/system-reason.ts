// What the system says when a file cannot be used, without the jargon around it.

/** `no such file or directory` of `ENOENT: no such file or directory, open 'x'`. */
export function systemReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
}
