import type { Engine } from '../engine.js';
import type { EngineName } from '../protocol/engine-names.js';
import { codexEngine } from './codex/codex-engine.js';
import { geminiEngine } from './gemini/gemini-engine.js';
import { genericEngine } from './generic/generic-engine.js';
import { opencodeEngine } from './opencode/opencode-engine.js';

/** Every engine, one line each. */
export const ENGINES: Partial<Record<EngineName, Engine>> = {
  codex: codexEngine,
  gemini: geminiEngine,
  opencode: opencodeEngine,
  generic: genericEngine,
};
