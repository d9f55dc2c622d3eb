import { describe, expect, it } from 'vitest';
import { getPackedRunPath, getRunFolderPath } from './run-place.js';

const ADVICE =
  'Use 1 to 128 letters (A to Z, a to z), digits, dots, underscores and hyphens, and start with a letter or a digit.';

describe('a run id', () => {
  it.each(['a', '01JC', 'run_1.2-x', 'x'.repeat(128)])('can be %s', (id) => {
    expect(getRunFolderPath('/data', id)).toBe(`/data/runs/${id}`);
    expect(getPackedRunPath('/data', id)).toMatch(/^\/data\/packed\/[0-9a-f]{3}\//);
  });

  it.each([
    ['', '""'],
    ['.hidden', '".hidden"'],
    ['-x', '"-x"'],
    ['../other', '"../other"'],
    ['größe', '"größe"'],
    ['x'.repeat(129), `"${'x'.repeat(128)}…"`],
  ])('must not be %j, and the error explains what is allowed', (id, expected) => {
    const error = expect.objectContaining({ code: 'INVALID_RUN_ID', message: `Invalid run id ${expected}. ${ADVICE}` });
    expect(() => getRunFolderPath('/data', id)).toThrow(error);
    expect(() => getPackedRunPath('/data', id)).toThrow(error);
  });
});
