import { listKeys, object, omitUndefined, oneOf, name, SluiceError } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import {
  claudeState,
  codexState,
  copilotState,
  geminiState,
  keepFolders,
  kimiState,
  opencodeState,
  qwenState,
} from './engine-state.js';
import type { FindState } from './engine-state.js';
import { programAgentSchema } from './configured.js';
import type { ProgramAgent } from './configured.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import { createOpencodePermissions } from './opencode.js';
import { NETWORK_ENVIRONMENT, promptForInput } from './request-checks.js';

const words = { type: 'array', minItems: 1, maxItems: 256, items: name } as const;

/** An agent of the configuration that speaks the Agent Client Protocol. */
const acpAgentSchema = object(
  {
    /** The program and its arguments that make it speak the Agent Client Protocol over its streams. */
    acp: words,
  },
  {
    /** Names of environment variables it may need; `OPENAI_*` is a pattern. */
    env: { type: 'array', maxItems: 256, items: name },
    /** Folders where it keeps its login and sessions; in a sandbox it may write there. `~` is the home. */
    keeps: { type: 'array', maxItems: 20, items: name },
    /** The authentication method, as the agent names it in `authMethods`. */
    authenticate: name,
  },
);

/** See {@link acpAgentSchema}. */
export type AcpAgent = FromSchema<typeof acpAgentSchema>;

/** An agent that the configuration adds: a two-way one, or a program whose output is read. */
export const agentSettingsSchema = {
  ...object({}, { ...acpAgentSchema.properties, ...programAgentSchema.properties }),
  // Not two alternatives: what is missing or too much is named.
  if: { required: ['acp'] },
  then: { propertyNames: oneOf(listKeys(acpAgentSchema.properties)) },
  else: { required: programAgentSchema.required, propertyNames: oneOf(listKeys(programAgentSchema.properties)) },
} as const;

/** See {@link agentSettingsSchema}. */
export type AgentSettings = AcpAgent | ProgramAgent;

/** Variables that agents of many makers read. */
const COMMON_ENVIRONMENT = ['OPENAI_*', 'ANTHROPIC_*', 'GEMINI_*', 'GOOGLE_*'];

interface ReadyAgent extends AcpAgent {
  readonly installHint: string;
  environment?(request: LaunchRequest): Readonly<Record<string, string>>;
  readonly keepsState: FindState;
}

/**
 * Agents that are known to speak the protocol, by the name under which they can be used without any configuration. Each was
 * tried with the version in its hint.
 */
const READY_AGENTS: Readonly<Record<string, ReadyAgent>> = {
  'gemini-acp': {
    keepsState: geminiState,
    acp: ['gemini', '--acp', '--skip-trust'],
    authenticate: 'gemini-api-key',
    env: ['GEMINI_*', 'GOOGLE_*'],
    installHint: 'npm install --global @google/gemini-cli@0.61.0',
    environment: () => ({ GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_TELEMETRY_ENABLED: 'false' }),
  },
  'qwen-acp': {
    keepsState: qwenState,
    // Its own default lets a model approve.
    acp: ['qwen', '--acp', '--approval-mode', 'default'],
    authenticate: 'openai',
    env: ['OPENAI_*', 'QWEN_*', 'DASHSCOPE_API_KEY'],
    installHint: 'npm install --global @qwen-code/qwen-code@0.24.4 (needs Node.js 22)',
    environment: () => ({
      QWEN_CODE_NO_RELAUNCH: 'true',
      QWEN_TELEMETRY_ENABLED: 'false',
      QWEN_USAGE_STATISTICS_ENABLED: 'false',
    }),
  },
  'opencode-acp': {
    keepsState: opencodeState,
    acp: ['opencode', 'acp'],
    env: [
      'OPENCODE_*',
      'XDG_*',
      'ANTHROPIC_*',
      'OPENAI_*',
      'GEMINI_API_KEY',
      'GOOGLE_GENERATIVE_AI_API_KEY',
      'OPENROUTER_API_KEY',
    ],
    installHint: 'npm install --global opencode-ai@1.18.33',
    environment: createOpencodePermissions,
  },
  'copilot-acp': {
    keepsState: copilotState,
    acp: ['copilot', '--acp'],
    env: ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN'],
    installHint: 'npm install --global @github/copilot@1.0.102',
  },
  'kimi-acp': {
    keepsState: kimiState,
    acp: ['kimi', 'acp'],
    env: ['KIMI_*', 'MOONSHOT_*', 'OPENAI_*'],
    installHint: 'npm install --global @moonshot-ai/kimi-code@2.1.0 (needs Node.js 22)',
  },
  'claude-acp': {
    keepsState: claudeState,
    acp: ['claude-agent-acp'],
    env: ['ANTHROPIC_*', 'CLAUDE_*'],
    installHint: 'npm install --global @agentclientprotocol/claude-agent-acp@0.99.1',
  },
  'codex-acp': {
    keepsState: codexState,
    acp: ['codex-acp'],
    authenticate: 'api-key',
    env: ['OPENAI_*', 'CODEX_*'],
    installHint: 'npm install --global @agentclientprotocol/codex-acp@2.6.0',
  },
};

/** The launchers of the agents that need no configuration. */
export const READY_LAUNCHERS: Readonly<Record<string, Launcher>> = Object.fromEntries(
  Object.entries(READY_AGENTS).map(([engine, agent]) => [engine, createAcpLauncher(engine, agent, agent)]),
);

/** Creates the launcher of an agent that speaks the Agent Client Protocol; `conversation` then talks to it. */
export function createAcpLauncher(engine: string, settings: AcpAgent, ready?: ReadyAgent): Launcher {
  const [program = '', ...options] = settings.acp;
  return {
    engine,
    program,
    reads: 'acp',
    drives: '',
    environment: [...(settings.env ?? COMMON_ENVIRONMENT), ...NETWORK_ENVIRONMENT],
    canResume: true,
    canAsk: true,
    accepts: { attachments: ['image', 'audio', 'file'], mcpServers: ['stdio', 'http', 'sse'] },
    reportsCost: true,
    versionCommand: [],
    keepsState: ready?.keepsState ?? keepFolders(settings.keeps),
    readVersion: () => undefined,
    installHint: ready?.installHint ?? `install ${program}, or correct agents.${engine} in the configuration`,
    launch(request) {
      if (request.terminal === true)
        throw new SluiceError('TERMINAL_UNSUPPORTED', `${engine} needs pipes. Run it without a terminal.`);
      return {
        command: [program, ...options],
        env: ready?.environment?.(request) ?? {},
        converse: {
          prompt: promptForInput(request.prompt),
          ...(settings.authenticate === undefined ? {} : { authenticate: settings.authenticate }),
          ...omitUndefined({ attachments: request.attachments, mcpServers: request.mcpServers }),
        },
      };
    },
  };
}
