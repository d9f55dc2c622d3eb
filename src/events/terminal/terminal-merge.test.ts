import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectCovered, expectInOrder, expectValid, selectFcmp } from '../contract/emitted-invariants.contract.js';
import { DONE, codex, translateLines, toBytes } from '../contract/translate-lines.contract.js';
import { createTranslator } from '../translator.js';

const SCENARIO = [
  codex.thread(),
  codex.turn,
  codex.message('one', 'item_0'),
  codex.command('started', 'item_1'),
  codex.command('completed', 'item_1'),
  codex.message('two', 'item_2'),
  codex.completed(50, 5),
];

/** The same scenario as a terminal shows it. */
function showInTerminal(lines: readonly (object | string)[]): readonly string[] {
  const rows = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\r`);
  return [
    'Script started on 2026-11-15 00:45:31+00:00 [COMMAND="codex" <not executed on terminal>]',
    ...rows,
    '',
    'Script done on 2026-11-15 00:45:37+00:00 [COMMAND_EXIT_CODE="0"]',
  ];
}

function omit(lines: readonly object[], ...indexes: readonly number[]): readonly object[] {
  return lines.filter((_, index) => !indexes.includes(index));
}

describe('a terminal that shows what stdout printed', () => {
  it('adds no event and claims its bytes', () => {
    const { fcmp, translator, rasp } = translateLines({ stdout: SCENARIO, pty: showInTerminal(SCENARIO) });
    expect(fcmp).toEqual(translateLines({ stdout: SCENARIO }).fcmp);
    expect(rasp('raw.pty')).toHaveLength(2);
    expectCovered(translator.coverage());
  });

  it('also shows what stderr printed', () => {
    const { warnings, rasp } = translateLines({
      stdout: SCENARIO,
      stderr: ['log line'],
      pty: showInTerminal(['log line', ...SCENARIO]),
    });
    expect(warnings).toEqual([]);
    expect(rasp('raw.pty')).toHaveLength(2);
  });

  it('keeps both of two equal messages', () => {
    const scenario = [codex.thread(), codex.message('again'), codex.message('again'), codex.completed()];
    const { of, warnings } = translateLines({ stdout: scenario, pty: showInTerminal(scenario) });
    expect(of('assistant.message.final').map(({ text }) => text)).toEqual(['again', 'again']);
    expect(warnings).not.toContain('PTY_STREAM_MISMATCH');
  });
});

describe('a terminal that shows the records in another order', () => {
  it('adds none of them again', () => {
    const [one, two] = [codex.message('one', 'item_0'), codex.message('two', 'item_1')];
    const { of, warnings } = translateLines({
      stdout: [codex.thread(), one, two, codex.completed()],
      pty: showInTerminal([codex.thread(), two, one, codex.completed()]),
    });
    expect(of('assistant.message.final').map(({ text }) => text)).toEqual(['one', 'two']);
    expect(warnings).not.toContain('PTY_STREAM_MISMATCH');
  });

  it('adds none of two equal ones again', () => {
    const again = codex.message('again');
    const others = ['one', 'two', 'three'].map((text) => codex.message(text, text));
    const { of, warnings } = translateLines({
      stdout: [codex.thread(), again, again, ...others, codex.completed()],
      pty: showInTerminal([codex.thread(), ...others, again, again, codex.completed()]),
    });
    expect(of('assistant.message.final').map(({ text }) => text)).toEqual(['again', 'again', 'one', 'two', 'three']);
    expect(warnings).not.toContain('PTY_STREAM_MISMATCH');
  });
});

describe('a terminal that shows more than stdout', () => {
  it('restores the message that stdout lost, with a warning', () => {
    const { of, warnings, fcmp } = translateLines({ stdout: omit(SCENARIO, 5), pty: showInTerminal(SCENARIO) });
    expect(of('assistant.message.final').map(({ text }) => text)).toEqual(['one', 'two']);
    expect(warnings).toContain('PTY_STREAM_MISMATCH');
    const restoredMessage = fcmp.find(
      ({ type, data }) => type === 'assistant.message.final' && 'text' in data && data.text === 'two',
    );
    expect(restoredMessage?.raw_ref?.stream).toBe('pty');
  });

  it('restores it while the agent is working, as soon as stdout has the next record', () => {
    const translator = createTranslator({ engine: 'codex', runId: 'run-1', attempt: 1, clock: () => 0 });
    const pushRecords = (stream: 'stdout' | 'pty', ...indexes: readonly number[]) =>
      selectFcmp(translator.push(stream, toBytes(SCENARIO.filter((_, index) => indexes.includes(index)))));
    pushRecords('stdout', 0, 1);
    pushRecords('pty', 0, 1);
    expect(pushRecords('pty', 2)).toEqual([]);
    pushRecords('stdout', 3);
    expect(pushRecords('pty', 3)).toMatchObject([{ type: 'assistant.message.final', data: { text: 'one' } }]);
  });

  it('restores one of two equal messages', () => {
    const scenario = [codex.thread(), codex.message('again'), codex.message('again'), codex.completed()];
    const { of } = translateLines({ stdout: omit(scenario, 1), pty: showInTerminal(scenario) });
    expect(of('assistant.message.final')).toHaveLength(2);
  });

  it('keeps the outcome: a late restore does not change it', () => {
    const incomplete = omit(SCENARIO, 1, 5);
    const { fcmp } = translateLines({ stdout: incomplete, pty: showInTerminal(SCENARIO) });
    expect(fcmp.at(-1)).toMatchObject({
      type: 'user.input.required',
      data: { prompt: 'two', usage: { input_tokens: 50, output_tokens: 5 } },
    });
  });

  it('restores the end signal and the done marker', () => {
    const scenario = [codex.thread(), codex.turn, codex.message(DONE), codex.completed()];
    expect(translateLines({ stdout: omit(scenario, 2, 3), pty: showInTerminal(scenario) }).types.at(-1)).toBe(
      'conversation.completed',
    );
    expect(translateLines({ stdout: omit(SCENARIO, 6), pty: showInTerminal(SCENARIO) }).types.at(-1)).toBe(
      'user.input.required',
    );
  });

  it('is read alone if stdout is empty', () => {
    const terminalOnlyResult = translateLines({ pty: showInTerminal(SCENARIO) });
    expect(terminalOnlyResult.of('assistant.message.final').map(({ text }) => text)).toEqual(['one', 'two']);
    expect(terminalOnlyResult.of('conversation.started')).toEqual([{ session_id: 'thread-1' }]);
    expect(terminalOnlyResult.types.at(-1)).toBe('user.input.required');
  });

  it('causes a mismatch warning if the other streams are empty', () => {
    expect(translateLines({ pty: showInTerminal(SCENARIO) }).of('diagnostic.warning')).toContainEqual({
      code: 'PTY_STREAM_MISMATCH',
      message: expect.stringMatching(/^Restored \d+ records missing from stdout, using the terminal\.$/u),
    });
  });

  it.each([
    [{ pty: ['out of credits\r'] }, ['PTY_STREAM_MISMATCH']],
    [{ stderr: ['warming up'], pty: ['warming up\r', 'out of credits\r'] }, ['PTY_STREAM_MISMATCH']],
    [{ stderr: ['warming up'], pty: ['warming up\r'] }, []],
    [{ stdout: ['out of credits'], pty: ['warming up\r'] }, []],
  ])('causes a mismatch warning if stdout is empty and it shows other lines: %o', (streams, expected) => {
    const { warnings } = translateLines(streams);
    expect(warnings.filter((code) => code === 'PTY_STREAM_MISMATCH')).toEqual(expected);
  });

  it('is read immediately if it is the only stream, with the same events', () => {
    const options = { engine: 'codex', runId: 'run-1', attempt: 1, clock: () => 0 } as const;
    const translator = createTranslator({ ...options, terminalOnly: true });
    const liveEvents = translator.push('pty', toBytes(showInTerminal(SCENARIO)));
    expect(selectFcmp(liveEvents).map(({ type }) => type)).toContain('assistant.message.final');
    const emitted = [...liveEvents, ...translator.end({ exitCode: 0, signal: null })];
    const listTypes = (events: typeof emitted) => selectFcmp(events).map(({ type }) => type);
    const compared = translateLines({ pty: showInTerminal(SCENARIO) });
    expect(selectFcmp(emitted).every(({ type }) => type !== 'diagnostic.warning')).toBe(true);
    expect(listTypes(emitted)).toEqual(compared.types.filter((type) => type !== 'diagnostic.warning'));
    expectCovered(translator.coverage());
  });

  it('is read alone with its text lines: errors are reported, and count', () => {
    const retry = 'Attempt 1 failed with status 429. Retrying with backoff...';
    const fatal = 'An unexpected critical error occurred: [object Object]';
    const terminalOnlyResult = translateLines({ engine: 'gemini', pty: [retry, fatal], end: { exitCode: null } });
    expect(terminalOnlyResult.rasp('diagnostic.engine.error')).toMatchObject([{ retrying: true }, { retrying: false }]);
    expect(terminalOnlyResult.of('conversation.failed')).toMatchObject([{ error: { code: 'ENGINE_RUNTIME_ERROR' } }]);
    expectCovered(terminalOnlyResult.translator.coverage());
    const withStdout = translateLines({ engine: 'gemini', stdout: ['Hello.'], pty: [fatal] });
    expect(withStdout.rasp('diagnostic.engine.error')).toEqual([]);
  });

  it.each(['codex', 'opencode', 'claude', 'qwen'] as const)('is noise if %s prints no record', (engine) => {
    const { rasp, warnings } = translateLines({ engine, pty: ['a banner', 'another line'] });
    expect(rasp('raw.pty')).toHaveLength(2);
    expect(warnings).not.toContain('UNPARSED_CONTENT_FELL_BACK_TO_RAW');
  });

  it('keeps the end signal of an engine that prints text', () => {
    const { types } = translateLines({
      engine: 'iflow',
      pty: ['Hello.', '<Execution Info>', '{"session-id":"s-1"}', '</Execution Info>'],
    });
    expect(types.at(-1)).toBe('user.input.required');
  });

  it('keeps other lines as raw.pty, which is hidden from users', () => {
    const { rasp, types } = translateLines({ stdout: SCENARIO, pty: showInTerminal(['a banner', ...SCENARIO]) });
    expect(rasp('raw.pty').map(({ text }) => text)).toContain('a banner');
    expect(types).not.toContain('raw.pty');
  });

  it('is reported with a warning if its record is incomplete', () => {
    const { warnings } = translateLines({ stdout: SCENARIO, pty: showInTerminal(['{"type":"item.comp', ...SCENARIO]) });
    expect(warnings).toContain('TRUNCATED_RECORD');
  });
});

describe('a terminal from another session', () => {
  it('is set aside as raw.pty, with a warning', () => {
    const otherSession = [codex.thread('other'), ...SCENARIO.slice(1)];
    const { rasp, warnings, fcmp, translator } = translateLines({
      stdout: SCENARIO,
      pty: showInTerminal(otherSession),
    });
    expect(rasp('raw.pty')).toHaveLength(SCENARIO.length + 2);
    expect(warnings).toEqual(['PTY_STREAM_MISMATCH']);
    expect(fcmp.filter(({ type }) => type !== 'diagnostic.warning')).toEqual(
      translateLines({ stdout: SCENARIO }).fcmp.map((event) =>
        event.type === 'user.input.required' ? { ...event, seq: event.seq + 1 } : event,
      ),
    );
    expectCovered(translator.coverage());
  });

  it('is set aside, with a warning, even if it shows a single record', () => {
    const { warnings } = translateLines({ stdout: SCENARIO, pty: showInTerminal([codex.thread('other')]) });
    expect(warnings).toEqual(['PTY_STREAM_MISMATCH']);
  });

  it('is merged if one of the two has no session', () => {
    const { of } = translateLines({ stdout: omit(SCENARIO, 0, 5), pty: showInTerminal(SCENARIO) });
    expect(of('assistant.message.final').map(({ text }) => text)).toEqual(['one', 'two']);
  });
});

describe('long recordings', () => {
  const longScenario = [
    codex.thread(),
    ...Array.from({ length: 5000 }, (_, index) => codex.message(`message ${index}`)),
    codex.completed(),
  ];

  it('are merged in a bounded window if the streams are interleaved', () => {
    const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1, clock: () => 0 });
    const emitted = [];
    for (const [index, record] of longScenario.entries()) {
      if (index % 1000 !== 7) emitted.push(...translator.push('stdout', toBytes([record])));
      emitted.push(...translator.push('pty', toBytes([`${JSON.stringify(record)}\r`])));
    }
    emitted.push(...translator.end({ exitCode: 0, signal: null }));
    const finals = emitted.flatMap(({ event }) =>
      'type' in event && event.type === 'assistant.message.final' ? [event.data.text] : [],
    );
    expect(new Set(finals).size).toBe(5000);
    expect(finals).toHaveLength(5000);
    expectInOrder(emitted);
  });

  it('are merged if the terminal comes after stdout', () => {
    const { of, warnings, translator } = translateLines({
      stdout: omit(longScenario, 4000),
      pty: showInTerminal(longScenario),
    });
    expect(of('assistant.message.final')).toHaveLength(5000);
    expect(warnings).toEqual(['PTY_STREAM_MISMATCH']);
    expectCovered(translator.coverage());
  });

  it('are set aside, not reported twice, if stdout is too long to be stored', () => {
    const scenario = Array.from({ length: 600 }, (_, index) => codex.message(`${index} ${'x'.repeat(10_000)}`));
    const { of, warnings, rasp, translator } = translateLines({
      stdout: omit(scenario, 599),
      pty: showInTerminal(scenario),
    });
    expect(of('assistant.message.final')).toHaveLength(600);
    expect(rasp('raw.pty').length).toBeGreaterThan(100);
    expect(warnings.filter((code) => code === 'PTY_STREAM_MISMATCH')).toHaveLength(2);
    expectCovered(translator.coverage());
  });
});

describe('any two streams of the same scenario', () => {
  it('produce ordered events with all messages from both, however they are chunked', () => {
    const records = fc.array(fc.constantFrom(...SCENARIO, codex.message('x'), codex.message('y')), { maxLength: 12 });
    const arbitraryDrops = fc.array(fc.nat(11), { maxLength: 5 });
    fc.assert(
      fc.property(
        records,
        arbitraryDrops,
        arbitraryDrops,
        fc.integer({ min: 1, max: 60 }),
        (scenario, lostByStdout, lostByTerminal, size) => {
          const stdout = toBytes(omit(scenario, ...lostByStdout));
          const pty = toBytes(showInTerminal(omit(scenario, ...lostByTerminal)));
          const run = (length: number) => {
            const translator = createTranslator({ engine: 'codex', runId: 'r', attempt: 1, clock: () => 0 });
            const emitted = [];
            for (const [stream, bytes] of [
              ['stdout', stdout],
              ['pty', pty],
            ] as const) {
              for (let at = 0; at < bytes.length; at += length)
                emitted.push(...translator.push(stream, bytes.subarray(at, at + length)));
            }
            emitted.push(...translator.end({ exitCode: 0, signal: null }));
            expectCovered(translator.coverage());
            return emitted;
          };
          const emitted = run(1 << 20);
          expectInOrder(emitted);
          expectValid(emitted);
          expect(run(size)).toEqual(emitted);
          const finals = emitted.filter(
            ({ event }) => 'type' in event && event.type === 'assistant.message.final',
          ).length;
          const messages = (lines: readonly object[]) =>
            lines.filter((line) => JSON.stringify(line).includes('agent_message')).length;
          expect(finals).toBeGreaterThanOrEqual(messages(omit(scenario, ...lostByStdout)));
          expect(finals).toBeLessThanOrEqual(messages(scenario));
        },
      ),
      { numRuns: 150 },
    );
  });
});
