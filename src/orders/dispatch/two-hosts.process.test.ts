import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { createLead } from '../lead/create-lead.js';
import { startProgram } from '../../store/contract/fixtures/start-program.js';
import { openStore } from '../../store/open-store.js';
import { hostOptions } from './fixtures/host-options.js';
import { startWorker } from './start-worker.js';
import { waitForOrder } from './wait-for-order.js';

const PROGRAM = new URL('./fixtures/host-program.js', import.meta.url);
const HOSTS = ['machine-a', 'machine-b'] as const;

/** Two workers with their own names, data folders and repositories on one database, and a lead without any of these. */
async function openFleet() {
  const root = await makeFolder({ 'machine-a/repository/README.md': 'a', 'machine-b/repository/README.md': 'b' });
  const url = `sqlite:${join(root, 'sluice.db')}`;
  const store = await openStore(url);
  onTestFinished(async () => store.close());
  const program = await bundleProgram(PROGRAM);
  for (const machine of HOSTS) {
    const git = ['-C', join(root, machine, 'repository'), '-c', 'user.name=x', '-c', 'user.email=x@example.org'];
    execFileSync('git', [...git, 'init', '--quiet']);
    execFileSync('git', [...git, 'add', '.']);
    execFileSync('git', [...git, 'commit', '--quiet', '-m', 'Begin']);
    await startProgram(program, [url, join(root, machine, 'data'), machine, machine]).started;
  }
  const lead = createLead({ store, data: join(root, 'lead'), ...hostOptions });
  const order = { role: 'qa', isolation: 'worktree', instructions: '', checks: ['where'] } as const;
  const submit = async (issue: string, machine: string, changes: object = {}) =>
    lead.submit({
      issue_ref: issue,
      repo_dir: join(root, machine, 'repository'),
      worker: machine,
      ...order,
      ...changes,
    });
  const finish = async (issueRef: string, runId: string) =>
    waitForOrder(store, { issueRef, runId }, { signal: AbortSignal.timeout(50_000) });
  return { root, store, submit, finish };
}

describe('two hosts on one store', { timeout: 120_000 }, () => {
  it('check a commit on the host that has it', async () => {
    const { root, store, submit, finish } = await openFleet();
    const submitted = await Promise.all(HOSTS.map(async (machine) => submit(`local#${machine}`, machine)));
    for (const [index, machine] of HOSTS.entries()) {
      const { order, run } = submitted[index] ?? { order: { issue_ref: '', run_id: '' }, run: '' };
      const record = await finish(order.issue_ref, order.run_id);
      expect(record?.decision).toMatchObject({ action: 'advance' });
      expect(await store.findRun(run)).toMatchObject({ owner: { host: machine } });
      const check = record?.decision?.evidence?.find((each) => each.run !== undefined)?.run ?? '';
      const checkFolder = join(root, machine, 'data', 'checks', run, 'work');
      expect((await store.findRun(check))?.result?.text).toBe(`${checkFolder}\n${order.run_id}`);
      const folders = HOSTS.map((each) => existsSync(join(root, each, 'data', 'runs', check)));
      expect(folders).toEqual(HOSTS.map((each) => each === machine));
    }
  });
});

describe('a worker that is killed', { timeout: 120_000 }, () => {
  it('has its agent killed by another worker on the host before the repository is used again', async () => {
    const root = await makeFolder({ 'repository/README.md': 'x' });
    const url = `sqlite:${join(root, 'sluice.db')}`;
    const store = await openStore(url);
    onTestFinished(async () => store.close());
    const { child, started } = startProgram(await bundleProgram(PROGRAM), [
      url,
      join(root, 'one'),
      hostname(),
      'patient',
    ]);
    await started;
    // Not the other worker's data folder, so its process records are not found.
    const lead = createLead({ store, data: join(root, 'two'), ...hostOptions });
    const request = { issue_ref: 'local#1', role: 'qa', repo_dir: join(root, 'repository'), worker: 'patient' };
    const { order } = await lead.submit({ ...request, instructions: '' });
    const readLines = async () =>
      (await readFile(join(root, 'repository/agents'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
    await expect.poll(readLines, { timeout: 50_000 }).toHaveLength(1);
    child.kill('SIGKILL');
    const [agent = ''] = await readLines();
    expect(isAlive(agent)).toBe(true);

    const worker = startWorker({
      store,
      lead,
      runs: { data: join(root, 'two') },
      reconcileMs: 200,
      workerLostRetries: 1,
    });
    onTestFinished(async () => worker.stop({ graceMs: 0 }));
    const name = { issueRef: order.issue_ref, runId: order.run_id };
    await waitForOrder(store, name, { signal: AbortSignal.timeout(50_000) });
    expect(isAlive(agent)).toBe(false);
    // The retry's agent checks whether the previous agent is still running.
    await expect.poll(readLines, { timeout: 50_000 }).toHaveLength(2);
    expect((await readLines())[1]).toMatch(/^\d+ alone$/);
  });
});

function isAlive(pid: string): boolean {
  return existsSync(`/proc/${Number.parseInt(pid)}/exe`);
}
