export { present } from './present.js';
export { executionHeading, executionRow } from './export/execution-csv.js';
export { type Metrics, createMetrics } from './metrics/create-metrics.js';
export { exportRunFolder } from './export/export-run-folder.js';
export { runServer } from './run-server.js';
export { settingsFromConfig } from './settings-from-config.js';
export { openTracing } from './tracing/open-tracing.js';
