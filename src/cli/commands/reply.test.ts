import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { startWorker } from '../../orders/dispatch/start-worker.js';
import { createLead } from '../../orders/lead/create-lead.js';
import { openStore } from '../../store/open-store.js';
import { createMemoryIo } from '../fixtures/memory-io.js';
import { run } from '../run.js';

const AGENT = fileURLToPath(new URL('../../runs/scenarios/fixtures/acp-agent.mjs', import.meta.url));
const WRITE = { toolCallId: 'c1', title: 'Write a.txt', kind: 'edit', rawInput: { file_path: 'a.txt' } };

/** A run whose agent asks for permission to write a file, and waits. */
async function startWaitingRun() {
  const data = await makeFolder({ 'work/README.md': 'x' });
  const script = join(data, 'script.json');
  await writeFile(script, JSON.stringify({ prompts: [[{ ask: WRITE }, { say: 'Done.' }, { end: 'end_turn' }]] }));
  const database = `sqlite:${join(data, 'sluice.db')}`;
  const store = await openStore(database);
  const agents = { fake: { acp: [process.execPath, AGENT, script], authenticate: 'key' } };
  const worker = startWorker({ store, lead: createLead({ store, data }), runs: { data, agents }, pollMs: 50 });
  onTestFinished(async () => {
    await worker.stop({ graceMs: 0 });
    await store.close();
  });
  const spec = { engine: 'fake', prompt: 'Go.', workdir: join(data, 'work'), permissions: 'ask' } as const;
  await store.createRun({ id: 'RUN1', spec, state: 'queued', now: store.now() });
  await expect.poll(async () => (await store.findRun('RUN1'))?.state, { timeout: 30_000 }).toBe('waiting');
  const reply = async (...flags: readonly string[]) => {
    const io = createMemoryIo({});
    const exitCode = await run(['reply', ...flags, '--data', data, '--database', database], io);
    return { exitCode, ...io.printed };
  };
  const findReply = async () => {
    await expect.poll(async () => (await store.findRun('RUN1'))?.state, { timeout: 30_000 }).toBe('ended');
    const events = await store.read({ runId: 'RUN1', protocol: 'fcmp', limit: 1000 });
    const replyEvent = events.find(({ event }) => 'type' in event && event.type === 'permission.replied');
    return replyEvent?.event.data;
  };
  return { reply, findReply, findRun: async () => store.findRun('RUN1') };
}

it.each([
  ['--allow', 'yes'],
  ['--deny', 'no'],
])('answers a permission request with %s, and records who and why', { timeout: 60_000 }, async (flag, option) => {
  const { reply, findReply } = await startWaitingRun();
  const { exitCode, stdout } = await reply('RUN1', flag, '--who', 'Ada', '--why', 'the diff is right');
  expect({ exitCode, printed: JSON.parse(stdout) }).toMatchObject({ exitCode: 0, printed: { run: 'RUN1' } });
  expect(await findReply()).toMatchObject({
    option_id: option,
    by: 'person',
    who: 'Ada (unverified local user)',
    why: 'the diff is right',
  });
});

it('refuses a reply without a choice, to an unknown run, or to a question that is not open', async () => {
  const { reply } = await startWaitingRun();
  const rejectedReplies = [
    [['RUN1'], 'No reply given'],
    [['RUN2', '--allow'], 'Run "RUN2" not found'],
    [
      ['RUN1', '--allow', '--question', 'px_9_9'],
      'Choose an open permission request of run "RUN1" with --question: px_1_1',
    ],
  ] as const;
  for (const [flags, message] of rejectedReplies) {
    expect(await reply(...flags)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
  }
});

it('refuses an answer that comes after the end, and keeps it with the run', { timeout: 60_000 }, async () => {
  const { reply, findReply, findRun } = await startWaitingRun();
  await reply('RUN1', '--deny');
  await findReply();
  const late = await reply('RUN1', '--allow', '--who', 'Ada', '--why', 'I was away');
  expect(late).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('RUN_NOT_WAITING') });
  expect((await findRun())?.refused_answers).toMatchObject([
    { interaction_id: 'px_1_1', option_id: 'yes', who: 'Ada (unverified local user)', why: 'I was away' },
  ]);
});
