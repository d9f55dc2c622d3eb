import { describe, expect, test } from 'vitest';
import { checkRunSpec } from '../../../runs/spec/check-run-spec.js';
import { order } from '../../fixtures/order.js';
import { WORK_RESULT_SCHEMA } from '../../../store/records/work-result.js';
import { injectOrder } from './inject-order.js';
import { WRAPPER_ENGINES } from '../../wrappers/wrappers.js';

const runDir = '/data/runs/01KA3RUN';
const variables = {
  SLUICE_ISSUE_REF: 'acme/shop#12',
  SLUICE_RUN_ID: '2026-11-15-backend-0001',
  SLUICE_ROLE: 'backend',
  SLUICE_RUN_DIR: runDir,
};

describe('a worker with a command', () => {
  const script = {
    type: 'script',
    command: [
      'node',
      '{run_dir}/../x.mjs',
      '--order={work_order}',
      '{repo_dir}{role}',
      '{odd}',
      '{issue_ref}/{run_id}',
    ],
  };

  test('gets its placeholders replaced', () => {
    const { spec } = injectOrder(script, order, runDir);
    expect(spec).toEqual({
      engine: 'command',
      command: [
        'node',
        `${runDir}/../x.mjs`,
        `--order=${runDir}/work_order.json`,
        '/srv/shopbackend',
        '{odd}',
        `${order.issue_ref}/${order.run_id}`,
      ],
      workdir: '/srv/shop',
      mode: 'auto',
      env: Object.keys(variables),
    });
  });

  test('placeholders in values are not expanded again', () => {
    const odd = { ...order, repo_dir: '/srv/{run_id}' };
    expect(injectOrder({ type: 'script', command: ['x', '{repo_dir}'] }, odd, runDir).spec.command).toEqual([
      'x',
      '/srv/{run_id}',
    ]);
  });

  test('no part of the request becomes part of the command automatically', () => {
    const maliciousOrder = { ...order, instructions: '--dangerous; rm -rf /', worker: 'x' };
    expect(injectOrder({ type: 'script', command: ['worker'] }, maliciousOrder, runDir).spec.command).toEqual([
      'worker',
    ]);
  });

  test('by file: reads work_order.json in its run folder', () => {
    const { files, env } = injectOrder({ ...script, inject: 'file' }, order, runDir);
    expect(env).toEqual(variables);
    expect(files).toEqual([{ path: 'work_order.json', text: `${JSON.stringify(order, null, 2)}\n` }]);
  });

  test('by arguments: gets the path of the order, unless its command has a placeholder for it', () => {
    const command = ['worker', '-v'];
    expect(injectOrder({ type: 'script', command, inject: 'args' }, order, runDir).spec.command).toEqual([
      'worker',
      '-v',
      `${runDir}/work_order.json`,
    ]);
    expect(injectOrder({ ...script, inject: 'args' }, order, runDir).spec.command).toHaveLength(script.command.length);
    const other = injectOrder({ type: 'script', command: ['agent', '{role}'], inject: 'args' }, order, runDir);
    expect(other.spec.command?.at(-1)).toBe(`${runDir}/work_order.json`);
  });

  test('by environment: gets the order in variables', () => {
    const { env, spec, files } = injectOrder({ ...script, inject: 'env' }, order, runDir);
    expect(env).toEqual({
      ...variables,
      SLUICE_REPO_DIR: '/srv/shop',
      SLUICE_WORK_ORDER: `${runDir}/work_order.json`,
      SLUICE_INSTRUCTIONS: 'Fix the basket.',
    });
    expect(spec.env).toEqual(Object.keys(env));
    expect(files.map(({ path }) => path)).toEqual(['work_order.json']);
  });

  test('works in its worktree, if any, and gets its path', () => {
    const { spec, files, env } = injectOrder({ ...script, inject: 'env' }, order, runDir, '/data/worktrees/1');
    expect(env['SLUICE_REPO_DIR']).toBe('/data/worktrees/1');
    expect(spec.workdir).toBe('/data/worktrees/1');
    expect(spec.command?.[3]).toBe('/data/worktrees/1backend');
    expect(JSON.parse(files[0]?.text ?? '')).toEqual({ ...order, repo_dir: '/data/worktrees/1' });
  });

  test('keeps limits and variables of its wrapper', () => {
    const { spec } = injectOrder({ ...script, limits: { time_s: 60 }, env: ['CI'] }, order, runDir);
    expect(spec).toMatchObject({ limits: { time_s: 60 }, env: ['CI', ...Object.keys(variables)] });
  });

  test('cannot be started without one', () => {
    expect(() => injectOrder({ type: 'go-cli' }, order, runDir)).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        message: 'A wrapper of type "go-cli" needs a command. Add "command" to it in the setting "wrappers".',
      }),
    );
  });
});

describe('an agent', () => {
  test.each(Object.entries(WRAPPER_ENGINES).filter(([, engine]) => engine !== 'command'))(
    '%s is run by engine %s, can edit the repository, and must return a work result',
    (type, engine) => {
      const { spec } = injectOrder({ type }, order, runDir);
      expect(spec).toMatchObject({
        engine,
        workdir: '/srv/shop',
        permissions: 'workspace',
        contract: { schema: WORK_RESULT_SCHEMA, profile: 'tagged' },
      });
      expect(spec.command).toBeUndefined();
      expect(() => checkRunSpec(spec)).not.toThrow();
    },
  );

  test('gets a prompt with its order, its files and how to report', () => {
    const completeOrder = { ...order, constraints: ['No new dependencies.'], spec_snapshot: '# Basket' };
    expect(injectOrder({ type: 'codex-cli' }, completeOrder, runDir).spec.prompt).toBe(
      `Execute one work order, in the role backend, in the repository /srv/shop.

Issue: acme/shop#12
Run: 2026-11-15-backend-0001

## Instructions

Fix the basket.

## Files of the order

- ${runDir}/work_order.json
- ${runDir}/spec_snapshot.md
- ${runDir}/constraints.md

Read them before you begin, and respect the constraints, if there are any.

## Report

Your report is one JSON object, the work result. Its issue_ref is "acme/shop#12" and its run_id is "2026-11-15-backend-0001".
- status is ok if the work is done, fail if it could not be done, blocked if somebody else must do something first.
- ok and fail need the pull request or the commit you made in changes, and tests: the command you ran and its result (pass, fail or n/a), or "n/a" if there are none.
- Report only what you did: commits are looked up, and a report that claims more than was done is refused.

Write it to ${runDir}/work_result.json as your last step. Your last message ends with the same object; it counts if the file cannot be written.`,
    );
  });

  test('is instructed to leave its changes in a worktree, and to change only the allowed paths', () => {
    const prompt = (changes: object, folder?: string) =>
      injectOrder({ type: 'codex-cli' }, { ...order, ...changes }, runDir, folder).spec.prompt;
    expect(prompt({}, '/data/worktrees/1')).toContain('Leave your changes in this folder: they are committed for you');
    expect(prompt({ expects: 'report' }, '/data/worktrees/1')).toContain('Nothing needs to be committed');
    expect(prompt({ paths: ['src/**', 'docs'] })).toContain('\n- Change nothing but: src/**, docs.\n');
  });

  test('gets no instructions if the order has none', () => {
    const { spec } = injectOrder({ type: 'codex-cli' }, { ...order, instructions: '' }, runDir);
    expect(spec.prompt).toContain('Run: 2026-11-15-backend-0001\n\n## Files of the order');
  });

  test('gets model and permissions from its wrapper', () => {
    const { spec } = injectOrder({ type: 'claude-code', model: 'm', permissions: 'safe' }, order, runDir);
    expect(spec).toMatchObject({ engine: 'claude', model: 'm', permissions: 'safe' });
  });

  test('whose wrapper has a command is run as that command', () => {
    const { spec } = injectOrder({ type: 'codex-cli', command: ['my-codex', '{work_order}'] }, order, runDir);
    expect(spec).toMatchObject({ engine: 'command', command: ['my-codex', `${runDir}/work_order.json`] });
    expect(spec.contract).toBeUndefined();
  });
});

test('the context pack has one file for each part of the order that has content', () => {
  const completeOrder = {
    ...order,
    constraints: ['No new dependencies.', 'Two\nlines.'],
    spec_ref: 'docs/basket.md',
    spec_snapshot: '# Basket\n',
    contracts_ref: 'docs/api.md',
    depends_on: ['acme/shop#11'],
    links: ['https://forge.example/x'],
  };
  const { files } = injectOrder({ type: 'script', command: ['x'] }, completeOrder, runDir);
  expect(files.slice(1)).toEqual([
    { path: 'spec_snapshot.md', text: '# Basket\n' },
    { path: 'constraints.md', text: '- No new dependencies.\n- Two\n  lines.\n' },
    {
      path: 'links.md',
      text: '- Specification: docs/basket.md\n- Contracts: docs/api.md\n- Depends on: acme/shop#11\n- https://forge.example/x\n',
    },
  ]);
});
