import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { command, fileChange, reasoning, session } from './codex-lines.js';
import type { Site } from './start-site.js';

const REPORT_SCHEMA = {
  type: 'object',
  properties: {
    summary: { type: 'string' },
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: { file: { type: 'string' }, line: { type: 'integer' }, message: { type: 'string' } },
        required: ['file', 'message'],
      },
    },
  },
  required: ['summary', 'findings'],
};

/** A result whose JSON needs repair: a comment, single quotes, a trailing comma. */
const REPORT = `Here is what I found:

\`\`\`json
{
  // one finding
  "summary": 'The list forgets its order when the page is turned.',
  "findings": [{ "file": "src/list.ts", "line": 41, "message": "sorts a copy", }],
}
\`\`\``;

const REVIEW = [
  "I'll look at how the list is sorted first.",
  '',
  '1. `src/list.ts` sorts **a copy** and throws it away',
  '2. the test only looks at the *first* page',
  '',
  '```ts',
  'const sorted = items.toSorted(byName);',
  '```',
  '',
  'See [the issue](https://example.org/issues/7).',
].join('\n');

/** Creates data for every page: runs in every state, an inbox, issues, deliveries, executions. */
export async function seedConsole(site: Site, { paceMs = 0 } = {}) {
  const reviewed = await site.runToEnd({
    paceMs,
    prompt: 'Review how the list is sorted.',
    writes: { 'notes/review.md': '# Review\n\n<script>never</script>\n\nThe list sorts a copy.\n' },
    contract: { schema: REPORT_SCHEMA },
    prints: session(
      codex.message(REVIEW, 'item_0'),
      reasoning('item_1', 'The copy is sorted, the list is not. The test would not notice.'),
      ...command('item_2', 'npm test', '\u001B[32m✓\u001B[39m 214 passed\n'),
      ...command('item_3', 'cat src/missing.ts', 'cat: src/missing.ts: No such file or directory\n', 1),
      ...fileChange('item_4', 'notes/review.md'),
      codex.message(REPORT, 'item_5'),
    ),
  });
  const [failed, asking] = await Promise.all([
    site.runToEnd({
      prompt: 'Count the findings.',
      contract: { schema: REPORT_SCHEMA },
      prints: session(codex.message('I could not find any.')),
    }),
    site.startRun({
      prompt: 'Paint the shed.',
      mode: 'interactive',
      prints: session(codex.message('Which colour shall it be: *green* or *blue*?')),
      printsAfterReply: session(codex.message('Blue it is.\n{"__SKILL_DONE__": true}', 'item_1')),
    }),
  ]);
  const live = await site.startRun({
    prompt: 'Watch the build.',
    prints: [codex.thread(), codex.turn, codex.message('The build has begun.')],
    isLive: true,
  });
  await site.waitForRun(asking.id, 'waiting');
  await site.waitForRun(live.id, 'running');
  await site.runOrder('acme/shop#7', { result: {}, print: 'done' });
  await site.runOrder('acme/shop#8', { result: { status: 'blocked', blocked_by: 'acme/shop#7' } });
  const broken = await site.runOrder('acme/shop#9', {
    print: 'All done, trust me.',
    complain: 'warning: the cache is cold',
    raw: `{ 'issue_ref': 'acme/shop#9', 'run_id': 'RUN_ID', 'status': 'ok', 'changes': { 'pr': 'https://example.org/pull/9' },
  'tests': { 'command': 'npm test', 'result': 'pass', 'evidence': '214 passed' }, 'summary': 'Keeps the order of the list.', }`,
  });
  await site.runOrder('acme/shop#10', { print: 'Status: ok\nTrust me.' });
  const { items } = await site.client.listInbox({ query: { issue_ref: broken.issue_ref } });
  const [item] = items;
  return { reviewed: reviewed.id, failed: failed.id, asking: asking.id, live, item: item?.id ?? '' };
}

/** The data that {@link seedConsole} creates. */
export type Seeds = Awaited<ReturnType<typeof seedConsole>>;
