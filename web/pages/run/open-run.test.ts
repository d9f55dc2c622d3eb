import { afterEach, expect, test, vi } from 'vitest';
import { openRun } from './open-run.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Stubs the page, and returns the names of the events that it has listeners for. */
function stubPage(): Set<string> {
  const listeners = new Set<string>();
  vi.stubGlobal('document', {
    hidden: false,
    addEventListener: (name: string) => void listeners.add(name),
    removeEventListener: (name: string) => void listeners.delete(name),
  });
  return listeners;
}

test('a run that was never followed has no listeners', () => {
  const listeners = stubPage();
  openRun('run', null);
  expect(listeners).toEqual(new Set());
});

test('a followed run listens for page visibility until it is closed', () => {
  const listeners = stubPage();
  vi.stubGlobal('fetch', async () => new Response(null, { status: 204 }));
  const run = openRun('run', null);
  run.follow();
  expect(listeners).toEqual(new Set(['visibilitychange']));
  run.close();
  expect(listeners).toEqual(new Set());
});
