import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from './load-config.js';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'sluice-config-'));
});
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true });
});

const write = async (name: string, text: string): Promise<void> => writeFile(join(cwd, name), text);

describe('settings', () => {
  it('have a default each: a folder here and a SQLite file in it', async () => {
    expect(await loadConfig({ cwd, env: {} })).toEqual({
      data: join(cwd, '.sluice'),
      database: `sqlite:${join(cwd, '.sluice', 'sluice.db')}`,
      file: null,
    });
  });

  it('come from a flag before the environment before the file', async () => {
    await write('sluice.config.json', '{"data": "from-file", "database": "sqlite:file.db"}');
    const env = { SLUICE_DATA: 'from-env' };
    expect((await loadConfig({ cwd, env: {} })).data).toBe(join(cwd, 'from-file'));
    expect((await loadConfig({ cwd, env })).data).toBe(join(cwd, 'from-env'));
    expect((await loadConfig({ cwd, env, flags: { data: 'from-flag' } })).data).toBe(join(cwd, 'from-flag'));
  });

  it('keep the database beside the data unless one is named', async () => {
    expect((await loadConfig({ cwd, env: {}, flags: { data: 'd' } })).database).toBe(
      `sqlite:${join(cwd, 'd', 'sluice.db')}`,
    );
    const { database } = await loadConfig({ cwd, env: { SLUICE_DATABASE: 'postgres://db/x' }, flags: { data: 'd' } });
    expect(database).toBe('postgres://db/x');
  });

  it('of a file are relative to the file', async () => {
    await write('other.json', '{"data": "here", "database": "sqlite:here.db", "roots": ["work"]}');
    const config = await loadConfig({ cwd: '/', env: { SLUICE_CONFIG: join(cwd, 'other.json') } });
    expect(config.data).toBe(join(cwd, 'here'));
    expect(config.database).toBe(`sqlite:${join(cwd, 'here.db')}`);
    expect(config.roots).toEqual([join(cwd, 'work')]);
  });

  it('may be a module', async () => {
    await write(
      'sluice.config.mjs',
      'export default { wrappers: { mine: { type: "script", command: ["./work.sh"] } } }',
    );
    expect((await loadConfig({ cwd, env: {} })).wrappers).toEqual({ mine: { type: 'script', command: ['./work.sh'] } });
  });

  it.each([
    ['no JSON', 'sluice.config.json', '{"data": '],
    ['a key that is not known', 'sluice.config.json', '{"dta": "x"}'],
    ['a value of the wrong type', 'sluice.config.json', '{"wrappers": {"a": {"type": "script", "command": "rm -rf"}}}'],
    ['a module without a default', 'sluice.config.mjs', 'export const data = "x"'],
    ['a module that throws', 'sluice.config.mjs', 'throw new Error("no")'],
  ])('are refused with the file and the reason for %s', async (_, name, text) => {
    await write(name, text);
    await expect(loadConfig({ cwd, env: {} })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining(name),
    });
  });

  it('are refused if the file that was named is not there', async () => {
    await expect(loadConfig({ cwd, env: {}, flags: { config: 'gone.json' } })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
    });
  });
});
