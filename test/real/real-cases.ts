import { ACP_AGENTS } from './acp-agents.js';

/** One file per agent; slow agents first, so they do not run alone at the end. */
export const ENGINE_CASES = ['opencode', 'qwen', 'copilot', 'gemini', 'claude', 'codex', 'iflow'];

/** The Agent Client Protocol matrix takes long and needs more agents, so it runs only on request. */
export const ACP_CASES = Object.keys(ACP_AGENTS).map((engine) => `acp-${engine.replace(/-acp$/u, '')}`);
