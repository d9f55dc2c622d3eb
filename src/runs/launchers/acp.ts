import { copilotLauncher, geminiLauncher, qwenLauncher } from './cli-launchers.js';
import { listKeys, object, omitUndefined, oneOf, name, SluiceError, type FromSchema } from '../../base/index.js';
import { findClaudeState, findCodexState, createStateFinder, findKimiState } from './engine-state.js';
import { programAgentSchema, requirements, type ProgramAgent } from './configured.js';
import { completeLauncher, type LaunchRequest, type Launcher } from './launcher.js';
import { createOpencodeEnvironment, opencodeLauncher } from './opencode.js';
import { NETWORK_ENVIRONMENT, checkInputPrompt } from './request-checks.js';

const commandSchema = { type: 'array', minItems: 1, maxItems: 256, items: name } as const;

/** A configured agent that implements the Agent Client Protocol. */
const acpAgentSchema = object(
  {
    /** The agent's command, with the arguments that make it use the Agent Client Protocol over its streams. */
    acp: commandSchema,
  },
  {
    ...requirements,
    /** The authentication method, as the agent names it in `authMethods`. */
    authenticate: name,
  },
);

/** See {@link acpAgentSchema}. */
export type AcpAgent = FromSchema<typeof acpAgentSchema>;

/** A configured agent: an ACP agent, or a command whose output a built-in engine reads. */
export const agentSettingsSchema = {
  ...object({}, { ...acpAgentSchema.properties, ...programAgentSchema.properties }),
  // A condition instead of two alternatives, so errors name the missing or unknown field.
  if: { required: ['acp'] },
  then: { propertyNames: oneOf(listKeys(acpAgentSchema.properties)) },
  else: { required: programAgentSchema.required, propertyNames: oneOf(listKeys(programAgentSchema.properties)) },
} as const;

/** See {@link agentSettingsSchema}. */
export type AgentSettings = AcpAgent | ProgramAgent;

/** Variables that many agents read. */
const COMMON_ENVIRONMENT = ['OPENAI_*', 'ANTHROPIC_*', 'GEMINI_*', 'GOOGLE_*'];

type Environment = Readonly<Record<string, string>>;

/** The properties of a built-in agent besides its settings. */
interface BuiltInAgent extends Partial<Pick<Launcher, 'environment' | 'installHint' | 'listStateFolders'>> {
  readonly variables?: (request: LaunchRequest) => Environment;
}

/** Returns the requirements of an agent that is also supported without the protocol. */
function pickRequirements(launcher: Launcher) {
  const { environment, installHint } = launcher;
  return { environment, installHint, listStateFolders: (env: Environment) => launcher.listStateFolders?.(env) ?? [] };
}

/** Agents that need no configuration. Each was tested in the version given in its hint. */
const BUILT_IN_AGENTS: Readonly<Record<string, AcpAgent & BuiltInAgent>> = {
  'gemini-acp': {
    ...pickRequirements(geminiLauncher),
    acp: ['gemini', '--acp', '--skip-trust'],
    authenticate: 'gemini-api-key',
    variables: () => ({ GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_TELEMETRY_ENABLED: 'false' }),
  },
  'qwen-acp': {
    ...pickRequirements(qwenLauncher),
    // Its default lets a model approve tool calls.
    acp: ['qwen', '--acp', '--approval-mode', 'default'],
    authenticate: 'openai',
    variables: () => ({
      QWEN_CODE_NO_RELAUNCH: 'true',
      QWEN_TELEMETRY_ENABLED: 'false',
      QWEN_USAGE_STATISTICS_ENABLED: 'false',
    }),
  },
  'opencode-acp': {
    ...pickRequirements(opencodeLauncher),
    acp: ['opencode', 'acp'],
    variables: createOpencodeEnvironment,
  },
  'copilot-acp': { ...pickRequirements(copilotLauncher), acp: ['copilot', '--acp'] },
  'kimi-acp': {
    listStateFolders: findKimiState,
    acp: ['kimi', 'acp'],
    environment: ['KIMI_*', 'MOONSHOT_*', 'OPENAI_*', ...NETWORK_ENVIRONMENT],
    installHint: 'npm install --global @moonshot-ai/kimi-code@2.1.0 (needs Node.js 22)',
  },
  'claude-acp': {
    listStateFolders: findClaudeState,
    acp: ['claude-agent-acp'],
    environment: ['ANTHROPIC_*', 'CLAUDE_*', ...NETWORK_ENVIRONMENT],
    installHint: 'npm install --global @agentclientprotocol/claude-agent-acp@0.99.1',
  },
  'codex-acp': {
    listStateFolders: findCodexState,
    acp: ['codex-acp'],
    authenticate: 'api-key',
    environment: ['OPENAI_*', 'CODEX_*', ...NETWORK_ENVIRONMENT],
    installHint: 'npm install --global @agentclientprotocol/codex-acp@2.6.0',
  },
};

export const ACP_LAUNCHERS: Readonly<Record<string, Launcher>> = Object.fromEntries(
  Object.entries(BUILT_IN_AGENTS).map(([engine, agent]) => [engine, createAcpLauncher(engine, agent)]),
);

export function createAcpLauncher(engine: string, agent: AcpAgent & BuiltInAgent): Launcher {
  const { acp, authenticate, env = COMMON_ENVIRONMENT, keeps, variables, ...requirementsOfBuiltIn } = agent;
  const [program = '', ...options] = acp;
  return completeLauncher({
    engine,
    program,
    format: 'acp',
    environment: [...env, ...NETWORK_ENVIRONMENT],
    canResume: true,
    canAsk: true,
    accepts: { attachments: ['image', 'audio', 'file'], mcpServers: ['stdio', 'http', 'sse'] },
    reportsCost: true,
    versionCommand: [],
    listStateFolders: createStateFinder(keeps),
    installHint: `install ${program}, or correct agents.${engine} in the configuration`,
    ...requirementsOfBuiltIn,
    launch(request) {
      if (request.terminal === true)
        throw new SluiceError(
          'TERMINAL_UNSUPPORTED',
          `${engine} does not work in a terminal. Run it without a terminal.`,
        );
      return {
        command: [program, ...options],
        env: variables?.(request) ?? {},
        converse: {
          prompt: checkInputPrompt(request.prompt),
          ...omitUndefined({
            authenticate,
            attachments: request.attachments,
            mcpServers: request.mcpServers,
          }),
        },
      };
    },
  });
}
