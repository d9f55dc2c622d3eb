import { expect, it, vi } from 'vitest';
import { launchProcess } from './launch-process.js';

vi.mock('@lydell/node-pty', () => {
  throw new Error('Cannot find package');
});

const command = { command: [process.execPath, '-p', '7'] as const, cwd: process.cwd(), env: {} };

it('names the package that a terminal needs if it is not installed', async () => {
  await expect(launchProcess({ ...command, terminal: true })).rejects.toMatchObject({
    code: 'PTY_NOT_INSTALLED',
    message: expect.stringContaining('npm install @lydell/node-pty'),
  });
});

it('launches a process with pipes alone if a terminal is optional', async () => {
  const { output } = await launchProcess({ ...command, terminal: 'optional' });
  const streams: string[] = [];
  for await (const { stream } of output) streams.push(stream);
  expect(streams).toEqual(['stdout']);
});
