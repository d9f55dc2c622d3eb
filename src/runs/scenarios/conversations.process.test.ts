import { describe, expect, it } from 'vitest';
import { codex, DONE } from '../../events/contract/translate-lines.contract.js';
import type { RunSpec } from '../../store/records/run-spec.js';
import { startRun } from '../start-run.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site, Step } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const LINE = {
  type: 'object',
  properties: { line: { type: 'integer' } },
  required: ['line'],
  additionalProperties: false,
};

function say(...records: readonly object[]): Step {
  return { print: records.map((record) => `${JSON.stringify(record)}\n`).join('') };
}

const ASK = [say(codex.thread('t-1'), codex.message('Which one?'), codex.completed(10, 1))];
const FINISH = [
  say(codex.thread('t-1'), codex.message(`{"line":3,"__SKILL_DONE__": true}`, 'item_9'), codex.completed(25, 2)),
];

function makeSpec(site: Site, more: Partial<RunSpec> = {}): RunSpec {
  return { engine: 'codex', prompt: 'Count.', workdir: site.workdir, ...more };
}

const makePorts = (site: Site) => ({ ...site, programs: { codex: site.agent } });

describe('an agent that asks', () => {
  const interactive = { mode: 'interactive', contract: { schema: LINE } } as const;

  it('is resumed with the answer in the same session', async () => {
    const site = await makeSite(ASK, FINISH);
    const { result, fcmp, types, meta } = await runToEnd(makeSpec(site, interactive), makePorts(site), {
      replies: ['The second.'],
    });
    expect(result).toMatchObject({ status: 'success', value: { line: 3 }, attempts: 2, session_id: 't-1' });
    expect(types).toEqual([
      'conversation.started',
      'assistant.message.final',
      'user.input.required',
      'user.input.replied',
      'assistant.message.final',
      'conversation.completed',
    ]);
    expect(fcmp.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(result.usage).toMatchObject({ input_tokens: 25, output_tokens: 2 });
    const [first, second] = await site.calls();
    expect(first?.input).toContain('Count.');
    expect(first?.input).toContain('__SKILL_DONE__');
    expect(second).toMatchObject({ input: 'The second.', args: expect.arrayContaining(['resume', 't-1']) as string[] });
    expect(await meta(2)).toMatchObject({ session_id: 't-1', reply: 'The second.', verdict: 'validated' });
    expect(await meta(1)).toMatchObject({ session_id: null });
  });

  it('can ask again', async () => {
    const site = await makeSite(ASK, ASK, FINISH);
    const { result } = await runToEnd(makeSpec(site, interactive), makePorts(site), { replies: ['one', 'two'] });
    expect(result).toMatchObject({ status: 'success', attempts: 3 });
    expect((await site.calls()).map(({ input }) => input).slice(1)).toEqual(['one', 'two']);
  });

  it('gets the done marker, even without a contract', async () => {
    const site = await makeSite([say(codex.thread(), codex.message(DONE), codex.completed())]);
    const { result } = await runToEnd(makeSpec(site, { mode: 'interactive' }), makePorts(site));
    expect(result).toMatchObject({ status: 'success', text: DONE });
    expect((await site.calls())[0]?.input).toContain('__SKILL_DONE__');
  });

  it('waits no longer than the limit', async () => {
    const site = await makeSite(ASK);
    const { result, meta } = await runToEnd(
      makeSpec(site, { ...interactive, limits: { wait_s: 0.2 } }),
      makePorts(site),
    );
    expect(result).toMatchObject({
      status: 'failed',
      attempts: 2,
      error: {
        category: 'timeout',
        code: 'RUN_TIMED_OUT',
        message: expect.stringContaining('wait_s (0.2 s)') as string,
      },
    });
    expect(await meta(2)).toMatchObject({ verdict: 'timed_out', session_id: 't-1' });
  });

  it('can be canceled while it waits', async () => {
    const site = await makeSite(ASK);
    const { result, types } = await runToEnd(makeSpec(site, interactive), makePorts(site), {
      onEvent: (event, run) => event.type === 'user.input.required' && void run.cancel(),
    });
    expect(result).toMatchObject({ status: 'canceled', attempts: 2 });
    expect(types.slice(-2)).toEqual(['user.input.required', 'conversation.failed']);
  });

  it('cannot be answered if its session is unknown', async () => {
    const site = await makeSite([say(codex.message('Which one?'), codex.completed())]);
    const { result, types } = await runToEnd(makeSpec(site, interactive), makePorts(site), { replies: ['x'] });
    expect(result).toMatchObject({
      status: 'failed',
      error: {
        category: 'engine',
        code: 'SESSION_LOST',
        message: expect.stringContaining('did not print its session id') as string,
      },
    });
    expect(types.slice(-2)).toEqual(['user.input.replied', 'conversation.failed']);
  });

  it('and reports that it has finished, with output that does not pass, has failed', async () => {
    const site = await makeSite([say(codex.thread(), codex.message(DONE), codex.completed())]);
    const { result } = await runToEnd(makeSpec(site, interactive), makePorts(site));
    expect(result).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_NOT_VALIDATED' } });
  });
});

describe('a reply without a question', () => {
  it('is rejected', async () => {
    const site = await makeSite([{ sleep: 5000 }]);
    const run = startRun(makeSpec(site), makePorts(site));
    await expect(run.reply('x')).rejects.toMatchObject({ code: 'REPLY_NOT_EXPECTED' });
    await run.cancel();
    await expect(run.reply('x')).rejects.toMatchObject({ code: 'REPLY_NOT_EXPECTED' });
  });
});

describe('output that does not pass', () => {
  const BAD = [say(codex.thread('t-1'), codex.message('{"line":"three"}'), codex.completed(10, 1))];
  const GOOD = [say(codex.thread('t-1'), codex.message('{"line":3}', 'item_1'), codex.completed(25, 2))];
  const contract = { schema: LINE };

  it('is retried with the error, in the same session', async () => {
    const site = await makeSite(BAD, GOOD);
    const { result, types, fcmp, meta } = await runToEnd(makeSpec(site, { contract, max_retries: 1 }), makePorts(site));
    expect(result).toMatchObject({ status: 'success', value: { line: 3 }, attempts: 2 });
    expect(types.filter((type) => type.startsWith('conversation.'))).toEqual([
      'conversation.started',
      'conversation.completed',
    ]);
    expect(fcmp.filter(({ meta: { attempt } }) => attempt === 1).at(-1)).toMatchObject({
      type: 'diagnostic.warning',
      data: { code: 'OUTPUT_RETRIED', message: expect.stringContaining('SCHEMA_MISMATCH') as string },
    });
    expect(await meta(1)).toMatchObject({ verdict: 'retry', exit_code: 0 });
    const [, second] = await site.calls();
    expect(second?.args).toEqual(expect.arrayContaining(['resume', 't-1']));
    expect(second?.input).toMatch(
      /^Your previous output did not meet the output contract\.\nError: \[SCHEMA_MISMATCH\]/,
    );
    expect(second?.input).not.toContain('Count.');
  });

  it('fails after the last retry', async () => {
    const site = await makeSite(BAD);
    const { result } = await runToEnd(makeSpec(site, { contract, max_retries: 2 }), makePorts(site));
    expect(result).toMatchObject({ status: 'failed', attempts: 3, error: { code: 'OUTPUT_NOT_VALIDATED' } });
    expect(await site.calls()).toHaveLength(3);
  });

  it('is not retried by default', async () => {
    const site = await makeSite(BAD, GOOD);
    const { result } = await runToEnd(makeSpec(site, { contract }), makePorts(site));
    expect(result).toMatchObject({ status: 'failed', attempts: 1 });
  });

  it('is not retried after a process error', async () => {
    const site = await makeSite([...BAD, { exit: 2 }], GOOD);
    const { result } = await runToEnd(makeSpec(site, { contract, max_retries: 3 }), makePorts(site));
    expect(result).toMatchObject({ status: 'failed', attempts: 1 });
  });

  it('is requested again with the task if no session exists', async () => {
    const site = await makeSite([{ print: 'hm\n' }], [{ print: '{"line":3}\n' }]);
    const spec: RunSpec = { engine: 'command', command: site.agent, prompt: 'Count.', workdir: site.workdir };
    const { result, meta } = await runToEnd({ ...spec, contract, max_retries: 1 }, site);
    expect(result).toMatchObject({ status: 'success', value: { line: 3 }, attempts: 2 });
    expect((await site.calls())[1]?.input).toMatch(/^Your previous output[^]*\n\nCount\.$/);
    expect(await meta(2)).toMatchObject({ session_id: null });
  });

  it('becomes a comment only after the last retry', async () => {
    const site = await makeSite([say(codex.thread(), codex.message('All fine.'), codex.completed())]);
    const spec = makeSpec(site, { contract: { schema: LINE, profile: 'tagged' }, max_retries: 1 });
    const { result } = await runToEnd(spec, makePorts(site));
    expect(result).toMatchObject({ status: 'comment', comment: 'All fine.', attempts: 2 });
  });

  it('can be retried in a conversation too', async () => {
    const wrong = [say(codex.thread('t-1'), codex.message(DONE), codex.completed())];
    const site = await makeSite(wrong, FINISH);
    const spec = makeSpec(site, { contract, max_retries: 1, mode: 'interactive' });
    const { result } = await runToEnd(spec, makePorts(site));
    expect(result).toMatchObject({ status: 'success', value: { line: 3 }, attempts: 2 });
  });

  it('is not retried after a cancellation', async () => {
    const site = await makeSite(BAD, [{ sleep: 60_000 }]);
    const { result } = await runToEnd(makeSpec(site, { contract, max_retries: 1 }), makePorts(site), {
      onEvent: (event, run) => event.type === 'diagnostic.warning' && void run.cancel(),
    });
    expect(result).toMatchObject({ status: 'canceled', attempts: 2 });
  });
});
