import { PAGE_NAMES, PAGES } from './route.js';

/** A command in the palette. */
export interface Command {
  readonly label: string;
  readonly action: { readonly path: string } | { readonly run: 'theme' | 'keys' | 'sign-out' };
  readonly keys?: string;
}

interface CommandContext {
  readonly canRun: boolean;
  readonly canSignOut: boolean;
}

const PAGE_COMMANDS: readonly Command[] = PAGE_NAMES.map((name) => ({
  label: PAGES[name].label,
  action: { path: `/${name}` },
  keys: `g ${PAGES[name].key}`,
}));

const RUN_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;
const ISSUE_REF = /^\S+#\S+$/;

/** Finds the commands for the input: the run or issue it names, those whose labels have all words, and a search. */
export function findCommands(text: string, context: CommandContext): readonly Command[] {
  const input = text.trim();
  const words = input.toLowerCase().split(/\s+/);
  const matches = listCommands(context).filter(({ label }) =>
    words.every((word) => label.toLowerCase().includes(word)),
  );
  return [...findNamedPage(input), ...matches, ...(input === '' ? [] : [createSearch(input)])];
}

function listCommands({ canRun, canSignOut }: CommandContext): readonly Command[] {
  return [
    ...PAGE_COMMANDS,
    ...(canRun
      ? [
          { label: 'Start a run', action: { path: '/runs?start' } },
          { label: 'Submit an order', action: { path: '/issues?order' } },
        ]
      : []),
    { label: 'Failed runs', action: { path: '/runs?outcome=failed' } },
    { label: 'Runs in progress', action: { path: '/runs?state=running' } },
    { label: 'Runs waiting for an answer', action: { path: '/runs?state=waiting' } },
    { label: 'Issues that need a decision', action: { path: '/issues?state=needs-human' } },
    { label: 'Failed comments', action: { path: '/outbox?state=dead' } },
    { label: 'Change theme', action: { run: 'theme' } },
    { label: 'Keyboard shortcuts', action: { run: 'keys' }, keys: '?' },
    ...(canSignOut ? [{ label: 'Sign out', action: { run: 'sign-out' as const } }] : []),
  ];
}

function findNamedPage(input: string): readonly Command[] {
  if (RUN_ID.test(input)) {
    return [{ label: `Open run ${input.toUpperCase()}`, action: { path: `/runs/${input.toUpperCase()}` } }];
  }
  if (!ISSUE_REF.test(input)) return [];
  return [{ label: `Open issue ${input}`, action: { path: `/issues/${encodeURIComponent(input)}` } }];
}

function createSearch(input: string): Command {
  return { label: `Search runs for “${input}”`, action: { path: `/runs?search=${encodeURIComponent(input)}` } };
}

/** All keyboard shortcuts in the console, grouped by where they work. */
export const KEYS: readonly {
  readonly title: string;
  readonly keys: readonly (readonly [keys: string, effect: string])[];
}[] = [
  {
    title: 'Everywhere',
    keys: [
      ['Ctrl+K', 'Open the command palette'],
      ['?', 'Show keyboard shortcuts'],
      ['/', 'Go to the search field'],
      ...PAGE_COMMANDS.map(({ keys = '', label }) => [keys, `Go to ${label}`] as const),
    ],
  },
  {
    title: 'Lists',
    keys: [
      ['j k', 'Next and previous row'],
      ['Enter', 'Open the row'],
    ],
  },
  {
    title: 'Inbox',
    keys: [
      ['x', 'Select the item for a bulk action'],
      ['a e t r', 'Accept, edit and accept, retry, reject'],
    ],
  },
  {
    title: 'Run page',
    keys: [
      ['↓ ↑', 'Next and previous row in a pane'],
      ['Home End', 'First and last row'],
      ['n N', 'Next and previous error'],
      ['Esc', 'Clear the selection'],
      ['Ctrl+Enter', 'Send the answer'],
    ],
  },
];
