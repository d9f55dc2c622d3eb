import type { t as english } from './texts.en.js';

/** The Chinese texts. */
export const t: typeof english = {
  budgets: '预算',
  cannotLoadTheBudgets: '无法加载预算',
  noBudgets: '没有预算',
  limitsOnTokensAndCost: 'token 和费用的上限在配置的这一项里设置：',
  exceeded: '已超出',
  tokens: 'Token',
  cost: '费用',
  waitingForABudget: '等待预算',
  state: '状态',
  worker: 'Worker',
  load: '负载',
  version: '版本',
  engines: '引擎',
  lastSeen: '最后出现',
  holds: '持有',
  workers: 'Worker',
  cannotLoadTheWorkers: '无法加载 worker',
  noWorkerIsRunning: '没有 worker 在运行',
  queuedRunsAndOrdersCannot: '排队的运行和工单无法开始。启动 worker 可以用 ',
  or: '，或者',
  without: '，不带 ',
  budgetDay: (local, zone) =>
    `每天的预算从 00:00 UTC 开始${local === null ? '' : `，也就是这里的 ${local}（${zone}）`}。`,
  ofLimit: (limit) => ` / ${limit}`,
  reserved: (amount) => `${amount}，包括为进行中的运行预留的`,
  busy: (busy, capacity) => `${busy} / ${capacity}`,
  endOfRuns: '。',
};
