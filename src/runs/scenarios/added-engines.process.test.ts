import { describe, expect, it } from 'vitest';
import { codex } from '../../events/contract/translate-lines.contract.js';
import { defineEngine } from '../../events/index.js';
import { replayRunFolder } from '../run-folder/index.js';
import type { RunSpec } from '../../store/records/index.js';
import { defineLauncher } from '../launchers/launcher.js';
import { startRun } from '../start-run.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const CODEX_LINES = [codex.thread('t-1'), codex.message('{"line":3}'), codex.completed()]
  .map((record) => `${JSON.stringify(record)}\n`)
  .join('');
const CONTRACT = { schema: { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] } };

function expectRefused(spec: RunSpec, site: Site, issue: string, more: object = {}): void {
  expect(() => startRun(spec, { data: site.data, ...more })).toThrow(issue);
}

describe('configured agents', () => {
  it('are read by the engine they name, with the prompt on stdin', async () => {
    const site = await makeSite([{ print: CODEX_LINES }]);
    const agents = { mine: { command: [...site.agent, '--fast'], format: 'codex' } } as const;
    const spec: RunSpec = { engine: 'mine', prompt: 'Count.', workdir: site.workdir, contract: CONTRACT };
    const { result, meta } = await runToEnd(spec, { ...site, agents });
    expect(result).toMatchObject({ status: 'success', value: { line: 3 }, session_id: 't-1' });
    expect(await meta(1)).toMatchObject({ engine: 'mine', reads: 'codex' });
    const [call] = await site.calls();
    expect(call?.args).toContain('--fast');
    expect(call?.input).toContain('Count.');
  });

  it('get prompt, model and folders if their command has placeholders for them', async () => {
    const site = await makeSite([{ print: CODEX_LINES }]);
    const command = [...site.agent, '--model={model}', '--in={workdir}', '{prompt}'];
    const agents = { mine: { command, format: 'codex' } } as const;
    const spec: RunSpec = { engine: 'mine', prompt: '--yolo', model: 'm-1', workdir: site.workdir };
    await runToEnd(spec, { ...site, agents });
    const [call] = await site.calls();
    expect(call?.args.slice(-3)).toEqual(['--model=m-1', `--in=${site.workdir}`, ' --yolo']);
    expect(call?.input).toBe('');
  });

  it('omit the argument for a model that was not requested, and reject a model they do not accept', async () => {
    const site = await makeSite([{ print: CODEX_LINES }], [{ print: CODEX_LINES }]);
    const spec: RunSpec = { engine: 'mine', prompt: 'Go.', workdir: site.workdir };
    await runToEnd(spec, {
      ...site,
      agents: { mine: { command: [...site.agent, '--model={model}'], format: 'codex' } },
    });
    expect((await site.calls())[0]?.args).not.toContain('--model=');
    const agents = { mine: { command: site.agent, format: 'codex' } } as const;
    const { result } = await runToEnd({ ...spec, model: 'm-1' }, { ...site, agents });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'PROCESS_NOT_STARTED' } });
    expect(result.error?.message).toContain('{model}');
  });

  it('are resumed with their own command', async () => {
    const ask = [codex.thread('t-1'), codex.message('Which one?'), codex.completed()];
    const site = await makeSite(
      [{ print: ask.map((record) => `${JSON.stringify(record)}\n`).join('') }],
      [{ print: CODEX_LINES.replace('{\\"line\\":3}', '{\\"line\\":3,\\"__SKILL_DONE__\\":true}') }],
    );
    const agents = {
      mine: { command: site.agent, format: 'codex', resume: [...site.agent, 'resume', '{session}'] },
    } as const;
    const spec: RunSpec = { engine: 'mine', prompt: 'Go.', mode: 'interactive', workdir: site.workdir };
    const { result } = await runToEnd(spec, { ...site, agents }, { replies: ['The first.'] });
    expect(result).toMatchObject({ status: 'success', attempts: 2 });
    const [, second] = await site.calls();
    expect(second?.args.slice(-2)).toEqual(['resume', 't-1']);
    expect(second?.input).toBe('The first.');
  });
});

describe('engine command with a format', () => {
  it('is read by that engine', async () => {
    const site = await makeSite([{ print: CODEX_LINES }]);
    const spec: RunSpec = { engine: 'command', format: 'codex', command: site.agent, workdir: site.workdir };
    const { result } = await runToEnd({ ...spec, contract: CONTRACT }, site);
    expect(result).toMatchObject({ status: 'success', value: { line: 3 }, session_id: 't-1', text: '{"line":3}' });
  });

  it('is rejected for an unknown engine, for acp and for another engine', async () => {
    const site = await makeSite();
    const spec: RunSpec = { engine: 'command', command: ['true'], workdir: site.workdir };
    expectRefused({ ...spec, format: 'hal' }, site, 'unknown engine "hal"');
    expectRefused({ ...spec, format: 'acp' }, site, 'agents.<name>.acp');
    const other: RunSpec = { engine: 'codex', prompt: 'x', format: 'claude', workdir: site.workdir };
    expectRefused(other, site, 'only engine `command` accepts "format"');
  });
});

describe('an existing session', () => {
  it('is resumed by the first attempt', async () => {
    const site = await makeSite([{ print: CODEX_LINES }]);
    const spec: RunSpec = { engine: 'codex', prompt: 'Go on.', session: 't-1', workdir: site.workdir };
    const { result, types } = await runToEnd(spec, { ...site, programs: { codex: site.agent } });
    expect(result).toMatchObject({ status: 'success', session_id: 't-1', attempts: 1 });
    expect(types.filter((type) => type === 'user.input.replied')).toEqual([]);
    const [call] = await site.calls();
    expect(call?.args).toEqual(expect.arrayContaining(['resume', 't-1']));
  });

  it('is rejected if the engine has no sessions, if the id could be a flag, and with a cache', async () => {
    const site = await makeSite();
    const plain: RunSpec = { engine: 'command', command: ['true'], session: 's-1', workdir: site.workdir };
    expectRefused(plain, site, 'command cannot resume sessions');
    const spec: RunSpec = { engine: 'codex', prompt: 'x', workdir: site.workdir };
    expectRefused({ ...spec, session: '--last' }, site, 'session');
    expectRefused({ ...spec, session: 's-1', cache: true, input_files: [] }, site, 'cannot be cached');
  });
});

describe('a library user’s engines and launchers', () => {
  const parrot = defineEngine({
    name: 'parrot',
    parser: 'parrot_lines',
    parserVersion: '1',
    framing: 'text',
    guarantees: { session: 'never', endSignal: false },
    detect: () => 0,
    readSession: () => null,
    createReader: (emit) => ({
      json: () => emit({ fact: 'noise' }),
      text: ({ text }) =>
        text.startsWith('squawk ') ? emit({ fact: 'message', text: text.slice(7) }) : emit({ fact: 'noise' }),
      end: () => undefined,
    }),
  });

  it('run, and their folder can be replayed with them', async () => {
    const site = await makeSite([{ print: 'tweet\nsquawk {"line":3}\n' }]);
    const [program, ...words] = site.agent;
    const launchers = [
      defineLauncher({
        engine: 'parrot',
        program,
        format: 'parrot',
        launch: ({ prompt }) => ({ command: [program, ...words, `--say=${prompt.slice(0, 5)}`], env: {} }),
      }),
    ];
    const spec: RunSpec = { engine: 'parrot', prompt: 'Hello', workdir: site.workdir, contract: CONTRACT };
    const { result, dir } = await runToEnd(spec, { ...site, engines: [parrot], launchers });
    expect(result).toMatchObject({ status: 'success', value: { line: 3 } });
    expect(await replayRunFolder(dir, { engines: [parrot] })).toMatchObject({ status: 'same' });
    await expect(replayRunFolder(dir)).rejects.toMatchObject({ code: 'ENGINE_NOT_NAMED' });
  });

  it('can read a plain command', async () => {
    const site = await makeSite([{ print: 'squawk {"line":3}\n' }]);
    const spec: RunSpec = { engine: 'command', format: 'parrot', command: site.agent, workdir: site.workdir };
    const { result } = await runToEnd({ ...spec, contract: CONTRACT }, { ...site, engines: [parrot] });
    expect(result).toMatchObject({ status: 'success', value: { line: 3 } });
    expectRefused(spec, site, 'unknown engine "parrot"');
  });

  it('need valid names that are not in use', () => {
    const launch = () => ({ command: ['x'] as const, env: {} });
    for (const engine of ['codex', 'command', 'No', ''])
      expect(() => defineLauncher({ engine, program: 'x', format: 'generic', launch })).toThrow(
        'Invalid launcher name',
      );
  });
});
