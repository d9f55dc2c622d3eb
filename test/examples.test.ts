import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';
import { runScript } from './bundle-program.js';

/**
 * Not run here: the streaming examples start `scripted-model`, `sluice serve` replays `recorded-agents`, and
 * `openapi-clients.test.ts` runs `python-client`.
 */
const PROGRAMS = readdirSync(join(PROJECT, 'examples')).filter(
  (name) => !['scripted-model', 'recorded-agents', 'python-client'].includes(name),
);

describe('the examples', () => {
  it.each(PROGRAMS)('%s runs and prints its output.txt', async (name) => {
    const { exitCode, stdout, stderr } = await runScript(`examples/${name}/main.ts`);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await expect(stdout).toMatchFileSnapshot(join(PROJECT, 'examples', name, 'output.txt'));
  });
});
