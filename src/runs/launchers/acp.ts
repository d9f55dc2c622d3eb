import { listKeys, object, omitUndefined, oneOf, name, SluiceError } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { claudeState, codexState, keepFolders, kimiState } from './engine-state.js';
import type { FindState } from './engine-state.js';
import { programAgentSchema } from './configured.js';
import type { ProgramAgent } from './configured.js';
import { copilotLauncher } from './copilot.js';
import { geminiLauncher } from './gemini.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import { createOpencodePermissions, opencodeLauncher } from './opencode.js';
import { qwenLauncher } from './qwen.js';
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

/** The needs of a program, in whichever way it is used. */
type ProgramNeeds = Pick<Launcher, 'environment' | 'installHint'> & { readonly keepsState: FindState };

interface ReadyAgent extends ProgramNeeds, Pick<AcpAgent, 'acp' | 'authenticate'> {
  variables?(request: LaunchRequest): Readonly<Record<string, string>>;
}

/** The needs of a program that is also an engine without the protocol. */
function pickNeeds(launcher: Launcher): ProgramNeeds {
  const { environment, installHint } = launcher;
  return { environment, installHint, keepsState: (env) => launcher.keepsState?.(env) ?? [] };
}

/**
 * Agents that are known to speak the protocol, by the name under which they can be used without any configuration. Each was
 * tried with the version in its hint.
 */
const READY_AGENTS: Readonly<Record<string, ReadyAgent>> = {
  'gemini-acp': {
    ...pickNeeds(geminiLauncher),
    acp: ['gemini', '--acp', '--skip-trust'],
    authenticate: 'gemini-api-key',
    variables: () => ({ GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_TELEMETRY_ENABLED: 'false' }),
  },
  'qwen-acp': {
    ...pickNeeds(qwenLauncher),
    // Its own default lets a model approve.
    acp: ['qwen', '--acp', '--approval-mode', 'default'],
    authenticate: 'openai',
    variables: () => ({
      QWEN_CODE_NO_RELAUNCH: 'true',
      QWEN_TELEMETRY_ENABLED: 'false',
      QWEN_USAGE_STATISTICS_ENABLED: 'false',
    }),
  },
  'opencode-acp': {
    ...pickNeeds(opencodeLauncher),
    acp: ['opencode', 'acp'],
    variables: createOpencodePermissions,
  },
  'copilot-acp': { ...pickNeeds(copilotLauncher), acp: ['copilot', '--acp'] },
  'kimi-acp': {
    keepsState: kimiState,
    acp: ['kimi', 'acp'],
    environment: ['KIMI_*', 'MOONSHOT_*', 'OPENAI_*', ...NETWORK_ENVIRONMENT],
    installHint: 'npm install --global @moonshot-ai/kimi-code@2.1.0 (needs Node.js 22)',
  },
  'claude-acp': {
    keepsState: claudeState,
    acp: ['claude-agent-acp'],
    environment: ['ANTHROPIC_*', 'CLAUDE_*', ...NETWORK_ENVIRONMENT],
    installHint: 'npm install --global @agentclientprotocol/claude-agent-acp@0.99.1',
  },
  'codex-acp': {
    keepsState: codexState,
    acp: ['codex-acp'],
    authenticate: 'api-key',
    environment: ['OPENAI_*', 'CODEX_*', ...NETWORK_ENVIRONMENT],
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
    environment: ready?.environment ?? [...(settings.env ?? COMMON_ENVIRONMENT), ...NETWORK_ENVIRONMENT],
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
        env: ready?.variables?.(request) ?? {},
        converse: {
          prompt: promptForInput(request.prompt),
          ...(settings.authenticate === undefined ? {} : { authenticate: settings.authenticate }),
          ...omitUndefined({ attachments: request.attachments, mcpServers: request.mcpServers }),
        },
      };
    },
  };
}
