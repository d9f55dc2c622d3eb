import { execFileSync } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { createRunFolder } from '../../runs/run-folder/open-run-folder.js';
import { packRunFolder, getPackedRunPath } from '../../runs/run-folder/index.js';
import { openSite } from '../../store/contract/fixtures/open-site.js';
import { sampleSubmission } from '../../store/contract/fixtures/order-samples.js';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

async function sluice(...argv: string[]) {
  const memory = createMemoryIo({});
  const exitCode = await run(argv, memory);
  return { exitCode, ...memory.printed };
}

describe('sluice backup', () => {
  it('copies the database while it is in use, and prints the path and the size', async () => {
    const data = await makeFolder({});
    const store = await openSite(`sqlite:${join(data, 'sluice.db')}`);
    await store.submitOrder(sampleSubmission());
    const target = join(data, 'copy.db');
    const { exitCode, stdout } = await sluice('backup', target, '--data', data);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ file: target, bytes: expect.any(Number) });
    expect(await (await openSite(`sqlite:${target}`)).findIssue('local#1')).toBeDefined();

    const secondAttempt = await sluice('backup', target, '--data', data);
    expect(secondAttempt).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('TARGET_EXISTS') });
  });

  it('suggests pg_dump for a PostgreSQL database', async () => {
    const { exitCode, stderr } = await sluice('backup', 'x.db', '--database', 'postgres://db/x');
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('pg_dump') });
  });
});

describe('sluice export', () => {
  async function makeRun() {
    const data = await makeFolder({ 'secret.txt': 'x' });
    const folder = join(data, 'runs', '01RUN');
    await createRunFolder(folder);
    await writeFile(join(folder, '.audit', 'stdout.1.log'), '{"type":"thread.started","thread_id":"t"}\n');
    await writeFile(join(folder, '.audit', 'meta.1.json'), '{"engine":"codex"}');
    await symlink(join(data, 'secret.txt'), join(folder, 'link.txt'));
    return data;
  }

  it('creates a folder that translate can read, without links created by the agent', async () => {
    const data = await makeRun();
    const target = join(data, 'fixtures', 'unknown-event');
    const { exitCode, stdout } = await sluice('export', '01RUN', target, '--data', data);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ run_id: '01RUN', target, form: 'folder' });
    expect(await readdir(target)).toEqual(['.audit', 'README.md', 'log']);
    expect(await readFile(join(target, 'log', 'stdout.1.log'), 'utf8')).toContain('thread.started');
    expect(await readFile(join(target, 'README.md'), 'utf8')).toContain('| `log/` | what the agent printed');
    const translated = await sluice('translate', target, '--to', 'fcmp');
    expect(translated).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('conversation.started') });
    const secondAttempt = await sluice('export', '01RUN', target, '--data', data);
    expect(secondAttempt).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('TARGET_EXISTS') });
  });

  it('reads a packed run, as replay and translate do', async () => {
    const data = await makeRun();
    const translated = await sluice('translate', join(data, 'runs', '01RUN'), '--write');
    await packRunFolder(data, '01RUN');
    const packed = getPackedRunPath(data, '01RUN');
    expect(await sluice('translate', packed)).toMatchObject({ exitCode: 0, stdout: translated.stdout });
    expect(await sluice('translate', packed, '--write')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('RUN_PACKED'),
    });
    expect(await sluice('replay', packed, '--data', data)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('sluice export'),
    });
    const target = join(data, 'copy', '01RUN');
    expect(await sluice('export', '01RUN', target, '--data', data)).toMatchObject({ exitCode: 0 });
    expect(await sluice('replay', target)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"same"') });
    expect(await sluice('translate', target)).toMatchObject({ exitCode: 0, stdout: translated.stdout });
  });

  it('creates a tar file if the target ends with .tar', async () => {
    const data = await makeRun();
    const target = join(data, 'run.tar');
    expect(await sluice('export', '01RUN', target, '--data', data)).toMatchObject({ exitCode: 0 });
    const unpacked = await makeFolder({});
    execFileSync('tar', ['-xf', target, '-C', unpacked]);
    expect(await readFile(join(unpacked, '01RUN', '.audit', 'stdout.1.log'), 'utf8')).toContain('thread.started');
  });

  it.each(['gone', '../secret.txt'])('refuses %s, which is not a run id, and creates nothing', async (id) => {
    const data = await makeRun();
    const target = join(data, 'out');
    expect(await sluice('export', id, target, '--data', data)).toMatchObject({ exitCode: 2 });
    expect(await readdir(data)).not.toContain('out');
  });
});

describe('sluice budgets', () => {
  it('shows the usage of the configured budgets', async () => {
    const data = await makeFolder({ 'sluice.config.json': '{"budgets":{"day":{"tokens":100}}}' });
    const store = await openSite(`sqlite:${join(data, 'sluice.db')}`);
    await store.recordRequest({ run: 'r1', caller: null, issueRef: null, now: Date.now() });
    await store.spendBudget({ run: 'r1', tokens: 40, cost: 0, limits: [] });
    const { stdout } = await sluice('budgets', '--data', data, '--config', join(data, 'sluice.config.json'));
    expect(JSON.parse(stdout)).toEqual({
      items: [{ scope: 'day', name: '', tokens: { limit: 100, used: 40, held: 40 }, cost: null }],
      waiting: [],
    });
  });
});
