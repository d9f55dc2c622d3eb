import { expect, test } from 'vitest';
import { fcmpEvent } from '../pages/run/fixtures/events.js';
import { findAnswerObstacle } from './delayed-actions.js';

const REQUEST = { run: 'r1', interactionId: 'px_1_1', seq: 4 };
const ASKED = fcmpEvent('permission.required', { interaction_id: 'px_1_1' }, { seq: 4 });

/** Looks for an obstacle in these events, which the server returns one per page. */
async function find(...later: readonly ReturnType<typeof fcmpEvent>[]): Promise<string | null> {
  const events = [ASKED, ...later];
  return findAnswerObstacle(
    {
      readHistory: async ({ query = {} }) => {
        const index = events.findIndex(({ seq }) => seq >= Number(query.from));
        const next = events[index + 1];
        return { events: events.slice(index, index + 1), next_from: next === undefined ? null : String(next.seq) };
      },
    },
    REQUEST,
  );
}

const reply = (data: object) => fcmpEvent('permission.replied', { option_id: 'x', ...data }, { seq: 6 });

test('an open request has no obstacle, whatever its run prints meanwhile', async () => {
  const other = reply({ interaction_id: 'px_1_2', decision: 'allow', by: 'person' });
  expect(await find(fcmpEvent('raw.stdout', { text: 'x' }, { seq: 5 }), other)).toBeNull();
});

test.each([
  [{ interaction_id: 'px_1_1', decision: 'deny', by: 'person', who: 'Ada' }, 'Ada has denied it meanwhile.'],
  [{ interaction_id: 'px_1_1', decision: 'allow', by: 'person' }, 'Another user has allowed it meanwhile.'],
  [
    { interaction_id: 'px_1_1', decision: 'deny', by: 'rule', why: 'No answer in time.' },
    'The request was withdrawn or denied meanwhile: No answer in time.',
  ],
])('an answer is an obstacle, on any page: %o', async (data, message) => {
  expect(await find(fcmpEvent('raw.stdout', { text: 'x' }, { seq: 5 }), reply(data))).toBe(
    `${message} Nothing was sent.`,
  );
});

test('so is the end of the run, and the next attempt', async () => {
  expect(await find(fcmpEvent('conversation.failed', {}, { seq: 5 }))).toContain('The run has ended meanwhile.');
  expect(await find(fcmpEvent('raw.stdout', {}, { seq: 5, attempt: 2 }))).toContain('no longer waits');
});
