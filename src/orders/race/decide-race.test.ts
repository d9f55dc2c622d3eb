import { describe, expect, it } from 'vitest';
import type { Decision, Evidence, WorkOrder } from '../../store/records/index.js';
import type { RaceEntry } from '../../store/ports/index.js';
import { decideRace } from './decide-race.js';

const CHECK: Evidence = { claim: 'tests', by: 'sluice', verdict: 'confirmed', detail: 'unit: exit code 0' };

interface EntryFields {
  readonly action?: Decision['action'];
  readonly checks?: number;
  readonly lines?: number | null;
  readonly at?: number;
}

let entryCount = 0;

function createEntry({ action = 'advance', checks = 1, lines = 10, at = 0 }: EntryFields = {}): RaceEntry {
  entryCount += 1;
  const order: WorkOrder = {
    issue_ref: 'local#1',
    run_id: `2026-11-15-qa-${String(entryCount).padStart(4, '0')}`,
    role: 'qa',
    repo_dir: '/r',
    worker: 'w',
    instructions: '',
  };
  const decision: Decision = {
    action,
    reason: `Alone: ${action}.`,
    result_code: action === 'advance' ? 'none' : 'test_failed',
    next: 'Review it.',
    evidence: Array.from({ length: checks }, () => CHECK),
  };
  const execution = {
    order,
    run: `run-${entryCount}`,
    workerType: 'script',
    exitCode: 0,
    signal: null,
    reading: { source: 'json', problems: [] } as const,
    decision,
    at: new Date(at).toISOString(),
  };
  return { execution, lines };
}

function getId({ execution }: RaceEntry): string {
  return execution.order.run_id;
}

describe('a race', () => {
  it.each<[string, EntryFields, EntryFields]>([
    ['more confirmed checks', { checks: 2, lines: 90, at: 9 }, { checks: 1, lines: 1, at: 1 }],
    ['fewer changed lines', { lines: 3, at: 9 }, { lines: 4, at: 1 }],
    ['a known size', { lines: 900 }, { lines: null }],
    ['the earlier end', { at: 1 }, { at: 2 }],
    ['proof, whatever else is better', { lines: 900, at: 9 }, { action: 'needs-human', lines: 1, at: 1 }],
  ])('is won by %s', (_, better, worse) => {
    const [winner, loser] = [createEntry(better), createEntry(worse)];
    for (const entries of [
      [winner, loser],
      [loser, winner],
    ]) {
      const decidedRace = decideRace(entries);
      expect(decidedRace.winner).toBe(getId(winner));
      const of = (entry: RaceEntry) => decidedRace.entries.find((each) => each.entry === entry)?.decision;
      expect(of(winner)).toMatchObject({ action: 'advance', result_code: 'none' });
      expect(of(winner)?.reason).toContain('It won a race of 2 runs');
      expect(of(loser)).toMatchObject({ action: 'archive', result_code: 'superseded' });
      expect(of(loser)?.reason).toContain(`Run ${getId(winner)} won the race`);
      expect(of(loser)?.evidence).toEqual(loser.execution.decision.evidence);
    }
  });

  it('that ends in a tie goes to a human, for every result', () => {
    const entries = [createEntry(), createEntry(), createEntry({ lines: 11 })];
    const { winner, entries: decidedEntries } = decideRace(entries);
    expect(winner).toBeNull();
    expect(decidedEntries.map(({ decision }) => decision.action)).toEqual([
      'needs-human',
      'needs-human',
      'needs-human',
    ]);
    const [first, second] = entries.map(getId);
    expect(decidedEntries[2]?.decision.reason).toContain(
      `a tie between ${first} and ${second}: 1 check confirmed, 10 changed lines`,
    );
    expect(decidedEntries[0]?.decision.result_code).toBe('manual_intervention');
  });

  it('without a proven result goes to a human, with the reason for each run', () => {
    const { winner, entries } = decideRace([
      createEntry({ action: 'blocked' }),
      createEntry({ action: 'needs-human' }),
    ]);
    expect(winner).toBeNull();
    expect(entries.map(({ decision }) => decision)).toMatchObject([
      {
        action: 'needs-human',
        result_code: 'test_failed',
        reason: 'None of the 2 runs in the race is proven. Alone: blocked.',
      },
      { action: 'needs-human', reason: 'None of the 2 runs in the race is proven. Alone: needs-human.' },
    ]);
  });
});
