import { describe, expect, it } from 'vitest';
import type { DrainResult } from '../../events/index.js';
import { ParseError } from '../../json/index.js';
import { decideVerdict, isAsking } from './decide-verdict.js';
import type { VerdictFacts } from './decide-verdict.js';

const DRAINED: DrainResult = {
  events: [],
  doneMarker: false,
  endSignal: null,
  runtimeError: null,
  sessionId: null,
  usage: null,
};
const error = new ParseError('NO_JSON', 'nothing found', { attempts: [] });
const refused = { verdict: 'not_validated', reason: 'no good', warnings: [], error } as const;
const comment = { verdict: 'comment', comment: 'hm', warnings: [], error } as const;
const FACTS: VerdictFacts = {
  stop: null,
  judged: { verdict: 'no_contract' },
  drained: DRAINED,
  end: { exitCode: 0, signal: null },
  canRetry: true,
  engineFailure: null,
  isHeld: false,
};
const decide = (facts: Partial<VerdictFacts>) => decideVerdict({ ...FACTS, ...facts });

describe('the verdict', () => {
  it('is the stop’s verdict, regardless of other facts', () => {
    const stop = { verdict: 'limit', reason: 'too much' } as const;
    expect(decide({ stop, judged: refused })).toEqual(stop);
  });

  it('is null if nothing was validated', () => {
    expect(decide({ judged: null })).toEqual({});
  });

  it('is the contract’s verdict', () => {
    expect(decide({})).toEqual({ verdict: 'no_contract' });
    const judged = { verdict: 'validated', value: 1, repairLevel: 'none', repairs: [], warnings: [] } as const;
    expect(decide({ judged, end: { exitCode: 1, signal: null } })).toEqual({ verdict: 'validated' });
  });

  it('retries output that fails the contract while retries are left', () => {
    expect(decide({ judged: refused })).toEqual({ verdict: 'retry', reason: 'no good' });
    expect(decide({ judged: refused, canRetry: false })).toEqual({ verdict: 'not_validated', reason: 'no good' });
    expect(decide({ judged: comment })).toMatchObject({ verdict: 'retry' });
    expect(decide({ judged: comment, canRetry: false })).toEqual({ verdict: 'comment' });
  });

  it.each([
    ['an exit code', { end: { exitCode: 1, signal: null } }],
    ['a signal', { end: { exitCode: null, signal: 'SIGKILL' } }],
    ['an engine error', { drained: { ...DRAINED, runtimeError: 'no credit' } }],
  ])('does not retry after %s', (_, engineFailure) => {
    expect(decide({ judged: refused, ...engineFailure })).toMatchObject({ verdict: 'not_validated' });
    expect(decide({ judged: comment, ...engineFailure })).toMatchObject({ verdict: 'comment' });
  });

  it('does not retry if the schema threw an error', () => {
    const judged = { verdict: 'not_validated', reason: 'threw', warnings: [] } as const;
    expect(decide({ judged })).toEqual({ verdict: 'not_validated', reason: 'threw' });
  });
});

it('isAsking is true if a turn ends without the done marker in interactive mode', () => {
  const ended = { ...DRAINED, endSignal: 'CODEX_TURN_COMPLETED' } as const;
  expect(isAsking('interactive', ended)).toBe(true);
  expect(isAsking('interactive', { ...ended, doneMarker: true })).toBe(false);
  expect(isAsking('interactive', DRAINED)).toBe(false);
  expect(isAsking('auto', ended)).toBe(false);
});
