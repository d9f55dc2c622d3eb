import { describe, expect, it } from 'vitest';
import {
  expectCovered,
  expectInOrder,
  expectValid,
  selectFcmp,
  selectRasp,
} from './contract/emitted-invariants.contract.js';
import { DONE, codex, translateLines, toBytes } from './contract/translate-lines.contract.js';
import { createTranslator } from './translator.js';

describe('every translation', () => {
  it('extracts the session id if present', () => {
    const { of, fcmp } = translateLines({ stdout: [codex.thread('t-1'), codex.message('hi')] });
    expect(of('conversation.started')).toEqual([{ session_id: 't-1' }]);
    expect(fcmp.every(({ correlation }) => correlation.session_id === 't-1')).toBe(true);
  });

  it('emits assistant.message.final', () => {
    const { of } = translateLines({ stdout: [codex.thread(), codex.message('hello')] });
    expect(of('assistant.message.final')).toEqual([{ message_id: 'm_1_1', text: 'hello' }]);
  });

  it('emits user.input.required', () => {
    const { fcmp } = translateLines({ stdout: [codex.thread(), codex.message('Which one?'), codex.completed()] });
    expect(fcmp.at(-1)).toMatchObject({
      type: 'user.input.required',
      data: { interaction_id: 'ix_1', kind: 'open_text', prompt: 'Which one?' },
    });
  });

  it('emits conversation.completed or conversation.failed', () => {
    expect(translateLines({ stdout: [codex.message(DONE)] }).types.at(-1)).toBe('conversation.completed');
    expect(translateLines({ stdout: [codex.failed('no')], end: { exitCode: 1 } }).types.at(-1)).toBe(
      'conversation.failed',
    );
  });

  it('keeps unreadable output as raw events that refer to its bytes', () => {
    const { rasp, translator, of, emitted } = translateLines({ stdout: ['garbage', codex.thread()], stderr: ['log'] });
    expect(rasp('raw.stdout')).toEqual([{ text: 'garbage' }]);
    expect(of('raw.stderr')).toEqual([{ text: 'log' }]);
    expect(
      emitted.find(({ protocol, event }) => protocol === 'fcmp' && 'type' in event && event.type === 'raw.stdout')
        ?.event.raw_ref,
    ).toEqual({
      attempt_number: 1,
      stream: 'stdout',
      byte_from: 0,
      byte_to: 8,
      encoding: 'utf-8',
    });
    expectCovered(translator.coverage());
  });
});

describe('a translator that is drained before it is ended', () => {
  const start = { runId: 'r', attempt: 1, clock: () => 0 } as const;
  const end = { exitCode: 0, signal: null } as const;

  it.each(['codex', 'auto'] as const)('reports the same events, the last output first (%s)', (engine) => {
    const bytes = toBytes([codex.thread(), codex.message('hello')]).subarray(0, -1);
    const [drained, ended] = [createTranslator({ engine, ...start }), createTranslator({ engine, ...start })];
    const pushedEvents = drained.push('stdout', bytes);
    const { events, ...state } = drained.drain();
    expect(state).toEqual({
      doneMarker: false,
      endSignal: null,
      runtimeError: null,
      sessionId: 'thread-1',
      usage: null,
    });
    expect([...pushedEvents, ...events, ...drained.end(end)]).toEqual([
      ...ended.push('stdout', bytes),
      ...ended.end(end),
    ]);
    expect(events.some(({ event }) => 'type' in event && event.type === 'assistant.message.final')).toBe(true);
  });

  it('reports the state after all bytes', () => {
    const translator = createTranslator({ engine: 'codex', ...start });
    translator.push('stdout', toBytes([codex.message(DONE), codex.completed(3, 1)]));
    expect(translator.drain()).toMatchObject({
      doneMarker: true,
      endSignal: 'CODEX_TURN_COMPLETED',
      usage: { input_tokens: 3, output_tokens: 1 },
    });
  });

  it('accepts no more bytes', () => {
    const translator = createTranslator({ engine: 'codex', ...start });
    translator.drain();
    const endedError = expect.objectContaining({ code: 'TRANSLATOR_ENDED' });
    expect(() => translator.push('stdout', toBytes(['x']))).toThrow(endedError);
    translator.end(end);
    expect(() => translator.drain()).toThrow(endedError);
  });
});

describe('an attempt that repeats the cached result of another run', () => {
  it('names that run', () => {
    const { fcmp, rasp, emitted } = translateLines({
      engine: 'generic',
      mode: 'auto',
      cachedFrom: 'run-0',
      stdout: ['{"a":1}'],
    });
    expect(rasp('lifecycle.run.started')).toEqual([{ mode: 'auto', resumed: false, cached_from: 'run-0' }]);
    expect(fcmp.every(({ meta }) => meta.cached_from === 'run-0')).toBe(true);
    expectValid(emitted);
  });
});

describe('a translator', () => {
  it('rejects an unknown engine and lists the known engines', () => {
    expect(() => createTranslator({ engine: 'hal', runId: 'r', attempt: 1 })).toThrow(/"hal".*auto, codex/);
    expect(() => createTranslator({ engine: 'toString', runId: 'r', attempt: 1 })).toThrow(/toString/);
  });

  it('throws if push or end is called after the end', () => {
    const { translator } = translateLines({});
    expect(() => translator.push('stdout', toBytes(['x']))).toThrow(
      expect.objectContaining({ code: 'TRANSLATOR_ENDED' }),
    );
    expect(() => translator.end({ exitCode: 0, signal: null })).toThrow(
      expect.objectContaining({ code: 'TRANSLATOR_ENDED' }),
    );
  });

  it('copies the bytes, so the caller can reuse its buffer', () => {
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1, clock: () => 0 });
    const bytes = toBytes([codex.message('first')]);
    const buffer = bytes.slice(0, 40);
    translator.push('stdout', buffer);
    buffer.fill(0);
    const [first] = translator.push('stdout', bytes.subarray(40));
    expect(first?.event.data).toMatchObject({ text: 'first' });
  });

  it('reports a record with the push that ends its line', () => {
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1, clock: () => 0 });
    const bytes = toBytes([codex.thread()]);
    expect(translator.push('stdout', bytes.subarray(0, -1)).map(({ event }) => event.seq)).toEqual([1]);
    expect(translator.push('stdout', bytes.subarray(-1))).toHaveLength(2);
  });

  it('dates an event by the push that ends its frame', () => {
    let now = 1000;
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1, clock: () => now });
    const bytes = toBytes([codex.message('x')]);
    translator.push('stdout', bytes.subarray(0, 20));
    now = 2000;
    const [first] = translator.push('stdout', bytes.subarray(20));
    expect(first?.event.ts).toBe('1970-01-01T00:00:02.000Z');
  });

  it('reports bytes that wait for their line as unclaimed until they are reported', () => {
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1 });
    translator.push('stdout', toBytes([codex.turn]));
    translator.push('stdout', new TextEncoder().encode('{"ty'));
    expect(translator.coverage().stdout).toEqual({ bytes: 28, claimed: 24, unclaimed: [[24, 28]], doubled: [] });
    translator.end({ exitCode: 0, signal: null });
    expectCovered(translator.coverage());
  });

  it('continues the numbers of the run in the next attempt', () => {
    const first = translateLines({ stdout: [codex.thread(), codex.message('Which?'), codex.completed()] });
    const fcmpSeq = first.fcmp.length;
    const second = translateLines({
      attempt: 2,
      fcmpSeq,
      sessionId: 'thread-1',
      reply: 'the blue one',
      stdout: [codex.thread(), codex.message(DONE)],
    });
    expectInOrder(second.emitted, fcmpSeq);
    expect(second.types.slice(0, 2)).toEqual(['user.input.replied', 'assistant.message.final']);
    expect(second.of('user.input.replied')).toEqual([{ interaction_id: 'ix_1', text: 'the blue one' }]);
    expect(second.of('assistant.message.final')[0]?.message_id).toBe('m_2_1');
    expect(second.rasp('lifecycle.run.started')).toEqual([{ mode: 'interactive', resumed: true }]);
  });

  it('starts another conversation if the next attempt has another session', () => {
    const stdout = [codex.thread('thread-2'), codex.message(DONE)];
    const { of } = translateLines({ attempt: 2, fcmpSeq: 9, sessionId: 'thread-1', stdout });
    expect(of('conversation.started')).toEqual([{ session_id: 'thread-2' }]);
  });

  it('starts the conversation of a first attempt that resumes a session', () => {
    const { of } = translateLines({ sessionId: 'thread-1', stdout: [codex.thread(), codex.message(DONE)] });
    expect(of('conversation.started')).toEqual([{ session_id: 'thread-1' }]);
  });

  it('reads a 64 MiB line with its complete message', () => {
    const text = 'lorem ipsum '.repeat((64 * 1024 * 1024) / 12);
    const bytes = toBytes([codex.message(text)]);
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1 });
    const emitted = [];
    for (let start = 0; start < bytes.length; start += 1 << 20) {
      emitted.push(...translator.push('stdout', bytes.subarray(start, start + (1 << 20))));
    }
    const texts = emitted.map(({ event }) => ('text' in event.data ? event.data.text : null));
    // Compared without `expect`: a diff of 64 MiB is not a readable message.
    expect(texts.filter((one) => one === text)).toHaveLength(2);
  });
});

describe('the session', () => {
  it('is named once per attempt', () => {
    const { of } = translateLines({ stdout: [codex.thread(), codex.thread(), codex.message('x')] });
    expect(of('conversation.started')).toHaveLength(1);
  });

  it('is the latest if it changes, with a warning', () => {
    const { warnings, fcmp } = translateLines({ stdout: [codex.thread('a'), codex.thread('b'), codex.message('x')] });
    expect(warnings).toContain('SESSION_ID_CHANGED');
    expect(fcmp.at(-1)?.correlation.session_id).toBe('b');
  });

  it('causes a warning if it is not the session to resume', () => {
    expect(translateLines({ sessionId: 'a', stdout: [codex.thread('b')] }).warnings).toContain('SESSION_ID_CHANGED');
    expect(translateLines({ sessionId: 'a', stdout: [codex.thread('a')] }).warnings).not.toContain(
      'SESSION_ID_CHANGED',
    );
  });

  it('is null at the end if the agent answered without printing a session', () => {
    const { of, warnings } = translateLines({ stdout: [codex.message('hi'), codex.completed()] });
    expect(of('conversation.started')).toEqual([{ session_id: null }]);
    expect(warnings).toContain('SESSION_ID_MISSING');
  });

  it('starts no conversation if the agent printed nothing', () => {
    expect(translateLines({ stdout: ['garbage'] }).of('conversation.started')).toEqual([]);
  });

  it("is never taken from a tool's output", () => {
    const output = JSON.stringify({ session_id: 'evil', thread_id: 'evil', type: 'thread.started' });
    const call = { id: 'item_1', type: 'command_execution', command: 'cat', aggregated_output: output, exit_code: 0 };
    const { of } = translateLines({
      stdout: [{ type: 'item.completed', item: { ...call, status: 'completed' } }, codex.completed()],
    });
    expect(of('conversation.started')).toEqual([{ session_id: null }]);
  });

  it('is null if its id is too long', () => {
    expect(
      translateLines({ stdout: [codex.thread('x'.repeat(5000)), codex.message('hi')] }).of('conversation.started'),
    ).toEqual([{ session_id: null }]);
  });
});

describe('a conversation whose session is named late', () => {
  const threadStarted = codex.thread('t-1');

  it('starts before its first message, which waits for the session', () => {
    const { types, fcmp, emitted } = translateLines({
      stdout: [codex.message('Hello.'), threadStarted, codex.completed()],
    });
    expect(types.slice(0, 2)).toEqual(['conversation.started', 'assistant.message.final']);
    expect(fcmp.map(({ correlation }) => correlation.session_id)).toEqual(['t-1', 't-1', 't-1']);
    const rasp = selectRasp(emitted).map(({ event }) => event.type);
    expect(rasp.indexOf('agent.message.final')).toBeLessThan(rasp.lastIndexOf('lifecycle.run.status'));
  });

  it('emits RASP immediately', () => {
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1, clock: () => 0 });
    const emitted = translator.push('stdout', toBytes([codex.message('Hello.')]));
    expect(emitted.map(({ protocol }) => protocol)).toEqual(['rasp', 'rasp']);
  });

  it('holds nothing before the first message', () => {
    const { types } = translateLines({ stdout: ['no JSON', codex.message('Hello.'), threadStarted] });
    expect(types.slice(0, 4)).toEqual([
      'raw.stdout',
      'diagnostic.warning',
      'conversation.started',
      'assistant.message.final',
    ]);
  });

  it.each([
    ['64 events', Array.from({ length: 65 }, (_, index) => codex.message('Hello.', `item_${index}`))],
    ['64 KiB', [codex.message('x'.repeat(65 * 1024))]],
  ])('waits for no more than %s', (_, messages) => {
    const { types, of } = translateLines({ stdout: [...messages, threadStarted, codex.completed()] });
    expect(types[0]).toBe('assistant.message.final');
    expect(of('conversation.started')).toEqual([{ session_id: 't-1' }]);
  });

  it.each(['iflow', 'generic'] as const)('is not waited for if %s prints text', (engine) => {
    const translator = createTranslator({ engine, runId: 'r', attempt: 1, clock: () => 0 });
    const emitted = translator.push('stdout', toBytes(['Hello.']));
    expect(selectFcmp(emitted).map(({ type }) => type)).toEqual(['assistant.message.delta']);
  });

  it('starts without a session at the end of the bytes', () => {
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1, clock: () => 0 });
    translator.push('stdout', toBytes([codex.message('Hello.')]));
    const { events } = translator.drain();
    expect(
      selectFcmp(events)
        .map(({ type }) => type)
        .slice(0, 2),
    ).toEqual(['conversation.started', 'assistant.message.final']);
  });
});

describe('usage', () => {
  it('is reported on the last event of the attempt', () => {
    const { fcmp } = translateLines({ stdout: [codex.thread(), codex.message('?'), codex.completed(90, 7)] });
    expect(fcmp.at(-1)?.data).toMatchObject({ usage: { scope: 'total', input_tokens: 90, output_tokens: 7 } });
  });

  it('is the latest total if the engine reports totals', () => {
    const stdout = [codex.turn, codex.completed(90, 7), codex.turn, codex.completed(120, 9)];
    expect(translateLines({ stdout }).fcmp.at(-1)?.data).toMatchObject({
      usage: { input_tokens: 120, output_tokens: 9 },
    });
  });
});

describe('unknown types and fields', () => {
  it('cause a warning each time for a type, which is kept as raw', () => {
    const record = { type: 'item.teleported', item: {} };
    const { warnings, of, translator } = translateLines({ stdout: [record, record] });
    expect(of('raw.stdout')).toEqual([{ text: JSON.stringify(record) }, { text: JSON.stringify(record) }]);
    expect(warnings.filter((code) => code === 'UNKNOWN_EVENT_TYPE')).toHaveLength(2);
    expect(translator.drift()).toEqual({
      summary: 'drift',
      run_id: 'run-1',
      attempt_number: 1,
      engine: 'codex',
      engine_version: null,
      unknown_types: { 'item.teleported': 2 },
      unknown_fields: {},
    });
  });

  it('cause one warning per path for a field, with a confidence, and a raw event per value', () => {
    const stdout = ['fine', 'fine', 'bad'].map((mood) => ({ ...codex.thread(), mood }));
    const { of, translator } = translateLines({ stdout });
    expect(of('conversation.started')).toHaveLength(1);
    expect(of('diagnostic.warning').filter(({ code }) => code === 'UNKNOWN_FIELD')).toEqual([
      { code: 'UNKNOWN_FIELD', subject: 'thread.started.mood', confidence: 0.5, message: expect.any(String) },
    ]);
    expect(of('raw.stdout').map(({ text }) => text)).toEqual([
      '{"thread.started.mood":"fine"}',
      '{"thread.started.mood":"bad"}',
    ]);
    expect(translator.drift()?.unknown_fields).toEqual({ 'thread.started.mood': 3 });
  });

  it('keep the values in the detail of the RASP event as well', () => {
    const init = { type: 'system', subtype: 'init', session_id: 's', cwd: '/w', mood: 'fine' };
    const { rasp, of } = translateLines({ engine: 'claude', stdout: [init] });
    expect(rasp('lifecycle.run.status')).toMatchObject([{ detail: { mood: 'fine' } }]);
    expect(of('raw.stdout')).toMatchObject([{ text: expect.stringContaining('fine') }]);
  });

  it('keep the values of unknown fields within a limit', () => {
    const { of } = translateLines({ stdout: [{ ...codex.thread(), mood: 'x'.repeat(100_000) }] });
    expect(of('raw.stdout')).toEqual([{ text: expect.stringMatching(/^.{4000,4100}$/u) }]);
  });

  it('are read in linear time, even if they are all in one chunk', { timeout: 15_000 }, () => {
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1 });
    const record = `${JSON.stringify({ ...codex.message('Hi.'), extra: 1 })}\n`;
    const emitted = translator.push('stdout', new TextEncoder().encode(record.repeat(40_000)));
    expect(selectRasp(emitted).filter(({ event }) => event.type === 'agent.message.final')).toHaveLength(40_000);
  });

  it('are counted for a bounded number of names', () => {
    const stdout = Array.from({ length: 1500 }, (_, index) => ({ type: `unknown-${index}` }));
    const { translator } = translateLines({ stdout });
    expect(Object.keys(translator.drift()?.unknown_types ?? {})).toHaveLength(1000);
  });

  it('cause a drift summary only if they occur', () => {
    expect(translateLines({ stdout: [codex.thread(), codex.completed()] }).translator.drift()).toBeNull();
  });
});

describe('unreadable output', () => {
  it('causes one warning for consecutive lines, and another after a good line', () => {
    const { warnings, of } = translateLines({ stdout: ['one', 'two', '', 'three', codex.turn, 'four'] });
    expect(of('raw.stdout')).toHaveLength(4);
    expect(warnings.filter((code) => code === 'UNPARSED_CONTENT_FELL_BACK_TO_RAW')).toHaveLength(2);
  });

  it('causes a warning with a confidence', () => {
    const [warning] = translateLines({ stdout: ['garbage'] }).of('diagnostic.warning');
    expect(warning).toMatchObject({ code: 'UNPARSED_CONTENT_FELL_BACK_TO_RAW', confidence: 0.3 });
  });

  it('is reported as truncated if a record is incomplete', () => {
    expect(translateLines({ stdout: ['{"type":"item.comp', codex.turn] }).warnings).toContain('TRUNCATED_RECORD');
  });

  it('is reported as malformed if a record lacks required fields', () => {
    expect(translateLines({ stdout: [{ type: 'item.completed' }] }).warnings).toContain('MALFORMED_RECORD');
  });

  it('is shown in part if it is very long', () => {
    const { rasp, warnings, translator } = translateLines({ stdout: ['x'.repeat(100_000)] });
    expect(rasp('raw.stdout')[0]).toMatchObject({ shortened: true });
    expect(rasp('raw.stdout')[0]?.text).toHaveLength(64 * 1024);
    expect(warnings).toContain('RAW_TEXT_SHORTENED');
    expectCovered(translator.coverage());
  });

  it('is marked if it is not UTF-8, and the rest of the record is read', () => {
    const bytes = toBytes([codex.message('a?b')]);
    bytes[bytes.indexOf(0x3f)] = 0xff;
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1 });
    const emitted = [...translator.push('stdout', bytes), ...translator.end({ exitCode: 0, signal: null })];
    const final = emitted.find(({ event }) => 'type' in event && event.type === 'assistant.message.final')?.event;
    expect(final).toMatchObject({ data: { text: 'a\uFFFDb' }, raw_ref: { encoding: 'binary' } });
    expect(JSON.stringify(emitted)).toContain('INVALID_UTF8');
    expectValid(emitted);
  });
});

describe('a number that is invalid in an event', () => {
  const item = { id: 'i', type: 'command_execution', command: 'ls', aggregated_output: '', status: 'failed' };
  const opencode = (type: string, fields: object) => ({ type, timestamp: 1, sessionID: 's', ...fields });
  // `1e999` is parsed as infinity, which JSON cannot represent.
  it.each<[string, Parameters<typeof translateLines>[0]]>([
    ['codex', { stdout: [{ type: 'item.completed', item: { ...item, exit_code: 1.5 } }] }],
    ['gemini', { stdout: [{ session_id: 's', error: { type: 'Error', message: 'no', code: 429.5 } }] }],
    [
      'opencode',
      { stdout: [opencode('error', { error: { name: 'APIError', data: { message: 'no', statusCode: -1 } } })] },
    ],
    [
      'opencode',
      {
        stdout: [
          opencode('tool_use', {
            part: { callID: 'c', tool: 'bash', state: { status: 'completed', metadata: { exit: 0.5 } } },
          }),
        ],
      },
    ],
    [
      'opencode',
      { stdout: ['{"type":"step_finish","timestamp":1,"sessionID":"s","part":{"cost":1e999,"tokens":{}}}'] },
    ],
    [
      'opencode',
      { stdout: [1, 2].map(() => opencode('step_finish', { part: { cost: Number.MAX_VALUE, tokens: {} } })) },
    ],
    ['claude', { stdout: ['{"type":"result","session_id":"s","total_cost_usd":1e999,"usage":{"input_tokens":1}}'] }],
  ])('is omitted (%s)', (engine, scenario) => {
    const { emitted } = translateLines({ ...scenario, engine: engine });
    expectValid(emitted);
  });
});

describe('the output of another engine', () => {
  it('is raw, and the engine it looks like is named', () => {
    const { of, translator } = translateLines({
      engine: 'opencode',
      stdout: [codex.thread(), codex.message('hi')],
    });
    expect(of('raw.stdout')).toHaveLength(2);
    expect(of('diagnostic.warning')).toContainEqual(
      expect.objectContaining({ code: 'ENGINE_MISMATCH', subject: 'codex', confidence: 0.9 }),
    );
    expectCovered(translator.coverage());
  });

  it('is not reported if one record belongs to the named engine', () => {
    const { warnings } = translateLines({
      stdout: [{ type: 'step_start', sessionID: 'ses_1', part: {} }, codex.thread()],
    });
    expect(warnings).not.toContain('ENGINE_MISMATCH');
  });
});

describe('engine: auto', () => {
  it('detects the engine from the first record and loses nothing before it', () => {
    const withEngine = translateLines({ stdout: ['noise', codex.thread(), codex.message('hi')] });
    const detected = translateLines({ engine: 'auto', stdout: ['noise', codex.thread(), codex.message('hi')] });
    expect(detected.emitted).toEqual(withEngine.emitted);
  });

  it('reads unknown output as plain text, with a warning', () => {
    const { fcmp, warnings, translator } = translateLines({ engine: 'auto', stdout: ['hello', 'world'] });
    expect(warnings).toContain('UNKNOWN_ENGINE_PROFILE');
    expect(fcmp.every(({ engine }) => engine === 'generic')).toBe(true);
    expectCovered(translator.coverage());
  });

  it('decides after a bounded number of bytes', () => {
    const translator = createTranslator({ engine: 'auto', runId: 'r', attempt: 1 });
    const line = toBytes(['x'.repeat(1000)]);
    let pushes = 0;
    while (translator.push('stdout', line).length === 0) pushes++;
    expect(pushes).toBeLessThan(300);
  });

  it('emits the same events however the bytes are split', () => {
    const bytes = toBytes(['noise', codex.thread(), codex.turn, codex.message('hi'), codex.completed()]);
    const translateInChunks = (size: number) => {
      const translator = createTranslator({ engine: 'auto', runId: 'r', attempt: 1, clock: () => 0 });
      const emitted = [];
      for (let at = 0; at < bytes.length; at += size)
        emitted.push(...translator.push('stdout', bytes.subarray(at, at + size)));
      return [...emitted, ...translator.end({ exitCode: 0, signal: null })];
    };
    expect(translateInChunks(1)).toEqual(translateInChunks(bytes.length));
    expect(translateInChunks(17)).toEqual(translateInChunks(bytes.length));
  });

  it('ends an attempt that has changed more files than a function call can have arguments', () => {
    const created = Array.from({ length: 100_000 }, (_, index) => `f${index}`);
    const translator = createTranslator({ engine: 'auto', runId: 'r', attempt: 1 });
    const emitted = translator.end({ exitCode: 0, signal: null, fsDiff: { created, modified: [], deleted: [] } });
    expect(selectFcmp(emitted).filter(({ type }) => type === 'artifact.created')).toHaveLength(created.length);
  });
});
