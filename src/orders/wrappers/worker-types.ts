import type { RunEngine } from '../../records/index.js';

/** The kinds of workers Sluice knows, and the engine that runs each when its wrapper names no command of its own. */
export const WORKER_TYPES: Readonly<Record<string, RunEngine>> = {
  'codex-cli': 'codex',
  'claude-code': 'claude',
  'gemini-cli': 'gemini',
  'opencode-cli': 'opencode',
  'qwen-code': 'qwen',
  'iflow-cli': 'iflow',
  'go-cli': 'command',
  script: 'command',
};

/** The engine of an agent Sluice can start by itself; undefined for types that need a command. */
export function agentEngineOf(type: string): RunEngine | undefined {
  const engine = Object.hasOwn(WORKER_TYPES, type) ? WORKER_TYPES[type] : undefined;
  return engine === 'command' ? undefined : engine;
}
