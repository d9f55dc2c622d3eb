import { name, oneOf } from '../../base/index.js';
import { endpoint, json } from '../endpoint.js';
import { listOf, pageQuery } from '../shapes/lists.js';
import { inboxAnswerSchema, commentPreviewSchema, resolveRequestSchema } from '../shapes/order.js';
import { waitingSchema } from '../shapes/waiting.js';

const resolutionProblems = [
  'ITEM_NOT_FOUND',
  'CONFLICT',
  'NOTHING_TO_ACCEPT',
  'INVALID_RESOLUTION',
  'INVALID_WORK_RESULT',
  'UNKNOWN_WORKER',
] as const;

export const listWaiting = endpoint({
  method: 'GET',
  path: '/v1/waiting',
  scope: 'read',
  summary:
    'Everything that waits for a person: questions and permission requests of agents, sinks that fail, results to review. At most 200 of each.',
  answer: json(waitingSchema),
});

export const listInbox = endpoint({
  method: 'GET',
  path: '/v1/inbox',
  scope: 'read',
  summary: 'Lists open inbox items, oldest first; or settled ones, newest first.',
  query: {
    ...pageQuery,
    open: { ...oneOf(['true', 'false']), description: 'true by default; false lists everything.' },
    settled: { ...oneOf(['true']), description: 'Only settled items, newest first.' },
    issue_ref: name,
  },
  answer: json(listOf(inboxAnswerSchema)),
  problems: ['INVALID_CURSOR'],
});

export const getInboxItem = endpoint({
  method: 'GET',
  path: '/v1/inbox/{id}',
  scope: 'read',
  summary: 'One inbox item with its evidence.',
  answer: json(inboxAnswerSchema),
  problems: ['ITEM_NOT_FOUND'],
});

export const previewResolution = endpoint({
  method: 'POST',
  path: '/v1/inbox/{id}/preview',
  scope: 'read',
  summary: 'The comment that a decision would write.',
  body: resolveRequestSchema,
  answer: json(commentPreviewSchema),
  problems: resolutionProblems,
});

export const resolveItem = endpoint({
  method: 'POST',
  path: '/v1/inbox/{id}/resolve',
  scope: 'decide',
  summary: 'Decides an inbox item: accept, reject, retry or edit.',
  body: resolveRequestSchema,
  answer: json(inboxAnswerSchema),
  problems: resolutionProblems,
});
