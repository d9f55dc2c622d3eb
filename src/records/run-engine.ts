/** The engines Sluice can start: those it reads, and `command` for any other program. In the order people see. */
export const RUN_ENGINES = ['codex', 'gemini', 'iflow', 'opencode', 'claude', 'qwen', 'copilot', 'command'] as const;

/** The name of an engine Sluice can start. */
export type RunEngine = (typeof RUN_ENGINES)[number];
