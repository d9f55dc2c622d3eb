/** The English texts. */
export const t = {
  allow: 'Allow',
  deny: 'Deny',
  ask: 'Ask',
  any: 'Any',
  no: 'No.',
  decision: 'Decision',
  tool: 'Tool',
  command: 'Command',
  path: 'Path',
  reason: 'Reason',
  approvalRules: 'Approval rules',
  readTheApprovalRules: 'read the approval rules',
  noApprovalRules: 'No approval rules',
  theFirstRuleThatMatches:
    'The first rule that matches decides; without a match, a person is asked. They are configured under approvals.',
  token: 'Token',
  scopes: 'Scopes',
  tokens: 'Tokens',
  seeTheTokens: 'see the tokens',
  noTokens: 'No tokens',
  decisionsAreRecordedUnderThe:
    'Decisions are recorded under the name of a token; its value is never shown. They are configured under tokens.',
  cannotLoad: (title: string) => `Cannot load the ${title.toLowerCase()}`,
};
