type Value = string | number;

export const t = {
  itHoldsNoRunsAny: 'It holds no runs any more.',
  nothingHappensToThemUntil: 'Nothing happens to them until a worker starts.',
  aWorkerOnThisHost:
    'A worker on this host continues those that wait for an answer, and ends the others; their orders are tried again or go to review.',
  anotherWorkerEndsThemOnce: (host: Value) =>
    `Another worker ends them once their leases have expired; their orders are tried again or go to review. Those that wait for an answer continue on any worker if their session is archived, otherwise when a worker starts on ${host}.`,
  cannotLoadThePage: 'Cannot load the page',
  failedSinceYesterday: 'Failed since yesterday',
  failingSinks: 'Failing sinks',
  notDelivered: (dead: Value) => `${dead} not delivered`,
  exceeded: (percent: Value) => `${percent} %: exceeded`,
  costToday: 'Cost today',
  nothingWasUsedInThe: 'Nothing was used in the last week to compare it with.',
  usuallyInAWholeDay: (usual: Value) => `Usually ${usual} in a whole day (00:00 to 24:00 UTC).`,
  last: 'Last: ',
  waitingForYou: 'Waiting for you',
  deadWorkers: 'Dead workers',
  lastSeen: 'Last seen ',
  andMore: (count: number) => (count === 0 ? '. ' : ` and ${count} more. `),
  dueIn: (time: string) => `(in ${time})`,
  eachIssue: 'Each issue',
  eachOtherToken: 'Each other token',
  neverDue: 'Never due',
  notRunYet: 'Not run yet',
  pausedBy: (who: Value, why: Value) => `Paused by ${who}: ${why}`,
  today: 'Today',
};
