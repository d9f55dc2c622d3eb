import { describe, expect, it } from 'vitest';
import type { OrderRecord } from '../../store/records/order-record.js';
import { order, result } from '../fixtures/order.js';
import { continueFromReview } from './review-comments.js';

const { run_id: _, ...request } = order;
const review = { who: 'Ada', why: 'Nearly.' };

/** A settled order whose commit Sluice judged with this verdict. */
function createSettledOrder(
  verdict: 'confirmed' | 'unchecked' | 'contradicted',
): Pick<OrderRecord, 'order' | 'run' | 'result' | 'decision'> {
  const evidence = [{ claim: 'commit', by: 'sluice', verdict, detail: '' }] as const;
  return {
    order,
    run: '01RUN2',
    result,
    decision: { action: 'needs-human', reason: '', result_code: 'none', next: '', evidence },
  };
}

describe('a retry after a review', () => {
  it('continues from the reviewed commit, run and folder if Sluice has confirmed the commit', () => {
    const start = { start_commit: result.changes.commit, start_run: '01RUN2' };
    expect(continueFromReview(request, createSettledOrder('confirmed'), review)).toEqual({
      ...request,
      ...start,
      start_folder: '01RUN2',
    });
    const retried = { ...request, start_commit: 'abcdef', start_run: '01RUN1', start_folder: '01RUN1' };
    expect(continueFromReview(retried, createSettledOrder('confirmed'), review)).toEqual({
      ...request,
      ...start,
      start_folder: '01RUN1',
    });
  });

  it('in a race repeats only the reviewed run', () => {
    const raceRequest = { ...request, race: 3 };
    expect(continueFromReview(raceRequest, createSettledOrder('contradicted'), review)).toEqual(request);
  });

  it.each(['unchecked', 'contradicted'] as const)('does not start from a commit that is %s', (verdict) => {
    const earlier = { ...request, start_commit: 'abcdef', start_run: '01RUN1', start_folder: '01RUN1' };
    expect(continueFromReview(earlier, createSettledOrder(verdict), review)).toEqual(request);
  });

  it('never shortens the instructions, and adds as many comments as fit', () => {
    const comments = Array.from(
      { length: 100 },
      () => ({ path: 'a', line: 1, side: 'new', text: 'x'.repeat(5000) }) as const,
    );
    const longRequest = { ...request, instructions: 'y'.repeat(20_000) };
    const { instructions } = continueFromReview(longRequest, createSettledOrder('confirmed'), { ...review, comments });
    expect(instructions).toHaveLength(30_000);
    expect(instructions.startsWith(`${'y'.repeat(20_000)}\n\n## Review of run ${order.run_id}\n`)).toBe(true);
    expect(instructions.endsWith('… (truncated: the instructions are too long)')).toBe(true);
    const oversized = { ...request, instructions: 'y'.repeat(30_000) };
    expect(continueFromReview(oversized, createSettledOrder('confirmed'), { ...review, comments }).instructions).toBe(
      oversized.instructions,
    );
  });
});
