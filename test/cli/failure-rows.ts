// What can fail in a fleet on several machines. The table of docs/fleet.md has these rows, and each is a test.

export const failureRows = [
  "A worker is killed",
  "A worker is suspended for longer than its lease, then resumes",
  "Redis is killed and restarted",
  "The connection to Redis is lost",
  "Redis is full",
  "A website repeatedly crashes its worker",
] as const;
