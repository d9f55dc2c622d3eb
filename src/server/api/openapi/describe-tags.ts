interface Tag {
  readonly name: string;
  readonly description: string;
}

/** Endpoints are grouped by the first segment of their paths. */
const TAGS: readonly (Tag & { readonly segments: readonly string[] })[] = [
  { name: 'Parsing', description: 'Extract JSON from text.', segments: ['parse'] },
  { name: 'Runs', description: 'Start agents, follow them and read their results.', segments: ['runs', 'engines'] },
  {
    name: 'Orders',
    description: 'Submit work on issues and read the decisions about it.',
    segments: ['orders', 'issues', 'executions'],
  },
  { name: 'Inbox', description: 'Results and questions that need a human.', segments: ['inbox', 'waiting'] },
  { name: 'Comments', description: 'Comments on issues, and their delivery.', segments: ['outbox', 'sinks'] },
  { name: 'Session', description: 'The caller and its token.', segments: ['session'] },
];

/** The tag of all other endpoints. */
const SERVER: Tag = { name: 'Server', description: 'Health, workers, metrics and statistics.' };

export function getTag(path: string): string {
  const [, segment = ''] = /^\/v1\/(\w+)/.exec(path) ?? [];
  return (TAGS.find(({ segments }) => segments.includes(segment)) ?? SERVER).name;
}

/** Lists the tags of these paths, in the order of the document. */
export function listTags(paths: readonly string[]): Tag[] {
  const usedTags = new Set(paths.map(getTag));
  return [...TAGS, SERVER]
    .filter(({ name }) => usedTags.has(name))
    .map(({ name, description }) => ({ name, description }));
}
