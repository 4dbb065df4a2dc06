// The message of a system error, without its code and path.

/** `no such file or directory` of `ENOENT: no such file or directory, open 'x'`. */
export function systemReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const reason = /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
  // Node.js puts the reason into messages of its own, too, where a package cannot be loaded.
  return /\btoo many open files\.?$/.test(reason) ? `${reason.replace(/\.$/, "")}; \`ulimit -n\` allows more` : reason;
}

/** Whether an error is one of the system: about a file, a folder, memory, or open files. */
export function isSystemError(
  error: unknown,
): error is Error & { readonly code: string; readonly syscall: string; readonly path?: string } {
  return (
    error instanceof Error && "syscall" in error && /^E[A-Z0-9]+$/.test(String((error as { code?: unknown }).code))
  );
}
