import { arrayOf, object, oneOf, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';
import { evidenceSchema } from './evidence.js';
import { RESULT_CODES } from './result-code.js';

/** The possible decisions about an order. */
export const decisionAction = oneOf(['advance', 'archive', 'needs-human', 'blocked']);

/** A decision about an order. */
export const decisionSchema = object(
  {
    action: decisionAction,
    /** A sentence for people that explains the decision. */
    reason: text,
    result_code: oneOf(RESULT_CODES),
    /** A sentence for people that says what to do next. */
    next: text,
  },
  {
    /** Evidence for the decision; decisions of earlier versions have none. */
    evidence: arrayOf(evidenceSchema),
  },
);

/** A decision about an order; `reason` and `next` are sentences for people. */
export type Decision = FromSchema<typeof decisionSchema>;
