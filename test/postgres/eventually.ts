import { vi } from 'vitest';

/** Waits until a check passes, with a timeout long enough for a slow host. */
export async function eventually(check: () => unknown): Promise<void> {
  await vi.waitFor(check, { timeout: 30_000, interval: 20 });
}
