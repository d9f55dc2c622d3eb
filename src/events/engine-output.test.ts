import { describe, expect, test } from 'vitest';
import { selectRasp } from './contract/emitted-invariants.contract.js';
import { DONE, codex, translateLines } from './contract/translate-lines.contract.js';
import type { Scenario, Translated } from './contract/translate-lines.contract.js';

/* How each engine's output becomes RASP and FCMP. Engine-specific details are tested next to each engine. */

const gemini = (response: string) => ({
  session_id: 'g-1',
  response,
  stats: { models: { m: { tokens: { prompt: 3, candidates: 2 } } }, tools: {}, files: {} },
});

const iflowInfo = ['<Execution Info>', '{"session-id": "s-1", "tokenUsage": {"input": 3}}', '</Execution Info>'];

const opencode = (type: string, part: object) => ({
  type,
  timestamp: 1,
  sessionID: 'ses_1',
  part: { id: 'prt_1', messageID: 'msg_1', sessionID: 'ses_1', type, ...part },
});
const opencodeStart = opencode('step_start', {});
const opencodeText = (text: string) => opencode('text', { text, time: { start: 1, end: 2 } });
const opencodeStop = (reason = 'stop') =>
  opencode('step_finish', { reason, cost: 0, tokens: { input: 1, output: 1, reasoning: 0, cache: {} } });
const opencodeTool = (state: object) => opencode('tool_use', { callID: 'call_1', tool: 'bash', state });

/** Lists the types of the RASP events, including the diagnostics at the end. */
function listRaspTypes({ emitted }: Translated): readonly string[] {
  return selectRasp(emitted).map(({ event }) => event.type);
}

/** Lists the session ids of events that refer to bytes. */
function listSessions({ emitted }: Translated): readonly (string | undefined)[] {
  const eventsWithBytes = selectRasp(emitted).filter(({ raw_ref }) => raw_ref !== null);
  return [...new Set(eventsWithBytes.map(({ correlation }) => correlation.session_id))];
}

/** The same answer from each engine, followed by the engine's end signal. */
const COMPLETE_OUTPUTS: Readonly<Record<string, (answer: string) => Scenario>> = {
  codex: (answer) => ({ engine: 'codex', stdout: [codex.thread(), codex.message(answer), codex.completed()] }),
  gemini: (answer) => ({ engine: 'gemini', stderr: [gemini(answer)] }),
  iflow: (answer) => ({ engine: 'iflow', stdout: [answer, ...iflowInfo] }),
  opencode: (answer) => ({ engine: 'opencode', stdout: [opencodeStart, opencodeText(answer), opencodeStop()] }),
};
const ENGINES = Object.entries(COMPLETE_OUTPUTS);

describe('codex NDJSON', () => {
  const translated = translateLines({
    stdout: [
      codex.thread('t-1'),
      { type: 'item.completed', item: { id: 'item_0', type: 'reasoning', text: 'Thinking.' } },
      codex.message('Hello.', 'item_1'),
      codex.completed(),
    ],
  });

  test('thread.started is a status, names the session and starts the conversation', () => {
    expect(translated.rasp('lifecycle.run.status')[0]).toMatchObject({ status: 'thread.started', session_id: 't-1' });
    expect(translated.of('conversation.started')).toEqual([{ session_id: 't-1' }]);
  });

  test('a completed agent_message is the final message, a completed reasoning the summary', () => {
    expect(translated.rasp('agent.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(translated.rasp('agent.reasoning.summary')).toMatchObject([{ text: 'Thinking.' }]);
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
  });

  test('stdout is read first, then the records that only the terminal has; the gap is reported as PTY_STREAM_MISMATCH', () => {
    const lines = [codex.thread(), codex.message('Hello.'), codex.completed()];
    const merged = translateLines({ stdout: [codex.thread(), codex.completed()], pty: lines });
    expect(merged.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    const message = 'Restored 1 record missing from stdout, using the terminal.';
    const warning = expect.objectContaining({ code: 'PTY_STREAM_MISMATCH', message });
    expect(merged.rasp('diagnostic.parser.warning')).toContainEqual(warning);
  });

  test('a record that both streams have is reported once', () => {
    const lines = [codex.thread(), codex.message('Hello.'), codex.completed()];
    expect(translateLines({ stdout: lines, pty: lines }).of('assistant.message.final')).toHaveLength(1);
  });
});

describe('gemini JSON', () => {
  const translated = translateLines({ engine: 'gemini', stderr: [gemini('Done.\n```json\n{"ok": true}\n```')] });

  test('the document is read from stderr: session, response and stats', () => {
    expect(translated.of('conversation.started')).toEqual([{ session_id: 'g-1', model: 'm' }]);
    expect(listSessions(translated)).toEqual(['g-1']);
    expect(translated.rasp('agent.message.final')).toMatchObject([{ text: 'Done.\n```json\n{"ok": true}\n```' }]);
    expect(translated.rasp('lifecycle.run.status')).toMatchObject([{ usage: { input_tokens: 3, output_tokens: 2 } }]);
  });

  test('fenced JSON in the response is its structured payload, and the text is kept', () => {
    expect(translated.of('assistant.message.final')).toMatchObject([
      { text: 'Done.\n```json\n{"ok": true}\n```', structured_payload: { ok: true } },
    ]);
  });

  test('noise on stdout is an engine error: a warning if the engine recovers, otherwise a failure', () => {
    const retry = 'Attempt 1 failed with status 429. Retrying with backoff... Error: 429';
    const recovered = translateLines({ engine: 'gemini', stdout: [retry], stderr: [gemini('Hello.')] });
    expect(recovered.rasp('diagnostic.engine.error')).toMatchObject([{ http_status: 429, retrying: true }]);
    expect(recovered.types).not.toContain('conversation.failed');
    const failed = translateLines({
      engine: 'gemini',
      stderr: [{ session_id: 'g-1', error: { type: 'ApiError', message: 'no quota', code: 429 } }],
      end: { exitCode: 1 },
    });
    expect(failed.rasp('diagnostic.engine.error').length).toBeGreaterThan(0);
    expect(failed.of('conversation.failed')).toMatchObject([{ error: { message: 'no quota' } }]);
  });
});

describe('iflow text', () => {
  test('session id, resuming and errors are found by pattern', () => {
    const translated = translateLines({ engine: 'iflow', stderr: ['Resuming session s-1', 'Error: no such model'] });
    expect(translated.of('conversation.started')).toEqual([{ session_id: 's-1' }]);
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ message: 'Error: no such model' }]);
  });

  test('JSON blocks and Execution Info are parsed', () => {
    const translated = translateLines({ engine: 'iflow', stdout: ['```json', '{"ok": true}', '```', ...iflowInfo] });
    expect(translated.of('assistant.message.final')).toMatchObject([{ structured_payload: { ok: true } }]);
    expect(translated.rasp('lifecycle.run.status')).toMatchObject([{ session_id: 's-1', usage: { input_tokens: 3 } }]);
  });

  test('the rest is the message; if that is a guess, it has a warning and the raw lines', () => {
    const translated = translateLines({ engine: 'iflow', stderr: ['Hello.'] });
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(translated.warnings).toContain('LOW_CONFIDENCE_PARSE');
    expect(listRaspTypes(translated)).toContain('raw.stderr');
  });
});

describe('opencode NDJSON', () => {
  test('steps are statuses, and the first sessionID starts the conversation', () => {
    const translated = translateLines({
      engine: 'opencode',
      stdout: [opencodeStart, opencodeText('Hello.'), opencodeStop()],
    });
    expect(translated.rasp('lifecycle.run.status')).toHaveLength(2);
    expect(translated.of('conversation.started')).toEqual([{ session_id: 'ses_1' }]);
    expect(listSessions(translated)).toEqual(['ses_1']);
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
  });

  test.each([
    ['completed', { status: 'completed', input: {}, output: 'a' }, 'tool.call.completed'],
    ['error', { status: 'error', input: {}, error: 'no file' }, 'tool.call.failed'],
  ])('a tool with status %s is a call that starts and ends', (_, state, ended) => {
    const translated = translateLines({
      engine: 'opencode',
      stdout: [opencodeStart, opencodeTool(state), opencodeStop()],
    });
    expect(listRaspTypes(translated)).toEqual(expect.arrayContaining(['tool.call.started', ended]));
  });

  test('a line that is not JSON becomes raw.stdout', () => {
    const translated = translateLines({
      engine: 'opencode',
      stdout: [opencodeStart, '{"type": "te', opencodeText('Hello.'), opencodeStop()],
    });
    expect(translated.rasp('raw.stdout')).toEqual([{ text: '{"type": "te' }]);
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
  });

  test('a step that finishes for a reason other than stop does not end the invocation', () => {
    const translated = translateLines({
      engine: 'opencode',
      stdout: [opencodeStart, opencodeText('Hello.'), opencodeStop('tool-calls')],
    });
    expect(translated.types).not.toContain('user.input.required');
  });
});

describe('artifacts', () => {
  test.each(ENGINES)("of %s are the new files, without Sluice's files", (_, scenario) => {
    const fsDiff = { created: ['artifacts/text.md', '.audit/stdout.1.log'], modified: ['a'], deleted: ['b'] };
    const translated = translateLines({ ...scenario('Hello.'), end: { fsDiff } });
    expect(translated.rasp('artifact.created')).toMatchObject([{ path: 'artifacts/text.md' }]);
    expect(translated.rasp('artifact.modified')).toMatchObject([{ path: 'a' }]);
    expect(translated.rasp('artifact.deleted')).toMatchObject([{ path: 'b' }]);
  });
});

describe('how an attempt ends', () => {
  test.each(ENGINES)('%s: the end signal without the marker asks the user', (_, scenario) => {
    expect(translateLines(scenario('Which one?')).types.at(-1)).toBe('user.input.required');
  });

  test.each(ENGINES)('%s: the done marker completes the attempt, with or without the end signal', (_, scenario) => {
    const translated = translateLines(scenario(`Done.\n\n${DONE}`));
    expect(translated.types).not.toContain('user.input.required');
    expect(translated.of('conversation.completed')).toMatchObject([
      { state: 'completed', reason_code: 'DONE_MARKER_FOUND' },
    ]);
  });

  test.each([
    ['an exit code', { exitCode: 2 }],
    ['a signal', { exitCode: null, signal: 'SIGKILL' }],
  ])('without either, %s is an interruption', (_, end) => {
    const translated = translateLines({ stdout: [codex.thread(), codex.message('Hel')], end });
    expect(translated.rasp('lifecycle.completion.state')).toMatchObject([{ state: 'interrupted' }]);
    expect(translated.types.at(-1)).toBe('conversation.failed');
  });

  test('without any of these the end is unknown, with a warning', () => {
    const translated = translateLines({ stdout: [codex.thread(), codex.message('Hel')] });
    expect(translated.rasp('lifecycle.completion.state')).toMatchObject([{ state: 'unknown' }]);
    expect(translated.types.at(-1)).toBe('diagnostic.warning');
  });
});

describe('unreadable output', () => {
  test.each(['stdout', 'stderr'] as const)(
    'a %s line that cannot be parsed is a raw event with its bytes',
    (stream) => {
      const translated = translateLines({ [stream]: ['garbage', 'more', 'much more'] });
      const raw = translated.fcmp.filter(({ type }) => type === `raw.${stream}`);
      expect(raw.map(({ data, raw_ref }) => ({ data, from: raw_ref?.byte_from }))).toEqual([
        { data: { text: 'garbage' }, from: 0 },
        { data: { text: 'more' }, from: 8 },
        { data: { text: 'much more' }, from: 13 },
      ]);
    },
  );

  test('an uncertain parse is a warning with its confidence', () => {
    const diagnostics = translateLines({ stdout: ['garbage', codex.thread()] }).of('diagnostic.warning');
    expect(diagnostics[0]?.confidence).toBeLessThan(1);
  });

  test('a new kind of record is kept as raw with a warning, never dropped', () => {
    const translated = translateLines({ stdout: [codex.thread(), { type: 'thread.dreamt', dream: 'sheep' }] });
    expect(translated.rasp('raw.stdout')).toEqual([{ text: '{"type":"thread.dreamt","dream":"sheep"}' }]);
    expect(translated.warnings).toContain('UNKNOWN_EVENT_TYPE');
  });
});
