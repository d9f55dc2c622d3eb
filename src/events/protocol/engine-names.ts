import { listKeys } from '../../base/index.js';

/**
 * Every built-in engine with the parsers that may read it, the usual one first. On the wire `engine` and `source.parser` are open:
 * a program may add engines.
 */
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

/** The name of a parser, as `source.parser` carries it. */
export type ParserName = (typeof ENGINE_PARSERS)[EngineName][number];

/** The engines, in the order in which they are listed to people. */
export const ENGINE_NAMES = listKeys(ENGINE_PARSERS);

/** The name of any engine or parser, built in or not. */
export const engineName = { type: 'string', pattern: '^[a-z][a-z0-9_-]{0,63}$' } as const;

/**
 * Whether a word names an engine.
 *
 * @example
 * isEngineName('codex') // true
 */
export function isEngineName(word: unknown): word is EngineName {
  return typeof word === 'string' && Object.hasOwn(ENGINE_PARSERS, word);
}
