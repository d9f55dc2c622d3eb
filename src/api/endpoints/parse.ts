import { defineEndpoint, json } from '../endpoint.js';
import { caseRequestSchema, parseResponseSchema, parseRequestSchema } from '../shapes/parse.js';

export const parse = defineEndpoint({
  method: 'POST',
  path: '/v1/parse',
  scope: 'read',
  summary: 'Extracts JSON from a text, repairs its syntax and validates it.',
  body: parseRequestSchema,
  response: json(parseResponseSchema),
  problems: ['INVALID_SCHEMA'],
});

export const exportTextCase = defineEndpoint({
  method: 'POST',
  path: '/v1/parse/case',
  scope: 'read',
  summary: 'Exports a text with its schema as a case of a suite: a tar archive to unpack in the folder of the suite.',
  body: caseRequestSchema,
  response: { status: 200, media: 'application/x-tar' },
  problems: ['INVALID_SCHEMA', 'CASE_TOO_LARGE'],
});
