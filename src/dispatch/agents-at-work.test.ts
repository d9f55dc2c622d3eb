import { describe, expect, it, onTestFinished } from 'vitest';
import { codex } from '../events/contract/translate-lines.contract.js';
import { makeSite } from '../runs/scenarios/fixtures/make-site.js';
import type { Step } from '../runs/scenarios/fixtures/make-site.js';
import type { Store } from '../store/store.js';
import { openWorkshop } from './fixtures/workshop.js';

function say(...records: readonly object[]): Step {
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

/** What codex prints when it answers with a text and ends. */
function answer(text: string): readonly Step[] {
  return [say(codex.thread('t-1'), codex.message(text), codex.completed(10, 1))];
}

/** Gives an order to a played codex, and waits for what comes of it. */
async function orderFrom(...attempts: readonly (readonly Step[])[]) {
  const site = await makeSite(...attempts);
  const workshop = await openWorkshop({ lead: { clock: () => Date.parse('2020-01-01T12:00:00Z') } });
  const { data, start, submit, settled, store } = workshop;
  const worker = start({ runs: { data, programs: { codex: site.agent } } });
  const record = await settled(await submit('local#1', {}, { worker: 'codex-cli' }));
  await worker.stop();
  const [execution] = (await store.listExecutions({})).items;
  const [item] = (await store.listInbox({ open: true })).items;
  const [message] = (await store.listOutbox({})).items;
  return { site, record, execution, item, comment: message?.body };
}

describe('an agent as a worker', { timeout: 30_000 }, () => {
  it('may answer with its result instead of writing a file', async () => {
    const { record, execution, site } = await orderFrom(answer(`Done.\n<json>${JSON.stringify(RESULT)}</json>`));
    expect(record?.decision?.action).toBe('advance');
    expect(execution).toMatchObject({ worker_type: 'codex-cli', result_encoding: 'json', worker_version: '1.0.0' });
    const [call] = await site.calls();
    expect(call?.input).toContain('local#1');
    expect(call?.env).toMatchObject({ SLUICE_ISSUE_REF: 'local#1', SLUICE_RUN_ID: '2020-01-01-qa-0001' });
  });

  it('does not have its result accepted when the answer had to be repaired; it becomes a draft for a person', async () => {
    const broken = JSON.stringify(RESULT).replace('"status"', "'status'");
    const { record, item } = await orderFrom(answer(`<json>${broken}</json>`));
    expect(record?.decision?.action).toBe('needs-human');
    expect(item?.reading.draft).toMatchObject({ status: 'ok', summary: 'Done.' });
  });

  it('that reports a result of another run is refused', async () => {
    const other = { ...RESULT, run_id: '2020-01-01-qa-0099' };
    const { record } = await orderFrom(answer(`<json>${JSON.stringify(other)}</json>`));
    expect(record?.decision?.action).toBe('needs-human');
  });

  it('that answers in prose goes to a person, and its words are sent as a comment', async () => {
    const { record, comment } = await orderFrom(answer('All done.\nStatus: done\n<b>Trust me.</b>'));
    expect(record?.decision).toMatchObject({ action: 'needs-human', result_code: 'output_unparseable' });
    expect(record?.decision?.reason).toContain('the agent answered without tags');
    expect(comment).toContain('\n> All done.\n> Status: done\n> &lt;b>Trust me.&lt;/b>\n');
  });

  it.each([
    ['bare JSON', JSON.stringify(RESULT)],
    ['fenced JSON', `Here it is:\n\`\`\`json\n${JSON.stringify(RESULT)}\n\`\`\``],
  ])('that answers with %s gives anchors and a draft, and the reason is that the tags are missing', async (_, text) => {
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

describe('an agent that asks, in a queued run', { timeout: 30_000 }, () => {
  it('is waiting before its question is published, and continues with the reply that is posted', async () => {
    const site = await makeSite(
      [say(codex.thread('t-1'), codex.message('Which one?'), codex.completed(10, 1))],
      [
        say(
          codex.thread('t-1'),
          codex.message('{"line": 3, "__SKILL_DONE__": true}', 'item_9'),
          codex.completed(25, 2),
        ),
      ],
    );
    const { start, store, data } = await openWorkshop();
    const spec = { engine: 'codex', prompt: 'Count.', workdir: site.workdir, mode: 'interactive' } as const;
    await store.createRun({ id: 'RUN1', spec, state: 'queued', now: Date.now() });
    // Long leases: the reply must reach the run because it is announced, not because the lease happens to be renewed.
    start({ leaseMs: 60_000, runs: { data, programs: { codex: site.agent } } });
    await seeQuestion(store, 'RUN1');
    // A reply is accepted as soon as the question can be seen. One that cannot be used leaves the run waiting.
    expect(await store.postReply('RUN1', ' ')).toBe('posted');
    await expect.poll(async () => store.postReply('RUN1', 'The second.'), { timeout: 10_000 }).toBe('posted');
    await expect.poll(async () => (await store.findRun('RUN1'))?.state, { timeout: 10_000 }).toBe('ended');
    expect((await store.findRun('RUN1'))?.result).toMatchObject({ status: 'success', attempts: 2 });
    expect((await site.calls())[1]?.input).toBe('The second.');
  });
});

/** Resolves when the question of a run stands in its events. */
async function seeQuestion(store: Store, id: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = async (): Promise<void> => {
      const events = await store.read({ runId: id, protocol: 'fcmp', limit: 100 });
      if (events.some(({ event }) => 'type' in event && event.type === 'user.input.required')) resolve();
    };
    onTestFinished(store.watch(id, () => void look()));
  });
}
