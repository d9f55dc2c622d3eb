import { describe, expect, it } from 'vitest';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

async function repairCommand(text: string, args: readonly string[] = []) {
  const io = createMemoryIo({ 'broken.json': "{'a': 1,}" }, { stdin: text });
  return { exitCode: await run(['repair', ...args], io), ...io.printed };
}

describe('sluice repair', () => {
  it('prints valid JSON', async () => {
    const { exitCode, stdout, stderr } = await repairCommand('{a: [1, 2');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ a: [1, 2] });
  });

  it('reads the given file', async () => {
    const { exitCode, stdout } = await repairCommand('', ['broken.json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ a: 1 });
  });

  it('leaves valid JSON unchanged except for the trailing newline', async () => {
    expect(await repairCommand('{ "a" : 1.0e2 }\n')).toMatchObject({ stdout: '{ "a" : 1.0e2 }\n' });
  });

  it('escapes control sequences for a terminal, and leaves them unchanged when piped', async () => {
    const text = '{"a": "\u009B31m"}';
    expect(await repairCommand(text)).toMatchObject({ stdout: `${text}\n` });
    const io = createMemoryIo({}, { stdin: text, isTerminal: true });
    await run(['repair'], io);
    expect(io.printed.stdout).toBe(String.raw`{"a": "\u009b31m"}` + '\n');
  });

  it('exits with 1 and the reason if the input cannot be repaired', async () => {
    const { exitCode, stdout, stderr } = await repairCommand('');
    expect(exitCode).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^sluice: [A-Z_]+: /);
  });

  it('exits with 2 if the file cannot be read', async () => {
    expect(await repairCommand('', ['gone.txt'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'sluice: Cannot read "gone.txt": no such file. Check the path.\n',
    });
  });
});
