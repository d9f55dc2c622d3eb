import { existsSync } from 'node:fs';
import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { findProjectData } from '../../base/files/index.js';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

let project: string;
beforeEach(async () => {
  project = await realpath(await makeFolder({ 'shop/README.md': 'x' }));
  vi.spyOn(process, 'cwd').mockReturnValue(project);
  onTestFinished(() => void vi.restoreAllMocks());
});

async function sluice(args: readonly string[], ask?: (question: string) => Promise<string>) {
  const io = createMemoryIo({}, { ask });
  return { exitCode: await run(args, io), ...io.printed };
}

describe('a configuration written by an agent', () => {
  it('is not executed by the next command', async () => {
    const trace = join(project, 'trace');
    const code = `require('node:fs').writeFileSync('sluice.config.mjs', "import { writeFileSync } from 'node:fs'; writeFileSync('${trace}', ''); export default {}")`;
    const agent = ['run', '--engine', 'command', '--workdir', project, '--', process.execPath, '-e', code];
    expect(await sluice(agent)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(project, 'sluice.config.mjs'))).toBe(true);
    for (const command of [['doctor'], ['inbox'], ['demo'], ['worker'], ['serve', '--port', '0'], agent]) {
      const { exitCode, stderr } = await sluice(command);
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('CONFIG_NOT_TRUSTED') });
    }
    expect(existsSync(trace)).toBe(false);
  });

  it('is executed only after the user has confirmed at the terminal', async () => {
    await writeFile(join(project, 'sluice.config.json'), '{"programs": {"codex": "./x"}}');
    const questions: string[] = [];
    const createAsk = (line: string) => async (question: string) => {
      questions.push(question);
      return line;
    };
    expect((await sluice(['inbox'], createAsk('\n'))).exitCode).toBe(2);
    expect((await sluice(['inbox'], createAsk('maybe\n'))).exitCode).toBe(2);
    expect((await sluice(['inbox'], createAsk('Yes\n'))).exitCode).toBe(0);
    expect((await sluice(['inbox'], createAsk('n\n'))).exitCode).toBe(0);
    expect(questions).toHaveLength(3);
    expect(questions[0]).toContain('It sets programs. Trust it? [y/N] ');
  });
});

describe('sluice trust', () => {
  it('trusts the current content of the file until it is revoked', async () => {
    await writeFile(join(project, 'sluice.config.json'), '{"commands": ["sh"]}');
    expect((await sluice(['inbox'])).exitCode).toBe(2);
    const { exitCode, stdout } = await sluice(['trust']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      file: join(project, 'sluice.config.json'),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      needs: ['commands'],
      trusted: true,
    });
    expect((await sluice(['inbox'])).exitCode).toBe(0);
    expect((await sluice(['trust', '--revoke'])).exitCode).toBe(0);
    expect((await sluice(['inbox'])).exitCode).toBe(2);
  });

  it('refuses a file that is not a configuration, and reports a missing file', async () => {
    expect(await sluice(['trust'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('found in this folder'),
    });
    await writeFile(join(project, 'sluice.config.json'), '{"comands": []}');
    expect(await sluice(['trust'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('INVALID_CONFIG') });
  });
});

describe('the data folder', () => {
  it('is printed by run and doctor, and is outside the project folder', async () => {
    const path = findProjectData(project, process.env);
    const ran = await sluice(['run', '--engine', 'command', '--', process.execPath, '-v']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`data folder: ${path}`) });
    expect(existsSync(join(path, 'runs'))).toBe(true);
    expect(existsSync(join(project, '.sluice'))).toBe(false);
    expect((await sluice(['doctor', '--json'])).stderr).toContain(`sluice: data folder: ${path}\n`);
  });
});
