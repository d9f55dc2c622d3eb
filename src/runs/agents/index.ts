export { PRESETS } from './presets.js';
export { createPresetLaunchers, listAgents, type AgentReport } from './list-agents.js';
export { recordScenario, renderRecord, tryAgent, type TrialStep } from './try-agent.js';
