import { describe, expect, it } from 'vitest';
import { measureProcessor } from '../../../test/processor-time.js';
import { chooseOption, decideByRules } from './approvals.js';
import type { PermissionQuestion } from './approvals.js';
import { matchGlob } from '../../base/text.js';
import type { ApprovalRule } from '../../store/records/index.js';

const QUESTION: PermissionQuestion = {
  interaction_id: 'px_1_1',
  tool_call_id: 'c',
  tool: 'bash',
  input: {},
  options: [],
};

function decide(rules: readonly ApprovalRule[], question: Partial<PermissionQuestion>): string {
  const policy = { permissions: 'ask', rules, workdir: '/repo', runDir: '/run' } as const;
  return decideByRules({ ...QUESTION, ...question }, null, policy).decide;
}

describe('approval rules', () => {
  it('apply in order, and the user decides if no rule matches', () => {
    const rules: ApprovalRule[] = [
      { tool: 'bash', decide: 'deny' },
      { tool: '*', decide: 'allow' },
    ];
    expect(decide(rules, {})).toBe('deny');
    expect(decide(rules, { tool: 'write' })).toBe('allow');
    expect(decide([], {})).toBe('ask');
    expect(decide([{ tool: 'b*', decide: 'ask' }, ...rules], {})).toBe('ask');
  });

  it.each([
    ['npm test', 'allow'],
    ['npm test -- src', 'allow'],
    ['npm test; rm -rf .', 'ask'],
    ['npm test && rm x', 'ask'],
    ['npm test $(rm x)', 'ask'],
    ['npm test > x', 'ask'],
    ['npm test\nrm x', 'ask'],
    ['npm install', 'ask'],
  ])('that allow `npm test*` have this effect on %j: %s', (command, expected) => {
    expect(decide([{ command: 'npm test*', decide: 'allow' }], { input: { command } })).toBe(expected);
  });

  it('that deny a command also match it inside a longer command line', () => {
    expect(decide([{ command: '*rm *', decide: 'deny' }], { input: { command: ['ls;', 'rm', 'x'] } })).toBe('deny');
  });

  it.each([
    ['docs/a.md', 'allow'],
    ['/repo/docs/deep/a.md', 'allow'],
    ['docs/..a.md', 'allow'],
    ['docs/../src/a.ts', 'ask'],
    ['../docs/a.md', 'ask'],
    ['/docs/a.md', 'ask'],
  ])('that allow docs/** have this effect on %s: %s', (path, expected) => {
    expect(decide([{ path: 'docs/**', decide: 'allow' }], { locations: [{ path }] })).toBe(expected);
  });

  it('deny a file whose name starts with two dots', () => {
    expect(decide([{ path: '**', decide: 'deny' }], { locations: [{ path: '..env' }] })).toBe('deny');
  });

  it('allow only if they match every file, and deny if they match any file', () => {
    const locations = [{ path: 'docs/a.md' }, { path: 'src/a.ts' }];
    expect(decide([{ path: 'docs/**', decide: 'allow' }], { locations })).toBe('ask');
    expect(decide([{ path: 'docs/**', decide: 'deny' }], { locations })).toBe('deny');
    expect(decide([{ path: '**', decide: 'allow' }], {})).toBe('ask');
  });
});

it('glob matching takes time proportional to the pattern and the input', () => {
  expect(matchGlob('a*b*c', 'a-b-c')).toBe(true);
  expect(matchGlob('src/*.ts', 'src/deep/a.ts', { segments: true })).toBe(false);
  const match = (): void => expect(matchGlob(`${'*a'.repeat(50)}b`, 'a'.repeat(5000))).toBe(false);
  expect(measureProcessor(match)).toBeLessThan(5000);
});

it('chooseOption prefers an option that applies only once', () => {
  const always = { id: 'a', label: 'Always', kind: 'allow_always' } as const;
  const once = { id: 'o', label: 'Once', kind: 'allow_once' } as const;
  expect(chooseOption([always, once], 'allow')).toBe(once);
  expect(chooseOption([always], 'allow')).toBe(always);
  expect(chooseOption([always, once], 'deny')).toBeNull();
});
