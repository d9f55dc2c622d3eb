import type { t as english } from './texts.en.js';

export const t: typeof english = {
  itHoldsNoRunsAny: '它已不持有任何运行。',
  nothingHappensToThemUntil: '有 worker 启动之前，它们不会有任何变化。',
  aWorkerOnThisHost: '这台机器上的 worker 会接着等待回答的那些，结束其余的；它们的工单会重试或进入审核。',
  anotherWorkerEndsThemOnce: (host) =>
    `租约过期后，别的 worker 会结束它们；它们的工单会重试或进入审核。等待回答的那些，会话已归档的在任意 worker 上继续，否则等 ${host} 上有 worker 启动后继续。`,
  cannotLoadThePage: '无法加载页面',
  failedSinceYesterday: '昨天以来失败的',
  failingSinks: '出错的投递目标',
  notDelivered: (dead) => `${dead} 条未投递`,
  exceeded: (percent) => `${percent} %：已超出`,
  costToday: '今天的费用',
  nothingWasUsedInThe: '最近一周没有用量可以比较。',
  usuallyInAWholeDay: (usual) => `通常一整天（00:00 到 24:00 UTC）${usual}。`,
  last: '上次：',
  waitingForYou: '等你处理',
  deadWorkers: '已死的 worker',
  lastSeen: '最后出现 ',
  andMore: (count) => (count === 0 ? '。' : ` 等，还有 ${count} 次。`),
  dueIn: (time) => `（${time}后）`,
  eachIssue: '每个 Issue',
  eachOtherToken: '其他每个令牌',
  neverDue: '不会到期',
  notRunYet: '还没有运行过',
  pausedBy: (who, why) => `已由 ${who} 暂停：${why}`,
  today: '今天',
};
