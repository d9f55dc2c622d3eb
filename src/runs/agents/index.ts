export { PRESETS } from './presets.js';
export { createPresetLaunchers, listAgents, type AgentReport } from './list-agents.js';
export { tryAgent, type TrialStep } from './try-agent.js';
export { recordScenario, renderRecord } from './record-agent.js';
