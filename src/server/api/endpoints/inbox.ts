import { name, oneOf } from '../../../base/index.js';
import { defineEndpoints, json } from '../endpoint.js';
import { definePage, pageQuery } from '../shapes/lists.js';
import { inboxResponseSchema, commentPreviewSchema, resolveRequestSchema } from '../shapes/order.js';
import { waitingSchema } from '../shapes/waiting.js';

const resolutionProblems = [
  'ITEM_NOT_FOUND',
  'CONFLICT',
  'NOTHING_TO_ACCEPT',
  'INVALID_RESOLUTION',
  'INVALID_WORK_RESULT',
  'UNKNOWN_WORKER',
] as const;

export const inboxEndpoints = defineEndpoints({
  listWaiting: {
    method: 'GET',
    path: '/v1/waiting',
    scope: 'read',
    summary:
      "Lists everything that waits for a human: agents' questions and permission requests, failing sinks, results to review. At most 200 of each.",
    response: json(waitingSchema),
  },
  listInbox: {
    method: 'GET',
    path: '/v1/inbox',
    scope: 'read',
    summary: 'Lists open inbox items, oldest first, or resolved items, newest first.',
    query: {
      ...pageQuery,
      open: { ...oneOf(['true', 'false']), description: 'true by default: only open items. false: all items.' },
      settled: { ...oneOf(['true']), description: 'Only resolved items, newest first.' },
      issue_ref: name,
    },
    response: json(definePage(inboxResponseSchema)),
    problems: ['INVALID_CURSOR'],
  },
  getInboxItem: {
    method: 'GET',
    path: '/v1/inbox/{id}',
    scope: 'read',
    summary: 'Returns one inbox item with its evidence.',
    response: json(inboxResponseSchema),
    problems: ['ITEM_NOT_FOUND'],
  },
  previewResolution: {
    method: 'POST',
    path: '/v1/inbox/{id}/preview',
    scope: 'read',
    summary: 'Returns the comment that a decision would write.',
    body: resolveRequestSchema,
    response: json(commentPreviewSchema),
    problems: resolutionProblems,
  },
  resolveItem: {
    method: 'POST',
    path: '/v1/inbox/{id}/resolve',
    scope: 'decide',
    summary: 'Resolves an inbox item: accept, reject, retry or edit.',
    body: resolveRequestSchema,
    response: json(inboxResponseSchema),
    problems: resolutionProblems,
  },
});
