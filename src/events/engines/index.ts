import type { EngineName } from '../protocol/engine-names.js';
import { acpEngine } from './acp/acp-engine.js';
import { claudeEngine } from './claude/claude-engine.js';
import { codexEngine } from './codex/codex-engine.js';
import { copilotEngine } from './copilot/copilot-engine.js';
import type { Engine } from './engine.js';
import { geminiEngine } from './gemini/gemini-engine.js';
import { genericEngine } from './generic/generic-engine.js';
import { iflowEngine } from './iflow/iflow-engine.js';
import { opencodeEngine } from './opencode/opencode-engine.js';
import { qwenEngine } from './qwen/qwen-engine.js';

/** All built-in engines. */
export const ENGINES: Readonly<Record<EngineName, Engine>> = {
  codex: codexEngine,
  claude: claudeEngine,
  qwen: qwenEngine,
  gemini: geminiEngine,
  iflow: iflowEngine,
  opencode: opencodeEngine,
  copilot: copilotEngine,
  acp: acpEngine,
  generic: genericEngine,
};
