import { expect, test } from 'vitest';
import { acquireStreamSlot } from './share-stream.js';
import type { Release } from './share-stream.js';

/** Simulates browser locks. */
function createLocks(): Pick<LockManager, 'request'> {
  const heldLocks = new Set<string>();
  const request = async (name: string, _options: unknown, use: (lock: Lock | null) => Promise<void>): Promise<void> => {
    if (heldLocks.has(name)) return use(null);
    heldLocks.add(name);
    await use({ name, mode: 'exclusive' });
    heldLocks.delete(name);
  };
  return { request } as unknown as Pick<LockManager, 'request'>;
}

test('all tabs together have four streams, and a released stream can be acquired again', async () => {
  const locks = createLocks();
  const slots: (Release | null)[] = [];
  for (let count = 0; count < 6; count += 1) slots.push(await acquireStreamSlot(locks));
  expect(slots.map((slot) => slot !== null)).toEqual([true, true, true, true, false, false]);
  slots[1]?.();
  await Promise.resolve();
  await Promise.resolve();
  expect(await acquireStreamSlot(locks)).not.toBeNull();
});
