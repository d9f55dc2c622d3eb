import { REAL_ENGINES } from './real-engine.js';
import type { RealEngine } from './real-engine.js';

/** Facts about an ACP agent that the matrix needs. */
export interface RealAgent extends Pick<
  RealEngine,
  'engine' | 'homeFiles' | 'homeOutsideTemporary' | 'environment' | 'writeFile'
> {
  /** It overwrites a session that is loaded in the minute in which it started: its file is named after the minute. */
  readonly overwritesYoungSessions?: true;
  /** It declares that it accepts MCP servers, but does not start them. */
  readonly ignoresServers?: true;
  /** Its model here does not accept images, so it omits them. */
  readonly dropsImages?: true;
}

const KEY = 'scripted-model-key';

const kimi: RealAgent = {
  engine: 'command',
  homeFiles: (url) => ({
    '.kimi-code/config.toml': [
      'default_model = "mock"',
      'default_permission_mode = "manual"',
      'telemetry = false',
      '[providers.mock]',
      'type = "openai"',
      `base_url = "${url}/v1"`,
      `api_key = "${KEY}"`,
      '[models.mock]',
      'provider = "mock"',
      'model = "gpt-4.1"',
      'max_context_size = 100000',
      '',
    ].join('\n'),
  }),
  environment: () => ({}),
  writeFile: (path, content) => ({ name: 'Write', arguments: JSON.stringify({ path, content }) }),
};

/** With automatic model selection Gemini first asks a model which model to use, for minutes if that fails. */
const gemini: RealAgent = {
  ...REAL_ENGINES.gemini,
  overwritesYoungSessions: true,
  environment: (url) => ({ ...REAL_ENGINES.gemini.environment(url), GEMINI_MODEL: 'gemini-2.5-pro' }),
};

/** Codex asks only for commands that, according to its model, must run outside of the sandbox. */
const codex: RealAgent = {
  ...REAL_ENGINES.codex,
  environment: (url) => ({ ...REAL_ENGINES.codex.environment(url), CODEX_API_KEY: KEY }),
  writeFile: (path, text) => ({
    name: 'exec_command',
    arguments: JSON.stringify({
      cmd: `printf %s '${text}' > '${path}'`,
      sandbox_permissions: 'require_escalated',
      justification: 'To write the file.',
    }),
  }),
};

/** The agents that need no configuration and have a model on loopback, by their engine. */
export const ACP_AGENTS = {
  'gemini-acp': gemini,
  'qwen-acp': { ...REAL_ENGINES.qwen, dropsImages: true },
  'opencode-acp': { ...REAL_ENGINES.opencode, dropsImages: true },
  'copilot-acp': { ...REAL_ENGINES.copilot, ignoresServers: true },
  'kimi-acp': kimi,
  'claude-acp': REAL_ENGINES.claude,
  'codex-acp': codex,
} satisfies Readonly<Record<string, RealAgent>>;

export type AcpAgentName = keyof typeof ACP_AGENTS;
