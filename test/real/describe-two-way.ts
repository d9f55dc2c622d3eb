import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FcmpEvent } from '../../src/events/index.js';
import type { RunSpec } from '../../src/store/records/run-spec.js';
import type { RunPorts } from '../../src/runs/index.js';
import { LAUNCHERS } from '../../src/runs/launchers/launchers.js';
import type { Run } from '../../src/runs/start-run.js';
import { expectSound } from './expect-sound.js';
import type { RealEngine } from './real-engine.js';
import type { ModelOptions, ModelReply } from './scripted-model.js';
import { play, prepareStage } from './stage.js';
import type { StageFolders, Stage } from './stage.js';
import { makeInputs, PIXEL, SLOW_ANSWER } from './inputs.js';

type Script = (folders: StageFolders) => readonly [ModelReply, ...ModelReply[]];

/** Answers every permission request with its option of this kind. */
const reply = (kind: 'allow_once' | 'reject_once') => (event: FcmpEvent, run: Run) => {
  if (event.type !== 'permission.required') return;
  const { interaction_id, options } = event.data;
  void run.reply({ interaction_id, option_id: options.find((one) => one.kind === kind)?.id ?? '', who: 'ann' });
};

/**
 * Tests an engine in two-way mode, where the running agent receives messages: approvals, and one process for multiple
 * questions.
 */
export function describeTwoWay(real: RealEngine): void {
  const { engine } = real;
  const write: Script = ({ workdir }) => [
    { toolCalls: [real.writeFile(join(workdir, 'made.txt'), 'hello')] },
    { content: 'Done.' },
  ];
  const writeTwice: Script = (folders) => [write(folders)[0], ...write(folders)];

  async function perform(
    script: Script,
    spec: Partial<RunSpec>,
    act: (event: FcmpEvent, run: Run) => void = () => undefined,
    makePorts: (stage: Stage) => Partial<RunPorts> = () => ({}),
    options: ModelOptions = {},
  ) {
    const stage = await prepareStage(real, script, options);
    onTestFinished(async () => stage.remove());
    const follow = async (run: Run, event: FcmpEvent | undefined): Promise<void> => {
      if (event !== undefined) act(event, run);
    };
    const played = await play(stage, { prompt: 'Do it.', ...spec }, follow, makePorts(stage));
    await expectSound(played, stage);
    const data = <Type extends FcmpEvent['type']>(type: Type) =>
      played.fcmp.flatMap((event) =>
        event.type === type ? [event.data as Extract<FcmpEvent, { type: Type }>['data']] : [],
      );
    const pids = readdirSync(join(stage.runDir, '.audit'))
      .filter((name) => name.startsWith('meta.'))
      .map((name) => (JSON.parse(readFileSync(join(stage.runDir, '.audit', name), 'utf8')) as { pid?: number }).pid);
    return {
      ...played,
      data,
      made: join(stage.workdir, 'made.txt'),
      processes: new Set(pids).size,
      model: stage.model,
    };
  }

  describe(`the real ${engine} in its two-way mode`, () => {
    it('uses a tool that a user allows', async () => {
      const { result, data, made } = await perform(write, { permissions: 'ask' }, reply('allow_once'));
      expect(data('permission.required')).toHaveLength(1);
      expect(data('permission.replied')).toMatchObject([{ decision: 'allow', by: 'person', who: 'ann' }]);
      expect(readFileSync(made, 'utf8')).toBe('hello');
      expect(result).toMatchObject({ status: 'success', text: 'Done.', attempts: 1 });
    });

    it('continues without a tool that a user denies', async () => {
      const { result, data, made } = await perform(write, { permissions: 'ask' }, reply('reject_once'));
      expect(data('permission.replied')).toMatchObject([{ decision: 'deny', by: 'person' }]);
      expect(data('assistant.tool_call').map(({ status }) => status)).toContain('failed');
      expect(existsSync(made)).toBe(false);
      expect(result).toMatchObject({ status: 'success', text: 'Done.' });
    });

    it('lets a rule decide, without asking a user', async () => {
      const approvals = [{ decide: 'deny', why: 'nothing is written here' }] as const;
      const { data, made } = await perform(write, { permissions: 'ask', approvals }, () => undefined);
      expect(data('permission.replied')).toMatchObject([{ decision: 'deny', by: 'rule' }]);
      expect(existsSync(made)).toBe(false);
    });

    it('answers multiple questions and a retry in one process', async () => {
      const replies = ['English.', 'Short.'];
      const { result, processes, model } = await perform(
        () => [
          { content: 'Which language?' },
          { content: 'How long?' },
          { content: '{"__SKILL_DONE__": true}' },
          { content: '{"n":3,"__SKILL_DONE__": true}' },
        ],
        {
          mode: 'interactive',
          contract: { schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } },
          max_retries: 1,
        },
        (event, run) => {
          if (event.type === 'user.input.required') void run.reply(replies.shift() ?? '');
        },
      );
      expect(result).toMatchObject({ status: 'success', value: { n: 3 }, attempts: 4 });
      expect(processes).toBe(1);
      const history = JSON.stringify(model.requests.at(-1)?.messages);
      for (const words of ['Which language?', 'English.', 'Short.']) expect(history).toContain(words);
    });

    it('retries in one process if no user is asked', async () => {
      const { result, processes } = await perform(() => [{ content: 'none' }, { content: '{"n":3}' }], {
        contract: { schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } },
        max_retries: 1,
      });
      expect(result).toMatchObject({ status: 'success', value: { n: 3 }, attempts: 2 });
      expect(processes).toBe(1);
    });

    it.each([engine].filter((name) => LAUNCHERS[name].accepts !== undefined))(
      '%s gets an image and an MCP server, with its variables',
      async () => {
        let listed = '';
        const ports = (stage: Stage) => {
          const made = makeInputs(stage);
          ({ listed } = made);
          return { inputs: made.inputs };
        };
        const { result, model } = await perform(() => [SLOW_ANSWER.reply], {}, undefined, ports, SLOW_ANSWER.options);
        expect(result.status).toBe('success');
        expect(result.text).toContain('Seen.');
        expect(readFileSync(listed, 'utf8')).toBe('listed');
        expect(model.hasReceived(PIXEL.toString('base64'))).toBe(true);
      },
    );

    it('is stopped while it waits for a permission, and resumed with the answer', async () => {
      let option = '';
      const { result, made, processes } = await perform(
        writeTwice,
        { permissions: 'ask', limits: { hold_s: 1, time_s: 120 } },
        (event, run) => {
          if (event.type === 'permission.required')
            option = event.data.options.find(({ kind }) => kind === 'allow_once')?.id ?? '';
          // The stored answer applies if the resumed agent repeats its request unchanged; this reply is then refused.
          if (event.type === 'permission.required' && event.meta.attempt > 1)
            setTimeout(() => void run.reply({ ...event.data, option_id: option }).catch(() => undefined), 500);
          if (event.type === 'diagnostic.warning' && event.data.code === 'PERMISSION_PENDING')
            void run.reply({ interaction_id: 'px_1_1', option_id: option });
        },
      );
      expect(result).toMatchObject({ status: 'success', text: 'Done.', attempts: 2 });
      expect(readFileSync(made, 'utf8')).toBe('hello');
      expect(processes).toBe(2);
    });

    it('is canceled while it waits for a permission', async () => {
      const { result } = await perform(write, { permissions: 'ask' }, (event, run) => {
        if (event.type === 'permission.required') void run.cancel();
      });
      expect(result.status).toBe('canceled');
    });
  });
}
