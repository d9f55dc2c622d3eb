import { name, object, oneOf, text, type FromSchema } from '../../base/index.js';

/**
 * A rule that allows or denies a tool. All of its patterns must match. `*` matches any characters, but in `path` only
 * `**` matches a slash. The first matching rule applies.
 */
export const approvalRuleSchema = object(
  { decide: oneOf(['allow', 'deny', 'ask']) },
  {
    tool: name,
    /** The command line that the tool would run. */
    command: name,
    /** A file the tool accesses, relative to the working folder. */
    path: name,
    why: text,
  },
);

/** See {@link approvalRuleSchema}. */
export type ApprovalRule = FromSchema<typeof approvalRuleSchema>;

/** The approval rules in the configuration or in a run spec. */
export const approvalRulesSchema = { type: 'array', maxItems: 1000, items: approvalRuleSchema } as const;
