export { startRun, resumeRun, type Run } from './start-run.js';
export { RunSpecError, checkRunSpec, DEFAULT_LIMITS, listPlacementIssues } from './spec/check-run-spec.js';
export type {
  RunBudget,
  RunPorts,
  RunSlot,
  SandboxPort,
  SavedSession,
  OrderTrace,
  RunTrace,
  RunTracer,
} from './ports/run-ports.js';
export { type TracedOrder, findDataFolder } from './ports/run-ports.js';
export { ACCEPTS_TEXT_ONLY, findUnsupported } from './ports/run-inputs.js';
export type { Attachment, AcceptedInputs, McpServer, NamedValue, RunInputs } from './ports/run-inputs.js';
export {
  findAcceptedInputs,
  checkEngines,
  renderDoctor,
  type EngineReport,
  type ExamineOptions,
} from './launch/check-engines.js';
export { createMemoryEventLog } from './ports/run-ports.js';
export { createMemoryResultCache } from './cache/result-caches.js';
export { renderContract } from './spec/render-contract.js';
export { judgeRunAgain, judgeText, type JudgedRun, type StoredContract } from './judge/judge-again.js';
export { createFailedResult } from './result/build-result.js';
export { createSessionLostError } from './attempts/saved-session.js';
export { identifyOwnProcess, getProcessState } from './process/process-identity.js';
export { compileSecrets, type Secrets } from './secrets/compile-secrets.js';
export { listSensitiveValues } from './secrets/environment.js';
export { terminateOrphans, terminateRunProcesses } from './process/terminate-orphans.js';
export { chooseOption } from './conversation/approvals.js';
export { removeRunContainers } from './placement/run-container.js';
export { mergeFsDiffs, NO_CHANGES } from './result/run-findings.js';
export { listLaunchers } from './launchers/launchers.js';
export { agentSettingsSchema, type AgentSettings } from './launchers/acp.js';
export { defineLauncher } from './launchers/launcher.js';
export { readVersion } from './launchers/version.js';
export type { LauncherDefinition, Launch, LaunchFile, LaunchRequest, Launcher } from './launchers/launcher.js';
export { type FolderLock, lockFile, lockFolder } from './workspace/folder-lock.js';
export { SLUICE_FILES } from './workspace/track-changes.js';
