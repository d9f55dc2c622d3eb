import { vi } from 'vitest';

/** Waits until a check passes, however slow the machine is. */
export async function eventually(check: () => unknown): Promise<void> {
  await vi.waitFor(check, { timeout: 30_000, interval: 20 });
}
