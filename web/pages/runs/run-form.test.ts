import { expect, test } from 'vitest';
import { checkRunForm, fillRunForm, addOtherFields, EMPTY_RUN_FORM } from './run-form.js';
import type { RunForm } from './run-form.js';

const form = (changes: Partial<RunForm>): RunForm => ({
  ...EMPTY_RUN_FORM,
  engine: 'codex',
  prompt: 'Fix the test.',
  workdir: '/srv/shop',
  ...changes,
});

test('a form with only the required fields becomes a minimal request', () => {
  expect(checkRunForm(form({}))).toEqual({
    request: { engine: 'codex', prompt: 'Fix the test.', workdir: '/srv/shop' },
    errors: {},
  });
});

test('every filled field is sent', () => {
  const { request, errors } = checkRunForm(
    form({
      permissions: 'workspace',
      mode: 'interactive',
      schema: '{"type":"object"}',
      profile: 'tagged',
      allowPartial: true,
      align: true,
      timeS: '90',
      waitS: '600',
      cost: '0.5',
      maxRetries: '2',
      model: ' gpt ',
      env: 'OPENAI_API_KEY, HTTP_PROXY',
      cache: 'refresh',
      inputFiles: 'a.txt\n\n b.txt ',
    }),
  );
  expect(errors).toEqual({});
  expect(request).toEqual({
    engine: 'codex',
    prompt: 'Fix the test.',
    workdir: '/srv/shop',
    permissions: 'workspace',
    mode: 'interactive',
    contract: { schema: { type: 'object' }, profile: 'tagged', allow_partial: true, align: true },
    limits: { time_s: 90, wait_s: 600, cost: 0.5 },
    max_retries: 2,
    model: 'gpt',
    env: ['OPENAI_API_KEY', 'HTTP_PROXY'],
    cache: 'refresh',
    input_files: ['a.txt', 'b.txt'],
  });
});

test('a command is an executable and one argument per line', () => {
  const command = form({
    engine: 'command',
    prompt: '',
    program: 'node',
    parameters: '-e\n  a b\n\nlast\n',
    mode: 'interactive',
  });
  expect(checkRunForm(command)).toEqual({
    request: { engine: 'command', workdir: '/srv/shop', command: ['node', '-e', '  a b', '', 'last'] },
    errors: {},
  });
});

test('the network is limited only within a sandbox', () => {
  expect(checkRunForm(form({ network: 'none' })).request).toMatchObject({ network: 'none' });
  expect(checkRunForm(form({ network: 'hosts', hosts: 'a.example, b.example' })).request).toMatchObject({
    network: ['a.example', 'b.example'],
  });
  const off = checkRunForm(form({ sandbox: 'off', network: 'hosts' }));
  expect(off.errors).toEqual({});
  expect(off.request).toMatchObject({ sandbox: 'off' });
  expect(off.request).not.toHaveProperty('network');
});

test('caching without input files sends an empty list', () => {
  expect(checkRunForm(form({ cache: 'on' })).request).toMatchObject({ cache: true, input_files: [] });
});

test.each([
  ['engine', { engine: '' }],
  ['prompt', { prompt: ' \n' }],
  ['program', { engine: 'command', program: '' }],
  ['workdir', { workdir: 'shop' }],
  ['workdir', { workdir: '' }],
  ['timeS', { timeS: '0' }],
  ['tokens', { tokens: 'many' }],
  ['maxRetries', { maxRetries: '1.5' }],
  ['maxRetries', { maxRetries: '3', schema: '' }],
  ['schema', { schema: '{' }],
  ['schema', { schema: '[]' }],
  ['hosts', { network: 'hosts' }],
] as const)('an error in %s is shown only there: %j', (field, changes) => {
  expect(Object.keys(checkRunForm(form(changes)).errors)).toEqual([field]);
});

test('a form filled from a run builds the same request', () => {
  const spec = {
    engine: 'codex',
    prompt: 'Fix the test.',
    workdir: '/srv/shop',
    permissions: 'workspace',
    mode: 'interactive',
    contract: { schema: { type: 'object' }, profile: 'tagged', allow_partial: true, align: true },
    limits: { time_s: 60, idle_s: 5, wait_s: 9, tokens: 10, cost: 0.5, hold_s: 7, output_bytes: 1000 },
    max_retries: 2,
    model: 'gpt-5',
    env: ['CI', 'OPENAI_*'],
    cache: true,
    input_files: ['a.txt'],
    terminal: true,
    format: 'codex',
    session: 's-1',
    approvals: [{ tool: 'Bash', decide: 'deny' }],
    resume: 'same-host',
    sandbox: 'required',
    network: ['api.example.org', '*.example.net:8443'],
  } as const;
  const { form: filled, otherFields } = fillRunForm(spec);
  const { request, errors } = checkRunForm(filled);
  expect(errors).toEqual({});
  expect(addOtherFields(request, otherFields)).toEqual(spec);
});

test('permissions, model, mode and answer limit are not sent for a command', () => {
  const { form: filled } = fillRunForm({
    engine: 'command',
    command: ['make', '-j', '2'],
    workdir: '/srv',
    permissions: 'workspace',
  });
  // These fields are hidden for a command, so an error in them could not be corrected.
  expect(checkRunForm({ ...filled, model: 'x', mode: 'interactive', waitS: 'soon' })).toEqual({
    request: { engine: 'command', command: ['make', '-j', '2'], workdir: '/srv' },
    errors: {},
  });
});
