import { arrayOf, name, object, oneOf, text, type FromSchema } from '../../base/index.js';

/** One fact about a work result: the claim, its source, and whether it is true. */
export const evidenceSchema = object(
  {
    claim: oneOf(['commit', 'pr', 'tests', 'paths', 'result']),
    /** `worker`: only the agent claims it. `sluice`: Sluice checked it. */
    by: oneOf(['worker', 'sluice']),
    verdict: oneOf(['confirmed', 'contradicted', 'unchecked']),
    /** An explanation for users. */
    detail: text,
  },
  {
    /** The check run that confirmed or contradicted the claim. */
    run: name,
    /** The changed files that keep a check from proving anything. */
    files: arrayOf(text),
    /** How the change modifies exactly these files, as a patch; truncated if it is long. */
    diff: text,
  },
);

/** One fact about a work result: the claim, its source, and whether it is true. */
export type Evidence = FromSchema<typeof evidenceSchema>;
