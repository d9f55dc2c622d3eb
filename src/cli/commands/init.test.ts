import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { readWorkRequest } from '../../orders/index.js';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

let project: string;
beforeEach(async () => {
  project = await realpath(await makeFolder({ 'package.json': '{"scripts": {"test": "node t.js"}}' }));
  vi.spyOn(process, 'cwd').mockReturnValue(project);
  onTestFinished(() => void vi.restoreAllMocks());
});

async function sluice(args: readonly string[], ask?: (question: string) => Promise<string>) {
  const io = createMemoryIo({}, { ask });
  return { exitCode: await run(args, io), ...io.printed };
}

const readRequest = async (): Promise<unknown> => JSON.parse(await readFile(join(project, 'request.json'), 'utf8'));

describe('sluice init', () => {
  it('writes a configuration that the next command uses, and a valid request', async () => {
    const { exitCode, stderr } = await sluice(['init', '--yes']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('sluice order request.json') });
    expect(await readFile(join(project, 'sluice.config.json'), 'utf8')).toContain(
      '// Commands that Sluice itself runs',
    );
    expect(readWorkRequest(await readRequest())).toMatchObject({ repo_dir: project, checks: ['test'] });
    expect(await sluice(['inbox'])).toMatchObject({ exitCode: 0 });
  });

  it('asks three questions, with suggestions', async () => {
    const questions: string[] = [];
    const answers = ['claude-code', '', '/srv/shop'];
    const ask = async (question: string) => {
      questions.push(question);
      return `${answers[questions.length - 1] ?? ''}\n`;
    };
    expect(await sluice(['init'], ask)).toMatchObject({ exitCode: 0 });
    expect(questions).toEqual([
      expect.stringContaining('Which agent'),
      expect.stringMatching(/Which command.*\[npm test\]/u),
      expect.stringMatching(/Which folder.*\[\.\]/u),
    ]);
    expect(await readRequest()).toMatchObject({ worker: 'claude-code', checks: ['test'] });
    expect(await readFile(join(project, 'sluice.config.json'), 'utf8')).toContain('"roots": ["/srv/shop"]');
  });

  it('accepts the name of the program for the agent', async () => {
    expect(await sluice(['init'], async (question) => (question.includes('agent') ? 'claude' : ''))).toMatchObject({
      exitCode: 0,
    });
    expect(await readRequest()).toMatchObject({ worker: 'claude-code' });
  });

  it('overwrites nothing, and needs a terminal or --yes', async () => {
    expect(await sluice(['init'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') });
    await sluice(['init', '--yes']);
    const before = await readFile(join(project, 'sluice.config.json'), 'utf8');
    expect(await sluice(['init', '--yes'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('already exists'),
    });
    expect(await readFile(join(project, 'sluice.config.json'), 'utf8')).toBe(before);
  });

  it('rejects an unknown agent before it writes anything', async () => {
    expect(await sluice(['init'], async () => 'hal')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Use one of: codex-cli'),
    });
    await expect(readRequest()).rejects.toThrow('ENOENT');
  });
});
