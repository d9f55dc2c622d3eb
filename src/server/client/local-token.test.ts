import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { findToken } from './send-request.js';

async function storeToken(value: string): Promise<string> {
  const folder = await makeFolder({});
  await mkdir(join(folder, 'sluice'));
  await writeFile(join(folder, 'sluice/token'), `${value}\n`);
  vi.stubEnv('XDG_DATA_HOME', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

describe('findToken', () => {
  it.each(['http://127.0.0.1:7171', 'http://localhost:7171', 'http://[::1]:7171', 'http://127.9.9.9'])(
    'returns the user token for a server on this host: %s',
    async (url) => {
      await storeToken('the-token');
      expect(findToken(url)).toBe('the-token');
    },
  );

  it.each([
    'https://sluice.example',
    'http://127.0.0.1.evil.example',
    'http://localhost@evil.example',
    'http://10.0.0.1',
    '',
  ])('returns undefined for another server: %s', async (url) => {
    await storeToken('the-token');
    expect(findToken(url)).toBeUndefined();
  });

  it('returns SLUICE_TOKEN if it is set', async () => {
    await storeToken('the-token');
    vi.stubEnv('SLUICE_TOKEN', 'another');
    expect(findToken('http://127.0.0.1:7171')).toBe('another');
    expect(findToken('https://sluice.example')).toBe('another');
  });

  it('returns undefined if no server has generated a token, and in a browser', async () => {
    const folder = await storeToken('the-token');
    vi.stubGlobal('process', undefined);
    expect(findToken('http://127.0.0.1:7171')).toBeUndefined();
    vi.unstubAllGlobals();
    await rm(folder, { recursive: true });
    expect(findToken('http://127.0.0.1:7171')).toBeUndefined();
  });
});
