import { delimiter } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPresetLaunchers, listAgents, tryAgent } from '../../src/runs/agents/index.js';
import { getRunFolderPath, replayRunFolder } from '../../src/runs/run-folder/index.js';
import { PRESET_PROGRAMS_FOLDER } from './install-programs.js';
import type { ModelReply } from './scripted-model.js';
import { prepareStage } from './stage.js';

const KEY = 'scripted-model-key';

/** Facts about an agent that the suite needs to drive it against the scripted model. */
interface RealPreset {
  readonly name: string;
  readonly homeFiles: (modelUrl: string) => Readonly<Record<string, string>>;
  readonly environment: (modelUrl: string) => Readonly<Record<string, string>>;
  readonly read: ModelReply;
  readonly write: ModelReply;
  /** Writes the model's final answer; plain text by default. */
  readonly finish?: (text: string) => ModelReply;
  /** The outcomes of the scenarios `tool` and `permission`; the others work. */
  readonly outcomes: readonly [tool: string, permission: string];
}

const call = (name: string, input: object): ModelReply => ({
  toolCalls: [{ name, arguments: JSON.stringify(input) }],
});

/** A tool call as Cline expects it in the text of an answer. */
const tag = (name: string, input: Readonly<Record<string, string>>): ModelReply => ({
  content: `<${name}>\n${Object.entries(input)
    .map(([key, value]) => `<${key}>${value}</${key}>`)
    .join('\n')}\n</${name}>`,
});

const pi: RealPreset = {
  name: 'pi',
  homeFiles: (url) => ({
    '.pi/agent/models.json': JSON.stringify({
      providers: {
        mock: { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: KEY, models: [{ id: 'mock-1' }] },
      },
    }),
    '.pi/agent/settings.json': '{ "defaultProvider": "mock", "defaultModel": "mock-1", "quietStartup": true }',
  }),
  environment: () => ({ PI_OFFLINE: '1' }),
  read: call('read', { path: 'note.txt' }),
  write: call('write', { path: 'denied.txt', content: 'done' }),
  outcomes: ['worked', 'limited'],
};

const cline: RealPreset = {
  name: 'cline',
  homeFiles: (url) => ({
    '.cline/data/secrets.json': JSON.stringify({ openAiApiKey: KEY }),
    '.cline/data/globalState.json': JSON.stringify({
      actModeApiProvider: 'openai',
      planModeApiProvider: 'openai',
      actModeOpenAiModelId: 'gpt-4.1',
      planModeOpenAiModelId: 'gpt-4.1',
      openAiBaseUrl: `${url}/v1`,
      welcomeViewCompleted: true,
    }),
  }),
  environment: () => ({}),
  read: tag('read_file', { path: 'note.txt' }),
  write: tag('write_to_file', { path: 'denied.txt', content: 'done' }),
  finish: (result) => tag('attempt_completion', { result }),
  outcomes: ['worked', 'worked'],
};

const cn: RealPreset = {
  name: 'cn',
  homeFiles: (url) => ({
    '.continue/config.yaml': [
      'name: mock',
      'version: 1.0.0',
      'schema: v1',
      'models:',
      '  - name: mock',
      '    provider: openai',
      '    model: gpt-4.1',
      `    apiBase: ${url}/v1`,
      `    apiKey: ${KEY}`,
      '    roles: [chat]',
      '',
    ].join('\n'),
  }),
  environment: () => ({}),
  read: call('Read', { filepath: 'note.txt' }),
  write: call('Bash', { command: 'echo done > denied.txt' }),
  outcomes: ['limited', 'limited'],
};

const grok: RealPreset = {
  name: 'grok-cli',
  homeFiles: () => ({}),
  environment: (url) => ({ GROK_API_KEY: KEY, GROK_BASE_URL: `${url}/v1` }),
  read: call('view_file', { path: 'note.txt' }),
  write: call('create_file', { path: 'denied.txt', content: 'done' }),
  outcomes: ['limited', 'limited'],
};

describe.each([pi, cline, cn, grok])('the preset $name', { timeout: 400_000 }, (real) => {
  it('is driven through the scenarios of `sluice agents try`, and replayed', async () => {
    const { name, read, write, finish = (content: string): ModelReply => ({ content }), outcomes } = real;
    const replies = [
      finish('hello'),
      read,
      finish('marmalade'),
      finish('{"letters": 5}'),
      write,
      finish('Done.'),
      finish('1 2 3'),
    ] as const;
    const stage = await prepareStage(
      { engine: 'command', homeFiles: real.homeFiles, environment: real.environment },
      () => replies,
      { hasToolsInPrompt: real.finish !== undefined },
    );
    onTestFinished(async () => stage.remove());
    const { newId: _, ...ports } = stage.ports;
    const environment = {
      ...ports.environment,
      PATH: [PRESET_PROGRAMS_FOLDER, ports.environment?.['PATH']].join(delimiter),
    };
    const agents = await listAgents({ env: environment, cwd: stage.workdir });
    expect(agents.find((agent) => agent.name === name)).toMatchObject({ source: 'preset', status: 'ready' });

    const steps = [];
    for await (const step of tryAgent(name, { ...ports, environment, launchers: createPresetLaunchers() })) {
      steps.push(step);
      const replayed = await replayRunFolder(getRunFolderPath(ports.data ?? '', step.run_id));
      expect(replayed).toMatchObject({ status: 'same' });
    }
    const [tool, permission] = outcomes;
    // With the details, which explain a difference.
    expect(steps).toMatchObject(['worked', tool, 'worked', permission, 'worked'].map((outcome) => ({ outcome })));
  });
});
