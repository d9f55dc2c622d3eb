interface Tag {
  readonly name: string;
  readonly description: string;
}

/** Endpoints are grouped by the first segment of their paths. */
const TAGS: readonly (Tag & { readonly words: readonly string[] })[] = [
  { name: 'Parsing', description: 'Extract JSON from text.', words: ['parse'] },
  { name: 'Runs', description: 'Start agents, follow them and read their results.', words: ['runs', 'engines'] },
  {
    name: 'Orders',
    description: 'Submit work on issues and read its decisions.',
    words: ['orders', 'issues', 'executions'],
  },
  { name: 'Inbox', description: 'Results and questions that need a person.', words: ['inbox', 'waiting'] },
  { name: 'Comments', description: 'Comments on issues, and their delivery.', words: ['outbox', 'sinks'] },
  { name: 'Session', description: 'The caller and its token.', words: ['session'] },
];

/** Everything else. */
const SERVER: Tag = { name: 'Server', description: 'Health, workers, metrics and statistics.' };

/** The tag of a path. */
export function getTag(path: string): string {
  const [, word = ''] = /^\/v1\/(\w+)/.exec(path) ?? [];
  return (TAGS.find(({ words }) => words.includes(word)) ?? SERVER).name;
}

/** All tags that these paths have, in the order of the document. */
export function listTags(paths: readonly string[]): Tag[] {
  const used = new Set(paths.map(getTag));
  return [...TAGS, SERVER].filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }));
}
