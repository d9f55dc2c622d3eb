import { describe, expect, it } from 'vitest';
import { PROJECT, run } from '../scripts/run-tool.js';
import { MAIN } from './command-stage.js';
import { startCommand } from './start-command.js';
import { makeFolder } from './temporary-folder.js';

/** Tests the published files; most other tests of the product start the bundled command. */
describe('the built product', () => {
  it('parses standard input', async () => {
    const { exitCode, stdout, stderr } = await run(process.execPath, [MAIN, 'parse'], PROJECT, 'It is {"a": 1,}.');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'success', value: { a: 1 } });
  });

  it('runs an agent and prints its validated result', async () => {
    const folder = await makeFolder({ 'schema.json': '{"required": ["a"]}', 'answer.txt': 'Here: {"a": 1,}' });
    const args = ['run', '--engine', 'command', '--schema', 'schema.json', '--', 'cat', 'answer.txt'];
    const { printed, exitCode } = startCommand(args, folder, {}, MAIN);
    expect(await exitCode).toBe(0);
    expect(JSON.parse(printed.stdout)).toMatchObject({ status: 'success', value: { a: 1 } });
  });

  it('serves the console and the API, and shuts down gracefully', async () => {
    const folder = await makeFolder({});
    const { child, printed, exitCode } = startCommand(['serve', '--no-demo', '--port', '0'], folder, {}, MAIN);
    await expect.poll(() => printed.stdout, { timeout: 30_000 }).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    const url = printed.stdout.trim();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${url}/`)).text()).toContain('<!doctype html>');
    const response = await fetch(`${url}/v1/parse`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'so: {a: 1,}' }),
    });
    expect(await response.json()).toMatchObject({ status: 'success', value: { a: 1 } });
    child.kill('SIGTERM');
    expect(await exitCode).toBe(0);
    for (const line of printed.stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
  });
});
