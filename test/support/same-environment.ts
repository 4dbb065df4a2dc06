// Test files share processes (vitest.config.ts), so this undoes what one of them changed in the environment before the next begins.
import { afterAll } from "vitest";

const before = { ...process.env };

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

// Compilers ask for a report about the process. With its connections, the report would look up the name of every address.
if (process.report !== undefined) Object.assign(process.report, { excludeNetwork: true });
