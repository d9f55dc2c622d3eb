import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { expectValid } from '../../events/contract/emitted-invariants.contract.js';
import type { Emitted, FcmpEvent } from '../../events/index.js';
import type { RunSpec } from '../../store/records/index.js';
import { packRunFolder, replayRunFolder } from '../run-folder/index.js';
import { LAUNCHERS } from '../launchers/launchers.js';
import { createMemoryEventLog, type RunPorts } from '../ports/run-ports.js';
import { resumeRun, startRun, type Run } from '../start-run.js';
import { makeSite, START_AGENT } from './fixtures/make-site.js';

const AGENT = fileURLToPath(new URL('./fixtures/two-way-agent.mjs', import.meta.url));
const ASK = { ask: { tool: 'Write', input: { file_path: 'a.txt', content: 'x', command: 'npm test' } } };
const DONE = { say: '{"__SKILL_DONE__": true}' };
const ENGINES = ['claude', 'codex'] as const;

/** A run of an agent that plays one list of steps per turn; the run can be detached and resumed. */
async function prepare(
  engine: (typeof ENGINES)[number],
  turns: readonly (readonly object[])[],
  given: Partial<RunSpec>,
) {
  const site = await makeSite();
  const script = join(site.root, 'agent.json');
  const [, version = ''] = /^>=(\S+)/u.exec(LAUNCHERS[engine].testedVersions) ?? [];
  await writeFile(script, JSON.stringify({ version, turns }));
  const spec: RunSpec = { engine, prompt: 'Do it.', workdir: site.workdir, ...given };
  const log = createMemoryEventLog();
  const ports: RunPorts = {
    data: site.data,
    eventLog: log,
    programs: { [engine]: [...START_AGENT, AGENT, script] },
  };
  const calls = async () =>
    (await readFile(`${script}.calls`, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return { site, spec, ports, log, calls };
}

/** Reads a run's events up to the first event of a type. */
async function readUntil(run: Run, type: FcmpEvent['type']): Promise<FcmpEvent> {
  for await (const { protocol, event } of run.events) {
    if (protocol === 'fcmp' && event.type === type) return event;
  }
  throw new Error(`The run ended without ${type}.`);
}

/** Asserts the invariants of a resumed run: its events are complete in the log, in the folder and when replayed. */
async function expectCompleteRun(run: Run, ports: RunPorts): Promise<readonly Emitted[]> {
  const events: Emitted[] = [];
  for await (const emitted of run.events) events.push(emitted);
  expectValid(events);
  const dir = join(ports.data ?? '', 'runs', run.id);
  expect(await replayRunFolder(dir)).toMatchObject({ status: 'same' });
  const storedEvents = await ports.eventLog?.read({ runId: run.id, protocol: 'fcmp', limit: 10_000 });
  const fcmp = events.filter(({ protocol }) => protocol === 'fcmp');
  expect(storedEvents?.map(({ event }) => event)).toEqual(fcmp.map(({ event }) => event));
  expect(fcmp.map(({ event }) => event.seq)).toEqual(fcmp.map((_, index) => index + 1));
  return events;
}

const select = (events: readonly Emitted[], type: FcmpEvent['type']) =>
  events.flatMap(({ protocol, event }) => (protocol === 'fcmp' && event.type === type ? [event.data] : []));

describe.each(ENGINES)('%s, detached while it waits', (engine) => {
  const option = engine === 'codex' ? 'accept' : 'allow';

  it('for a permission is resumed with the answer', async () => {
    const { spec, ports, calls } = await prepare(engine, [[ASK], [ASK, { say: 'ok' }]], { permissions: 'ask' });
    const first = startRun(spec, ports);
    await readUntil(first, 'permission.required');
    expect(await first.detach()).toBe(true);
    expect(await first.result).toMatchObject({ status: 'failed', error: { code: 'RUN_DETACHED' } });
    await expect(first.reply({ interaction_id: 'px_1_1', option_id: option })).rejects.toMatchObject({
      code: 'REPLY_NOT_EXPECTED',
    });

    const run = await resumeRun(first.id, spec, ports);
    await run.reply({ interaction_id: 'px_1_1', option_id: option, who: 'ann' });
    expect(await run.result).toMatchObject({ status: 'success', text: 'ok', attempts: 2 });
    const events = await expectCompleteRun(run, ports);
    expect(select(events, 'permission.replied')).toMatchObject([
      { interaction_id: 'px_1_1', decision: 'allow', by: 'person', who: 'ann' },
      { interaction_id: 'px_2_1', decision: 'allow', by: 'person', who: 'ann' },
    ]);
    expect(new Set((await calls()).map(({ pid }) => pid)).size).toBe(2);
  });

  it('for a reply is resumed with it', async () => {
    const { spec, ports, calls } = await prepare(engine, [[{ say: 'Which?' }], [DONE]], { mode: 'interactive' });
    const first = startRun(spec, ports);
    await readUntil(first, 'user.input.required');
    expect(await first.detach()).toBe(true);
    const waits: string[] = [];
    const run = await resumeRun(first.id, spec, { ...ports, onQuestion: async () => void waits.push('waiting') });
    expect(waits).toEqual(['waiting']);
    await run.reply('The first.');
    expect(await run.result).toMatchObject({ status: 'success', attempts: 2 });
    await expectCompleteRun(run, ports);
    expect((await calls()).at(-1)).toMatchObject({ prompt: 'The first.' });
  });

  it('is denied when no answer arrives in time', async () => {
    const { spec, ports } = await prepare(engine, [[ASK], [ASK, { say: 'without it' }]], {
      permissions: 'ask',
      limits: { wait_s: 1 },
    });
    const first = startRun(spec, ports);
    await readUntil(first, 'permission.required');
    await first.detach();
    const onUnanswered = vi.fn<() => Promise<void>>(async () => undefined);
    const run = await resumeRun(first.id, spec, { ...ports, onUnanswered });
    expect(await run.result).toMatchObject({ status: 'success', text: 'without it' });
    expect(onUnanswered).toHaveBeenCalledOnce();
    expect(select(await expectCompleteRun(run, ports), 'permission.replied')).toMatchObject([
      { interaction_id: 'px_1_1', decision: 'deny', by: 'rule', why: expect.stringContaining('wait_s') },
      { interaction_id: 'px_2_1', decision: 'deny', by: 'rule', why: expect.stringContaining('wait_s') },
    ]);
  });

  it('keeps an answer that was given before it was detached', async () => {
    const asks = { asks: [ASK.ask, { tool: 'Write', input: { file_path: 'b.txt', content: 'y', command: 'ls' } }] };
    const { spec, ports, log } = await prepare(engine, [[asks], [asks, { say: 'ok' }]], {
      permissions: 'ask',
      limits: { hold_s: 0.2 },
    });
    const first = startRun(spec, ports);
    await readUntil(first, 'diagnostic.warning');
    await first.reply({ interaction_id: 'px_1_1', option_id: option, who: 'ann', why: 'fine' });
    await readUntil(first, 'permission.replied');
    expect(await first.detach()).toBe(true);
    // Only a published answer counts: an agent that can write to the folder must not grant itself anything.
    const metaFile = join(ports.data ?? '', 'runs', first.id, '.audit', 'meta.1.json');
    const meta = JSON.parse(await readFile(metaFile, 'utf8')) as { answers: object[] };
    const forged = { ...meta.answers[0], interaction_id: 'px_1_2' };
    await writeFile(metaFile, JSON.stringify({ ...meta, answers: [...meta.answers, forged] }));

    const run = await resumeRun(first.id, spec, ports);
    expect(await log.read({ runId: run.id, protocol: 'fcmp', limit: 10_000 })).not.toContainEqual(
      expect.objectContaining({ event: expect.objectContaining({ data: expect.objectContaining(forged) }) }),
    );
    await run.reply({ interaction_id: 'px_1_2', option_id: engine === 'codex' ? 'decline' : 'deny', who: 'bob' });
    expect(await run.result).toMatchObject({ status: 'success', text: 'ok', attempts: 2 });
    expect(select(await expectCompleteRun(run, ports), 'permission.replied')).toMatchObject([
      { interaction_id: 'px_1_1', decision: 'allow', who: 'ann', why: 'fine' },
      { interaction_id: 'px_1_2', decision: 'deny', who: 'bob' },
      { interaction_id: 'px_2_1', decision: 'allow', who: 'ann' },
      { interaction_id: 'px_2_2', decision: 'deny', who: 'bob' },
    ]);
  });

  it('asks again if the resumed agent changes its request', async () => {
    const other = { ask: { tool: 'Bash', input: { command: 'rm -rf .' } } };
    const { spec, ports } = await prepare(engine, [[ASK], [other, { say: 'ok' }]], { permissions: 'ask' });
    const first = startRun(spec, ports);
    await readUntil(first, 'permission.required');
    await first.detach();
    const run = await resumeRun(first.id, spec, ports);
    await run.reply({ interaction_id: 'px_1_1', option_id: option });
    for await (const { protocol, event } of run.events) {
      if (protocol !== 'fcmp' || event.type !== 'permission.required' || event.meta.attempt === 1) continue;
      await run.reply({
        interaction_id: event.data.interaction_id,
        option_id: engine === 'codex' ? 'decline' : 'deny',
      });
    }
    expect(select(await expectCompleteRun(run, ports), 'permission.replied')).toMatchObject([
      { interaction_id: 'px_1_1', decision: 'allow' },
      { interaction_id: 'px_2_1', decision: 'deny' },
    ]);
  });
});

/** Copies the folder as another process would find it if this process were killed now. */
async function copyAsKilled(site: { readonly root: string; readonly data: string }, ports: RunPorts) {
  const data = join(site.root, 'after');
  await cp(join(site.data, 'runs'), join(data, 'runs'), { recursive: true });
  return { ...ports, data };
}

describe('a run whose process was killed', () => {
  it('while it was working continues in its session, as the next attempt', async () => {
    const { site, spec, ports, calls } = await prepare(
      'codex',
      [[{ say: 'Half of it' }, { hang: true }], [{ say: 'ok' }]],
      {},
    );
    const first = startRun({ ...spec, permissions: 'ask' }, ports);
    await readUntil(first, 'assistant.message.final');
    const copiedPorts = await copyAsKilled(site, ports);
    await first.cancel();
    const log = createMemoryEventLog();
    const run = await resumeRun(first.id, { ...spec, permissions: 'ask' }, { ...copiedPorts, eventLog: log });
    expect(await run.result).toMatchObject({ status: 'success', text: 'ok', attempts: 2 });
    const events = await expectCompleteRun(run, { ...copiedPorts, eventLog: log });
    expect(select(events, 'diagnostic.warning')).toMatchObject([
      { code: 'WORKER_LOST' },
      { code: 'DONE_MARKER_MISSING' },
    ]);
    expect(JSON.stringify(await calls())).toContain('thread/resume');
  });

  it('before the agent named its session ends, with the reason', async () => {
    const { site, spec, ports } = await prepare('codex', [[]], {});
    await writeFile(join(site.root, 'agent.json'), JSON.stringify({ version: '1', options: { mute: 'initialize' } }));
    const first = startRun({ ...spec, permissions: 'ask' }, ports);
    await vi.waitFor(
      async () =>
        expect(await readFile(join(site.data, 'runs', first.id, '.audit', 'stdin.1.log'), 'utf8')).not.toBe(''),
      { timeout: 20_000 },
    );
    const copiedPorts = await copyAsKilled(site, ports);
    await first.cancel();
    const run = await resumeRun(
      first.id,
      { ...spec, permissions: 'ask' },
      { ...copiedPorts, eventLog: createMemoryEventLog() },
    );
    expect(await run.result).toMatchObject({
      status: 'failed',
      error: { code: 'SESSION_LOST', message: expect.stringContaining('cannot be resumed') },
    });
  });

  it('that has ended is not resumed', async () => {
    const { spec, ports } = await prepare('codex', [[{ say: 'ok' }]], { permissions: 'ask' });
    const first = startRun(spec, ports);
    await first.result;
    await expect(resumeRun(first.id, spec, ports)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' });
    expect(await packRunFolder(ports.data ?? '', first.id)).toBe('packed');
    await expect(resumeRun(first.id, spec, ports)).rejects.toMatchObject({ code: 'RUN_NOT_RESUMABLE' });
  });

  it('is not detached while it is working', async () => {
    const { spec, ports } = await prepare('codex', [[{ say: 'a' }, { hang: true }]], { permissions: 'ask' });
    const run = startRun(spec, ports);
    await readUntil(run, 'assistant.message.final');
    expect(await run.detach()).toBe(false);
    await run.cancel();
  });
});
