import { ACP_AGENTS } from './acp-agents.js';

/** One file for each program; slow programs first, so that they do not run alone at the end. */
export const ENGINE_CASES = ['opencode', 'qwen', 'copilot', 'gemini', 'claude', 'codex', 'iflow'];

/** The matrix of the Agent Client Protocol takes long and needs more programs, so it is run only if requested. */
export const ACP_CASES = Object.keys(ACP_AGENTS).map((engine) => `acp-${engine.replace(/-acp$/u, '')}`);
