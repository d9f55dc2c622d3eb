import type { Engine } from '../engine.js';
import type { EngineName } from '../protocol/engine-names.js';
import { codexEngine } from './codex/codex-engine.js';
import { genericEngine } from './generic/generic-engine.js';

/** Every engine, one line each. */
export const ENGINES: Partial<Record<EngineName, Engine>> = {
  codex: codexEngine,
  generic: genericEngine,
};
