import type { t as english } from './texts.en.js';

/** The Chinese texts. */
export const t: typeof english = {
  allow: '允许',
  deny: '拒绝',
  ask: '询问',
  any: '任意',
  no: '序号',
  decision: '决定',
  tool: '工具',
  command: '命令',
  path: '路径',
  reason: '原因',
  approvalRules: '许可规则',
  readTheApprovalRules: '查看许可规则',
  noApprovalRules: '没有许可规则',
  theFirstRuleThatMatches: '第一条符合的规则决定；都不符合就问人。规则在配置的 approvals 里设置。',
  token: '令牌',
  scopes: '权限范围',
  tokens: '令牌',
  seeTheTokens: '查看令牌',
  noTokens: '没有令牌',
  decisionsAreRecordedUnderThe: '决定以令牌的名字记录；令牌的值从不显示。令牌在配置的 tokens 里设置。',
  cannotLoad: (title) => `无法加载${title}`,
};
