import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FcmpEvent } from '../../src/events/index.js';
import type { RunSpec } from '../../src/store/records/index.js';
import { replayRunFolder } from '../../src/runs/run-folder/index.js';
import { startRun } from '../../src/runs/start-run.js';
import type { RunPorts } from '../../src/runs/index.js';
import type { Run } from '../../src/runs/start-run.js';
import { ACP_AGENTS } from './acp-agents.js';
import type { AcpAgentName, RealAgent } from './acp-agents.js';
import type { ModelOptions, ModelReply } from './scripted-model.js';
import { prepareStage } from './stage.js';
import type { Stage } from './stage.js';
import { makeInputs, PIXEL, SLOW_ANSWER } from './inputs.js';

const SCHEMA = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
const MINUTE_MS = 60_000;
const DONE = { content: 'Done.' };

type Script = (folders: { readonly workdir: string }) => readonly [ModelReply, ...ModelReply[]];

/** Answers a permission request with an option of a kind. */
const reply = (kind: string) => (event: FcmpEvent, run: Run) => {
  if (event.type !== 'permission.required') return;
  const option = event.data.options.find((one) => one.kind === kind);
  // If the previous answer was remembered, there are no more requests.
  void run.reply({ interaction_id: event.data.interaction_id, option_id: option?.id ?? '' }).catch(() => undefined);
};

/** The contract of every ACP agent, run with the real executable. */
export function describeAcpAgent(engine: AcpAgentName): void {
  describe(`the agent ${engine}`, { timeout: 400_000 }, () => {
    describeTurns(engine);
  });
}

function describeTurns(engine: AcpAgentName): void {
  const real: RealAgent = ACP_AGENTS[engine];

  async function play(
    script: Script,
    spec: Partial<RunSpec>,
    onEvent?: (event: FcmpEvent, run: Run) => void,
    makePorts: (folders: Stage) => Partial<RunPorts> = () => ({}),
    options: ModelOptions = {},
  ) {
    const stage = await prepareStage(real, script, options);
    onTestFinished(async () => stage.remove());
    const { model: _, ...givenSpec } = stage.spec;
    const run = startRun({ ...givenSpec, engine, prompt: 'Do it.', ...spec }, { ...stage.ports, ...makePorts(stage) });
    const fcmp: FcmpEvent[] = [];
    for await (const { protocol, event } of run.events) {
      if (protocol !== 'fcmp') continue;
      fcmp.push(event);
      onEvent?.(event, run);
    }
    const result = await run.result;
    expect(await replayRunFolder(stage.runDir)).toMatchObject({ status: 'same' });
    const data = (type: FcmpEvent['type']) => fcmp.flatMap((event) => (event.type === type ? [event.data] : []));
    return { result, fcmp, data, made: join(stage.workdir, 'made.txt'), model: stage.model };
  }

  const twice: Script = ({ workdir }) => {
    const call = { toolCalls: [real.writeFile(join(workdir, 'made.txt'), 'hello')] };
    return [call, call, DONE];
  };
  const write: Script = ({ workdir }) => [{ toolCalls: [real.writeFile(join(workdir, 'made.txt'), 'hello')] }, DONE];

  it('answers in a plain turn', async () => {
    const { result } = await play(() => [{ content: 'All is well.' }], {});
    expect(result).toMatchObject({ status: 'success', text: 'All is well.' });
  });

  it('returns a result that passes the schema, after a retry in the same session', async () => {
    const { result, model } = await play(() => [{ content: 'none' }, { content: '{"n":3}' }], {
      contract: { schema: SCHEMA },
      max_retries: 1,
    });
    expect(result).toMatchObject({ status: 'success', value: { n: 3 }, attempts: 2 });
    expect(model.requests.at(-1)?.messages.length).toBeGreaterThan(model.requests[0]?.messages.length ?? 0);
  });

  it('uses a tool that a user allows', async () => {
    const { result, data, made: createdFile } = await play(write, { permissions: 'ask' }, reply('allow_once'));
    expect(data('permission.required')).toHaveLength(1);
    expect(data('permission.replied')).toMatchObject([{ decision: 'allow', by: 'person' }]);
    expect(readFileSync(createdFile, 'utf8')).toBe('hello');
    expect(result).toMatchObject({ status: 'success', text: 'Done.' });
  });

  it('continues without a tool that a user denies', async () => {
    const { data, made: createdFile } = await play(write, { permissions: 'ask' }, reply('reject_once'));
    expect(data('permission.replied')).toMatchObject([{ decision: 'deny', by: 'person' }]);
    expect(existsSync(createdFile)).toBe(false);
  });

  it('writes nothing with permissions: safe', async () => {
    const { made: createdFile, data } = await play(write, { permissions: 'safe' });
    expect(existsSync(createdFile)).toBe(false);
    expect(data('permission.replied').every((one) => 'decision' in one && one.decision === 'deny')).toBe(true);
  });

  it('continues with the answer to a question', async () => {
    const { result, data } = await play(
      () => [{ content: 'Which one?' }, { content: '{"__SKILL_DONE__": true}' }],
      { mode: 'interactive' },
      (event, run) => {
        if (event.type === 'user.input.required') void run.reply('The first.');
      },
    );
    expect(data('user.input.required')).toMatchObject([{ prompt: 'Which one?' }]);
    expect(result).toMatchObject({ status: 'success', attempts: 2 });
  });

  it('is stopped while it waits for a permission, and resumed with the answer', async () => {
    const options: string[] = [];
    const { result, made: createdFile } = await play(
      twice,
      { permissions: 'ask', limits: { hold_s: 1 } },
      (event, run) => {
        if (event.type === 'diagnostic.warning' && event.data.code === 'PERMISSION_PENDING') {
          const restOfMinute = MINUTE_MS + 100 - (Date.now() % MINUTE_MS);
          const answer = () => void run.reply({ interaction_id: 'px_1_1', option_id: options[0] ?? '' });
          setTimeout(answer, real.overwritesYoungSessions === true ? restOfMinute : 0);
        }
        if (event.type === 'permission.required') {
          options.push(event.data.options.find(({ kind }) => kind === 'allow_once')?.id ?? '');
          // A rephrased request from the resumed agent is asked again.
          if (event.meta.attempt > 1) setTimeout(() => reply('allow_once')(event, run), 200);
        }
      },
    );
    expect(result.error).toBeUndefined();
    expect(result.attempts).toBeGreaterThan(1);
    expect(existsSync(createdFile)).toBe(true);
  });

  it('gets an image and an MCP server, with its variables', async () => {
    let listedFile = '';
    const ports = (stage: Stage) => {
      const createdFile = makeInputs(stage);
      ({ listed: listedFile } = createdFile);
      return { inputs: createdFile.inputs };
    };
    const { result, model } = await play(() => [SLOW_ANSWER.reply], {}, undefined, ports, SLOW_ANSWER.options);
    expect(result.status).toBe('success');
    expect(result.text).toContain('Seen.');
    expect(existsSync(listedFile)).toBe(real.ignoresServers !== true);
    expect(model.hasReceived(PIXEL.toString('base64'))).toBe(real.dropsImages !== true);
  });

  it('is canceled while it waits', async () => {
    const { result } = await play(write, { permissions: 'ask' }, (event, run) => {
      if (event.type === 'permission.required') void run.cancel();
    });
    expect(result.status).toBe('canceled');
  });
}
