import { describe, expect, test } from 'vitest';
import { findCommands, KEYS } from './overlays.js';
import { readRoute } from './route.js';

const ALL = { canRun: true, canSignOut: true };
const labels = (text: string, context = ALL) => findCommands(text, context).map(({ label }) => label);

describe('the command palette', () => {
  test('offers all commands, and no search, before anything is typed', () => {
    expect(labels('')).toEqual(expect.arrayContaining(['Runs', 'Executions', 'Start a run', 'Sign out']));
    expect(labels('').some((label) => label.startsWith('Search'))).toBe(false);
  });

  test('finds commands by words in any order and case', () => {
    expect(labels('RUNS fail')).toEqual(['Failed runs', 'Search runs for “RUNS fail”']);
  });

  test('opens a run by its id', () => {
    expect(findCommands('01jd0000000000000000000abc', ALL)[0]).toEqual({
      label: 'Open run 01JD0000000000000000000ABC',
      action: { path: '/runs/01JD0000000000000000000ABC' },
    });
  });

  test('opens an issue by its reference', () => {
    expect(findCommands('acme/shop#12', ALL)[0]?.action).toEqual({ path: '/issues/acme%2Fshop%2312' });
  });

  test('hides commands that the session does not allow', () => {
    const visibleLabels = labels('', { canRun: false, canSignOut: false });
    expect(visibleLabels).not.toContain('Start a run');
    expect(visibleLabels).not.toContain('Sign out');
  });

  test('opens only pages that exist', () => {
    const paths = findCommands('', ALL).flatMap(({ action }) => ('path' in action ? action.path.split('?', 1) : []));
    expect(paths.filter((path) => readRoute(path).page === 'unknown')).toEqual([]);
  });
});

test('the list of keyboard shortcuts covers every page', () => {
  const effects = KEYS.flatMap(({ keys }) => keys.map(([, effect]) => effect));
  expect(effects.filter((effect) => /^Go to [A-Z]/.test(effect))).toHaveLength(14);
});
