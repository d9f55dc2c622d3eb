export { startWorker } from './start-worker.js';
export type { Worker, WorkerOptions } from './worker-options.js';
export { waitForOrder } from './wait-for-order.js';
export { runDemo, type DemoOptions, type DemoReport } from './demo/run-demo.js';
export { type ShownDemo, showDemo } from './demo/show-demo.js';
export type { RetentionSettings } from './retention/retention-settings.js';
export { createWaker } from './waker.js';
export { DEMO_WORKERS, demoWrappers, demoWrappersIn, demoRequestOf } from './demo/demo-workers.js';
export { startRetention } from './retention/start-retention.js';
