import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { isRasp } from '../../events/index.js';
import type { FcmpEvent } from '../../events/index.js';
import type { RunSpec } from '../../store/records/index.js';
import type { RunPorts } from '../ports/run-ports.js';
import type { Run } from '../start-run.js';
import { canSandbox } from './fixtures/make-sandbox-site.js';
import { makeSite } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const AGENT = fileURLToPath(new URL('./fixtures/acp-agent.mjs', import.meta.url));
const SCHEMA = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
const WRITE = {
  toolCallId: 'c1',
  title: 'Write a.txt',
  kind: 'edit',
  rawInput: { file_path: 'a.txt' },
  content: [{ type: 'diff', path: 'a.txt', oldText: null, newText: 'x' }],
};

type Logged = Readonly<Record<string, unknown>>;

/** Runs an agent that plays one list of steps per prompt. */
async function converse(
  prompts: readonly (readonly object[])[],
  more: {
    readonly spec?: Partial<RunSpec>;
    readonly agent?: object;
    readonly ports?: Partial<RunPorts>;
    readonly replies?: readonly string[];
    readonly onEvent?: (event: FcmpEvent, run: Run) => void;
    readonly prepare?: (site: { readonly root: string; readonly workdir: string }) => Promise<void>;
  } = {},
) {
  const site = await makeSite();
  const script = join(site.root, 'acp.json');
  await writeFile(script, JSON.stringify({ prompts }));
  await more.prepare?.(site);
  const ended = await runToEnd(
    { engine: 'fake', prompt: 'Do it.', workdir: site.workdir, ...more.spec },
    {
      data: site.data,
      // The agent logs its calls next to its script.
      sandbox: { write: [site.root] },
      agents: {
        fake: { acp: [process.execPath, AGENT, script, JSON.stringify(more.agent ?? {})], authenticate: 'key' },
      },
      ...more.ports,
    },
    {
      ...(more.replies === undefined ? {} : { replies: more.replies }),
      ...(more.onEvent === undefined ? {} : { onEvent: more.onEvent }),
    },
  );
  const log = (await readFile(`${script}.calls`, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  const calls = log.map((line) => JSON.parse(line) as Logged);
  const data = <Type extends FcmpEvent['type']>(type: Type) =>
    ended.fcmp.flatMap((event) =>
      event.type === type ? [event.data as Extract<FcmpEvent, { type: Type }>['data']] : [],
    );
  return { ...ended, calls, data, site };
}

/** Asserts that the session id is reported once, before the messages, and that each turn's message has it. */
function expectSessionFirst(fcmp: readonly FcmpEvent[], session: string | null): void {
  const said = fcmp.filter(({ type }) => type === 'conversation.started' || type === 'assistant.message.final');
  const started = expect.objectContaining({ type: 'conversation.started', data: { session_id: session } });
  const message = expect.objectContaining({
    type: 'assistant.message.final',
    correlation: expect.objectContaining({ session_id: session }),
  });
  expect(said).toEqual(said.map((_, index) => (index === 0 ? started : message)));
}

/** The responses to the agent's requests. */
const answers = (calls: readonly Logged[]) => calls.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
const countProcesses = (calls: readonly Logged[]) => new Set(calls.flatMap(({ pid }) => pid ?? [])).size;
const reply =
  (optionId: string, more: object = {}) =>
  (event: FcmpEvent, run: Run) => {
    if (event.type !== 'permission.required') return;
    void run.reply({ interaction_id: event.data.interaction_id, option_id: optionId, ...more });
  };

describe('an ACP agent', () => {
  it('is prompted although it rejects the login, because it might already be logged in', async () => {
    const { result, fcmp } = await converse([[{ say: 'Done.' }]], { agent: { refuse: 'authenticate' } });
    expect(result).toMatchObject({ status: 'success', text: 'Done.' });
    const codes = fcmp.flatMap((event) => (event.type === 'diagnostic.warning' ? [event.data.code] : []));
    expect(codes).toContain('ENGINE_AUTH_HINT');
  });

  it('is started, authenticated and prompted, and both directions are captured in order', async () => {
    const { result, types, file, meta, calls, events } = await converse([
      [{ think: 'hm' }, { say: 'All ' }, { say: 'done.' }],
    ]);
    expect(result).toMatchObject({
      status: 'success',
      text: 'All done.',
      usage: { input_tokens: 10, output_tokens: 2 },
    });
    expect(types).toContain('assistant.reasoning');
    expect(calls.map(({ method, prompt }) => method ?? prompt)).toEqual([
      'initialize',
      'authenticate',
      'session/new',
      'Do it.',
    ]);
    expect(
      (await file('stdin.1.log'))
        .split('\n')
        .map((line) => (line === '' ? '' : (JSON.parse(line) as Logged)['method'])),
    ).toEqual(['initialize', 'authenticate', 'session/new', 'session/prompt', '']);
    expect(await meta(1)).toMatchObject({ engine: 'fake', reads: 'acp' });
    const promptEvent = events.find(({ protocol, event }) => protocol === 'rasp' && event.raw_ref?.stream === 'stdin');
    expect(promptEvent?.event).toMatchObject({ data: { status: 'session/prompt' } });
  });

  it('passes the contract, after a retry in the same session and the same process', async () => {
    const { result, calls } = await converse([[{ say: 'none' }], [{ say: '{"n":1}' }]], {
      spec: { contract: { schema: SCHEMA }, max_retries: 1 },
    });
    expect(result).toMatchObject({ status: 'success', value: { n: 1 }, attempts: 2 });
    expect(calls.filter(({ session }) => session === 's-1')).toHaveLength(2);
    expect(countProcesses(calls)).toBe(1);
  });

  it('keeps running between question and reply', async () => {
    const { result, calls, file, meta, fcmp } = await converse(
      [[{ say: 'Which?' }], [{ say: 'And now?' }], [{ say: '{"__SKILL_DONE__": true}' }]],
      { spec: { mode: 'interactive' }, replies: ['The first.', 'That is all.'] },
    );
    expect(result).toMatchObject({ status: 'success', attempts: 3 });
    expect(countProcesses(calls)).toBe(1);
    expect(calls.map(({ prompt }) => prompt).slice(-1)).toEqual(['That is all.']);
    expect(JSON.parse(await file('stdin.2.log'))).toMatchObject({
      method: 'session/prompt',
      params: { prompt: [{ text: 'The first.' }] },
    });
    expect(await meta(2)).toMatchObject({ session_id: 's-1', reply: 'The first.', exit_code: null, signal: null });
    expectSessionFirst(fcmp, result.session_id);
  });

  it.each([
    ['session/load', { load: true, resume: false }],
    ['session/resume', {}],
  ])('that has been stopped meanwhile is resumed with the reply, by %s', async (method, agent) => {
    const { result, calls } = await converse([[{ say: 'Which?' }], [{ say: '{"__SKILL_DONE__": true}' }]], {
      spec: { mode: 'interactive', limits: { hold_s: 0.05 } },
      agent,
      onEvent: (event, run) => {
        if (event.type === 'user.input.required') setTimeout(() => void run.reply('The first.'), 500);
      },
    });
    expect(result).toMatchObject({ status: 'success', attempts: 2 });
    expect(countProcesses(calls)).toBe(2);
    expect(calls.map((call) => call['method'])).toContain(method);
    expect(calls.at(-1)).toMatchObject({ prompt: 'The first.' });
  });

  it('that cannot be resumed keeps running as long as its question is open', async () => {
    const { result, calls } = await converse([[{ say: 'Which?' }], [{ say: '{"__SKILL_DONE__": true}' }]], {
      spec: { mode: 'interactive', limits: { hold_s: 0.05 } },
      agent: { resume: false },
      onEvent: (event, run) => {
        if (event.type === 'user.input.required') setTimeout(() => void run.reply('The first.'), 500);
      },
    });
    expect(result).toMatchObject({ status: 'success', attempts: 2 });
    expect(countProcesses(calls)).toBe(1);
  });

  it('that exits while it waits and cannot be resumed ends the run with SESSION_LOST, keeping its last output', async () => {
    const { result, file } = await converse([[{ say: 'Which?' }, { later: 'bye', dies: 0 }]], {
      spec: { mode: 'interactive' },
      agent: { resume: false },
      onEvent: (event, run) => {
        if (event.type === 'user.input.required') setTimeout(() => void run.reply('The first.'), 1500);
      },
    });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'SESSION_LOST' } });
    expect(`${await file('stdout.1.log')}${await file('stdout.2.log')}`).toContain('bye');
  });

  it('that is waiting is stopped when the run is canceled or no answer arrives in time', async () => {
    const ask = [[{ say: 'Which?' }]];
    const canceled = await converse(ask, {
      spec: { mode: 'interactive' },
      agent: { stays: true },
      onEvent: (event, run) => {
        if (event.type === 'user.input.required') void run.cancel();
      },
    });
    expect(canceled.result.status).toBe('canceled');
    const silent = await converse(ask, {
      spec: { mode: 'interactive', limits: { wait_s: 0.2 } },
      agent: { resume: false },
    });
    expect(silent.result).toMatchObject({ status: 'failed', error: { code: 'RUN_TIMED_OUT' } });
  });

  it('is notified when the run is canceled', async () => {
    const { result, calls } = await converse([[{ say: 'Working' }, { ask: WRITE }]], {
      spec: { permissions: 'ask' },
      onEvent: (event, run) => {
        if (event.type === 'permission.required') void run.cancel();
      },
    });
    expect(result).toMatchObject({ status: 'canceled' });
    expect(calls.map(({ method }) => method)).toContain('session/cancel');
  });

  it('that ignores the cancellation is terminated', async () => {
    const { result } = await converse([[{ say: 'Working' }, { hang: true }]], {
      agent: { ignoresCancel: true, stays: true },
      onEvent: (event, run) => {
        if (event.type === 'assistant.message.delta') void run.cancel();
      },
    });
    expect(result).toMatchObject({ status: 'canceled' });
  });

  it('that does not exit on its own after its turn is terminated, without affecting the result', async () => {
    const { result } = await converse([[{ say: 'ok' }]], { agent: { stays: true } });
    expect(result).toMatchObject({ status: 'success', text: 'ok', warnings: [{ code: 'DONE_MARKER_MISSING' }] });
  });

  it('gets the requested model, and a mode in which it requests permissions', async () => {
    const modes = { currentModeId: 'auto', availableModes: [{ id: 'auto' }, { id: 'default' }] };
    const { calls } = await converse([[{ say: 'ok' }]], { spec: { model: 'm1' }, agent: { modes } });
    expect(calls).toContainEqual({ method: 'session/set_mode', params: { sessionId: 's-1', modeId: 'default' } });
    expect(calls).toContainEqual({ method: 'session/set_model', params: { sessionId: 's-1', modelId: 'm1' } });
  });

  it('has its secrets masked in both directions', async () => {
    const { file, result } = await converse([[{ say: 'The key is sesame-1234-open.' }]], {
      spec: { prompt: 'Use sesame-1234-open.', env: ['SOME_API_KEY'] },
      ports: { environment: { ...process.env, SOME_API_KEY: 'sesame-1234-open' } },
    });
    expect(result.text).not.toContain('sesame-1234-open');
    expect(`${await file('stdin.1.log')}${await file('stdout.1.log')}`).not.toContain('sesame-1234-open');
  });
});

describe('inputs besides the prompt', () => {
  const image = { kind: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const;

  it('are sent only with the first prompt of a session', async () => {
    const { result, calls } = await converse([[{ say: 'none' }], [{ say: '{"n":1}' }]], {
      agent: { capabilities: { promptCapabilities: { image: true } } },
      spec: { contract: { schema: { type: 'object', required: ['n'] } }, max_retries: 1 },
      ports: { inputs: { attachments: [image] } },
    });
    expect(result).toMatchObject({ status: 'success', attempts: 2 });
    expect(calls.flatMap((call) => ('attached' in call ? [call['attached']] : []))).toEqual([
      [{ type: 'image', data: image.data, mimeType: image.mimeType }],
    ]);
  });

  it('end the run with a code if the agent does not accept them', async () => {
    const { result, calls } = await converse([[{ say: 'ok' }]], { ports: { inputs: { attachments: [image] } } });
    const message = expect.stringContaining('does not accept images');
    expect(result).toMatchObject({ status: 'failed', error: { code: 'PROCESS_NOT_STARTED', message } });
    expect(calls.some((call) => 'prompt' in call)).toBe(false);
  });
});

describe('permissions: ask', () => {
  it('asks the user, who allows', async () => {
    const waits: string[] = [];
    const { result, data, calls } = await converse([[{ ask: WRITE }, { say: 'ok' }]], {
      spec: { permissions: 'ask' },
      ports: { onQuestion: async () => void waits.push('waiting') },
      onEvent: (event, run) => {
        if (event.type === 'permission.required') waits.push('published');
        reply('yes', { who: 'ann', why: 'looks right' })(event, run);
      },
    });
    expect(waits).toEqual(['waiting', 'published']);
    expect(result.status).toBe('success');
    expect(data('permission.required')).toMatchObject([
      { interaction_id: 'px_1_1', tool: 'edit', diff: [{ path: 'a.txt' }] },
    ]);
    expect(data('permission.replied')).toEqual([
      { interaction_id: 'px_1_1', decision: 'allow', option_id: 'yes', by: 'person', who: 'ann', why: 'looks right' },
    ]);
    expect(answers(calls)).toMatchObject([{ result: { outcome: { outcome: 'selected', optionId: 'yes' } } }]);
  });

  it('lets rules decide first', async () => {
    const { data } = await converse(
      [[{ ask: WRITE }, { ask: { ...WRITE, toolCallId: 'c2', rawInput: { file_path: 'b.txt' }, content: [] } }]],
      {
        spec: {
          permissions: 'ask',
          approvals: [
            { path: 'a.txt', decide: 'allow', why: 'a is free' },
            { tool: '*', decide: 'deny' },
          ],
        },
      },
    );
    expect(data('permission.replied')).toMatchObject([
      { decision: 'allow', by: 'rule', why: 'a is free', option_id: 'yes' },
      { decision: 'deny', by: 'rule', option_id: 'no' },
    ]);
  });

  it('denies when no answer arrives in time, and the run continues', async () => {
    const { result, data } = await converse([[{ ask: WRITE }, { say: 'without it' }]], {
      spec: { permissions: 'ask', limits: { wait_s: 0.2 } },
    });
    expect(result).toMatchObject({ status: 'success', text: 'without it' });
    expect(data('permission.replied')).toMatchObject([
      { decision: 'deny', by: 'rule', why: expect.stringContaining('wait_s') },
    ]);
  });

  it('stops a process that waits too long, and resumes its session with the answer', async () => {
    const { result, data, calls, types } = await converse([[{ ask: WRITE }], [{ ask: WRITE }, { say: 'ok' }]], {
      spec: { permissions: 'ask', limits: { hold_s: 0.2 } },
      onEvent: (event, run) => {
        if (event.type !== 'diagnostic.warning' || event.data.code !== 'PERMISSION_PENDING') return;
        void run.reply({ interaction_id: 'px_1_1', option_id: 'yes', who: 'ann' });
      },
    });
    expect(result).toMatchObject({ status: 'success', text: 'ok', attempts: 2 });
    expect(types.filter((type) => type === 'permission.required')).toHaveLength(2);
    const answer = { decision: 'allow', option_id: 'yes', by: 'person', who: 'ann' };
    expect(data('permission.replied')).toEqual([
      { interaction_id: 'px_1_1', ...answer },
      { interaction_id: 'px_2_1', ...answer },
    ]);
    expect(new Set(calls.flatMap(({ pid }) => pid ?? [])).size).toBe(2);
  });

  it('resumes the session with an answer that arrives while the process is being stopped', async () => {
    const { result, data } = await converse([[{ ask: WRITE }], [{ ask: WRITE }, { say: 'ok' }]], {
      spec: { permissions: 'ask', limits: { hold_s: 0.2 } },
      agent: { lingers: 1000 },
      onEvent: (event, run) => {
        if (event.type !== 'assistant.tool_call' || event.data.tool_call_id !== 'cleanup') return;
        void run.reply({ interaction_id: 'px_1_1', option_id: 'yes', who: 'ann' });
      },
    });
    expect(result).toMatchObject({ status: 'success', text: 'ok', attempts: 2 });
    expect(data('permission.replied')).toMatchObject([
      { interaction_id: 'px_1_1', decision: 'allow', who: 'ann' },
      { interaction_id: 'px_2_1', decision: 'allow', who: 'ann' },
    ]);
  });

  it('waits for answers to all requests of an exited process, in any order', async () => {
    const asks = [WRITE, { ...WRITE, toolCallId: 'c2', rawInput: { file_path: 'b.txt' }, content: [] }];
    const onQuestion = vi.fn<() => Promise<void>>(async () => undefined);
    const { result, data } = await converse([[{ asks }], [{ asks }, { say: 'ok' }]], {
      spec: { permissions: 'ask', limits: { hold_s: 0.2, wait_s: 20 } },
      ports: { onQuestion },
      onEvent: (event, run) => {
        if (event.type !== 'diagnostic.warning' || event.data.code !== 'PERMISSION_PENDING') return;
        void (async () => {
          await run.reply({ interaction_id: 'px_1_2', option_id: 'no' });
          // The run is marked as waiting again, so a store accepts the other answer.
          await vi.waitFor(() => expect(onQuestion).toHaveBeenCalledTimes(3), { timeout: 10_000 });
          await run.reply({ interaction_id: 'px_1_1', option_id: 'yes' });
        })();
      },
    });
    expect(result).toMatchObject({ status: 'success', text: 'ok', attempts: 2 });
    expect(data('permission.replied')).toMatchObject([
      { interaction_id: 'px_1_2', decision: 'deny', by: 'person' },
      { interaction_id: 'px_1_1', decision: 'allow', by: 'person' },
      { interaction_id: 'px_2_1', decision: 'allow', by: 'person' },
      { interaction_id: 'px_2_2', decision: 'deny', by: 'person' },
    ]);
  });

  it('does not count the wait as working or idle time', async () => {
    const { result } = await converse([[{ ask: WRITE }, { say: 'ok' }]], {
      spec: { permissions: 'ask', limits: { idle_s: 3, time_s: 3 } },
      onEvent: (event, run) => {
        if (event.type === 'permission.required') setTimeout(() => reply('no')(event, run), 3500);
      },
    });
    expect(result.status).toBe('success');
  }, 20_000);

  it('rejects an answer without a request, and an answer that is not an option', async () => {
    const refused: unknown[] = [];
    await converse([[{ ask: WRITE }]], {
      spec: { permissions: 'ask' },
      onEvent: (event, run) => {
        if (event.type !== 'permission.required') return;
        void (async () => {
          for (const [interaction_id, option_id] of [
            ['px_9_9', 'yes'],
            ['px_1_1', 'perhaps'],
            ['px_1_1', 'no'],
            ['px_1_1', 'yes'],
          ] as const)
            refused.push(
              await run.reply({ interaction_id, option_id }).then(
                () => 'taken',
                (error: { code?: string }) => error.code,
              ),
            );
        })();
      },
    });
    expect(refused).toEqual(['REPLY_NOT_EXPECTED', 'INVALID_REPLY', 'taken', 'REPLY_NOT_EXPECTED']);
  });

  it('is rejected for an engine that cannot request permissions', async () => {
    await expect(converse([], { spec: { engine: 'gemini', permissions: 'ask' } })).rejects.toMatchObject({
      code: 'INVALID_RUN_SPEC',
    });
  });
});

describe('other permissions decide without a user', () => {
  it.each([
    ['safe', 'deny'],
    ['workspace', 'allow'],
    ['bypass', 'allow'],
  ] as const)('%s: the decision on an edit in the folder is "%s"', async (permissions, decision) => {
    const { data } = await converse([[{ ask: WRITE }]], { spec: { permissions } });
    expect(data('permission.replied')).toMatchObject([{ decision, by: 'rule', why: `permissions: ${permissions}` }]);
  });

  it.each([
    [{ ...WRITE, content: [], rawInput: { file_path: '../out.txt' } }],
    [{ toolCallId: 'c1', title: 'rm', kind: 'execute', rawInput: { command: 'rm x' } }],
  ])('workspace denies %j', async (call) => {
    const { data } = await converse([[{ ask: call }]], { spec: { permissions: 'workspace' } });
    expect(data('permission.replied')).toMatchObject([{ decision: 'deny' }]);
  });
});

describe('files that an agent requests from its client', () => {
  const call = (method: string, params: object) => ({ call: { method, params } });

  it('are read and written only inside the working folder, even through links', async () => {
    const { calls, site } = await converse(
      [
        [
          call('fs/read_text_file', { path: 'in.txt' }),
          call('fs/read_text_file', { path: 'in.txt', line: 2, limit: 1 }),
          call('fs/write_text_file', { path: 'new.txt', content: 'made' }),
          call('fs/read_text_file', { path: '../secret.txt' }),
          call('fs/read_text_file', { path: 'link.txt' }),
          call('fs/read_text_file', { path: 'folder/secret.txt' }),
          call('fs/write_text_file', { path: 'link.txt', content: 'bad' }),
          call('fs/write_text_file', { path: 'folder/secret.txt', content: 'bad' }),
          call('terminal/create', { command: 'ls' }),
        ],
      ],
      {
        spec: { permissions: 'workspace' },
        prepare: async ({ root, workdir }) => {
          await writeFile(join(workdir, 'in.txt'), 'one\ntwo\nthree');
          await writeFile(join(root, 'secret.txt'), 'secret');
          await symlink(join(root, 'secret.txt'), join(workdir, 'link.txt'));
          await symlink(root, join(workdir, 'folder'));
        },
      },
    );
    expect(answers(calls)).toMatchObject([
      { result: { content: 'one\ntwo\nthree' } },
      { result: { content: 'two' } },
      { result: {} },
      { error: { message: expect.stringContaining('outside the working folder') } },
      { error: { message: expect.stringContaining('it is a link') } },
      { error: { message: expect.stringContaining('outside the working folder') } },
      { error: { message: expect.stringContaining('it is a link') } },
      { error: { message: expect.stringContaining('outside the working folder') } },
      { error: { code: -32_601 } },
    ]);
    expect(await readFile(join(site.workdir, 'new.txt'), 'utf8')).toBe('made');
    expect(await readFile(join(site.root, 'secret.txt'), 'utf8')).toBe('secret');
  });

  it.runIf(canSandbox)('are neither read nor written for an agent in a sandbox', async () => {
    const { calls, site } = await converse(
      [
        [
          call('fs/read_text_file', { path: '.git/config' }),
          call('fs/write_text_file', { path: '.git/hooks/post-checkout', content: 'bad' }),
        ],
      ],
      {
        spec: { permissions: 'bypass', sandbox: 'required' },
        prepare: async ({ workdir }) => {
          await mkdir(join(workdir, '.git', 'hooks'), { recursive: true });
          await writeFile(join(workdir, '.git', 'config'), '');
        },
      },
    );
    const refused = { error: { message: expect.stringContaining('runs in a sandbox') } };
    expect(answers(calls)).toMatchObject([refused, refused]);
    expect(existsSync(join(site.workdir, '.git', 'hooks', 'post-checkout'))).toBe(false);
  });

  it('are written only if that was allowed', async () => {
    const write = call('fs/write_text_file', { path: 'a.txt', content: 'x' });
    const { calls } = await converse([[write, { ask: WRITE }, write]], {
      spec: { permissions: 'ask', approvals: [{ decide: 'allow' }] },
    });
    expect(answers(calls)).toMatchObject([{ error: {} }, { result: { outcome: { optionId: 'yes' } } }, { result: {} }]);
  });
});

describe('an agent that misbehaves ends with a code, and its bytes are kept', () => {
  it.each([
    ['prints garbage instead of messages', {}, { garbage: 5000 }, 'PROTOCOL_BROKEN', /not in the protocol's format/u],
    ['answers twice', {}, { twice: 'initialize' }, 'PROTOCOL_BROKEN', /not an open request/u],
    ['uses another version', {}, { version: 7 }, 'PROTOCOL_BROKEN', /version 7/u],
    ['refuses to start', {}, { refuse: 'session/new' }, 'ENGINE_AUTH_FAILED', /Authentication required/u],
    ['never answers', { limits: { idle_s: 0.5 } }, { mute: 'session/new', stays: true }, 'RUN_TIMED_OUT', /idle_s/u],
  ] as const)('%s', async (_, spec, agent, code, message) => {
    const { result, file } = await converse([[{ say: 'ok' }]], { spec, agent });
    expect(result).toMatchObject({ status: 'failed', error: { code, message: expect.stringMatching(message) } });
    expect(await file('stdin.1.log')).toContain('initialize');
  });

  it.each([
    [
      'uses a request id twice',
      [{ asks: [WRITE, { ...WRITE, toolCallId: 'c2' }], id: 'x' }],
      {},
      'PROTOCOL_BROKEN',
      /twice/u,
    ],
    [
      'floods',
      [{ flood: 10_000, line: 'x' }],
      { limits: { output_bytes: 100_000 } },
      'RUN_LIMIT_EXCEEDED',
      /output_bytes/u,
    ],
    ['dies', [{ exit: 3 }], {}, 'PROCESS_EXIT_NON_ZERO', /exited with code 3/u],
    ['stops for another reason', [{ end: 'max_tokens' }], {}, 'ENGINE_RUNTIME_ERROR', /max_tokens/u],
    [
      'answers with an error',
      [{ error: { code: 1, message: 'quota exceeded' } }],
      {},
      'ENGINE_RUNTIME_ERROR',
      /quota exceeded/u,
    ],
  ] as const)('%s', async (_, steps, spec, code, message) => {
    const { result, file } = await converse([steps], { spec: { ...spec, permissions: 'ask' } });
    expect(result).toMatchObject({ status: 'failed', error: { code, message: expect.stringMatching(message) } });
    expect(await file('stdout.1.log')).toContain('s-1');
  });

  it('exits while a question is open', async () => {
    const refused: unknown[] = [];
    const { result, data } = await converse([[{ ask: WRITE, dies: 4 }]], {
      spec: { permissions: 'ask' },
      onEvent: (event, run) => {
        if (event.type !== 'conversation.failed') return;
        void run
          .reply({ interaction_id: 'px_1_1', option_id: 'yes' })
          .catch((error: { code?: string }) => refused.push(error.code));
      },
    });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'PROCESS_EXIT_NON_ZERO' } });
    expect(refused).toEqual(['REPLY_NOT_EXPECTED']);
    expect(data('permission.replied')).toEqual([]);
  });
});

it('the usage of a conversation is in RASP events', async () => {
  const { events } = await converse([[{ say: 'ok' }]]);
  const modesUsed = events.flatMap(({ protocol, event }) =>
    protocol === 'rasp' && isRasp(event, 'lifecycle.run.status') && event.data.usage !== undefined
      ? [event.data.usage]
      : [],
  );
  expect(modesUsed).toEqual([{ scope: 'turn', input_tokens: 10, output_tokens: 2 }]);
});
