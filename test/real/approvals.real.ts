import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { omitUndefined } from '../../src/base/index.js';
import type { FcmpData, FcmpEvent, FcmpType } from '../../src/events/index.js';
import type { RunSpec } from '../../src/store/records/index.js';
import { ACP_AGENTS, type RealAgent } from './acp-agents.js';
import { openSite } from './open-site.js';
import { REAL_ENGINES } from './real-engine.js';
import type { ModelReply } from './scripted-model.js';
import { prepareStage } from './stage.js';

interface Agent {
  readonly name: NonNullable<RunSpec['engine']>;
  readonly real: RealAgent;
}

/** One agent for each protocol in which agents ask for permission, and OpenCode, whose requests differ. */
const AGENTS: readonly Agent[] = [
  { name: 'claude', real: REAL_ENGINES.claude },
  { name: 'codex', real: REAL_ENGINES.codex },
  { name: 'qwen', real: REAL_ENGINES.qwen },
  { name: 'opencode-acp', real: ACP_AGENTS['opencode-acp'] },
  { name: 'copilot-acp', real: ACP_AGENTS['copilot-acp'] },
];

type Question = FcmpData<'permission.required'>;

const SOME_TEXT = expect.any(String) as string;

/** A run, as the API and the console show it. */
interface RunView {
  readonly state: string;
  readonly refused_answers?: readonly object[];
}

/** Starts a run over HTTP whose agent wants to write a file; its model then repeats the call if `isRepeated`. */
async function open({ name, real }: Agent, spec: Partial<RunSpec>, isRepeated = false) {
  const stage = await prepareStage(real, ({ workdir }) => {
    const call: ModelReply = { toolCalls: [real.writeFile(join(workdir, 'made.txt'), 'hello')] };
    return isRepeated ? [call, call, { content: 'Done.' }] : [call, { content: 'Done.' }];
  });
  const site = await openSite(stage, {});
  const { model: _, ...given } = stage.spec;
  const body = { ...given, engine: name, prompt: 'Do it.', permissions: 'ask', limits: { time_s: 600 }, ...spec };
  const { id } = (await site.post('/v1/runs', body)) as { readonly id: string };
  const list = async <Type extends FcmpType>(type: Type): Promise<readonly FcmpData<Type>[]> => {
    const { events } = await site.get<{ readonly events: readonly FcmpEvent[] }>(
      `/v1/runs/${id}/history?protocol=fcmp`,
    );
    return events.flatMap((event) => (event.type === type ? [event.data as FcmpData<Type>] : []));
  };
  const waitFor = async <Type extends FcmpType>(type: Type, isIt: (data: FcmpData<Type>) => boolean = () => true) => {
    const find = async () => (await list(type)).find(isIt);
    await expect.poll(find, { timeout: 300_000, interval: 250 }).toBeDefined();
    return (await find()) as FcmpData<Type>;
  };
  const answer = async (question: Question, kind: 'allow_once' | 'reject_once', why: string, status = 200) => {
    const option = question.options.find((one) => one.kind === kind);
    const reply = { interaction_id: question.interaction_id, option_id: option?.id, why };
    return site.post(`/v1/runs/${id}/reply`, reply, status);
  };
  const isMade = (): boolean => existsSync(join(stage.workdir, 'made.txt'));
  return { id, site, list, waitFor, answer, isMade };
}

describe.each(AGENTS)('an approval of $name', { timeout: 900_000 }, (agent) => {
  it('given at once is an event and lets the call happen; a second one is refused and kept', async () => {
    const { id, site, list, waitFor, answer, isMade } = await open(agent, {});
    const question = await waitFor('permission.required');
    expect(JSON.stringify(await site.get('/v1/waiting'))).toContain(question.interaction_id);
    await answer(question, 'allow_once', 'it is needed');
    const result = await site.waitForResult(id);
    expect(result).toMatchObject({ status: 'success', text: 'Done.', attempts: 1 });
    expect(result.denials).toBeUndefined();
    const { interaction_id } = question;
    const given = { interaction_id, decision: 'allow', by: 'person', why: 'it is needed' };
    expect(await list('permission.replied')).toEqual([expect.objectContaining({ ...given, who: SOME_TEXT })]);
    expect(isMade()).toBe(true);
    await answer(question, 'reject_once', 'too late', 409);
    const { refused_answers } = await site.get<RunView>(`/v1/runs/${id}`);
    expect(refused_answers).toMatchObject([{ interaction_id, why: 'too late' }]);
  });

  it('denied by a person or by a rule is in the events and among the denials', async () => {
    const asked = await open(agent, {});
    await asked.answer(await asked.waitFor('permission.required'), 'reject_once', 'not today');
    const ruled = await open(agent, { approvals: [{ decide: 'deny', why: 'nothing is written' }] });
    for (const [{ id, site, list, isMade }, by, why, who] of [
      [asked, 'person', 'not today', SOME_TEXT],
      [ruled, 'rule', 'nothing is written', undefined],
    ] as const) {
      const result = await site.waitForResult(id);
      // OpenCode and Copilot end their turn instead of going on without the call.
      expect(result.status).toBe('success');
      expect(await list('permission.replied')).toMatchObject([{ decision: 'deny', by, why }]);
      expect(result.denials).toMatchObject([{ by, why, tool: SOME_TEXT, at: SOME_TEXT, ...omitUndefined({ who }) }]);
      expect(isMade()).toBe(false);
    }
  });

  it.each([
    ['the resumed agent uses it', true],
    ['the resumed agent does not use it, which is a warning', false],
  ])('given when its process has been stopped is an event at once: %s', async (_, isRepeated) => {
    const limits = { time_s: 600, hold_s: 1 };
    const { id, site, list, waitFor, answer, isMade } = await open(agent, { limits }, isRepeated);
    const question = await waitFor('permission.required');
    await waitFor('diagnostic.warning', ({ code }) => code === 'PERMISSION_PENDING');
    expect(JSON.stringify(await site.get('/v1/waiting'))).toContain(question.interaction_id);
    await answer(question, 'allow_once', 'late, but needed');
    const { interaction_id } = question;
    const given = { interaction_id, decision: 'allow', by: 'person', why: 'late, but needed' };
    expect((await list('permission.replied'))[0]).toMatchObject({ ...given, who: SOME_TEXT });
    if (isRepeated) {
      // A rephrased request of the resumed agent is another question.
      const other = await Promise.race([
        site.waitForResult(id).then(() => undefined),
        waitFor('permission.required', (one) => one.interaction_id !== interaction_id),
      ]);
      const isOpen = (await site.get<RunView>(`/v1/runs/${id}`)).state === 'waiting';
      if (other !== undefined && isOpen) await answer(other, 'allow_once', 'again');
    }
    const result = await site.waitForResult(id);
    // Copilot writes a warning before its answer.
    expect(result).toMatchObject({ status: 'success', text: expect.stringMatching(/Done\.$/u) as string, attempts: 2 });
    expect(result.denials).toBeUndefined();
    expect(isMade()).toBe(isRepeated);
    const codes = result.warnings.map(({ code }) => code);
    expect(codes.includes('APPROVAL_UNUSED')).toBe(!isRepeated);
  });
});
