import { describe, expect, it } from 'vitest';
import { createMemoryIo } from './fixtures/memory-io.js';
import { run } from './run.js';
import { VERSION } from '../base/files/index.js';

async function sluice(...argv: string[]) {
  const io = createMemoryIo({});
  return { exitCode: await run(argv, io), ...io.printed };
}

describe('sluice', () => {
  it('prints help on stdout on request', async () => {
    const { exitCode, stdout, stderr } = await sluice('--help');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ {2}parse .*\n(?: {20}.*\n)*^ {2}repair /m);
    expect(stderr).toBe('');
  });

  it('prints help on stderr and exits with 2 without a command', async () => {
    const { exitCode, stdout, stderr } = await sluice();
    expect(exitCode).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Usage: sluice');
  });

  it('prints its version', async () => {
    expect(await sluice('--version')).toEqual({ exitCode: 0, stdout: `${VERSION}\n`, stderr: '' });
    expect(VERSION).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('suggests the closest command', async () => {
    const { exitCode, stderr } = await sluice('prase');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Did you mean parse?');
  });

  it.each([
    ['help', 'prase'],
    ['prase', '--help'],
    ['help', 'prase', 'x'],
  ])('suggests the closest command in reply to a request for help: %s %s', async (...words) => {
    expect(await sluice(...words)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: "sluice: Unknown command 'prase'\n(Did you mean parse?)\n(see sluice --help for the list of commands)\n",
    });
  });

  it('prints the same help for `help NAME` and `NAME --help`', async () => {
    const helpOutput = await sluice('help', 'parse');
    expect(helpOutput).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Usage: sluice parse /) });
    expect(await sluice('parse', '--help')).toEqual(helpOutput);
    expect(await sluice('help', 'help')).toEqual(await sluice('help'));
  });

  it('reports a usage error and refers to the help', async () => {
    expect(await sluice('repair', '--nope')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: "sluice: Unknown option '--nope'\n(see sluice repair --help)\n",
    });
    expect(await sluice('\u001b[2J')).toMatchObject({ stderr: expect.stringMatching(/^sluice: .*'␛\[2J'\n/) });
  });
});
