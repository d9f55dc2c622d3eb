import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { getErrorCode, SluiceError } from './sluice-error.js';

it('getErrorCode returns the code of a Node.js or Sluice error', async () => {
  expect(getErrorCode(await readFile('/no/such/file').catch((error: unknown) => error))).toBe('ENOENT');
  expect(getErrorCode(new SluiceError('NO_JSON', 'No JSON found.'))).toBe('NO_JSON');
});

it.each([new Error('without'), Object.assign(new Error('a number'), { code: 7 }), { code: 'ENOENT' }, 'ENOENT', null])(
  'getErrorCode returns undefined for %o',
  (thrown) => {
    expect(getErrorCode(thrown)).toBeUndefined();
  },
);
