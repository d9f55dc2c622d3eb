import { describe, expect, it } from 'vitest';
import { readPlan } from './read-plan.js';

describe('the entries of a plan', () => {
  it.each([
    ['codex', { text: 'Look', completed: true }, { content: 'Look', status: 'completed' }],
    ['codex, not done', { text: 'Look', completed: false }, { content: 'Look', status: 'pending' }],
    ['claude', { content: 'Look', status: 'in_progress' }, { content: 'Look', status: 'in_progress' }],
    ['gemini', { description: 'Look', status: 'cancelled' }, { content: 'Look', status: 'pending' }],
    [
      'opencode',
      { content: 'Look', status: 'completed', priority: 'high' },
      { content: 'Look', status: 'completed', priority: 'high' },
    ],
  ])('are read as %s prints them', (_, entry, expected) => {
    expect(readPlan([entry])).toEqual([expected]);
  });

  it('need text, and are bounded', () => {
    expect(readPlan([null, 'x', {}, { status: 'completed' }])).toEqual([]);
    expect(readPlan(Array.from({ length: 1000 }, () => ({ content: 'x' })))).toHaveLength(256);
  });
});
