import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/server/client/index.js';
import { fcmpEvent } from '../pages/run/fixtures/events.js';
import { findOpenQuestion, isReplaced } from './read-question.js';

const QUESTION = { interaction_id: 'q1', prompt: 'Which one?', options: ['red', 'blue'], kind: 'open_text' };

describe('the open question of a run', () => {
  test('is the last event of its conversation', () => {
    expect(findOpenQuestion([fcmpEvent('user.input.required', QUESTION)])).toEqual({
      interactionId: 'q1',
      seq: 1,
      prompt: 'Which one?',
      options: ['red', 'blue'],
    });
    expect(findOpenQuestion([])).toBeNull();
  });

  test('is not one that no one can answer', () => {
    expect(findOpenQuestion([fcmpEvent('user.input.required', { ...QUESTION, answerable: false })])).toBeNull();
  });

  test('is closed by any later event', () => {
    const events = [fcmpEvent('user.input.required', QUESTION), fcmpEvent('user.input.replied', { text: 'red' })];
    expect(findOpenQuestion(events)).toBeNull();
  });
});

describe('a permission request', () => {
  const options = [{ id: 'yes', label: 'Allow', kind: 'allow_once' }];
  const request = { interaction_id: 'px_1_1', tool_call_id: 'c', tool: 'edit', input: { path: 'a' }, options };
  const required = fcmpEvent('permission.required', request, { seq: 1 });
  const laterEvent = fcmpEvent('raw.stdout', { text: 'x' }, { seq: 2 });

  test('is open until it is answered, even if other events follow', () => {
    expect(findOpenQuestion([required, laterEvent])).toMatchObject({
      interactionId: 'px_1_1',
      prompt: 'Allow edit? {"path":"a"}',
      permission: { options },
    });
    const answer = { interaction_id: 'px_1_1', decision: 'allow', option_id: 'yes', by: 'person' };
    expect(findOpenQuestion([required, fcmpEvent('permission.replied', answer, { seq: 2 })])).toBeNull();
  });
});

describe('a question', () => {
  const entry = (run: string, interaction_id: string) =>
    ({
      kind: 'question',
      id: 'x',
      at: '',
      text: '',
      run,
      engine: 'codex',
      task: '',
      issue_ref: null,
      interaction_id,
      seq: 4,
      held_until: '',
      expires_at: '',
      options: [],
    }) as const;
  const serve = (...items: ReturnType<typeof entry>[]): Pick<Client, 'listWaiting'> => ({
    listWaiting: async () => ({ items, complete: true }),
  });

  test('is replaced if another question of its run is open, but not this one', async () => {
    expect(await isReplaced(serve(entry('r1', 'q2')), 'r1', 'q1')).toBe(true);
    expect(await isReplaced(serve(entry('r1', 'q1'), entry('r1', 'q2')), 'r1', 'q1')).toBe(false);
    expect(await isReplaced(serve(entry('r2', 'q2')), 'r1', 'q1')).toBe(false);
  });
});
