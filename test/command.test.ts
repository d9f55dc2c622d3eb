import { describe, expect, it } from 'vitest';
import { PROJECT, run } from '../scripts/run-tool.js';
import { MAIN } from './command-stage.js';
import { startCommand } from './start-command.js';
import { makeFolder } from './temporary-folder.js';

describe('the built command', () => {
  it('parses a file against a schema and exits with 1 when it fails', async () => {
    const folder = await makeFolder({
      'answer.txt': '{"a": "x"}',
      'schema.json': '{"properties":{"a":{"type":"number"}}}',
    });
    const { exitCode, stdout } = await run(
      process.execPath,
      [MAIN, 'parse', 'answer.txt', '--schema', 'schema.json'],
      folder,
    );
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', error: { code: 'SCHEMA_MISMATCH' } });
  });

  it('exits with 2 and prints one line if a file is missing or is a folder', async () => {
    for (const [file, reason] of [
      ['gone.txt', 'no such file'],
      ['.', 'it is a folder'],
    ] as const) {
      const { exitCode, stderr } = await run(process.execPath, [MAIN, 'repair', file], PROJECT);
      expect(exitCode).toBe(2);
      expect(stderr).toBe(`sluice: Cannot read "${file}": ${reason}. Check the path.\n`);
    }
  });

  it('reports LIMIT_EXCEEDED for JSON with 100,000 levels', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const { exitCode, stdout } = await run(process.execPath, [MAIN, 'parse'], PROJECT, deep);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'LIMIT_EXCEEDED' } });
  });

  it('writes large output completely', async () => {
    const value = { list: Array.from({ length: 200_000 }, (_, index) => `item ${index}`) };
    const { exitCode, stdout } = await run(process.execPath, [MAIN, 'parse'], PROJECT, JSON.stringify(value));
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ value });
  });

  it('exits silently when its output is closed', async () => {
    const { child, printed, exitCode } = startCommand(['repair'], PROJECT, {}, MAIN);
    child.stdout.destroy();
    child.stdin.end(`["${'x'.repeat(2_000_000)}"]`);
    expect({ exitCode: await exitCode, stderr: printed.stderr }).toEqual({ exitCode: 0, stderr: '' });
  });

  it('does not wait for standard input when a file is named', async () => {
    const folder = await makeFolder({ 'a.json': '{}' });
    const { child, exitCode } = startCommand(['repair', 'a.json'], folder, {}, MAIN);
    expect(await exitCode).toBe(0);
    child.stdin.destroy();
  });
});
