import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunSpec } from '../../src/store/records/run-spec.js';
import { MCP_SERVER, PIXEL } from './inputs.js';
import type { RealEngine } from './real-engine.js';
import type { ModelReply } from './scripted-model.js';
import { play, prepareStage, writeFiles, type Act, type StageFolders, type ScenarioRun, type Stage } from './stage.js';

/** A scenario that is run with every engine: the model's replies, the spec, and actions during the run. */
export interface Scenario {
  /** The name of its recordings. */
  readonly name: string;
  readonly script: (real: RealEngine, folders: StageFolders) => readonly [ModelReply, ...ModelReply[]];
  readonly spec: Partial<RunSpec>;
  /** Files in the working folder at the start: path → content. */
  readonly files?: (real: RealEngine, folders: StageFolders) => Readonly<Record<string, string | Uint8Array>>;
  /** Files in the home folder that replace those of the engine. */
  readonly homeFiles?: (real: RealEngine, modelUrl: string) => Readonly<Record<string, string>>;
  /** The pause between chunks of an answer. */
  readonly pauseMs?: number;
  readonly act?: (stage: Stage) => Act;
}

const SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'integer' } },
  required: ['answer'],
  additionalProperties: false,
} as const;

const QUESTION = { prompt: 'What is the answer?', contract: { schema: SCHEMA } } as const;
const FENCED = 'Here it is.\n\n```json\n{\n  "__SKILL_DONE__": true,\n  "answer": 7\n}\n```\n';
const TAGGED = 'I looked at it.\n\n<json>{"answer": 7, "__SKILL_DONE__": true}</json>\n';

export const SCENARIOS = {
  plain: {
    name: 'a-plain',
    script: () => [{ content: 'Hello there.' }],
    spec: { prompt: 'Say hello.' },
  },
  fenced: {
    name: 'b-fenced-json',
    script: () => [{ content: FENCED }],
    spec: QUESTION,
  },
  tagged: {
    name: 'c-tagged-json',
    script: () => [{ content: TAGGED }],
    spec: { ...QUESTION, contract: { schema: SCHEMA, profile: 'tagged' } },
  },
  writing: {
    name: 'd2-tool-write',
    script: (real, { workdir }) => [
      { toolCalls: [real.writeFile(join(workdir, 'artifacts/text.md'), 'written')] },
      { content: TAGGED },
    ],
    // Copilot creates files, not folders.
    files: () => ({ 'artifacts/before.md': '' }),
    spec: { ...QUESTION, permissions: 'workspace' },
  },
  tooMany: {
    name: 'e3-429-then-answer',
    script: () => [
      { status: 429, error: { message: 'Too many requests', type: 'rate_limit_error' } },
      { content: TAGGED },
    ],
    spec: QUESTION,
  },
  broken: {
    name: 'f1-500-always',
    script: () => [{ status: 500, error: { message: 'Internal error', type: 'server_error' } }],
    spec: { ...QUESTION, limits: { time_s: 8 } },
  },
  unauthorized: {
    name: 'f5-401-until-time-out',
    script: () => [{ status: 401, error: { message: 'Incorrect API key provided.', type: 'invalid_api_key' } }],
    // Claude Code retries for minutes; OpenCode takes most of a minute to start under load.
    spec: { ...QUESTION, limits: { time_s: 90 } },
  },
  canceled: {
    name: 'g1-sigterm-stream',
    script: () => [{ content: 'One word after the other. '.repeat(80) }],
    spec: { prompt: 'Tell me at length.' },
    pauseMs: 200,
    act: (stage) => async (run, event) => {
      if (event !== undefined) return;
      while (stage.model.requests.length === 0) await sleep(50);
      await sleep(1500);
      await run.cancel();
    },
  },
  resumed: {
    name: 'h-resume',
    script: () => [{ content: 'Which language?' }, { content: TAGGED }],
    spec: { prompt: 'Summarise it.', mode: 'interactive', contract: { schema: SCHEMA } },
    act: () => async (run, event) => {
      if (event?.type === 'user.input.required') await run.reply('--english, please');
    },
  },
  rich: {
    name: 'i-rich',
    script: ({ rich }, { workdir }) => [
      { toolCalls: [rich.readImage(join(workdir, 'p.png'))] },
      ...(rich.lookup === undefined ? [] : [{ toolCalls: [rich.lookup] }]),
      ...(rich.plan === undefined ? [] : [{ toolCalls: [rich.plan] }]),
      ...(rich.subAgent === undefined
        ? []
        : [{ toolCalls: [rich.subAgent] }, { content: 'From the sub-agent.', toSubAgent: 'Look at it.' }]),
      { content: 'All done.' },
    ],
    homeFiles: ({ rich }, url) => rich.homeFiles(MCP_SERVER, url),
    files: () => ({ 'p.png': PIXEL }),
    spec: { prompt: 'Do all you can.', permissions: 'bypass' },
  },
} as const satisfies Readonly<Record<string, Scenario>>;

/** Prepares a stage for a scenario and runs it; the caller removes the stage. */
export async function runScenario(
  real: RealEngine,
  { script, spec, files, homeFiles, pauseMs = 0, act }: Scenario,
): Promise<{ readonly stage: Stage; readonly played: ScenarioRun }> {
  const stage = await prepareStage(real, (folders) => script(real, folders), {
    pauseMs,
    homeFiles: (url) => homeFiles?.(real, url) ?? {},
  });
  try {
    writeFiles(stage.workdir, files?.(real, stage) ?? {});
    return { stage, played: await play(stage, spec, act?.(stage)) };
  } catch (error) {
    await stage.remove();
    throw error;
  }
}
