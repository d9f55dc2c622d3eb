import { afterEach, expect, test, vi } from 'vitest';
import { openRun } from './open-run.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A page that knows who listens to it. */
function openPage(): Set<string> {
  const listeners = new Set<string>();
  vi.stubGlobal('document', {
    hidden: false,
    addEventListener: (name: string) => void listeners.add(name),
    removeEventListener: (name: string) => void listeners.delete(name),
  });
  return listeners;
}

test('a run closed before it was followed leaves no listeners', () => {
  const listeners = openPage();
  openRun('run', null);
  expect(listeners).toEqual(new Set());
});

test('a followed run listens for page visibility until it is closed', () => {
  const listeners = openPage();
  vi.stubGlobal('fetch', async () => new Response(null, { status: 204 }));
  const run = openRun('run', null);
  run.follow();
  expect(listeners).toEqual(new Set(['visibilitychange']));
  run.close();
  expect(listeners).toEqual(new Set());
});
