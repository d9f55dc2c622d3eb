import { expect, it } from 'vitest';
import type { FcmpEvent } from '../../events/index.js';
import { PermissionRelay } from './run-turn.js';

it('posts an answer again if the store does not accept it yet', async () => {
  const responses = ['not_waiting', 'not_waiting', 'posted'] as const;
  const posted: string[] = [];
  const relay = new PermissionRelay({
    store: {
      findRun: async () => undefined,
      postReply: async (_, text) => responses[posted.push(text) - 1] ?? 'posted',
    },
    runId: 'r1',
    who: 'ann',
    ask: async () => ({ optionId: 'yes' }),
  });
  const data = {
    interaction_id: 'px_1_2',
    tool: 'Write',
    tool_call_id: 'c2',
    input: {},
    options: [{ id: 'yes', label: 'Allow', kind: 'allow_once' }],
  };
  // No further event triggers a retry: the process has exited, and answers are delivered when it resumes.
  relay.onEvent({ type: 'permission.required', data, meta: { attempt: 1 } } as unknown as FcmpEvent);
  await expect.poll(() => posted.length, { timeout: 10_000 }).toBe(3);
  relay.end();
});
