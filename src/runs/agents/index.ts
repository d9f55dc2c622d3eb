export { PRESETS } from './agents.js';
export { createPresetLaunchers, listAgents, type AgentReport } from './agents.js';
export { recordScenario, renderRecord, tryAgent, type TrialStep } from './try-agent.js';
