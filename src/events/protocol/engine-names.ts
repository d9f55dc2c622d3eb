import { listKeys } from '../../base/index.js';

/** Every built-in engine with its parsers, the default first. Applications can add engines with other values. */
const ENGINE_PARSERS = {
  codex: ['codex_ndjson', 'codex_app_server', 'generic_text'],
  gemini: ['gemini_json', 'gemini_stream_json', 'generic_text'],
  iflow: ['iflow_text'],
  opencode: ['opencode_ndjson', 'generic_text'],
  claude: ['claude_stream_json', 'claude_json', 'generic_text'],
  qwen: ['qwen_stream_json', 'qwen_json', 'generic_text'],
  copilot: ['copilot_ndjson', 'generic_text'],
  acp: ['acp_jsonrpc'],
  generic: ['generic_text'],
} as const;

/** The name of a built-in engine. */
export type EngineName = keyof typeof ENGINE_PARSERS;

/** The name of a parser, the value of `source.parser`. */
export type ParserName = (typeof ENGINE_PARSERS)[EngineName][number];

/** The engine names, in display order. */
export const ENGINE_NAMES = listKeys(ENGINE_PARSERS);

/** The name of any engine or parser, built in or not. */
export const engineName = { type: 'string', pattern: '^[a-z][a-z0-9_-]{0,63}$' } as const;

/** Whether a value is the name of a built-in engine. */
export function isEngineName(value: unknown): value is EngineName {
  return typeof value === 'string' && Object.hasOwn(ENGINE_PARSERS, value);
}
