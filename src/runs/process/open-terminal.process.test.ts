import { expect, it, vi } from 'vitest';
import { launchProcess } from './launch-process.js';

vi.mock('@lydell/node-pty', () => {
  throw new Error('Cannot find package');
});

it('names the package that a terminal needs if it is not installed', async () => {
  const command = { command: [process.execPath] as const, cwd: process.cwd(), env: {}, terminal: true };
  await expect(launchProcess(command)).rejects.toMatchObject({
    code: 'PTY_NOT_INSTALLED',
    message: expect.stringContaining('npm install @lydell/node-pty'),
  });
});
