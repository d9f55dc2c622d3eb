import { REAL_ENGINES } from './real-engine.js';
import type { RealEngine } from './real-engine.js';

/** What the matrix has to know about an agent that speaks the Agent Client Protocol. */
export type RealAgent = Pick<RealEngine, 'engine' | 'homeFiles' | 'environment' | 'writeFile'>;

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

/** The agents that need no configuration and have a model on loopback, by their engine. */
export const ACP_AGENTS = {
  'gemini-acp': REAL_ENGINES.gemini,
  'qwen-acp': REAL_ENGINES.qwen,
  'opencode-acp': REAL_ENGINES.opencode,
  'copilot-acp': REAL_ENGINES.copilot,
  'kimi-acp': kimi,
  'claude-acp': REAL_ENGINES.claude,
  'codex-acp': REAL_ENGINES.codex,
} as const satisfies Readonly<Record<string, RealAgent>>;

export type AcpAgentName = keyof typeof ACP_AGENTS;
