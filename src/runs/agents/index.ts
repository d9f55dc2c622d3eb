export { PRESETS } from './presets.js';
export { createPresetLaunchers, listAgents, type AgentReport } from './list-agents.js';
export { tryAgent, type TrialStep } from './try-agent.js';
export { recordScenario, renderRecord, type RecordedScenario } from './record-agent.js';
