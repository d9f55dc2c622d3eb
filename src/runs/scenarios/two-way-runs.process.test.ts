import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { FcmpEvent } from '../../events/index.js';
import type { RunSpec } from '../../store/records/index.js';
import { LAUNCHERS } from '../launchers/launchers.js';
import type { RunPorts } from '../ports/run-ports.js';
import type { Run } from '../start-run.js';
import { makeSite, START_AGENT } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const AGENT = fileURLToPath(new URL('./fixtures/two-way-agent.mjs', import.meta.url));
const SCHEMA = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
const ENGINES = ['claude', 'qwen', 'codex'] as const;
const DONE = { say: '{"__SKILL_DONE__": true}' };

type EngineUnderTest = (typeof ENGINES)[number];
type Logged = Readonly<Record<string, unknown>>;

/** A tool call that every agent requests permission for. */
const WRITE = { tool: 'Write', input: { file_path: 'a.txt', content: 'x', command: 'npm test' } };

/** Runs an agent that plays one list of steps per turn. */
async function converse(
  engine: EngineUnderTest,
  turns: readonly (readonly object[])[],
  more: {
    readonly spec?: Partial<RunSpec>;
    readonly agent?: object;
    readonly ports?: Partial<RunPorts>;
    readonly version?: string;
    readonly replies?: readonly string[];
    readonly onEvent?: (event: FcmpEvent, run: Run) => void;
  } = {},
) {
  const site = await makeSite();
  const script = join(site.root, 'agent.json');
  const [, tested = ''] = /^>=(\S+)/u.exec(LAUNCHERS[engine].testedVersions) ?? [];
  await writeFile(script, JSON.stringify({ version: more.version ?? tested, options: more.agent, turns }));
  const { replies, onEvent } = more;
  const ended = await runToEnd(
    { engine, prompt: 'Do it.', workdir: site.workdir, ...more.spec },
    { data: site.data, programs: { [engine]: [...START_AGENT, AGENT, script] }, ...more.ports },
    { ...(replies === undefined ? {} : { replies }), ...(onEvent === undefined ? {} : { onEvent }) },
  );
  const lines = (await readFile(`${script}.calls`, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  const calls = lines.map((line) => JSON.parse(line) as Logged);
  const data = <Type extends FcmpEvent['type']>(type: Type) =>
    ended.fcmp.flatMap((event) =>
      event.type === type ? [event.data as Extract<FcmpEvent, { type: Type }>['data']] : [],
    );
  return { ...ended, calls, data, site };
}

const select = (calls: readonly Logged[], key: string) => calls.flatMap((call) => (key in call ? [call[key]] : []));
const countProcesses = (calls: readonly Logged[]) => new Set(select(calls, 'pid')).size;

/** Answers every permission request with an option of the given kind. */
const reply =
  (kind: 'allow_once' | 'reject_once', more: object = {}) =>
  (event: FcmpEvent, run: Run) => {
    if (event.type !== 'permission.required') return;
    const { interaction_id, options } = event.data;
    void run.reply({ interaction_id, option_id: options.find((one) => one.kind === kind)?.id ?? '', ...more });
  };

describe.each(ENGINES)('%s', (engine) => {
  describe('permissions: ask', () => {
    it('asks the user, who allows; both directions are captured', async () => {
      const { result, data, calls, file } = await converse(engine, [[{ ask: WRITE }, { say: 'ok' }]], {
        spec: { permissions: 'ask' },
        onEvent: reply('allow_once', { who: 'ann', why: 'looks right' }),
      });
      expect(result).toMatchObject({ status: 'success', text: 'ok', attempts: 1 });
      const [question] = data('permission.required');
      expect(question).toMatchObject({
        interaction_id: 'px_1_1',
        ...(engine === 'codex'
          ? { tool: 'command_execution', input: { command: 'npm test' } }
          : { tool: 'Write', diff: [{ path: 'a.txt', new_text: 'x' }] }),
      });
      expect(data('permission.replied')).toMatchObject([
        { interaction_id: 'px_1_1', decision: 'allow', by: 'person', who: 'ann', why: 'looks right' },
      ]);
      const [answer] = select(calls, 'answer');
      expect(answer).toMatchObject(
        engine === 'codex' ? { decision: 'accept' } : { behavior: 'allow', updatedInput: WRITE.input },
      );
      expect(await file('stdin.1.log')).toContain('looks right');
      expect(await file('timing.1.jsonl')).toContain('"stream":"stdin"');
      const statuses = data('assistant.tool_call').map(({ status }) => status);
      expect(statuses).toEqual(['started', 'completed']);
    });

    it('asks the user, who denies, and the agent continues', async () => {
      const { result, data, calls } = await converse(engine, [[{ ask: WRITE }, { say: 'without it' }]], {
        spec: { permissions: 'ask' },
        onEvent: reply('reject_once', { why: 'not today' }),
      });
      expect(result).toMatchObject({ status: 'success', text: 'without it' });
      expect(data('permission.replied')).toMatchObject([{ decision: 'deny', by: 'person', why: 'not today' }]);
      expect(select(calls, 'answer')).toMatchObject([
        engine === 'codex' ? { decision: 'decline' } : { behavior: 'deny', message: 'not today' },
      ]);
    });

    it('lets rules decide first', async () => {
      const { data } = await converse(engine, [[{ ask: WRITE }]], {
        spec: { permissions: 'ask', approvals: [{ command: 'npm test*', decide: 'allow', why: 'tests are free' }] },
      });
      expect(data('permission.replied')).toMatchObject([{ decision: 'allow', by: 'rule', why: 'tests are free' }]);
    });

    it('denies when no answer arrives in time, and the run continues', async () => {
      const { result, data } = await converse(engine, [[{ ask: WRITE }, { say: 'without it' }]], {
        spec: { permissions: 'ask', limits: { wait_s: 0.2 } },
      });
      expect(result).toMatchObject({ status: 'success', text: 'without it' });
      expect(data('permission.replied')).toMatchObject([{ decision: 'deny', by: 'rule' }]);
    });

    it('stops a process that waits too long, and resumes its session with the answer', async () => {
      const { result, calls, data } = await converse(engine, [[{ ask: WRITE }], [{ ask: WRITE }, { say: 'ok' }]], {
        spec: { permissions: 'ask', limits: { hold_s: 0.2 } },
        onEvent: (event, run) => {
          if (event.type !== 'diagnostic.warning' || event.data.code !== 'PERMISSION_PENDING') return;
          const option_id = engine === 'codex' ? 'accept' : 'allow';
          void run.reply({ interaction_id: 'px_1_1', option_id, who: 'ann' });
        },
      });
      expect(result).toMatchObject({ status: 'success', text: 'ok', attempts: 2 });
      expect(countProcesses(calls)).toBe(2);
      expect(data('permission.replied')).toMatchObject([
        { interaction_id: 'px_1_1', decision: 'allow', by: 'person', who: 'ann' },
        { interaction_id: 'px_2_1', decision: 'allow', by: 'person', who: 'ann' },
      ]);
      expect(result.warnings.map(({ code }) => code)).not.toContain('APPROVAL_UNUSED');
      const words = JSON.stringify(calls);
      expect(words).toContain(engine === 'codex' ? 'thread/resume' : '--resume=');
    });

    it('records a late answer that the resumed agent does not use', async () => {
      const { result, data } = await converse(engine, [[{ ask: WRITE }], [{ say: 'ok' }]], {
        spec: { permissions: 'ask', limits: { hold_s: 0.2 } },
        onEvent: (event, run) => {
          if (event.type !== 'diagnostic.warning' || event.data.code !== 'PERMISSION_PENDING') return;
          const option_id = engine === 'codex' ? 'accept' : 'allow';
          void run.reply({ interaction_id: 'px_1_1', option_id, who: 'ann', why: 'looks right' });
        },
      });
      expect(data('permission.replied')).toMatchObject([
        { interaction_id: 'px_1_1', decision: 'allow', by: 'person', who: 'ann', why: 'looks right' },
      ]);
      const warning = { code: 'APPROVAL_UNUSED', message: expect.stringContaining('px_1_1') };
      expect(result).toMatchObject({ status: 'success', warnings: expect.arrayContaining([warning]) });
    });

    it('records a late denial, and one because no answer arrived', async () => {
      const late = await converse(engine, [[{ ask: WRITE }], [{ say: 'ok' }]], {
        spec: { permissions: 'ask', limits: { hold_s: 0.2 } },
        onEvent: (event, run) => {
          if (event.type !== 'diagnostic.warning' || event.data.code !== 'PERMISSION_PENDING') return;
          const option_id = engine === 'codex' ? 'decline' : 'deny';
          void run.reply({ interaction_id: 'px_1_1', option_id, who: 'ann', why: 'too risky' });
        },
      });
      expect(late.result.denials).toMatchObject([
        { by: 'person', who: 'ann', why: 'too risky', at: expect.any(String) },
      ]);
      const missing = await converse(engine, [[{ ask: WRITE }], [{ say: 'ok' }]], {
        spec: { permissions: 'ask', limits: { hold_s: 0.1, wait_s: 0.4 } },
      });
      expect(missing.data('permission.replied')).toMatchObject([{ decision: 'deny', by: 'rule' }]);
      expect(missing.result.denials).toMatchObject([{ by: 'rule', why: expect.stringContaining('wait_s') }]);
    });

    it('closes a request withdrawn by the agent', async () => {
      const refused: unknown[] = [];
      const waits: string[] = [];
      const { result, data } = await converse(engine, [[{ ask: WRITE, withdraws: true }, { say: 'never mind' }]], {
        spec: { permissions: 'ask' },
        ports: { onUnanswered: async () => void waits.push('over') },
        onEvent: (event, run) => {
          if (event.type !== 'conversation.completed') return;
          void run
            .reply({ interaction_id: 'px_1_1', option_id: 'allow' })
            .catch((error: { code?: string }) => refused.push(error.code));
        },
      });
      expect(result).toMatchObject({ status: 'success', text: 'never mind' });
      expect(data('permission.replied')).toMatchObject([{ decision: 'deny', by: 'rule' }]);
      expect(refused).toEqual(['REPLY_NOT_EXPECTED']);
    });

    it('is notified when the run is canceled while it waits', async () => {
      const { result, calls } = await converse(engine, [[{ ask: WRITE }, { hang: true }]], {
        spec: { permissions: 'ask' },
        onEvent: (event, run) => {
          if (event.type === 'permission.required') void run.cancel();
        },
      });
      expect(result.status).toBe('canceled');
      expect(select(calls, 'method')).toContain(engine === 'codex' ? 'turn/interrupt' : 'interrupt');
    });

    it('cannot be used in a terminal', async () => {
      const { result } = await converse(engine, [[]], { spec: { permissions: 'ask', terminal: true } });
      expect(result).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('terminal') } });
    });
  });

  it('keeps its process across multiple questions', async () => {
    const { result, calls, meta, file } = await converse(
      engine,
      [[{ say: 'Which?' }], [{ say: 'Sure?' }], [{ ...DONE, say: `{"n":3,"__SKILL_DONE__": true}` }]],
      {
        spec: { mode: 'interactive', contract: { schema: SCHEMA } },
        replies: ['The first.', 'Yes.'],
      },
    );
    expect(result).toMatchObject({ status: 'success', value: { n: 3 }, attempts: 3 });
    expect(countProcesses(calls)).toBe(1);
    expect(select(calls, 'prompt').slice(1)).toEqual(['The first.', 'Yes.']);
    expect(await meta(2)).toMatchObject({ reply: 'The first.', session_id: result.session_id });
    expect(await file('stdin.3.log')).toContain('Yes.');
  });

  it('keeps its process for a retry with feedback', async () => {
    const { result, calls } = await converse(engine, [[{ say: 'none' }], [{ say: '{"n":1}' }]], {
      spec: { permissions: 'ask', contract: { schema: SCHEMA }, max_retries: 1 },
    });
    expect(result).toMatchObject({ status: 'success', value: { n: 1 }, attempts: 2 });
    expect(countProcesses(calls)).toBe(1);
  });

  it('keeps its process for a retry with feedback in auto mode, if its version is tested', async () => {
    const turns = [[{ say: 'none' }], [{ say: '{"n":1}' }]];
    const spec = { contract: { schema: SCHEMA }, max_retries: 1 };
    const { result, calls, fcmp } = await converse(engine, turns, { spec });
    expect(result).toMatchObject({ status: 'success', value: { n: 1 }, attempts: 2 });
    expect(countProcesses(calls)).toBe(1);
    // The session id comes first; otherwise the messages would wait for it.
    const said = fcmp.map(({ type }) => type).filter((type) => /started|final/u.test(type));
    expect(said).toEqual(['conversation.started', 'assistant.message.final', 'assistant.message.final']);
    expect(result.diagnostics?.map(({ code }) => code)).not.toContain('SESSION_ID_MISSING');
    const other = await converse(engine, turns, { spec, version: '0.0.1' });
    expect(JSON.stringify(select(other.calls, 'args'))).not.toMatch(/app-server|input-format/u);
    const single = await converse(engine, turns, { spec: { ...spec, max_retries: 0 } });
    expect(JSON.stringify(select(single.calls, 'args'))).not.toMatch(/app-server|input-format/u);
  });

  it('is started again for the answer if it has been stopped meanwhile', async () => {
    const { result, calls } = await converse(engine, [[{ say: 'Which?' }], [DONE]], {
      spec: { mode: 'interactive', limits: { hold_s: 0.05 } },
      onEvent: (event, run) => {
        if (event.type === 'user.input.required') setTimeout(() => void run.reply('The first.'), 700);
      },
    });
    expect(result).toMatchObject({ status: 'success', attempts: 2 });
    expect(countProcesses(calls)).toBe(2);
  });

  it('uses its one-way mode if its version is untested', async () => {
    const { calls } = await converse(engine, [[DONE]], { version: '0.0.1', spec: { mode: 'interactive' } });
    expect(JSON.stringify(select(calls, 'args'))).not.toMatch(/app-server|input-format/u);
  });

  describe('that misbehaves ends with a code, and its bytes are kept', () => {
    const first = 'initialize';

    it.each([
      [
        'prints garbage',
        { garbage: 5000, mute: first, stays: true },
        {},
        'PROTOCOL_BROKEN',
        /not in the protocol's format/u,
      ],
      ['answers twice', { twice: first }, {}, 'PROTOCOL_BROKEN', /not an open request/u],
      ['never answers', { mute: first, stays: true }, { limits: { idle_s: 0.5 } }, 'RUN_TIMED_OUT', /idle_s/u],
      [
        'refuses to start',
        { refuse: first },
        {},
        engine === 'codex' ? 'ENGINE_RUNTIME_ERROR' : 'PROTOCOL_BROKEN',
        /refused/u,
      ],
    ] as const)('%s', async (_, agent, spec, code, message) => {
      const { result, file } = await converse(engine, [[{ say: 'ok' }]], {
        agent,
        spec: { permissions: 'ask', ...spec },
      });
      expect(result).toMatchObject({ status: 'failed', error: { code, message: expect.stringMatching(message) } });
      expect(await file('stdin.1.log')).toContain('initialize');
    });

    it.each([
      ['uses an id twice', [{ asks: [WRITE, WRITE], id: 'x' }], {}, 'PROTOCOL_BROKEN', /twice/u],
      ['floods', [{ flood: 10_000 }], { limits: { output_bytes: 100_000 } }, 'RUN_LIMIT_EXCEEDED', /output_bytes/u],
      ['dies', [{ exit: 3 }], {}, 'PROCESS_EXIT_NON_ZERO', /exited with code 3/u],
      ['exits while a question is open', [{ ask: WRITE, dies: 4 }], {}, 'PROCESS_EXIT_NON_ZERO', /exited with code 4/u],
      ['ends its turn with an error', [{ fail: 'quota exceeded' }], {}, 'ENGINE_RUNTIME_ERROR', /quota exceeded/u],
    ] as const)('%s', async (_, steps, spec, code, message) => {
      const { result, file } = await converse(engine, [steps], { spec: { permissions: 'ask', ...spec } });
      expect(result).toMatchObject({ status: 'failed', error: { code, message: expect.stringMatching(message) } });
      expect((await file('stdout.1.log')).length).toBeGreaterThan(0);
    });

    it('does not end because of an unsupported request, which is rejected', async () => {
      const { result, calls } = await converse(engine, [[{ request: 'item/tool/call' }, { say: 'ok' }]], {
        spec: { permissions: 'ask' },
      });
      expect(result).toMatchObject({ status: 'success', text: 'ok' });
      expect(JSON.stringify(select(calls, 'answer'))).toMatch(/not found|Unsupported/u);
    });
  });
});

const IMAGE = { kind: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const;

describe.each(['claude', 'codex'] as const)('%s', (engine) => {
  it('gets images and MCP servers in its own format, with the values of their variables in its environment', async () => {
    const env = [{ name: 'KEY', value: 'sesame-1234-open' }];
    const server = { type: 'stdio', name: 'my docs', command: 'docs-mcp', args: ['--all'], env } as const;
    const { result, calls, site, file } = await converse(engine, [[{ say: 'Seen.' }]], {
      ports: { inputs: { attachments: [IMAGE], mcpServers: [server] } },
    });
    expect(result).toMatchObject({ status: 'success', text: 'Seen.' });
    expect(JSON.stringify(select(calls, 'attached'))).toContain(IMAGE.data);
    const [run = ''] = await readdir(join(site.data, 'runs'));
    const settings = join(site.data, 'runs', run, 'mcp-servers.json');
    const settingsText = engine === 'claude' ? await readFile(settings, 'utf8') : JSON.stringify(select(calls, 'args'));
    expect(settingsText).toMatch(/my_docs.*docs-mcp.*--all.*SLUICE_MCP_SECRET_1/su);
    expect(`${settingsText}${await file('meta.1.json')}`).not.toContain('sesame');
    expect(select(calls, 'servers')).toEqual([['sesame-1234-open']]);
  });
});

it('an engine that does not accept images is not started with one', async () => {
  const { result, calls } = await converse('qwen', [[{ say: 'Seen.' }]], {
    ports: { inputs: { attachments: [IMAGE] } },
  });
  const message = expect.stringContaining('qwen does not accept images');
  expect(result).toMatchObject({ status: 'failed', error: { code: 'PROCESS_NOT_STARTED', message } });
  expect(select(calls, 'prompt')).toEqual([]);
});
