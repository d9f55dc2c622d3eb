import { defineEndpoints, json } from '../endpoint.js';
import { caseRequestSchema, parseResponseSchema, parseRequestSchema } from '../shapes/parse.js';

export const parseEndpoints = defineEndpoints({
  parse: {
    method: 'POST',
    path: '/v1/parse',
    scope: 'read',
    summary: 'Extracts JSON from text, repairs its syntax and validates it.',
    body: parseRequestSchema,
    response: json(parseResponseSchema),
    problems: ['INVALID_SCHEMA'],
  },
  exportTextCase: {
    method: 'POST',
    path: '/v1/parse/case',
    scope: 'read',
    summary: "Exports text and its schema as a suite case: a tar archive to unpack in the suite's folder.",
    body: caseRequestSchema,
    response: { status: 200, media: 'application/x-tar' },
    problems: ['INVALID_SCHEMA', 'CASE_TOO_LARGE'],
  },
});
