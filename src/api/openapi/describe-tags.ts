interface Tag {
  readonly name: string;
  readonly description: string;
}

/** What belongs together, by the first word of a path. */
const TAGS: readonly (Tag & { readonly words: readonly string[] })[] = [
  { name: 'Parsing', description: 'JSON out of a text.', words: ['parse'] },
  { name: 'Runs', description: 'Agents that are started, followed and read.', words: ['runs', 'engines'] },
  {
    name: 'Orders',
    description: 'Work on issues: submitted, executed, decided.',
    words: ['orders', 'issues', 'executions'],
  },
  { name: 'Inbox', description: 'What waits for a person.', words: ['inbox', 'waiting'] },
  { name: 'Comments', description: 'What is written on issues, and its delivery.', words: ['outbox', 'sinks'] },
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
