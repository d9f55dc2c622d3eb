import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { findProjectData } from '../../base/files/index.js';
import { configFileSchema } from './config.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { addAgentToConfig, loadConfig, parseConfigJson } from './load-config.js';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'sluice-config-'));
});
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true });
});

const write = async (name: string, text: string): Promise<void> => writeFile(join(cwd, name), text);

it('a JSON configuration may contain comments, and its schema for editors is published', async () => {
  await write(
    'sluice.config.json',
    '{\n// "a"\n"$schema": "https://x/*y*/", /* "lease_s": 1, */ "lease_s": 5 // end\n}',
  );
  expect(await loadConfig({ cwd, env: {} })).toMatchObject({ lease_s: 5 });
  await write('sluice.config.json', '{ // "a"\n "lease_s": oops }');
  await expect(loadConfig({ cwd, env: {} })).rejects.toThrow(/oops|position 19/);
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Sluice', ...configFileSchema };
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot('../../../schemas/config.json');
});

describe('settings', () => {
  it('have defaults: a folder outside the project and a SQLite file in it', async () => {
    const env = { HOME: '/home/ada' };
    const data = findProjectData(cwd, env);
    expect(data).toMatch(/^\/home\/ada\/\.local\/share\/sluice\/projects\//);
    expect(await loadConfig({ cwd, env })).toEqual({
      data,
      database: `sqlite:${join(data, 'sluice.db')}`,
      warnings: [],
      file: null,
    });
  });

  it('come with a warning if an agent replaces a built-in engine, and cannot replace `command`', async () => {
    const agents = { copilot: { acp: ['copilot', '--acp'] }, 'gemini-acp': { acp: ['g'] }, goose: { acp: ['goose'] } };
    await write('c.json', JSON.stringify({ agents }));
    const { warnings } = await loadConfig({ cwd, env: {}, flags: { config: 'c.json', data: 'd' } });
    expect(warnings).toEqual([
      expect.stringMatching(/^agents\.copilot replaces the built-in engine copilot\. Give/u),
      expect.stringMatching(/^agents\.gemini-acp replaces/u),
    ]);
    await write('c.json', JSON.stringify({ agents: { command: { acp: ['x'] } } }));
    await expect(loadConfig({ cwd, env: {}, flags: { config: 'c.json' } })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('agents'),
    });
  });

  it('come from a flag, or else the environment, or else the file', async () => {
    await write('sluice.config.json', '{"data": "from-file", "database": "sqlite:file.db"}');
    const environment = { SLUICE_CONFIG: 'sluice.config.json' };
    const env = { ...environment, SLUICE_DATA: 'from-env' };
    expect((await loadConfig({ cwd, env: environment })).data).toBe(join(cwd, 'from-file'));
    expect((await loadConfig({ cwd, env })).data).toBe(join(cwd, 'from-env'));
    expect((await loadConfig({ cwd, env, flags: { data: 'from-flag' } })).data).toBe(join(cwd, 'from-flag'));
  });

  it('can set the database, its pool size, or both', async () => {
    await write('pool.json', '{"database": {"url": "sqlite:here.db", "pool": 3}}');
    const config = await loadConfig({ cwd, env: {}, flags: { config: 'pool.json' } });
    expect(config).toMatchObject({ database: `sqlite:${join(cwd, 'here.db')}`, pool: 3 });
    await write('pool.json', '{"database": {"pool": 20}}');
    const configFromOtherFolder = await loadConfig({
      cwd,
      env: { SLUICE_DATABASE: 'postgres://db/x' },
      flags: { config: 'pool.json' },
    });
    expect(configFromOtherFolder).toMatchObject({ database: 'postgres://db/x', pool: 20 });
  });

  it('keep the database in the data folder by default', async () => {
    expect((await loadConfig({ cwd, env: {}, flags: { data: 'd' } })).database).toBe(
      `sqlite:${join(cwd, 'd', 'sluice.db')}`,
    );
    const { database } = await loadConfig({ cwd, env: { SLUICE_DATABASE: 'postgres://db/x' }, flags: { data: 'd' } });
    expect(database).toBe('postgres://db/x');
  });

  it('have paths that are relative to the file', async () => {
    await write('other.json', '{"data": "here", "database": "sqlite:here.db", "roots": ["work"]}');
    const config = await loadConfig({ cwd: '/', env: { SLUICE_CONFIG: join(cwd, 'other.json') } });
    expect(config.data).toBe(join(cwd, 'here'));
    expect(config.database).toBe(`sqlite:${join(cwd, 'here.db')}`);
    expect(config.roots).toEqual([join(cwd, 'work')]);
  });

  it('resolve executables and sink folders relative to the file', async () => {
    const sinks = [
      { type: 'markdown', dir: 'comments' },
      { type: 'github', token_env: 'T' },
    ];
    const programs = { codex: './bin/codex', gemini: 'gemini', qwen: '/opt/qwen' };
    await write('other.json', JSON.stringify({ sinks, programs, comment_template: 'comment.md' }));
    const config = await loadConfig({ cwd: '/', env: {}, flags: { config: join(cwd, 'other.json') } });
    expect(config.comment_template).toBe(join(cwd, 'comment.md'));
    expect(config.sinks).toEqual([{ ...sinks[0], dir: join(cwd, 'comments') }, sinks[1]]);
    expect(config.programs).toEqual({ ...programs, codex: join(cwd, 'bin', 'codex') });
  });

  it('can start an engine with arguments, where only the executable is a path', async () => {
    const programs = { codex: ['npx', 'codex', '--flag'], gemini: ['./bin/gemini', './x'] };
    await write('sluice.config.json', JSON.stringify({ programs }));
    const config = await loadConfig({ cwd, env: {}, flags: { config: 'sluice.config.json' } });
    expect(config.programs).toEqual({ ...programs, gemini: [join(cwd, 'bin', 'gemini'), './x'] });
  });

  it.each([
    ['an empty list', { codex: [] }],
    ['an empty string', { codex: '' }],
    ['set for the engine command', { command: 'codex' }],
    ['a number', { codex: 1 }],
  ])('are rejected if an executable is %s', async (_, programs) => {
    await write('sluice.config.json', JSON.stringify({ programs }));
    await expect(loadConfig({ cwd, env: {} })).rejects.toThrow(/^Invalid configuration in .*: programs\b/);
  });

  it('can start with a byte order mark', async () => {
    await write('sluice.config.json', '\uFEFF{"lease_s": 5}');
    expect((await loadConfig({ cwd, env: {} })).lease_s).toBe(5);
  });

  it('can be a module', async () => {
    await write(
      'sluice.config.mjs',
      'export default { wrappers: { mine: { type: "script", command: ["./work.sh"] } } }',
    );
    const { wrappers } = await loadConfig({ cwd, env: {}, flags: { config: 'sluice.config.mjs' } });
    expect(wrappers).toEqual({ mine: { type: 'script', command: ['./work.sh'] } });
  });

  it.each([
    ['invalid JSON', 'sluice.config.json', '{"data": '],
    ['an unknown key', 'sluice.config.json', '{"dta": "x"}'],
    ['a command instead of the name of a git filter', 'sluice.config.json', '{"git": {"filters": ["a b"]}}'],
    ['too many git filters', 'sluice.config.json', `{"git": {"filters": [${'"a",'.repeat(16)}"a"]}}`],
    ['an unknown setting of git', 'sluice.config.json', '{"git": {"hooks": []}}'],
    ['a value of the wrong type', 'sluice.config.json', '{"wrappers": {"a": {"type": "script", "command": "rm -rf"}}}'],
    ['a module without a default', 'sluice.config.mjs', 'export const data = "x"'],
    ['a module that throws', 'sluice.config.mjs', 'throw new Error("no")'],
  ])('are rejected for %s, with the file name', async (_, name, text) => {
    await write(name, text);
    await expect(loadConfig({ cwd, env: {}, flags: { config: name } })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining(name),
    });
  });

  it.each([
    ['does not exist', 'gone.json', 'no such file'],
    ['is a folder', '.', 'it is not a file'],
    ['is a module that does not exist', 'gone.mjs', 'no such file'],
    ['has a file as its folder', 'x.json/y.json', 'ENOTDIR'],
  ])('are rejected if the given file %s', async (_, config, why) => {
    await write('x.json', '{}');
    await expect(loadConfig({ cwd, env: {}, flags: { config } })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining(why),
    });
  });

  it('are rejected if the file is too large', async () => {
    await write('sluice.config.json', `{"data": "${'x'.repeat(1024 * 1024)}"}`);
    await expect(loadConfig({ cwd, env: {} })).rejects.toThrow('larger than');
  });

  it('are rejected if the module never finishes loading', async () => {
    await write('sluice.config.mjs', 'await new Promise(() => undefined); export default {}');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const loading = loadConfig({ cwd, env: {}, flags: { config: 'sluice.config.mjs' } }).catch(
      (error: unknown) => error,
    );
    while (vi.getTimerCount() === 0) await nextTurn();
    vi.advanceTimersByTime(10_000);
    expect(await loading).toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining('took longer than 10 s'),
    });
  });

  it.each([
    ['{"database": {"pool": 1}}', 'database.pool'],
    ['{"database": {"pool": "many"}}', 'database.pool'],
    ['{"database": {"size": 3}}', 'unknown key (use one of: url, pool)'],
    ['{"sinkss": []}', 'sinkss: unknown key (did you mean "sinks"?).'],
    ['{"server": {"prot": 1}}', 'server.prot: unknown key (use one of: host, port,'],
    ['{"retention": {"run": 1}}', 'retention.run: unknown key (did you mean "runs"?)'],
    ['{"agents": {"mine": {"command": ["x"]}}}', 'agents.mine'],
    ['{"agents": {"mine": {"command": ["x"], "format": "codx"}}}', 'agents.mine.format'],
    ['{"port": 80}', 'port: unknown key (did you mean "server.port"?)'],
    ['{"agents": {"mine": {"command": ["x"], "format": "acp"}}}', 'agents.mine.format'],
    ['{"agents": {"mine": {"acp": ["x"], "format": "codex"}}}', 'agents.mine'],
    ['{"agents": {"My Agent": {"acp": ["x"]}}}', 'agents'],
    ['{"programs": {"codx": "codex"}}', 'programs.codx: unknown key (did you mean "codex"?)'],
    ['{"wrappers": {"mine": {"type": "script", "comand": ["x"]}}}', 'wrappers.mine.comand'],
  ])('are rejected, with the location or the known keys: %s', async (text, expected) => {
    await write('sluice.config.json', text);
    await expect(loadConfig({ cwd, env: {} })).rejects.toThrow(expected);
  });

  it('ignore empty flags', async () => {
    const flags = { config: '', data: '', database: '' };
    expect(await loadConfig({ cwd, env: {}, flags })).toEqual(await loadConfig({ cwd, env: {} }));
  });

  it('ignore empty variables', async () => {
    const env = { SLUICE_CONFIG: '', SLUICE_DATA: '', SLUICE_DATABASE: '' };
    expect(await loadConfig({ cwd, env })).toEqual(await loadConfig({ cwd, env: {} }));
  });
});

const AGENT = { acp: ['pi-acp'] };

async function add(text: string): Promise<string> {
  const file = join(await makeFolder({}), 'sluice.config.json');
  await writeFile(file, text);
  await addAgentToConfig(file, 'pi', AGENT);
  return readFile(file, 'utf8');
}

describe('adding an agent to a configuration', () => {
  it('keeps comments', async () => {
    const text = '// Ours.\n{\n  // How long.\n  "lease_s": 5\n}\n';
    const changed = await add(text);
    expect(changed).toContain('// Ours.\n{');
    expect(changed).toContain('// How long.\n  "lease_s": 5');
    expect(parseConfigJson(changed)).toEqual({ lease_s: 5, agents: { pi: AGENT } });
    expect(parseConfigJson(await add('{ /* empty */ }'))).toEqual({ agents: { pi: AGENT } });
  });

  it('adds to the agents of a file without comments', async () => {
    expect(parseConfigJson(await add('{"agents": {"a": {"acp": ["a"]}}}'))).toEqual({
      agents: { a: { acp: ['a'] }, pi: AGENT },
    });
  });

  it.each([
    ['comments and agents', '{ // x\n "agents": {} }', 'Add: {"pi":'],
    ['a brace in a comment before it', '/*\n{ */ { "lease_s": 5 } // x', 'Add: {"pi":'],
    ['no configuration', '[1', 'does not contain a configuration'],
    ['this agent', '{"agents": {"pi": {"acp": ["x"]}}}', 'already has agents.pi'],
  ])('leaves a file with %s unchanged, and says why', async (_, text, why) => {
    const file = join(await makeFolder({ 'c.json': text }), 'c.json');
    await expect(addAgentToConfig(file, 'pi', AGENT)).rejects.toThrow(why);
    expect(await readFile(file, 'utf8')).toBe(text);
  });
});
