import { describe, expect, test } from 'vitest';
import { selectRasp } from './contract/emitted-invariants.contract.js';
import { createTranslator } from './translator.js';
import { DONE, codex, translateLines } from './contract/translate-lines.contract.js';
import type { Scenario, Translated } from './contract/translate-lines.contract.js';

/* How each engine's output becomes RASP and FCMP. Engine-specific details are tested next to each engine. */

const gemini = (response: string) => ({
  session_id: 'g-1',
  response,
  stats: { models: { m: { tokens: { prompt: 3, candidates: 2 } } }, tools: {}, files: {} },
});

/** The causes that make a line a failure. */
const GEMINI_CAUSES = `429, 500, quota, rate limited, rateLimitExceeded, too many requests, RESOURCE_EXHAUSTED, UNAVAILABLE
overloaded, unauthorized, forbidden, PERMISSION_DENIED, UNAUTHENTICATED, API key, credentials
timed out, timeout, deadline, ECONNRESET, EHOSTUNREACH, ETIMEDOUT, ENOTFOUND, EAI_AGAIN
UND_ERR_SOCKET, socket hang up, fetch failed, network, terminated, server error, bad gateway
service unavailable`;

const iflowInfo = [
  '<Execution Info>',
  '{"session-id": "s-1", "conversation-id": "c-1", "tokenUsage": {"input": 3, "total": 5}}',
  '</Execution Info>',
];

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
    expect(translated.rasp('agent.reasoning.summary')).toEqual([{ text: 'Thinking.', reasoning_id: 'item_0' }]);
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
  });

  test.each([{ type: 'thread.started' }, codex.thread('')])('a status can lack the session: %j', (record) => {
    const { rasp, of } = translateLines({ stdout: [record] });
    expect(rasp('lifecycle.run.status')).toEqual([{ status: 'thread.started' }]);
    expect(of('conversation.started')).toEqual([]);
  });

  test('a message can be empty, and a summary can lack its id', () => {
    const reasoning = { type: 'item.completed', item: { type: 'reasoning', text: 'Thinking.' } };
    const { of } = translateLines({ stdout: [codex.thread(), codex.message(''), reasoning] });
    expect(of('assistant.message.final')).toMatchObject([{ text: '' }]);
    expect(of('assistant.reasoning')).toEqual([{ text: 'Thinking.' }]);
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
    expect(translated.rasp('lifecycle.run.status')).toMatchObject([
      { usage: { input_tokens: 3, output_tokens: 2 }, detail: { stats: { tools: {}, files: {} } } },
    ]);
  });

  test('fenced JSON in the response is its structured payload, and the text is kept', () => {
    expect(translated.of('assistant.message.final')).toMatchObject([
      { text: 'Done.\n```json\n{"ok": true}\n```', structured_payload: { ok: true } },
    ]);
  });

  test('a fenced array is a structured payload too', () => {
    const response = 'Both:\r\n```json\r\n[1, 2]\r\n```';
    expect(
      translateLines({ engine: 'gemini', stderr: [gemini(response)] }).of('assistant.message.final'),
    ).toMatchObject([{ text: response, structured_payload: [1, 2] }]);
  });

  test('an error in the document can lack its message', () => {
    const stderr = [{ session_id: 'g-1', error: { type: 'ApiError', code: 500 } }];
    const { rasp, of } = translateLines({ engine: 'gemini', stderr });
    expect(rasp('diagnostic.engine.error')).toMatchObject([{ http_status: 500, message: expect.any(String) }]);
    expect(of('conversation.failed')).toMatchObject([{ error: { code: 'ENGINE_RUNTIME_ERROR' } }]);
  });

  test('noise on stdout is an engine error: a warning if the engine recovers, otherwise a failure', () => {
    const retry = 'Attempt 1 failed with status 429. Retrying with backoff... Error: 429';
    const recovered = translateLines({ engine: 'gemini', stdout: [retry], stderr: [gemini('Hello.')] });
    expect(recovered.rasp('diagnostic.engine.error')).toMatchObject([
      { http_status: 429, retrying: true, severity: 'warning' },
    ]);
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

describe('a line of gemini that names the cause of a failure', () => {
  test.each(GEMINI_CAUSES.split(/, |\n/u))('%j', (cause) => {
    const line = `Error: ${cause}`;
    const { rasp, of } = translateLines({ engine: 'gemini', stdout: [line], end: { exitCode: 1 } });
    expect(rasp('diagnostic.engine.error')).toMatchObject([{ message: line }]);
    expect(of('assistant.message.final')).toEqual([]);
  });
});

describe('iflow text', () => {
  test('session id, resuming and errors are found by pattern', () => {
    const translated = translateLines({ engine: 'iflow', stderr: ['Resuming session s-1', 'Error: no such model'] });
    expect(translated.of('conversation.started')).toEqual([{ session_id: 's-1' }]);
    expect(translated.rasp('diagnostic.engine.error')).toMatchObject([{ message: 'Error: no such model' }]);
  });

  test('a JSON block can be an array', () => {
    const { of } = translateLines({ engine: 'iflow', stdout: ['```json', '[1, 2]', '```', ...iflowInfo] });
    expect(of('assistant.message.final')).toMatchObject([{ structured_payload: [1, 2] }]);
  });

  test('a JSON block on stderr is a payload too', () => {
    const { of } = translateLines({ engine: 'iflow', stderr: ['```json', '{"ok": true}', '```'] });
    expect(of('assistant.message.final')).toMatchObject([{ structured_payload: { ok: true } }]);
    expect(of('diagnostic.warning').map(({ code }) => code)).not.toContain('LOW_CONFIDENCE_PARSE');
  });

  test('JSON blocks and Execution Info are parsed', () => {
    const translated = translateLines({ engine: 'iflow', stdout: ['```json', '{"ok": true}', '```', ...iflowInfo] });
    expect(translated.of('assistant.message.final')).toMatchObject([{ structured_payload: { ok: true } }]);
    expect(translated.rasp('lifecycle.run.status')).toMatchObject([
      { session_id: 's-1', usage: { input_tokens: 3, total_tokens: 5 }, detail: { conversation_id: 'c-1' } },
    ]);
  });

  test('the rest is the message; if that is a guess, it has a warning and the raw lines', () => {
    const translated = translateLines({ engine: 'iflow', stderr: ['Hello.'] });
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(translated.of('diagnostic.warning')).toContainEqual(
      expect.objectContaining({ code: 'LOW_CONFIDENCE_PARSE', confidence: 0.3 }),
    );
    expect(listRaspTypes(translated)).toContain('raw.stderr');
  });
});

describe('a line of iflow that names the session', () => {
  test.each(['session-id: s-1', 'session-id = s-1', '"session-id": "s-1",', '• session-id=s-1'])('%j', (line) => {
    const { of } = translateLines({ engine: 'iflow', stderr: [line] });
    expect(of('conversation.started')).toEqual([{ session_id: 's-1' }]);
  });
});

describe('a line of iflow that resumes the session', () => {
  test.each(['Resuming session s-1', 'Resuming session: s-1', "• Resuming session 's-1'"])('%j', (line) => {
    const { of, rasp } = translateLines({ engine: 'iflow', stderr: [line] });
    expect(of('conversation.started')).toEqual([{ session_id: 's-1' }]);
    expect(rasp('lifecycle.run.status')).toEqual([{ status: 'resuming_session', session_id: 's-1' }]);
  });
});

describe('a line of iflow that starts like an error', () => {
  test.each(['Error', 'Uncaught', 'Unhandled', 'Failed to', 'Request failed', 'Generate data error', '错误', '失败'])(
    '%j',
    (start) => {
      const { rasp } = translateLines({ engine: 'iflow', stdout: ['Hello.'], stderr: [`${start} x`] });
      expect(rasp('diagnostic.engine.error')).toMatchObject([{ message: `${start} x` }]);
    },
  );
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

  test('a step that finishes without token counts is a status', () => {
    const { rasp } = translateLines({ engine: 'opencode', stdout: [opencode('step_finish', { reason: 'stop' })] });
    expect(rasp('lifecycle.run.status')).toEqual([{ status: 'step_finish', session_id: 'ses_1', reason: 'stop' }]);
  });

  test('an error names the session', () => {
    const error = { name: 'APIError', data: { message: 'no' } };
    const stdout = [{ type: 'error', timestamp: 1, sessionID: 'ses_1', error }];
    expect(translateLines({ engine: 'opencode', stdout }).of('conversation.started')).toEqual([
      { session_id: 'ses_1' },
    ]);
  });

  test('a text that is marked as not inserted is the message', () => {
    const stdout = [opencode('text', { text: 'Hello.', synthetic: false, ignored: false })];
    const { of } = translateLines({ engine: 'opencode', stdout });
    expect(of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
    expect(of('conversation.started')).toEqual([{ session_id: 'ses_1' }]);
  });

  test.each(['pending', 'running'])('a tool with status %s and its input has started', (status) => {
    const input = { command: 'ls' };
    const { rasp } = translateLines({ engine: 'opencode', stdout: [opencodeStart, opencodeTool({ status, input })] });
    expect(rasp('tool.call.started')).toMatchObject([{ tool_call_id: 'call_1', input }]);
  });

  test.each([
    ['completed', { status: 'completed', input: {}, output: 'a' }, 'completed', { output: 'a' }],
    [
      'completed, but its command failed,',
      { status: 'completed', metadata: { exit: 3 } },
      'completed',
      { exit_code: 3 },
    ],
    ['error', { status: 'error', input: {}, error: 'no file' }, 'failed', { error: 'no file' }],
    ['error, but no reason,', { status: 'error', input: {} }, 'failed', { error: 'The tool failed without a reason.' }],
  ] as const)('a tool with status %s is a call that starts and ends', (_, state, ended, data) => {
    const translated = translateLines({
      engine: 'opencode',
      stdout: [opencodeStart, opencodeTool(state), opencodeStop()],
    });
    expect(translated.rasp('tool.call.started')).toHaveLength(1);
    expect(translated.rasp(`tool.call.${ended}`)).toMatchObject([data]);
    expect(translated.of('assistant.tool_call')).toMatchObject([{ status: 'started' }, { status: ended, ...data }]);
  });

  test('a line that is not JSON becomes raw.stdout', () => {
    const translated = translateLines({
      engine: 'opencode',
      stdout: [opencodeStart, '{"type": "te', opencodeText('Hello.'), opencodeStop()],
    });
    expect(translated.rasp('raw.stdout')).toEqual([{ text: '{"type": "te' }]);
    expect(translated.of('assistant.message.final')).toMatchObject([{ text: 'Hello.' }]);
  });

  test('each line before the first record becomes raw.stdout', () => {
    const { rasp } = translateLines({ engine: 'opencode', stdout: ['npm notice', 'npm warn', opencodeStart] });
    expect(rasp('raw.stdout')).toEqual([{ text: 'npm notice' }, { text: 'npm warn' }]);
  });

  test.each(['tool-calls', '', 'unknown'])(
    'a step that finishes for a reason other than stop does not end the invocation: %j',
    (reason) => {
      const translated = translateLines({
        engine: 'opencode',
        stdout: [opencodeStart, opencodeText('Hello.'), opencodeStop(reason)],
      });
      expect(translated.types).not.toContain('user.input.required');
    },
  );
});

describe('artifacts', () => {
  test.each(ENGINES)("of %s are the new files, without Sluice's files", (_, scenario) => {
    const own = ['.audit/stdout.1.log', 'sub/.audit/x', 'sub\\.audit\\y'];
    const paths = { created: ['a/text.md', '.env'], modified: ['b', 'c'], deleted: ['d', 'e'] };
    const fsDiff = {
      created: ['.\\a\\text.md', '.env', ...own],
      modified: [...paths.modified, ...own],
      deleted: [...paths.deleted, ...own],
    };
    const { rasp, of } = translateLines({ ...scenario('Hello.'), end: { fsDiff } });
    for (const change of ['created', 'modified', 'deleted'] as const) {
      expect(rasp(`artifact.${change}`).map(({ path }) => path)).toEqual(paths[change]);
      expect(of(`artifact.${change}`).map(({ path }) => path)).toEqual(paths[change]);
    }
  });
});

describe('the next attempt', () => {
  test.each(ENGINES)('of %s starts the conversation only if it has another session', (_, scenario) => {
    const { fcmp, of } = translateLines(scenario('Which one?'));
    const next = { ...scenario('Hello.'), attempt: 2, fcmpSeq: fcmp.length };
    const sessionId = of('conversation.started')[0]?.session_id ?? '';
    expect(translateLines({ ...next, sessionId }).of('conversation.started')).toEqual([]);
    expect(translateLines({ ...next, sessionId: 'other' }).of('conversation.started')).toMatchObject([
      { session_id: sessionId },
    ]);
  });
});

describe('how an attempt ends', () => {
  test.each(ENGINES)('%s: the end signal without the marker asks the user', (_, scenario) => {
    const { types, of } = translateLines(scenario('Which one?'));
    expect(types.at(-1)).toBe('user.input.required');
    expect(of('user.input.required')).toMatchObject([{ interaction_id: 'ix_1', prompt: 'Which one?' }]);
  });

  test.each<[string, Scenario]>([
    ['codex without token counts', { stdout: [codex.thread(), codex.message('?'), { type: 'turn.completed' }] }],
    ['codex without a message', { stdout: [codex.thread(), codex.completed()] }],
    ['gemini with an empty response', { engine: 'gemini', stderr: [gemini('')] }],
    ['iflow with a broken block', { engine: 'iflow', stdout: ['?', '<Execution Info>', '{"ses', '</Execution Info>'] }],
    ['opencode without token counts', { engine: 'opencode', stdout: [opencode('step_finish', { reason: 'stop' })] }],
  ])('the end signal of %s asks the user', (_, scenario) => {
    expect(translateLines(scenario).types.at(-1)).toBe('user.input.required');
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
    ['a negative exit code', { exitCode: -1 }],
    ['a signal', { exitCode: null, signal: 'SIGKILL' }],
  ])('without either, %s is an interruption', (_, end) => {
    const translated = translateLines({ stdout: [codex.thread(), codex.message('Hel')], end });
    expect(translated.rasp('lifecycle.completion.state')).toMatchObject([{ state: 'interrupted' }]);
    expect(translated.types.at(-1)).toBe('conversation.failed');
  });

  test('without any of these the end is unknown, with a warning', () => {
    // A new turn takes back the end signal of the one before.
    const turn = [codex.message('One.'), codex.completed(), codex.turn];
    const { rasp, of } = translateLines({ stdout: [codex.thread(), ...turn, codex.message('Hel')] });
    expect(rasp('lifecycle.completion.state')).toMatchObject([{ state: 'unknown' }]);
    const code = 'INCOMPLETE_STATE_CLASSIFICATION';
    expect(of('diagnostic.warning').at(-1)).toMatchObject({ code, confidence: 0.3 });
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

  test.each(['stdout', 'stderr'] as const)('a %s line that is not UTF-8 is a raw event too', (stream) => {
    const translator = createTranslator({ engine: 'codex', runId: 'run-1', attempt: 2, clock: () => 0 });
    const emitted = [...translator.push(stream, new Uint8Array([0x61, 0xff, 0x0a])), ...translator.drain().events];
    expect(selectRasp(emitted).find(({ event }) => event.type === `raw.${stream}`)).toMatchObject({
      data: { text: 'a\uFFFD' },
      raw_ref: { attempt_number: 2, stream, byte_from: 0, byte_to: 3, encoding: 'binary' },
    });
  });

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
