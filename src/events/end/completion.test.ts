import { describe, expect, it } from 'vitest';
import { expectInOrder, expectValid } from '../contract/emitted-invariants.contract.js';
import { DONE, codex, translateLines } from '../contract/translate-lines.contract.js';
import { judge, type Evidence } from './attempt-end.js';

const NO_EVIDENCE: Evidence = {
  doneMarker: false,
  endSignal: null,
  runtimeError: null,
  lastCause: null,
  lastError: null,
  exitCode: null,
  signal: null,
  verdict: null,
  reason: null,
};

const END = { endSignal: 'CODEX_TURN_COMPLETED' } as const;

describe('the order of precedence in interactive mode', () => {
  it.each([
    ['the done marker: completed', { doneMarker: true }, 'completed', 'DONE_MARKER_FOUND'],
    ['an end signal without it: awaiting', END, 'awaiting_user_input', 'TERMINAL_SIGNAL_WITHOUT_DONE_MARKER'],
    ['a non-zero exit code: interrupted', { exitCode: 1 }, 'interrupted', 'PROCESS_EXIT_NON_ZERO'],
    ['an exit code for a signal: interrupted', { exitCode: 137 }, 'interrupted', 'PROCESS_EXIT_NON_ZERO'],
    ['a signal: interrupted', { signal: 'SIGTERM' }, 'interrupted', 'PROCESS_SIGNALED'],
    ['a crash: interrupted', { signal: 'SIGSEGV' }, 'interrupted', 'PROCESS_SIGNALED'],
    ['a runtime error: interrupted', { runtimeError: 'no' }, 'interrupted', 'ENGINE_RUNTIME_ERROR'],
    [
      'refused credentials: interrupted',
      { runtimeError: 'no', lastCause: 'auth' },
      'interrupted',
      'ENGINE_AUTH_FAILED',
    ],
    [
      'an exit code after an error with a known cause',
      { exitCode: 1, lastError: 'no', lastCause: 'server' },
      'interrupted',
      'ENGINE_RUNTIME_ERROR',
    ],
    ['nothing: unknown', {}, 'unknown', 'INSUFFICIENT_EVIDENCE'],
    ['a clean exit alone: unknown', { exitCode: 0 }, 'unknown', 'INSUFFICIENT_EVIDENCE'],
    [
      'an error that the engine recovered from: unknown',
      { lastError: 'retrying', exitCode: 0 },
      'unknown',
      'INSUFFICIENT_EVIDENCE',
    ],
    ['marker before end signal', { doneMarker: true, ...END }, 'completed', 'DONE_MARKER_FOUND'],
    ['marker before exit code', { doneMarker: true, exitCode: 1 }, 'completed', 'DONE_MARKER_FOUND'],
    ['marker before signal', { doneMarker: true, signal: 'SIGKILL' }, 'completed', 'DONE_MARKER_FOUND'],
    ['marker before runtime error', { doneMarker: true, runtimeError: 'x' }, 'completed', 'DONE_MARKER_FOUND'],
    [
      'end signal before exit code',
      { ...END, exitCode: 1 },
      'awaiting_user_input',
      'TERMINAL_SIGNAL_WITHOUT_DONE_MARKER',
    ],
    [
      'end signal before signal',
      { ...END, signal: 'SIGKILL' },
      'awaiting_user_input',
      'TERMINAL_SIGNAL_WITHOUT_DONE_MARKER',
    ],
    [
      'end signal before runtime error',
      { ...END, runtimeError: 'x' },
      'awaiting_user_input',
      'TERMINAL_SIGNAL_WITHOUT_DONE_MARKER',
    ],
    [
      'end signal and comment',
      { ...END, verdict: 'comment' },
      'awaiting_user_input',
      'TERMINAL_SIGNAL_WITHOUT_DONE_MARKER',
    ],
    ['cancel before marker', { doneMarker: true, verdict: 'canceled' }, 'interrupted', 'RUN_CANCELED'],
    ['time-out before end signal', { ...END, verdict: 'timed_out' }, 'interrupted', 'RUN_TIMED_OUT'],
    ['limit before marker', { doneMarker: true, verdict: 'limit' }, 'interrupted', 'RUN_LIMIT_EXCEEDED'],
    ['marker and validated', { doneMarker: true, verdict: 'validated' }, 'completed', 'OUTPUT_VALIDATED'],
    [
      'marker and invalid output',
      { doneMarker: true, verdict: 'not_validated' },
      'interrupted',
      'OUTPUT_NOT_VALIDATED',
    ],
    ['a retry before the marker', { doneMarker: true, verdict: 'retry' }, 'unknown', 'OUTPUT_RETRIED'],
    ['nothing but validated output', { exitCode: 0, verdict: 'validated' }, 'completed', 'OUTPUT_VALIDATED'],
    ['nothing but a comment', { exitCode: 0, verdict: 'comment' }, 'completed', 'OUTPUT_DEGRADED_TO_COMMENT'],
    [
      'an exit code before validated output',
      { exitCode: 1, verdict: 'validated' },
      'interrupted',
      'PROCESS_EXIT_NON_ZERO',
    ],
    ['marker and comment', { doneMarker: true, verdict: 'comment' }, 'completed', 'OUTPUT_DEGRADED_TO_COMMENT'],
    [
      'validated without marker',
      { ...END, verdict: 'validated' },
      'awaiting_user_input',
      'TERMINAL_SIGNAL_WITHOUT_DONE_MARKER',
    ],
  ] as const)('%s', (_, evidence, state, reason) => {
    expect(judge('interactive', { ...NO_EVIDENCE, ...evidence })).toMatchObject({ state, reason });
  });
});

describe('the verdict in auto mode', () => {
  it.each([
    ['validated', { verdict: 'validated' }, 'completed', 'OUTPUT_VALIDATED'],
    ['validated, whatever the exit code', { verdict: 'validated', exitCode: 1 }, 'completed', 'OUTPUT_VALIDATED'],
    ['comment', { verdict: 'comment' }, 'completed', 'OUTPUT_DEGRADED_TO_COMMENT'],
    ['not validated', { verdict: 'not_validated', ...END, exitCode: 0 }, 'interrupted', 'OUTPUT_NOT_VALIDATED'],
    [
      'a runtime error before a missing value',
      { verdict: 'not_validated', ...END, runtimeError: 'x' },
      'interrupted',
      'ENGINE_RUNTIME_ERROR',
    ],
    [
      'refused credentials before a missing value',
      { verdict: 'not_validated', runtimeError: 'x', lastCause: 'auth' },
      'interrupted',
      'ENGINE_AUTH_FAILED',
    ],
    [
      'an exit code after refused credentials before a missing value',
      { verdict: 'not_validated', exitCode: 1, lastError: 'x', lastCause: 'auth' },
      'interrupted',
      'ENGINE_AUTH_FAILED',
    ],
    [
      'an exit code without a known cause',
      { verdict: 'not_validated', exitCode: 1, lastError: 'x' },
      'interrupted',
      'OUTPUT_NOT_VALIDATED',
    ],
    ['no verdict', { ...END, exitCode: 0, doneMarker: true }, 'interrupted', 'OUTPUT_NOT_VALIDATED'],
    ['no contract and a clean end', { verdict: 'no_contract', exitCode: 0 }, 'completed', 'CLEAN_END'],
    ['no contract and an exit code', { verdict: 'no_contract', exitCode: 3 }, 'interrupted', 'PROCESS_EXIT_NON_ZERO'],
    [
      'an exit code before an end signal',
      { verdict: 'no_contract', ...END, exitCode: 3 },
      'interrupted',
      'PROCESS_EXIT_NON_ZERO',
    ],
    ['no contract and nothing known', { verdict: 'no_contract' }, 'unknown', 'INSUFFICIENT_EVIDENCE'],
    ['a comment from a failed process', { verdict: 'comment', exitCode: 2 }, 'interrupted', 'PROCESS_EXIT_NON_ZERO'],
    ['canceled', { verdict: 'canceled', doneMarker: true }, 'interrupted', 'RUN_CANCELED'],
    ['a retry', { verdict: 'retry', exitCode: 0 }, 'unknown', 'OUTPUT_RETRIED'],
    ['never started', { verdict: 'not_started' }, 'interrupted', 'PROCESS_NOT_STARTED'],
    ['no session to resume', { verdict: 'session_lost' }, 'interrupted', 'SESSION_LOST'],
  ] as const)('%s', (_, evidence, state, reason) => {
    expect(judge('auto', { ...NO_EVIDENCE, ...evidence })).toMatchObject({ state, reason });
  });
});

describe('evidence against the outcome', () => {
  it.each([
    ['marker and exit code', { doneMarker: true, exitCode: 1 }],
    ['marker and signal', { doneMarker: true, signal: 'SIGKILL' }],
    ['marker and runtime error', { doneMarker: true, runtimeError: 'x' }],
    ['end signal and exit code', { ...END, exitCode: 2 }],
    ['cancel and marker', { verdict: 'canceled', doneMarker: true }],
    ['marker and invalid output', { doneMarker: true, verdict: 'not_validated' }],
  ] as const)('%s: a conflict', (_, evidence) => {
    expect(judge('interactive', { ...NO_EVIDENCE, ...evidence }).conflict).not.toBeNull();
  });

  it('reports no conflict if all evidence agrees', () => {
    expect(judge('interactive', { ...NO_EVIDENCE, doneMarker: true, ...END, exitCode: 0 }).conflict).toBeNull();
    expect(judge('interactive', { ...NO_EVIDENCE, exitCode: 1, signal: null }).conflict).toBeNull();
  });
});

describe('the last event of an attempt', () => {
  it.each([
    ['completed', [codex.message(DONE)], {}, 'conversation.completed'],
    ['interrupted', [codex.failed('no')], { exitCode: 1 }, 'conversation.failed'],
    ['awaiting_user_input', [codex.message('?'), codex.completed()], {}, 'user.input.required'],
    ['unknown', [codex.thread()], {}, 'diagnostic.warning'],
  ])('reports %s', (state, stdout, end, type) => {
    const { fcmp, rasp } = translateLines({ stdout, end });
    expect(fcmp.at(-1)?.type).toBe(type);
    expect(rasp('lifecycle.completion.state')).toMatchObject([{ state }]);
  });

  it('reports why it failed', () => {
    const { of } = translateLines({ stdout: [codex.failed('usage limit reached')], end: { exitCode: 1 } });
    expect(of('conversation.failed')).toEqual([
      { error: { category: 'engine', code: 'ENGINE_RUNTIME_ERROR', message: 'usage limit reached', cause: 'quota' } },
    ]);
  });

  it('explains an exit code with the last error', () => {
    const { of } = translateLines({ stdout: [{ type: 'error', message: 'stream closed' }], end: { exitCode: 7 } });
    expect(of('conversation.failed')[0]?.error).toMatchObject({
      category: 'process',
      message: expect.stringMatching(/7.*stream closed/) as string,
    });
  });

  it('does not explain an exit code with an error that the agent continued after', () => {
    const retry = { type: 'error', message: 'Reconnecting... 1/5 (unexpected status 429 Too Many Requests)' };
    const readFailure = (...stdout: object[]) =>
      translateLines({ stdout, end: { exitCode: 1 } }).of('conversation.failed')[0]?.error;
    expect(readFailure(retry)).toMatchObject({ code: 'ENGINE_RUNTIME_ERROR', cause: 'rate_limit' });
    const recovered = readFailure(retry, codex.message('Hello.'));
    expect(recovered).toMatchObject({ code: 'PROCESS_EXIT_NON_ZERO' });
    expect(recovered).not.toHaveProperty('cause');
  });

  it.each([
    ['canceled', 'canceled', 'lifecycle.run.canceled'],
    ['timed_out', 'timeout', 'lifecycle.run.failed'],
    ['limit', 'limit', 'lifecycle.run.failed'],
  ] as const)('reports a run that was %s', (verdict, category, type) => {
    const { of, rasp } = translateLines({
      stdout: [codex.message(DONE)],
      end: { verdict, exitCode: null, signal: 'SIGTERM' },
    });
    expect(of('conversation.failed')).toMatchObject([{ error: { category } }]);
    expect(rasp(type)).toHaveLength(1);
  });

  it.each([
    ['limit', 'RUN_LIMIT_EXCEEDED'],
    ['not_started', 'PROCESS_NOT_STARTED'],
    ['session_lost', 'SESSION_LOST'],
    ['not_validated', 'OUTPUT_NOT_VALIDATED'],
  ] as const)('contains the reason for %s', (verdict, code) => {
    const { of, warnings } = translateLines({ mode: 'auto', end: { verdict, exitCode: null, reason: 'because' } });
    expect(of('conversation.failed')).toMatchObject([{ error: { code, message: 'because' } }]);
    expect(warnings).toEqual(verdict === 'not_validated' ? ['NO_OUTPUT'] : []);
  });

  it('is a warning if the worker was lost', () => {
    const end = { verdict: 'worker_lost', reason: 'no heartbeat', exitCode: null } as const;
    expect(translateLines({ stdout: [codex.thread()], end }).fcmp.at(-1)).toMatchObject({
      type: 'diagnostic.warning',
      data: { code: 'WORKER_LOST', message: 'no heartbeat' },
    });
  });

  it('is a completion if the output became a comment', () => {
    const stdout = [codex.message(DONE), codex.completed()];
    expect(translateLines({ stdout, end: { verdict: 'comment' } }).fcmp.at(-1)).toMatchObject({
      type: 'conversation.completed',
      data: { state: 'completed', reason_code: 'OUTPUT_DEGRADED_TO_COMMENT' },
    });
  });

  it('is a warning if the output is retried', () => {
    const end = { verdict: 'retry', reason: 'line is missing' } as const;
    const { fcmp, emitted } = translateLines({ mode: 'auto', stdout: [codex.message('{}'), codex.completed()], end });
    expect(fcmp.at(-1)).toMatchObject({
      type: 'diagnostic.warning',
      data: { code: 'OUTPUT_RETRIED', message: 'line is missing', usage: { input_tokens: 10 } },
    });
    expectInOrder(emitted);
    expectValid(emitted);
  });

  it('follows a warning if other evidence contradicts it', () => {
    const { of, types } = translateLines({ stdout: [codex.message(DONE)], end: { exitCode: 1 } });
    expect(of('diagnostic.warning')).toContainEqual(
      expect.objectContaining({ code: 'TERMINAL_STATUS_COMPLETION_CONFLICT', confidence: 0.96 }),
    );
    expect(types.at(-1)).toBe('conversation.completed');
  });

  it('is a failure in auto mode without validated output', () => {
    const { of } = translateLines({ mode: 'auto', stdout: [codex.message(DONE), codex.completed()] });
    expect(of('conversation.failed')).toMatchObject([{ error: { category: 'output', code: 'OUTPUT_NOT_VALIDATED' } }]);
  });

  it('is a completion in auto mode with validated output', () => {
    const { of } = translateLines({ mode: 'auto', stdout: [codex.completed()], end: { verdict: 'validated' } });
    expect(of('conversation.completed')).toMatchObject([{ state: 'completed', reason_code: 'OUTPUT_VALIDATED' }]);
  });

  it.each(['no_contract', 'comment'] as const)(
    'follows a question that no one can answer in auto mode without the done marker: %s',
    (verdict) => {
      const stdout = [codex.thread(), codex.message('Which one?'), codex.completed()];
      const { of, rasp, types, emitted } = translateLines({ mode: 'auto', stdout, end: { verdict } });
      expectValid(emitted);
      expectInOrder(emitted);
      expect(types.slice(-3)).toEqual(['diagnostic.warning', 'user.input.required', 'conversation.completed']);
      expect(of('diagnostic.warning')).toMatchObject([{ code: 'DONE_MARKER_MISSING' }]);
      expect(of('user.input.required')).toEqual([
        { interaction_id: 'ix_1', kind: 'open_text', prompt: 'Which one?', answerable: false },
      ]);
      expect(rasp('lifecycle.completion.state')).toMatchObject([
        { state: 'awaiting_user_input', reason_code: 'TERMINAL_SIGNAL_WITHOUT_DONE_MARKER' },
      ]);
    },
  );

  it('is only a completion in auto mode with the done marker, or without an end signal', () => {
    const end = { verdict: 'no_contract' } as const;
    const done = translateLines({ mode: 'auto', stdout: [codex.message(DONE), codex.completed()], end });
    const plain = translateLines({ mode: 'auto', engine: 'generic', stdout: ['Hello.'], end });
    for (const { types, rasp } of [done, plain]) {
      expect(types).not.toContain('user.input.required');
      expect(rasp('lifecycle.completion.state')).toMatchObject([{ state: 'completed' }]);
    }
  });

  it('ignores the end signal of a turn that was followed by another', () => {
    const stdout = [codex.turn, codex.message('?'), codex.completed(), codex.turn];
    expect(translateLines({ stdout, end: { exitCode: 1 } }).types.at(-1)).toBe('conversation.failed');
  });

  it('ignores a runtime error that the engine recovered from', () => {
    const stdout = [codex.turn, codex.failed('x'), codex.turn, codex.message('?'), codex.completed()];
    const { types, warnings } = translateLines({ stdout });
    expect(types.at(-1)).toBe('user.input.required');
    expect(warnings).not.toContain('TERMINAL_STATUS_COMPLETION_CONFLICT');
  });
});

describe('the end of an attempt', () => {
  it('causes a warning if the output stops early', () => {
    expect(translateLines({ stdout: [codex.thread(), codex.turn] }).warnings).toContain('EARLY_END_OF_STREAM');
    expect(translateLines({ stdout: [codex.completed()] }).warnings).not.toContain('EARLY_END_OF_STREAM');
    const canceled = { verdict: 'canceled' } as const;
    expect(translateLines({ stdout: [codex.turn], end: canceled }).warnings).not.toContain('EARLY_END_OF_STREAM');
  });

  it('causes a warning if nothing was printed', () => {
    expect(translateLines({}).warnings).toContain('NO_OUTPUT');
  });

  it('causes a warning if the process keeps running without output after its end signal', () => {
    const translateSilence = (ms: number) => {
      const times = [0, ms];
      return translateLines({ stdout: [codex.completed()], clock: () => times.shift() ?? ms }).warnings;
    };
    expect(translateSilence(31_000)).toContain('SILENCE_AFTER_END');
    expect(translateSilence(29_000)).not.toContain('SILENCE_AFTER_END');
  });

  it('causes a warning if a tool call never ended', () => {
    const { warnings } = translateLines({ stdout: [codex.command('started', 'item_1'), codex.completed()] });
    expect(warnings).toContain('TOOL_CALL_UNFINISHED');
  });
});
