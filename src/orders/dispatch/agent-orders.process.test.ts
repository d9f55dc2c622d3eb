import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codex } from '../../events/contract/translate-lines.contract.js';
import { makeSite } from '../../runs/scenarios/fixtures/make-site.js';
import type { Step } from '../../runs/scenarios/fixtures/make-site.js';
import type { Store } from '../../store/store.js';
import { setUpWorker } from './fixtures/set-up-worker.js';
import { readChange } from '../git/read-change.js';

function printRecords(...records: readonly object[]): Step {
  return { print: records.map((record) => `${JSON.stringify(record)}\n`).join('') };
}

const RESULT = {
  issue_ref: 'local#1',
  run_id: '2020-01-01-qa-0001',
  status: 'ok',
  changes: { pr: '#7' },
  tests: 'n/a',
  summary: 'Done.',
};

/** Returns codex output that contains one answer and then ends. */
function answer(text: string): readonly Step[] {
  return [printRecords(codex.thread('t-1'), codex.message(text), codex.completed(10, 1))];
}

/** Submits an order to a simulated codex and waits until it is settled. */
async function orderFrom(...attempts: readonly (readonly Step[])[]) {
  const site = await makeSite(...attempts);
  const setup = await setUpWorker({ lead: { clock: () => Date.parse('2020-01-01T12:00:00Z') } });
  const { data, start, submit, settled, store } = setup;
  const worker = start({ runs: { data, programs: { codex: site.agent } } });
  const record = await settled(await submit('local#1', {}, { worker: 'codex-cli' }));
  await worker.stop();
  const [execution] = (await store.listExecutions({})).items;
  const [item] = (await store.listInbox({ open: true })).items;
  const [message] = (await store.listOutbox({})).items;
  return { site, record, execution, item, comment: message?.body };
}

describe('an agent as a worker', () => {
  it('can answer with its result instead of writing a file', async () => {
    const { record, execution, site } = await orderFrom(answer(`Done.\n<json>${JSON.stringify(RESULT)}</json>`));
    expect(record?.decision?.action).toBe('advance');
    expect(execution).toMatchObject({ worker_type: 'codex-cli', result_encoding: 'json', worker_version: '1.0.0' });
    const [call] = await site.calls();
    expect(call?.input).toContain('local#1');
    expect(call?.env).toMatchObject({ SLUICE_ISSUE_REF: 'local#1', SLUICE_RUN_ID: '2020-01-01-qa-0001' });
  });

  it('that leaves work_result.txt is judged by the file, not by its answer', async () => {
    const site = await makeSite();
    const { data, start, submit, settled, store } = await setUpWorker();
    const submitted = await submit('local#1', {}, { worker: 'codex-cli' });
    const { run_id } = submitted.order;
    const text = `IssueRef: local#1\nRunId: ${run_id}\nStatus: blocked\n\nFrom the file.\n`;
    const file = join(data, 'runs', submitted.run, 'work_result.txt');
    await site.script([{ file, text }, ...answer(`<json>${JSON.stringify({ ...RESULT, run_id })}</json>`)]);
    start({ runs: { data, programs: { codex: site.agent } } });
    expect((await settled(submitted))?.decision?.action).toBe('blocked');
    expect((await store.listExecutions({})).items).toMatchObject([{ result_encoding: 'text' }]);
  });

  it('whose answer had to be repaired is not accepted; the answer becomes a draft for a human', async () => {
    const broken = JSON.stringify(RESULT).replace('"status"', "'status'");
    const { record, item } = await orderFrom(answer(`<json>${broken}</json>`));
    expect(record?.decision?.action).toBe('needs-human');
    expect(item?.reading.draft).toMatchObject({ status: 'ok', summary: 'Done.' });
  });

  it("that reports another run's result is rejected", async () => {
    const other = { ...RESULT, run_id: '2020-01-01-qa-0099' };
    const { record } = await orderFrom(answer(`<json>${JSON.stringify(other)}</json>`));
    expect(record?.decision?.action).toBe('needs-human');
  });

  it('that answers in prose goes to a human, and its answer is sent as a comment', async () => {
    const { record, comment } = await orderFrom(answer('All done.\nStatus: done\n<b>Trust me.</b>'));
    expect(record?.decision).toMatchObject({ action: 'needs-human', result_code: 'output_unparseable' });
    expect(record?.decision?.reason).toContain('the agent answered without tags');
    expect(comment).toContain('\n> All done.\n> Status: done\n> &lt;b>Trust me.&lt;/b>\n');
  });

  it.each([
    ['bare JSON', JSON.stringify(RESULT)],
    ['fenced JSON', `Here it is:\n\`\`\`json\n${JSON.stringify(RESULT)}\n\`\`\``],
  ])('that answers with %s yields anchors and a draft, and the reason names the missing tags', async (_, text) => {
    const { record, item, execution } = await orderFrom(answer(text));
    expect(record?.decision?.action).toBe('needs-human');
    expect(record?.decision?.reason).toContain('the agent answered without tags');
    expect(record?.decision?.reason).not.toContain('work_result');
    expect(item?.reading).toMatchObject({
      path: 'answer',
      anchors: { issue_ref: 'local#1', run_id: RESULT.run_id, status: 'ok' },
      draft: { changes: { pr: '#7' }, tests: 'n/a', summary: 'Done.' },
    });
    expect(execution).toMatchObject({ result_encoding: 'streams', parse_status: 'anchors' });
  });
});

describe('an agent whose change is sent back for corrections', () => {
  const attempt = (number: number, session: string): readonly Step[] => {
    const result = { ...RESULT, run_id: `2020-01-01-qa-000${number}`, changes: {} };
    const text = `<json>${JSON.stringify(result)}</json>`;
    return [
      { file: 'work.txt', text: `try ${number}\n` },
      printRecords(codex.thread(session), codex.message(text), codex.completed(10, 1)),
    ];
  };

  async function requestCorrections(session: string) {
    const site = await makeSite(attempt(1, session), attempt(2, 't-2'), attempt(3, 't-3'));
    const { data, start, submit, settled, store, lead } = await setUpWorker({
      lead: {
        clock: () => Date.parse('2020-01-01T12:00:00Z'),
        checks: { unit: { command: ['false'], network: 'host' } },
      },
    });
    const repository = join(data, 'repository');
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args]);
    git('init', '--quiet', '--initial-branch=main');
    git('add', '.');
    git('commit', '--quiet', '-m', 'Begin');
    start({ runs: { data, programs: { codex: site.agent } } });
    const first = await submit('local#1', {}, { worker: 'codex-cli', checks: ['unit'] });
    const reviewed = [await settled(first)];
    for (const text of ['Say more.', 'Say less.']) {
      const [item] = (await store.listInbox({ open: true })).items;
      const comments = [{ path: 'work.txt', line: 1, side: 'new', text }] as const;
      const retryRequest = { id: item?.id ?? '', action: 'retry', who: 'Ada', why: 'Nearly.', comments } as const;
      const { order = first.order } = await lead.resolve(retryRequest);
      reviewed.push(await settled({ ...first, order }));
    }
    const maskText = (text: string): string => text;
    const changes = reviewed.flatMap((record) =>
      record === undefined ? [] : [readChange({ data, maskText }, record)],
    );
    return { calls: await site.calls(), changes: await Promise.all(changes), reviewed };
  }

  it('continues at the same path, in the same session, with the comments as part of its instructions', async () => {
    const { calls, changes, reviewed } = await requestCorrections('t-1');
    expect(new Set(calls.map(({ cwd }) => cwd)).size).toBe(1);
    const sessions = calls.map(({ args }) =>
      args.includes('resume') ? args.find((argument) => argument.startsWith('t-')) : '',
    );
    expect(sessions).toEqual(['', 't-1', 't-2']);
    expect(calls[1]?.input).toContain('- work.txt, line 1: Say more.');
    expect(calls[2]?.input).toContain('- work.txt, line 1: Say less.');
    expect(new Set(reviewed.map((record) => record?.base_commit)).size).toBe(1);
    const lines = changes.map(({ files }) => files[0]?.hunks[0]?.lines.map(({ text }) => text));
    expect(lines).toEqual([['try 1'], ['try 2'], ['try 3']]);
  });

  it('starts a new session if the engine reported no resumable session', async () => {
    const { calls } = await requestCorrections('-rf');
    expect(calls[1]?.args).not.toContain('resume');
  });
});

describe('an agent that asks, in a queued run', () => {
  it('is waiting before its question is published, and continues with the posted reply', async () => {
    const site = await makeSite(
      [printRecords(codex.thread('t-1'), codex.message('Which one?'), codex.completed(10, 1))],
      [
        printRecords(
          codex.thread('t-1'),
          codex.message('{"line": 3, "__SKILL_DONE__": true}', 'item_9'),
          codex.completed(25, 2),
        ),
      ],
    );
    const { start, store, data } = await setUpWorker();
    const spec = { engine: 'codex', prompt: 'Count.', workdir: site.workdir, mode: 'interactive' } as const;
    await store.createRun({ id: 'RUN1', spec, state: 'queued', now: Date.now() });
    // Long leases: the reply must reach the run through its notification, not because the lease happens to be renewed.
    start({ leaseMs: 60_000, runs: { data, programs: { codex: site.agent } } });
    await waitForQuestion(store, 'RUN1');
    // A reply is accepted as soon as the question is visible. An unusable reply leaves the run waiting.
    expect(await store.postReply('RUN1', ' ')).toBe('posted');
    await expect.poll(async () => store.postReply('RUN1', 'The second.')).toBe('posted');
    await expect.poll(async () => (await store.findRun('RUN1'))?.state).toBe('ended');
    expect((await store.findRun('RUN1'))?.result).toMatchObject({ status: 'success', attempts: 2 });
    expect((await site.calls())[1]?.input).toBe('The second.');
  });
});

/** Resolves when a run's events contain its question. */
async function waitForQuestion(store: Store, id: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const poll = async (): Promise<void> => {
      const events = await store.read({ runId: id, protocol: 'fcmp', limit: 100 });
      if (events.some(({ event }) => 'type' in event && event.type === 'user.input.required')) resolve();
    };
    onTestFinished(store.watch(id, () => void poll()));
  });
}
