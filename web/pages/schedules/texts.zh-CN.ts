import type { t as english } from './texts.en.js';

/** The Chinese texts. */
export const t: typeof english = {
  schedule: '定时任务',
  cronUtc: 'Cron（UTC）',
  next: '下次',
  last: '上次',
  lastLabel: '上次：',
  schedules: '定时任务',
  cannotLoadTheSchedules: '无法加载定时任务',
  noSchedules: '没有定时任务',
  ordersThatAreSubmittedRegularly: '定期提交的工单在配置的这一项里设置：',
  issue: 'Issue',
  whileItsIssueIsBusy: 'issue 正忙时',
  paused: '已暂停',
  pausedSince: '暂停于',
  lastTicks: '最近的触发',
  theTickIsSkipped: '跳过这一次',
  theLastTickWaitsUntil: '最后一次等到空闲',
  theRunUnderWayIs: '结束进行中的运行',
  runNow: '立即运行',
  reasonForThePause: '暂停的原因',
  reasonForAPause: '暂停的原因',
  pause: '暂停',
  resume: '恢复',
};
