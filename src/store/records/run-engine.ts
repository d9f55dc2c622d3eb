/** The built-in engines, and `command` for any other executable, in display order. */
export const RUN_ENGINES = ['codex', 'gemini', 'iflow', 'opencode', 'claude', 'qwen', 'copilot', 'command'] as const;

/** The name of a built-in or configured engine. */
export const engineNameSchema = { type: 'string', pattern: '^[a-z][a-z0-9_-]{0,63}$' } as const;

/** The name of a built-in engine. */
export type RunEngine = (typeof RUN_ENGINES)[number];
