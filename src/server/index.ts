export { executionHeading, executionRow } from './export/export-executions.js';
export { type Metrics, createMetrics } from './metrics/create-metrics.js';
export { answerPermission } from './handlers/answer-permission.js';
export { replyToRun } from './handlers/reply-to-run.js';
export { exportRunFolder } from './export/export-run-folder.js';
export { runServer } from './run-server.js';
export { settingsFromConfig } from './server-settings.js';
export { openTracing } from './tracing/open-tracing.js';
