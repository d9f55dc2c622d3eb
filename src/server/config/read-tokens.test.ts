import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { readTokens } from './tokens.js';

const ada = { name: 'ada', scopes: ['read', 'decide'], value: 'a-long-enough-secret' } as const;

describe('server tokens', () => {
  it('are an empty list by default', () => {
    expect(readTokens({}, {})).toEqual([]);
  });

  it('in the environment override those in the configuration', () => {
    const env = { SLUICE_TOKENS: JSON.stringify([ada]) };
    expect(readTokens({ tokens: [{ name: 'bob', scopes: [], value: 'x' }] }, env)).toEqual([ada]);
    expect(readTokens({ tokens: [ada] }, { SLUICE_TOKENS: ' ' })).toEqual([ada]);
  });

  it('come from a file that the environment names', async () => {
    const folder = await makeFolder({ tokens: JSON.stringify([ada]), long: 'x'.repeat(1024 * 1024 + 1) });
    const read = (name: string, env = {}) => readTokens({}, { SLUICE_TOKENS_FILE: join(folder, name), ...env });
    expect(read('tokens')).toEqual([ada]);
    expect(() => read('missing')).toThrow(/SLUICE_TOKENS_FILE.*ENOENT/);
    expect(() => read('.')).toThrow('is not a regular file');
    expect(() => read('long')).toThrow('larger than');
    expect(() => read('tokens', { SLUICE_TOKENS: '[]' })).toThrow('both set');
    await writeFile(join(folder, 'tokens'), 'hush-hush');
    expect(() => read('tokens')).toThrow(/^The file in SLUICE_TOKENS_FILE is not valid JSON/);
    expect(() => read('tokens')).not.toThrow('hush');
  });

  it('can name the environment variable with the value', () => {
    const tokens = [{ name: 'ada', scopes: ['read'], value_env: 'ADA' }] as const;
    expect(readTokens({ tokens }, { ADA: 'a-secret-of-this-length' })).toEqual([
      { name: 'ada', scopes: ['read'], value: 'a-secret-of-this-length' },
    ]);
    expect(() => readTokens({ tokens }, {})).toThrow(/ADA/);
  });

  it.each([
    ['invalid JSON', 'hush-hush', /not valid JSON/],
    ['another shape', '[{"name":"ada","scopes":["fly"],"value":"hush-hush"}]', /0\.scopes\.0/],
    ['an object instead of a list', '{"hush-hush":1}', /is invalid/],
    ['no value', '[{"name":"ada","scopes":[]}]', /Set value_env/],
    ['a value that can be guessed', '[{"name":"ada","scopes":[],"value":"hush-hush"}]', /at least 16/],
    ['two tokens of the same name', JSON.stringify([ada, ada]), /^Two tokens/],
  ])('are rejected for %s, without repeating a secret', (_, variable, message) => {
    const read = () => readTokens({}, { SLUICE_TOKENS: variable });
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }));
    expect(read).not.toThrow(/hush-hush|long-enough/);
  });
});
