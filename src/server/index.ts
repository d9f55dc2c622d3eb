export { formatExecutionHeading, formatExecutionRow } from './export/export-executions.js';
export { type Metrics, createMetrics } from './metrics/create-metrics.js';
export { answerPermission, replyToRun } from './handlers/replies.js';
export { readReportRecords } from './handlers/run-files.js';
export { exportRunFolder } from './export/tar-files.js';
export { runServer } from './run-server.js';
export { DEFAULT_HOST, createServer } from './create-server.js';
export { isLoopback } from './security/origin.js';
export { readTokenSettings, readServerSettings, type TokenSettings } from './server-settings.js';
