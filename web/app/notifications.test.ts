import { afterEach, expect, test, vi } from 'vitest';
import type { WaitingEntry } from '../../src/server/api/index.js';

const SINK: WaitingEntry = {
  kind: 'sink',
  id: 'sink hook',
  at: '2026-11-15T06:30:00.000Z',
  text: 'hook responded with 401',
  sink: 'hook',
  state: 'broken',
  open: 1,
  dead: 0,
};

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a browser that cannot show notifications turns them off, and the error does not stop polling', async () => {
  class UnsupportedNotification {
    static readonly permission = 'granted';

    constructor() {
      throw new TypeError('Illegal constructor.');
    }
  }
  vi.stubGlobal('Notification', UnsupportedNotification);
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('localStorage', { getItem: () => 'on' });
  vi.stubGlobal('document', { hidden: true });
  vi.stubGlobal('navigator', { languages: ['en-US'] });
  vi.stubGlobal('location', { pathname: '/inbox', search: '', hash: '' });
  const { isNotifying, notify } = await import('./notifications.js');
  expect(isNotifying.value).toBe(true);
  expect(() => notify([SINK])).not.toThrow();
  expect(isNotifying.value).toBe(false);
});
