import { listKeys } from '../../base/index.js';

/**
 * Every engine with the parsers that may read it, the usual one first. A closed list: these are the only values of
 * `engine` and `source.parser` on the wire.
 */
const ENGINE_PARSERS = {
  codex: ['codex_ndjson', 'generic_text'],
  gemini: ['gemini_json', 'gemini_stream_json', 'generic_text'],
  iflow: ['iflow_text'],
  opencode: ['opencode_ndjson', 'generic_text'],
  claude: ['claude_stream_json', 'claude_json', 'generic_text'],
  qwen: ['qwen_stream_json', 'qwen_json', 'generic_text'],
  copilot: ['copilot_ndjson', 'generic_text'],
  acp: ['acp_jsonrpc'],
  generic: ['generic_text'],
} as const;

/** The name of an engine Sluice reads. */
export type EngineName = keyof typeof ENGINE_PARSERS;

/** The name of a parser, as `source.parser` carries it. */
export type ParserName = (typeof ENGINE_PARSERS)[EngineName][number];

/** The engines, in the order in which they are listed to people. */
export const ENGINE_NAMES = listKeys(ENGINE_PARSERS);

/** The parsers, each once. */
export const PARSER_NAMES: readonly ParserName[] = [...new Set(Object.values(ENGINE_PARSERS).flat())];

/**
 * Whether a word names an engine.
 *
 * @example
 * isEngineName('codex') // true
 */
export function isEngineName(word: unknown): word is EngineName {
  return typeof word === 'string' && Object.hasOwn(ENGINE_PARSERS, word);
}
