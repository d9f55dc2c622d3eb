import { anything, count, flag, name, object, oneOf, text } from '../../../base/index.js';
import { repairLevel } from '../../../store/records/index.js';

/** The text to parse and the options, as in `sluice parse`. */
export const parseRequestSchema = object(
  { text },
  {
    schema: { type: ['object', 'boolean'], description: 'A JSON Schema, draft 2020-12.' },
    profile: oneOf(['default', 'generic', 'tagged', 'unified']),
    allow_partial: flag,
    align: flag,
    ambiguous: {
      ...oneOf(['first', 'last', 'fail']),
      description: 'Which value to use if different values are valid and nothing decides between them.',
    },
  },
);

/**
 * Text to export as a suite case, with the options that a contract has: a case has no `ambiguous`, and its schema is an
 * object.
 */
export const caseRequestSchema = object(
  {
    text: { type: 'string', maxLength: 1_000_000 },
    name: {
      type: 'string',
      maxLength: 100,
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      description: 'The name of the case.',
    },
  },
  {
    schema: { type: 'object', description: 'A JSON Schema, draft 2020-12.' },
    profile: parseRequestSchema.properties.profile,
    allow_partial: flag,
    align: flag,
  },
);

const path = { type: 'array', items: { type: ['string', 'integer'] } } as const;
const candidate = object({
  finder: oneOf(['whole', 'tag', 'ndjson', 'envelope', 'fence', 'prose']),
  start: count,
  end: count,
});

/** The result, as `sluice parse` prints it. */
export const parseResponseSchema = object(
  {
    status: oneOf(['success', 'failed', 'comment']),
    repair_level: repairLevel,
    repairs: {
      type: 'array',
      items: object(
        { kind: name, message: text, offset: count },
        {
          /** Only in the last repair of a long list: the number of further repairs. */
          omitted: count,
        },
      ),
    },
    warnings: { type: 'array', items: object({ code: name, message: text }, { offset: count, path }) },
  },
  {
    value: anything,
    comment: text,
    alignment: { type: 'array', items: object({ path, rule: name }, { from: anything, to: anything }) },
    alignment_count: count,
    error: object(
      {
        code: name,
        message: text,
        attempts: { type: 'array', items: object({ candidate, code: name, message: text }) },
      },
      { hint: text, issues: { type: 'array', items: object({ path, message: text }) } },
    ),
    candidate,
  },
);
