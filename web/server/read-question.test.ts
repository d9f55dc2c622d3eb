import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/index.js';
import { fcmpEvent } from '../pages/run/events.fixture.js';
import { findOpenQuestion, readQuestion } from './read-question.js';

const QUESTION = { interaction_id: 'q1', prompt: 'Which one?', options: ['red', 'blue'], kind: 'open_text' };

/** A server with a conversation of so many events, the last of which may be a question. */
function serve(count: number, { asks }: { readonly asks: boolean }) {
  let requests = 0;
  const log = Array.from({ length: count }, (_, index) =>
    asks && index === count - 1
      ? fcmpEvent('user.input.required', QUESTION, { seq: index + 1 })
      : fcmpEvent('raw.stdout', { text: 'x' }, { seq: index + 1 }),
  );
  const client: Pick<Client, 'readHistory'> = {
    async readHistory({ query }) {
      requests += 1;
      const from = Number(query?.from ?? 1) - 1;
      const to = from + (query?.limit ?? 1000);
      return { events: log.slice(from, to), next_from: to < log.length ? String(to + 1) : null };
    },
  };
  return { client, requests: () => requests };
}

const { signal } = new AbortController();

describe('the open question of a run', () => {
  test.each([1, 49, 50, 51, 99, 100, 101, 1000, 12_345])('is found at the end of %d events', async (count) => {
    const { client } = serve(count, { asks: true });
    expect(await readQuestion(client, 'run', signal)).toEqual({
      interactionId: 'q1',
      prompt: 'Which one?',
      options: ['red', 'blue'],
    });
  });

  test.each([0, 1, 50, 400])('is null for %d events that end otherwise', async (count) => {
    expect(await readQuestion(serve(count, { asks: false }).client, 'run', signal)).toBeNull();
  });

  test('takes one request for a short conversation and few for a long one', async () => {
    const short = serve(40, { asks: true });
    await readQuestion(short.client, 'run', signal);
    expect(short.requests()).toBe(1);
    const long = serve(100_000, { asks: true });
    await readQuestion(long.client, 'run', signal);
    expect(long.requests()).toBeLessThan(40);
  });

  test('is closed by any later event', () => {
    const events = [fcmpEvent('user.input.required', QUESTION), fcmpEvent('user.input.replied', { text: 'red' })];
    expect(findOpenQuestion(events)).toBeNull();
  });
});

describe('a permission request', () => {
  const options = [{ id: 'yes', label: 'Allow', kind: 'allow_once' }];
  const asked = { interaction_id: 'px_1_1', tool_call_id: 'c', tool: 'edit', input: { path: 'a' }, options };
  const required = fcmpEvent('permission.required', asked, { seq: 1 });
  const later = fcmpEvent('raw.stdout', { text: 'x' }, { seq: 2 });

  test('is open until it is answered, whatever else is printed', () => {
    expect(findOpenQuestion([required, later])).toMatchObject({
      interactionId: 'px_1_1',
      prompt: 'Allow edit? {"path":"a"}',
      permission: { options },
    });
    const answer = { interaction_id: 'px_1_1', decision: 'allow', option_id: 'yes', by: 'person' };
    expect(findOpenQuestion([required, fcmpEvent('permission.replied', answer, { seq: 2 })])).toBeNull();
  });
});
