export { startRun, resumeRun, type Run } from './start-run.js';
export { RunSpecError, checkRunSpec, DEFAULT_LIMITS } from './spec/check-run-spec.js';
export type {
  RunBudget,
  RunPorts,
  RunSlot,
  SandboxPort,
  OrderTrace,
  RunTrace,
  RunTracer,
  TracedOrder,
} from './ports/run-ports.js';
export {
  ACCEPTS_TEXT_ONLY,
  findUnsupported,
  type Attachment,
  type AcceptedInputs,
  type McpServer,
  type NamedValue,
  type RunInputs,
} from './ports/run-inputs.js';
export { findAcceptedInputs } from './launch/find-accepted-inputs.js';
export { createMemoryEventLog } from './ports/memory-event-log.js';
export { createMemoryResultCache } from './cache/result-caches.js';
export { renderContract } from './spec/render-contract.js';
export { checkEngines, type EngineReport, renderDoctor } from './launch/check-engines.js';
export { judgeRunAgain, judgeText, type JudgedRun, type StoredContract } from './judge/judge-again.js';
export { createFailedResult } from './result/build-result.js';
export { identifyOwnProcess, getProcessState } from './process/process-identity.js';
export { compileSecrets, type Secrets } from './secrets/compile-secrets.js';
export { listSensitiveValues } from './secrets/environment.js';
export { terminateOrphans, terminateRunProcesses } from './process/terminate-orphans.js';
export { mergeFsDiffs, NO_CHANGES } from './result/run-findings.js';
export { listLaunchers } from './launchers/launchers.js';
export { agentSettingsSchema, type AgentSettings } from './launchers/acp.js';
export {
  defineLauncher,
  type LauncherDefinition,
  type Launch,
  type LaunchFile,
  type LaunchRequest,
  type Launcher,
} from './launchers/launcher.js';
export { type FolderLock, lockFile, lockFolder } from './workspace/folder-lock.js';
export { SLUICE_FILES } from './workspace/track-changes.js';
