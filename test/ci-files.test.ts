import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fillInInputs, readAction, readGitLabScript, readOutputs } from './ci-files.js';
import { prepareStage } from './command-stage.js';

const { folder, env, write } = prepareStage(mkdtempSync(join(tmpdir(), 'sluice-ci-')));
write('finding.schema.json', '{"type":"object","properties":{"line":{"type":"integer"}},"required":["line"]}');
// An agent that tries to add outputs, workflow commands and headings.
write(
  'malicious',
  `#!/bin/sh\nprintf '{"line": 3, "note": "a\\\\ncost<<EOF\\\\n0\\\\nEOF\\\\n::set-output name=cost::0 \`id\` $(id)"}\\n# Heading <img src=x>\\n'\n`,
  0o755,
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let runs = 0;

/** Executes a step as the runner does: inputs as variables, `bash -e -o pipefail`, files for outputs and summary. */
function runStep(id: string, inputs: Readonly<Record<string, string>>, more: Readonly<Record<string, string>> = {}) {
  const { defaults, steps } = readAction();
  const step = steps.find((one) => one.id === id);
  const givenInputs = { ...defaults, ...inputs };
  const stem = `step-${(runs += 1)}`;
  for (const name of ['output', 'summary']) write(`${stem}.${name}`, '');
  const variables = Object.entries(step?.env ?? {}).map(([name, value]) => [name, fillInInputs(value, givenInputs)]);
  const ended = spawnSync('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', step?.script ?? 'exit 99'], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...env,
      ...(Object.fromEntries(variables) as Record<string, string>),
      RUNNER_TEMP: folder,
      GITHUB_OUTPUT: join(folder, `${stem}.output`),
      GITHUB_STEP_SUMMARY: join(folder, `${stem}.summary`),
      GITHUB_SERVER_URL: 'https://github.example',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_RUN_ID: '42',
      ...more,
    },
  });
  return {
    exitCode: ended.status,
    stderr: ended.stderr,
    outputs: readOutputs(readFileSync(join(folder, `${stem}.output`), 'utf8')),
    summary: readFileSync(join(folder, `${stem}.summary`), 'utf8'),
  };
}

describe('the GitHub Action', () => {
  it('runs an agent with a schema, and sets value, cost and link', () => {
    const inputs = { engine: 'codex', prompt: 'Find the "worst" $(bug).', schema: 'finding.schema.json' };
    const { exitCode, outputs, summary } = runStep('run', inputs);
    expect(exitCode).toBe(0);
    expect(outputs).toMatchObject({
      status: 'success',
      value: '{"file":"a.ts","line":3}',
      cost: '',
      tokens: '2',
      link: 'https://github.example/acme/shop/actions/runs/42',
    });
    expect(summary).toContain('| Link | <https://github.example/acme/shop/actions/runs/42> |');

    const report = runStep('report', {}, { RUN_ID: outputs['run-id'] ?? '' });
    expect(report).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(folder, `sluice-${outputs['run-id']}.html`), 'utf8')).toContain('<!doctype html>');
  });

  it('fails with the run, and still sets its outputs', () => {
    write('other.schema.json', '{"type":"object","required":["missing"]}');
    const { exitCode, outputs, summary } = runStep('run', {
      engine: 'codex',
      prompt: 'x',
      schema: 'other.schema.json',
    });
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ status: 'failed', value: '' });
    expect(summary).toContain('The run failed');
  });

  it('neither sets outputs written by an agent nor runs its output', () => {
    const inputs = { engine: 'command', command: './malicious', schema: 'finding.schema.json' };
    const { exitCode, outputs, summary } = runStep('run', inputs);
    expect(exitCode).toBe(0);
    expect(Object.keys(outputs).toSorted()).toEqual(['cost', 'link', 'run-id', 'status', 'text', 'tokens', 'value']);
    expect(outputs['cost']).toBe('');
    expect(JSON.parse(outputs['value'] ?? '')).toMatchObject({ line: 3, note: expect.stringContaining('$(id)') });
    expect(summary).not.toMatch(/^# Heading/m);
  });

  it('treats inputs that look like options or code as text', () => {
    const inputs = { engine: 'command', command: 'printf\n%s\n--help "; exit 7; $(id)' };
    const { exitCode, outputs } = runStep('run', inputs);
    expect({ exitCode, text: outputs['text'] }).toEqual({ exitCode: 0, text: '--help "; exit 7; $(id)' });
  });

  it('reports invalid inputs', () => {
    expect(runStep('run', { engine: 'nonsense', prompt: 'x' })).toMatchObject({ exitCode: 2, outputs: {} });
  });
});

describe('the GitLab template', () => {
  const runScript = (script: string, variables: Readonly<Record<string, string>>) =>
    spawnSync('bash', ['-e', '-o', 'pipefail', '-c', script], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...env,
        SLUICE_PACKAGE: '',
        SLUICE_PERMISSIONS: 'safe',
        SLUICE_TIMEOUT: '60',
        SLUICE_ENV: '',
        ...variables,
      },
    });

  it('runs an agent with a schema, and leaves value, summary, report and variables', () => {
    const { status } = runScript(readGitLabScript('.sluice'), {
      SLUICE_ENGINE: 'codex',
      SLUICE_PROMPT: 'Find it.',
      SLUICE_SCHEMA: 'finding.schema.json',
      CI_JOB_URL: 'https://gitlab.example/jobs/1',
    });
    expect(status).toBe(0);
    expect(readFileSync(join(folder, 'sluice/value.json'), 'utf8')).toBe('{"file":"a.ts","line":3}');
    expect(readFileSync(join(folder, 'sluice/result.env'), 'utf8')).toMatch(
      /^SLUICE_STATUS=success\nSLUICE_COST=\nSLUICE_RUN=\w+\nSLUICE_VALUE_FILE=sluice\/value.json\nSLUICE_LINK=https:\/\/gitlab.example\/jobs\/1\n$/,
    );
    expect(readFileSync(join(folder, 'sluice/report.html'), 'utf8')).toContain('<!doctype html>');
  });

  it('fails when a suite case is parsed differently', () => {
    const suite = readGitLabScript('.sluice-suite');
    write('answer.txt', '{"line": 3}');
    const add = 'sluice suite add --answer answer.txt --schema finding.schema.json --name three';
    expect(runScript(add, {}).status).toBe(0);
    expect(runScript(suite, {}).status).toBe(0);
    write('sluice-suite/three/answer.txt', '{"line": 4}');
    expect(runScript(suite, {}).status).toBe(1);
    expect(readFileSync(join(folder, 'sluice-suite.xml'), 'utf8')).toContain('<failure');
  });
});
