export {
  startRun,
  type Run,
  RunSpecError,
  DEFAULT_LIMITS,
  type RunPorts,
  type EventLog,
  type EventQuery,
  type WatchableEventLog,
  createMemoryEventLog,
  type CachedResult,
  type ResultCache,
  createMemoryResultCache,
  type RunStore,
  renderContract,
  examineEngines,
  type EngineReport,
} from '../runs/index.js';
export {
  type RunContract,
  type RunLimits,
  type RunSpec,
  runSpecSchema,
  type RunFailure,
  type RunResult,
  RUN_ENGINES,
  type RunEngine,
} from '../records/index.js';
export { createJsonLogger, type Logger } from '../base/index.js';
