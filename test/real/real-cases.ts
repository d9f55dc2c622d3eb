import { ACP_AGENTS } from './acp-agents.js';

/** One file per agent; slow agents first, so they do not run alone at the end. */
export const ENGINE_CASES = ['opencode', 'qwen', 'copilot', 'gemini', 'claude', 'codex', 'iflow'];

/** The Agent Client Protocol matrix takes long and needs more agents, so it runs only on request. */
export const ACP_CASES = Object.keys(ACP_AGENTS).map((engine) => `acp-${engine.replace(/-acp$/u, '')}`);

/** The table of faults takes long too: every fault of the model over every path, for every engine. */
export const FAULT_CASES = ENGINE_CASES.filter((name) => name !== 'iflow').map((name) => `faults-${name}`);

/** Approvals over HTTP, of one agent for each protocol in which agents ask for permission. */
export const APPROVAL_CASES = ['approvals'];

/** All presets that can be driven here; they need more agents. */
export const PRESET_CASES = ['presets'];

/** README's commands in an empty folder, with the packed package; they need a build. */
export const FIRST_RUN_CASES = ['first-run'];
